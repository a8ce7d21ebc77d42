"""Chat and its export."""
