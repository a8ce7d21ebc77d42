"""livedeck: a terminal deck for live events on a video platform. architecture.md lists its rooms."""

__version__ = "0.1.0"
