"""Faults, phase and health found in what is known of an event."""
