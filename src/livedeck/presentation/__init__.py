"""Values of the monitor and the client as text: cells, tables, JSON and CSV. Needs no terminal."""
