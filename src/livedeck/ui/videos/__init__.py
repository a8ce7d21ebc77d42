"""Videos and what hangs on them."""
