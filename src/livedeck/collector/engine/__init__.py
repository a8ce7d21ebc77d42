"""Several collectors watch one workspace together: each asks for its part of the events, and all judge everything
(engine.md)."""
