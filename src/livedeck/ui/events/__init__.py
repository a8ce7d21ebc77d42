"""Events screen, and actions on events."""
