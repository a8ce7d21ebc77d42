"""livedeck: a terminal deck for live events on a video platform.

client    speaks the platform's HTTP JSON API; knows nothing of us
monitor   judges: polls through the client, yields frozen snapshots
service   is the documented platform on one machine; shares nothing with the client
ui        shows snapshots in a terminal, and asks for actions
cli       joins: the only room that constructs the others
settings  flags, environment and TOML made into one frozen value
wording   values made into text; imports nothing
slices    long work that lets the event loop go on; imports nothing
machine   what this machine says: variables, places of files, the terminal; imports nothing of ours
"""

__version__ = "0.1.0"
