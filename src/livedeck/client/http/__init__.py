"""How the client speaks: requests, answers, errors, secrets, files."""
