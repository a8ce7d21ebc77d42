"""operations CHANGE. Every change of the platform is an Operation; one Executor runs them. Needs no terminal."""
