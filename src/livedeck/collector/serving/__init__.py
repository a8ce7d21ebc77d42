"""The HTTP interface of a collector: its routes, access tokens and stream of changes."""
