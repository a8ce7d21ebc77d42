"""Numbers made into lines of spans. Pure: no widget, no clock, no colour; app.tcss says what an ink looks like."""
