"""Tools for agents over the Model Context Protocol: `livedeck mcp` (agents.md)."""
