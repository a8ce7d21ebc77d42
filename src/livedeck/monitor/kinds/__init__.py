"""The kinds of alarm."""
