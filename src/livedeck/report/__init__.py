"""report TELLS what was: a show or a day out of the history, as a timeline, a page, tables and data."""
