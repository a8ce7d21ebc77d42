"""Probe of what viewers get: playlists, segments and their picture, from this machine (probe.md)."""
