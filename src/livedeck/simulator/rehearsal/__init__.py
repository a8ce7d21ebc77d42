"""Functions for rehearsals beyond the documented API: control API, commands, scenarios, workspaces."""
