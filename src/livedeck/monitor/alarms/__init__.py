"""The life of alarms."""
