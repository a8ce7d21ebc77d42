"""Calls to the platform, and their times."""
