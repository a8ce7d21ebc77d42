"""Reports on a show or a day from the history, as a timeline, a page, tables or data."""
