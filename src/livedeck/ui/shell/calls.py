"""What calls a person who looks elsewhere: the bell, a notification of the desktop, the title of the window."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from livedeck.monitor import Alarm, AlarmKey, Snapshot
from livedeck.presentation.badges import SEVERITY_BADGES
from livedeck.ui.kit.control_strings import osc_notification, osc_title
from livedeck.ui.kit.line_filters import ascii_only

BELL = "\x07"

NOTIFICATION_GAP = timedelta(seconds=5)
"""Between two notifications at least: a desktop shows them one after the other."""


@dataclass(frozen=True, slots=True)
class Calls:
    """Which of them are wanted. `notification`: `osc9`, `osc99`, `osc777`, else none. `is_ascii`: in ASCII."""

    bell: bool = False
    notification: str = "off"
    window_title: bool = False
    is_ascii: bool = False

    def write(self, words: str) -> str:
        """The words as this terminal can show them."""
        return ascii_only(words) if self.is_ascii else words


class Caller:
    """Calls for the alarms that ring, and keeps which of them the desktop was not told of yet."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._untold = set[AlarmKey]()
        self._told_at: datetime | None = None

    def call_string(self, snapshot: Snapshot) -> str:
        """The control string for what rings now, one for all of it (monitoring.md, "Bells"); or nothing."""
        rung = set(snapshot.bells)
        self._untold |= rung
        untold = [alarm for alarm in snapshot.alarms if alarm.key in self._untold]
        alarms = [alarm for alarm in untold if alarm.needs_ack or alarm.key in rung]
        self._untold = {alarm.key for alarm in alarms}
        bell = BELL if self._calls.bell and any(alarm.key in rung for alarm in alarms) else ""
        since = snapshot.at - self._told_at if self._told_at else NOTIFICATION_GAP
        if not alarms or timedelta() <= since < NOTIFICATION_GAP:
            return bell
        self._untold, self._told_at = set(), snapshot.at
        more = f", and {len(alarms) - 1} more" if len(alarms) > 1 else ""
        words = self._calls.write(f"{_words(alarms[0])}, {alarms[0].actual}{more}")
        return osc_notification(self._calls.notification, "livedeck", words) + bell


def title_string(calls: Calls, snapshot: Snapshot, profile: str) -> str:
    """The control string that calls the window by the most urgent alarm that nobody has answered, and by how many more
    there are; nothing where that is not wanted.
    """
    if not calls.window_title:
        return ""
    waiting = [alarm for alarm in snapshot.alarms if alarm.needs_ack]
    more = f" +{len(waiting) - 1}" if len(waiting) > 1 else ""
    words = f"{_words(waiting[0])}{more} - " if waiting else ""
    return osc_title(calls.write(f"{words}livedeck {profile}"))


def _words(alarm: Alarm) -> str:
    glyph, word, _ = SEVERITY_BADGES[alarm.severity]
    return f"{glyph} {word} {alarm.subject} {alarm.kind}"
