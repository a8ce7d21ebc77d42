"""Functions for a rehearsal that participants do not have: control API, commands, scenarios, workspaces."""
