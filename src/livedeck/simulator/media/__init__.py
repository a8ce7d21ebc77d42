"""Playback of events on air as HLS, from committed segments. Imported by a simulator with HLS only."""
