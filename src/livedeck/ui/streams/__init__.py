"""Streams screen."""
