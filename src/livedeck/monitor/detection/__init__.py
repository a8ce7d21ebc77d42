"""What is found in the samples of an event: its faults, phase, health and pattern."""
