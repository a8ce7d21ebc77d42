"""Changes of the platform. Each is an Operation, and one Executor runs them. Needs no terminal."""
