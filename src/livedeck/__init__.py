"""livedeck: a terminal deck for live events on a video platform.

text          values, times and segments as text; imports no other room
environment   facts of this machine: variables, paths of files, the terminal
egress        hosts that notifications may reach: public hosts, and hosts in the settings
atomic_file   writes files whole or not at all
docs          pages of the documentation
client        client of the platform's HTTP JSON API; scripts can use it without the deck
monitor       polls through the client, judges the events, yields frozen snapshots
presentation  values as cells, tables, JSON and CSV, without a terminal
operations    every change of the platform as an Operation, and the Executor that runs them
ui            shows snapshots in a terminal and requests operations
settings      merges flags, environment variables and the TOML file into one frozen value
simulator     imitation of the documented platform on one machine; shares no code with the client
connect       makes a client of the platform in the settings, for scripts and for cli
cli           commands; the only room that constructs the others
"""

__version__ = "0.1.0"
