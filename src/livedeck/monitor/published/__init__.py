"""Turns snapshots into JSON values, to store them or send them to other processes. Pure."""
