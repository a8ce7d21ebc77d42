"""Frozen values that leave the monitor. These modules hold data and judge nothing."""
