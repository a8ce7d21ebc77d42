"""Commands that read or keep the history."""
