"""Frozen values that leave the monitor. Nothing here decides."""
