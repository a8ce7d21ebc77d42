"""Playback of events on air as HLS, from committed segments. Only a simulator with HLS imports it."""
