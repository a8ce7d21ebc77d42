"""HTTP layer of the client: requests, responses, errors, secrets and files."""
