"""Widgets and terminal output. They know text and values, but no feature."""
