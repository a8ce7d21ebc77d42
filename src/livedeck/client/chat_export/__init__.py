"""Export of chat logs of any size to files."""
