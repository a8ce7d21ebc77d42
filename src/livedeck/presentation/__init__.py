"""Values of monitor and client in words: as cells, tables, JSON and CSV, without a terminal."""
