"""Probe of what viewers get: playlists, segments, and their pictures and sounds."""
