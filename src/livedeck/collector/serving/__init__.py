"""HTTP interface of a collector: routes, access tokens and the stream of changes."""
