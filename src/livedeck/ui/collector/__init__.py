"""The way to the collector, and doing without it."""
