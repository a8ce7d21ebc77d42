"""Moments of the past on the screens, and the return to the present."""
