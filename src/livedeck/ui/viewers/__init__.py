"""Viewers."""
