"""Wall of a control room: its command, its page and its pictures."""
