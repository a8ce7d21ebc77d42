"""One screen per file; base.py holds what all of them share."""
