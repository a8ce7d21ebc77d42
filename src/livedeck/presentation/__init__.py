"""presentation WORDS. Values of monitor and client as cells, tables, JSON and CSV; no terminal."""
