"""Actions about the connection to the collector."""
