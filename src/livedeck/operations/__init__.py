"""operations CHANGE. Every change of the platform as one Operation, and the one Executor; no terminal."""
