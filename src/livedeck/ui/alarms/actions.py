"""What a person does about an alarm: the one that was shown as the key was pressed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from dataclasses import replace
from typing import TYPE_CHECKING

from livedeck.monitor import Alarm, AlarmRefused, AlarmState, Severity
from livedeck.operations.operation import Target
from livedeck.operations.schema import Field, FieldValues, FormSchema, Kind
from livedeck.text import values
from livedeck.ui.alarms.screen import TABS, AlarmsScreen
from livedeck.ui.kit.dialogs.form import Form, FormState
from livedeck.ui.shell.screen import DeckScreen

if TYPE_CHECKING:
    from livedeck.ui.app import Deck


UNTIL_OVER = "until it is over"


REASON = Field("reason", "Reason", required=True, hint="why nobody needs to see it")

MINUTES = Field("minutes", "For", Kind.CHOICE, choices=("15 min", "30 min", "60 min", UNTIL_OVER))


SHELVE = FormSchema((MINUTES, REASON), dict)

REMOVE = FormSchema((REASON,), dict)

NOTE = FormSchema((Field("text", "Note", hint="empty takes it away"),), dict)


Deed = Callable[[Alarm, FieldValues], None]


def acknowledge(deck: Deck, _: str) -> Awaitable[None] | None:
    """Promise to act."""
    alarm = _seen(deck, owed=True)
    if alarm is None:
        deck.tell("no alarm awaits an acknowledgement", Severity.INFO)
        return None
    return _acknowledge(deck, alarm)


async def _acknowledge(deck: Deck, alarm: Alarm) -> None:
    if deck.monitor.acknowledge(alarm.key):
        await _told(deck, alarm, "alarm.acknowledge", "acknowledged")
    else:
        deck.tell(f"{_name(alarm)}: nothing to acknowledge any more", Severity.INFO)


def shelve(deck: Deck, _: str) -> Awaitable[None] | None:
    """Out of sight for a time."""

    def deed(alarm: Alarm, entries: FieldValues) -> None:
        word = str(entries["minutes"])
        minutes = None if word == UNTIL_OVER else float(word.split(maxsplit=1)[0])
        deck.monitor.shelve(alarm.key, minutes, str(entries["reason"]))

    return _filled(deck, "shelve", SHELVE, {"minutes": "15 min", "reason": ""}, deed)


def out_of_service(deck: Deck, _: str) -> Awaitable[None] | None:
    """Out of sight until somebody brings it back."""

    def deed(alarm: Alarm, entries: FieldValues) -> None:
        deck.monitor.out_of_service(alarm.key, str(entries["reason"]))

    return _filled(deck, "out of service", REMOVE, {"reason": ""}, deed)


def note(deck: Deck, argument: str) -> Awaitable[None] | None:
    """Words beside it."""
    alarm = _seen(deck)

    def deed(alarm: Alarm, entries: FieldValues) -> None:
        deck.monitor.note(alarm.key, str(entries["text"]))

    known = {"text": alarm.note if alarm else ""}
    return _filled(deck, "note", NOTE, known, deed, entered={"text": argument} if argument else None)


def bring_back(deck: Deck, _: str) -> Awaitable[None] | None:
    """In sight again."""
    alarm = _seen(deck, away=True)
    if alarm is None:
        deck.tell("no alarm is shelved or out of service here", Severity.INFO)
        return None
    return _bring_back(deck, alarm)


async def _bring_back(deck: Deck, alarm: Alarm) -> None:
    back = deck.monitor.unshelve if alarm.state is AlarmState.SHELVED else deck.monitor.in_service
    try:
        back(alarm.key)
    except AlarmRefused as error:
        deck.tell(f"{_name(alarm)}: {error}", Severity.WARNING)
    else:
        await _told(deck, alarm, "alarm.return", "brought back")


def _filled(
    deck: Deck, what: str, sheet: FormSchema, known: FieldValues, deed: Deed, *, entered: FieldValues | None = None
) -> Awaitable[None] | None:
    alarm = _seen(deck)
    if alarm is None:
        deck.tell("no alarm is there", Severity.INFO)
        return None
    blank = FormState(f"{_name(alarm)}: {what}", sheet, known, entered, save=what.capitalize())
    return _fill(deck, alarm, blank, what, deed)


async def _fill(deck: Deck, alarm: Alarm, blank: FormState, what: str, deed: Deed) -> None:
    """The form, again with all that was typed where the monitor refuses."""
    while True:
        filled = await deck.push_screen_wait(Form(blank, deck.clock.monotonic, deck.desk.present))
        if filled is None:
            return
        try:
            deed(alarm, filled.entries)
        except AlarmRefused as error:
            blank = replace(blank, entered=filled.entries, note=str(error))
            continue
        said = ", ".join(str(entry) for entry in filled.entries.values() if entry)
        await _told(deck, alarm, f"alarm.{what.replace(' ', '_')}", what, said)
        return


async def _told(deck: Deck, alarm: Alarm, action: str, what: str, detail: str = "") -> None:
    deck.tell(f"{_name(alarm)}: {what}" + (f", {values.safe(detail, 80)}" if detail else ""))
    target = Target("alarm", "/".join(alarm.key), _name(alarm))
    await deck.desk.did(action, target, detail)


def _name(alarm: Alarm) -> str:
    return f"{values.safe(alarm.subject, 40)} {alarm.kind}"


def _seen(deck: Deck, *, owed: bool = False, away: bool = False) -> Alarm | None:
    """The alarm under the cursor of the screen in front; where that has none, the one that is meant."""
    if deck.snapshot is None:
        return None
    screen = deck.screen_of(DeckScreen)
    return screen.alarm() or screen.alarm_meant(deck.snapshot, owed=owed, away=away)


def next_(deck: Deck, argument: str) -> None:
    """The next log, or the one that is named."""
    if not deck.screen_of(AlarmsScreen).turn(1, argument):
        deck.tell(f"there is no log {argument}: {', '.join(TABS)}", Severity.WARNING)


def previous(deck: Deck, _: str) -> None:
    """The log before."""
    deck.screen_of(AlarmsScreen).turn(-1)
