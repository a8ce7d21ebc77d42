"""Travel to a moment of the past, and back to now."""
