"""Screens of the deck. They get a monitor and its snapshots, and use no HTTP, files or settings."""
