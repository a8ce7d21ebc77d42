"""The Chat screen: which messages, and their way to a file. What is exported is frozen as the key is pressed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable
from dataclasses import replace
from datetime import UTC, datetime
from os import stat_result
from pathlib import Path
from typing import TYPE_CHECKING

from livedeck.client import ChatExport, Invalid, plain_name
from livedeck.monitor import Severity
from livedeck.operations.schema import FieldValues
from livedeck.presentation import events
from livedeck.text import values
from livedeck.text.segments import StyleRole
from livedeck.text.times import TimeReference
from livedeck.ui.chat import form
from livedeck.ui.chat.jobs import ExportJob, JobState
from livedeck.ui.chat.screen import ChatScreen
from livedeck.ui.kit.dialogs.confirm import Confirm, Confirmation
from livedeck.ui.kit.dialogs.form import Form, FormResult, FormState

if TYPE_CHECKING:
    from livedeck.ui.app import Deck


def read(deck: Deck, _: str) -> None:
    """Read the log of the stream that is shown."""
    if why := _hindrance(deck):
        deck.tell(why, Severity.WARNING)
    else:
        _screen(deck).read()


def sift(deck: Deck, argument: str) -> Awaitable[None] | None:
    """Only some messages: by a form, or those that hold a text."""
    screen = _screen(deck)
    if not argument:
        return _sift(deck, screen)
    entries = {**screen.entries, "search": argument}
    screen.sift(replace(screen.sieve, search=argument), entries)
    return None


async def _sift(deck: Deck, screen: ChatScreen) -> None:
    blank = FormState("Show and export only", form.FILTER, screen.entries, save="Take", fresh=True)
    while True:
        filled = await deck.push_screen_wait(Form(blank, deck.clock.monotonic, lambda: _past(deck)))
        if filled is None:
            return
        try:
            sieve = form.sieve_of(form.FILTER.values(filled.entries, filled.entries, _past(deck)))
        except ValueError as error:
            blank = replace(blank, entered=filled.entries, note=str(error))
            continue
        screen.sift(sieve, filled.entries)
        return


def _past(deck: Deck) -> TimeReference:
    """What was written was written before now."""
    return replace(deck.desk.present(), past=True)


def everything(deck: Deck, _: str) -> None:
    """Every message again."""
    screen = _screen(deck)
    if screen.sieve:
        screen.sift(form.sieve_of({}), form.NO_FILTER)


def export(deck: Deck, _: str) -> Awaitable[None] | None:
    """Export the chat that is shown, by a form."""
    screen, running = _screen(deck), deck.exports.running
    wanted, state = screen.wanted(), deck.chosen()
    why = f"the chat of {running.name} is still being exported; wait, or stop it" if running else _hindrance(deck)
    if why or wanted is None or state is None:
        deck.tell(why, Severity.WARNING)
        return None
    return _export(deck, wanted, events.name(state))


async def _export(deck: Deck, wanted: ChatExport, name: str) -> None:
    assert deck.api is not None
    file = deck.downloads / f"{plain_name(name)}-{plain_name(wanted.stream_id)}"
    entries: FieldValues = {"format": "csv", "file": str(file), "zone": "", "safe_csv": False}
    blank = FormState(f"Export chat of {name}", form.ORDER, entries, save="Export", fresh=True)
    while True:
        filled = await deck.push_screen_wait(Form(blank, deck.clock.monotonic, deck.desk.present))
        if filled is None:
            return
        try:
            order = _order(filled, deck.desk.present())
        except ValueError as error:
            blank = replace(blank, entered=filled.entries, note=str(error))
            continue
        to = deck.downloads / order.file
        there = await asyncio.to_thread(_standing, to)
        if there is None or await deck.push_screen_wait(Confirm(_replacing(to, there), deck.clock.monotonic)):
            break
        blank = replace(blank, entered=filled.entries, note="")
    sifted = replace(wanted, format=order.format, zone=order.zone, safe_csv=order.safe_csv)
    deck.exports.begin(deck.api, sifted, name, to, replace_=there is not None)


def _order(filled: FormResult, present: TimeReference) -> form.Order:
    """What the form means. Raises ValueError."""
    try:
        return form.order_of(form.ORDER.values(filled.entries, filled.entries, present))
    except Invalid as error:
        raise ValueError(f"{error.field} {error.limit}") from None


def _standing(path: Path) -> stat_result | None:
    """What is known of a file that is there; of what cannot be replaced the export itself says why."""
    try:
        return path.stat() if path.is_file() else None
    except OSError:
        return None


def _replacing(to: Path, there: stat_result) -> Confirmation:
    written = datetime.fromtimestamp(there.st_mtime, UTC)
    body = (
        (f"It is there already: {values.size(there.st_size)}, written {written:%d %b %Y %H:%M:%S}Z.", StyleRole.TEXT),
        ("The export takes its place once it is whole; until then it stays as it is.", StyleRole.TEXT),
        (values.safe(str(to), 400), StyleRole.DIM),
    )
    return Confirmation(f"Replace {values.safe(to.name, 60)}?", body, "Replace")


def stop(deck: Deck, _: str) -> Awaitable[None] | None:
    """Stop the export, if that is wanted."""
    running = deck.exports.running
    if running is None:
        deck.tell("no export is under way", Severity.INFO)
        return None
    return _stop(deck, running)


async def _stop(deck: Deck, running: ExportJob) -> None:
    body = (("What has come is dropped; nothing of it is left.", StyleRole.TEXT),)
    question = Confirmation(f"Stop the export of {running.name}?", body, "Stop it", keep="Go on")
    if await deck.push_screen_wait(Confirm(question, deck.clock.monotonic)) and deck.exports.running:
        await deck.exports.stop()
        deck.tell(f"export chat of {running.name} stopped; nothing of it is left")


def copy(deck: Deck, _: str) -> None:
    """Copy where the file is."""
    job = _done(deck)
    if job is not None:
        deck.copy(str(job.to.absolute()), f"path of {values.safe(job.to.name, 60)}")


def open_(deck: Deck, _: str) -> Awaitable[None] | None:
    """Open the file."""
    job = _done(deck)
    if job is None:
        return None
    return _open(deck, job)


async def _open(deck: Deck, job: ExportJob) -> None:
    name = values.safe(job.to.name, 60)
    why = await deck.opener(job.to.absolute()) if deck.opener else "this deck was given no program to open files with"
    if why:
        deck.tell(f"{name} is not opened: {why}", Severity.WARNING)
    else:
        deck.tell(f"{name} is handed to its program")


def _done(deck: Deck) -> ExportJob | None:
    """The last export, if there is a file; else it is said that there is none."""
    job = deck.exports.job
    if job is None or job.state is not JobState.DONE:
        deck.tell("no file yet: the export is still under way" if deck.exports.running else "no exported file yet")
        return None
    return job


def next_stream(deck: Deck, _: str) -> None:
    """The next stream of the event."""
    _screen(deck).step_stream(1)


def previous_stream(deck: Deck, _: str) -> None:
    """The stream before."""
    _screen(deck).step_stream(-1)


def next_event(deck: Deck, _: str) -> None:
    """The next event."""
    _screen(deck).step_event(1)


def previous_event(deck: Deck, _: str) -> None:
    """The event before."""
    _screen(deck).step_event(-1)


def _hindrance(deck: Deck) -> str:
    if deck.api is None:
        return "this deck was given no way to the platform"
    return "" if _screen(deck).wanted() else "it has no stream: there is no chat to read"


def _screen(deck: Deck) -> ChatScreen:
    return deck.screen_of(ChatScreen)
