"""Values, times, addresses and styled segments as text. Imports no other room (architecture.md, "Rooms")."""
