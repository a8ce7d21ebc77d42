"""Detection in the samples of an event: faults, phase, health and pattern."""
