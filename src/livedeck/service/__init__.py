"""service IS the documented platform on one machine: an ASGI app over SQLite with simulated encoders."""
