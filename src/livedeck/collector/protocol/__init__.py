"""Format of requests and replies between an attached deck and the collector, for both sides. Pure."""
