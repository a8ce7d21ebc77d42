"""Ways to call a person away from the screen: bell, desktop notification, window title."""

from __future__ import annotations

from datetime import datetime, timedelta

from livedeck.monitor import Alarm, AlarmKey, Snapshot
from livedeck.presentation.badges import SEVERITY_BADGES
from livedeck.record import Record
from livedeck.text.values import evidence_text
from livedeck.ui.kit.control_strings import osc_notification, osc_title
from livedeck.ui.kit.line_filters import ascii_only

BELL = "\x07"

NOTIFICATION_GAP = timedelta(seconds=5)
"""Minimum time between two notifications. A desktop queues notifications, so more of them would arrive late."""


class Calls(Record):
    """Ways to alert a person that the settings switch on: bell, desktop notification, window title.

    `notification`: kind of control string (`osc9`, `osc99`, `osc777`), or another value for none.

    `is_ascii`: convert texts to ASCII.
    """

    bell: bool = False
    notification: str = "off"
    window_title: bool = False
    is_ascii: bool = False

    def write(self, words: str) -> str:
        """Return the text in a form that this terminal can show."""
        return ascii_only(words) if self.is_ascii else words


class Caller:
    """Calls a person to ringing alarms. Remembers the alarms that await a desktop notification."""

    def __init__(self, calls: Calls) -> None:
        self._calls = calls
        self._unsent = set[AlarmKey]()
        self._sent_at: datetime | None = None

    def call_string(self, snapshot: Snapshot) -> str:
        """Return the control string that rings and notifies for ringing alarms; empty if none rings.

        The string has a bell. If the last notification is at least `NOTIFICATION_GAP` ago, it also has a notification
        of all alarms without one so far. See monitoring.md, "Bells".
        """
        rung = set(snapshot.bells)
        self._unsent |= rung
        unsent = [alarm for alarm in snapshot.alarms if alarm.key in self._unsent]
        alarms = [alarm for alarm in unsent if alarm.needs_ack or alarm.key in rung]
        self._unsent = {alarm.key for alarm in alarms}
        bell = BELL if self._calls.bell and any(alarm.key in rung for alarm in alarms) else ""
        since = snapshot.at - self._sent_at if self._sent_at else NOTIFICATION_GAP
        if not alarms or timedelta() <= since < NOTIFICATION_GAP:
            return bell
        self._unsent, self._sent_at = set(), snapshot.at
        more = f", and {len(alarms) - 1} more" if len(alarms) > 1 else ""
        words = self._calls.write(f"{_words(alarms[0])}, {evidence_text(alarms[0])}{more}")
        return osc_notification(self._calls.notification, "livedeck", words) + bell


def title_string(calls: Calls, snapshot: Snapshot, profile: str) -> str:
    """Return the control string that sets the window title.

    The title has the most urgent alarm that awaits an acknowledgement and the number of the others. Empty if
    `window_title` is off.
    """
    if not calls.window_title:
        return ""
    waiting = [alarm for alarm in snapshot.alarms if alarm.needs_ack and not alarm.silenced]
    more = f" +{len(waiting) - 1}" if len(waiting) > 1 else ""
    words = f"{_words(waiting[0])}{more} - " if waiting else ""
    return osc_title(calls.write(f"{words}livedeck {profile}"))


def _words(alarm: Alarm) -> str:
    glyph, word, _ = SEVERITY_BADGES[alarm.severity]
    return f"{glyph} {word} {alarm.subject} {alarm.kind}"
