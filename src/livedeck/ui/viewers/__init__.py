"""Viewers screen."""
