"""What a rehearsal needs and no participant may do: the control API, commands, scenarios, workspaces."""
