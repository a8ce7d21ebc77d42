"""The shared watch: one process watches the platform, and decks attach to it over HTTP (collector.md)."""
