"""Attached deck: its requests to the collector, its copy of the snapshot, and its `Feed`."""
