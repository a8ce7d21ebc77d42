"""The collector and its notifications, as commands."""
