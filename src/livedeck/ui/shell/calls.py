"""What calls a person who looks elsewhere: the bell, a notification of the desktop, the title of the window. Pure."""

from __future__ import annotations

from dataclasses import dataclass

from livedeck.monitor import Alarm, Snapshot
from livedeck.presentation.badges import SEVERITY_BADGES
from livedeck.ui.kit.control_strings import osc_notification, osc_title
from livedeck.ui.kit.line_filters import ascii_only

BELL = "\x07"


@dataclass(frozen=True, slots=True)
class Calls:
    """Which of them are wanted. `notification`: `osc9`, `osc777`, else none. `is_ascii`: in ASCII."""

    bell: bool = False
    notification: str = "off"
    window_title: bool = False
    is_ascii: bool = False

    def write(self, words: str) -> str:
        """The words as this terminal can show them."""
        return ascii_only(words) if self.is_ascii else words


def call_string(calls: Calls, snapshot: Snapshot) -> str:
    """The control string for the alarms that ring now, one for all of them (monitoring.md, "Bells"); or nothing."""
    rung = set(snapshot.bells)
    alarms = [alarm for alarm in snapshot.alarms if alarm.key in rung]
    if not alarms:
        return ""
    more = f", and {len(alarms) - 1} more" if len(alarms) > 1 else ""
    words = calls.write(f"{_words(alarms[0])}, {alarms[0].actual}{more}")
    return osc_notification(calls.notification, "livedeck", words) + (BELL if calls.bell else "")


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
