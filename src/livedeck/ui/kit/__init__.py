"""Widgets and terminal output for all features. The package imports no feature."""
