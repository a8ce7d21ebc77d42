"""The format of requests and responses, for both sides: the collector and an attached deck. Pure."""
