"""Meeting rooms and relay profiles."""
