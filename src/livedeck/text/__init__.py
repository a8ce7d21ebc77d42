"""Values, times and styled segments as text. Imports no other room."""
