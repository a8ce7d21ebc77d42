"""livedeck: a terminal deck for live events on a video platform.

text          values, times and segments made readable; imports no other room
environment   facts of this machine: variables, paths of files, the terminal
egress        hosts that notifications may reach: public ones, and those in the settings
atomic_file   files written whole or not at all
docs          the pages of the documentation
client        speaks the platform's HTTP JSON API; scripts can use it without the deck
monitor       polls through the client, judges the events, yields frozen snapshots
presentation  values as cells, tables, JSON and CSV, without a terminal
operations    every change of the platform as an Operation, and the Executor of all
ui            shows snapshots in a terminal, and asks for operations
settings      flags, environment and TOML made into one frozen value
simulator     the documented platform on one machine; shares nothing with the client
connect       a client of the platform that the settings describe, for scripts and for cli
cli           commands; the only room that constructs the others
"""

__version__ = "0.1.0"
