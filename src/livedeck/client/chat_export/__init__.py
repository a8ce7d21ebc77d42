"""Chat logs of any size made into files."""
