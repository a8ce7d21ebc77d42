"""A snapshot as plain values, for what outlives this process or leaves it. Pure."""
