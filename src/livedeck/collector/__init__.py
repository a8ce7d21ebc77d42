"""Collector: a process that polls the platform for a team; decks attach to it over HTTP (collector.md)."""
