"""What can be done anywhere."""
