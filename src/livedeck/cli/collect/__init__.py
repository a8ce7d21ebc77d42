"""Collector and its notifications, as commands."""
