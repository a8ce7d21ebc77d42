"""QoS screen: quality of a stream over time."""
