"""Rules that say which claims of absence are proven (monitoring.md, "Missing events")."""
