"""livedeck: a terminal deck for live events on a video platform.

text          values, times and segments made readable; imports nothing of ours
environment   what this machine says: variables, places of files, the terminal
egress        where notifications may go: public addresses, and what the settings name
atomic_file   files written whole or not at all
docs          the documentation as it is shipped
client        speaks the platform's HTTP JSON API; knows nothing of us
monitor       judges: polls through the client, yields frozen snapshots
presentation  words: values as cells, tables, JSON and CSV, without a terminal
operations    changes: every change of the platform as one Operation, and the Executor
ui            shows snapshots in a terminal, and asks for operations
settings      flags, environment and TOML made into one frozen value
simulator     the documented platform on one machine; shares nothing with the client
connect       a client of the platform that the settings describe, for scripts and for cli
cli           joins: the only room that constructs the others
"""

__version__ = "0.1.0"
