"""Widgets and terminal output for all features. The package knows text and values, but no feature."""
