"""QoS over time."""
