"""cli JOINS. The only room that constructs the others."""
