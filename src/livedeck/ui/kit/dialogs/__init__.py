"""Dialogs. Each returns a value and sends no request."""
