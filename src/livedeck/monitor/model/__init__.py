"""Frozen values that the monitor returns to its callers. These modules hold data and judge nothing."""
