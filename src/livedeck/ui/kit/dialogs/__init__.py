"""Dialogs: each returns a value and calls nothing."""
