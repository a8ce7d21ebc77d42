"""RTMP ingest: receives real encoders and measures their streams. Counts media messages and drops their bodies."""
