"""What stands behind the API: world, store, clock, encoders, faults."""
