"""Commands that look at one live event."""
