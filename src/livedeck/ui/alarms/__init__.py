"""Alarms and logs."""
