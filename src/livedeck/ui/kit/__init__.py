"""Widgets and terminal: what knows text and values, and no feature."""
