"""Going back to a moment of the past, and from there to now."""
