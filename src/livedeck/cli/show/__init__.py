"""Show as a file: `livedeck show apply`, `diff` and `export` (shows.md)."""
