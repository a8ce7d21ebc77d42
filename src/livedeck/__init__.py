"""livedeck: a terminal deck for live events on a video platform. Its folders: architecture.md, "Rooms"."""

__version__ = "0.1.0"
