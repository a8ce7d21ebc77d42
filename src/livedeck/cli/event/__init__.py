"""Commands about one live event: checks, quality of service, chat, and waits for a state."""
