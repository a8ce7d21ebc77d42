"""A deck attached to a collector: the way to it, what it hears there, and its `Feed`."""
