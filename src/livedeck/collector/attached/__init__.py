"""An attached deck: its requests to the collector, the copy that it follows, and its `Feed`."""
