"""What a rehearsal needs and no participant may do: the admin door, commands, scenarios, workspaces."""
