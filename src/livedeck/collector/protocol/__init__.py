"""Format of requests and responses between an attached deck and the collector, for both sides. Pure."""
