"""What the client speaks of: one file for each noun of the API."""
