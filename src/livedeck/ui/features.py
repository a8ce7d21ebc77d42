"""List of features. A new feature needs one line here."""

from __future__ import annotations

from livedeck.ui.alarms.actions import FEATURE as ALARMS
from livedeck.ui.chat.actions import FEATURE as CHAT
from livedeck.ui.collector.actions import FEATURE as COLLECTOR
from livedeck.ui.events.actions import FEATURE as EVENTS
from livedeck.ui.general.actions import FEATURE as GENERAL
from livedeck.ui.past.actions import FEATURE as PAST
from livedeck.ui.qos.actions import FEATURE as QOS
from livedeck.ui.rooms.actions import FEATURE as ROOMS
from livedeck.ui.shell.context import Feature
from livedeck.ui.streams.actions import FEATURE as STREAMS
from livedeck.ui.videos.actions import FEATURE as VIDEOS
from livedeck.ui.viewers.actions import FEATURE as VIEWERS

FEATURES: tuple[Feature, ...] = (GENERAL, EVENTS, STREAMS, ALARMS, ROOMS, VIDEOS, QOS, CHAT, VIEWERS, PAST, COLLECTOR)
"""Features, in the order of their actions in commands and palette. Tabs are in the order of their keys."""
