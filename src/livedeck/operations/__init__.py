"""Changes of the platform: each is an Operation, and one Executor runs them. Needs no terminal."""
