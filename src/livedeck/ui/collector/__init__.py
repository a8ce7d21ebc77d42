"""Actions on the connection to the collector."""
