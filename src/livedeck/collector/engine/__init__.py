"""Several collectors on one workspace: they share the requests, and each one judges all events (engine.md)."""
