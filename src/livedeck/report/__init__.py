"""Reports of the past from the history: a show or a day as a timeline, a page, tables and data."""
