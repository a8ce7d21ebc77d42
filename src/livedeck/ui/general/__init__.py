"""Actions that work on every screen."""
