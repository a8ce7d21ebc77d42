"""`livedeck alarm explain`: why an event has alarms or none, and what would raise the next one."""

from __future__ import annotations

from datetime import datetime
from typing import Any

import click

from livedeck.cli import options
from livedeck.cli.exit_codes import DONE, FAULT, NOT_SO, code_of_link, run
from livedeck.cli.formats import schema_name
from livedeck.cli.lookup import alarm_kind, find_known_event, match_event
from livedeck.cli.options import formats, merge_flags, platform
from livedeck.cli.output import echo, echo_json
from livedeck.cli.past.asking import past_moment
from livedeck.cli.wiring import SystemClock, open_watch
from livedeck.monitor import AlarmRefused, Explanation, PastError, Playback
from livedeck.presentation.explanation import explanation_lines, explanation_object, explanation_title, setting_text
from livedeck.settings import Settings, SettingsError, load, setting_location

_LOOKED_FOR = 60.0
"""Maximum seconds to wait for the first samples, because an explanation needs samples."""

_PATIENCE = 20.0
"""Maximum seconds to wait until late samples prove that the encoder sends or has left."""

_CELLS = 12
"""Width of the labels, in terminal cells."""


@click.command
@click.argument("event", metavar="EVENT")
@click.argument("kind", metavar="[KIND]", type=alarm_kind, required=False)
@options.at()
@formats("table", "json")
@platform
@click.pass_context
def command(
    ctx: click.Context, /, *, event: str, kind: str | None, at: str | None, output_format: str, **flags: Any
) -> None:
    """Explain the alarms of EVENT: what is judged, the next possible alarms, silent alarms with reasons, the limits.

    EVENT: an id, a name, or the beginning of either. KIND, such as NO_INGEST, explains only this kind, with its
    evidence and every limit that it reads. Uses the collector if the settings name one; otherwise this command judges
    the samples of the platform and of this machine's history. --at reads that history; "not recorded" marks the parts
    that it does not store. If the platform does not respond, the collector explains the last known state of the
    event; the exit code is then 4, or 3 after a refusal. Exit code 6 if the event is not watched. `livedeck notify
    explain` says who is notified.
    """
    moment = past_moment(at) if at else None

    async def work() -> int:
        settings = load(**merge_flags(ctx, flags))
        try:
            asked = _then(settings, event, kind or "", moment) if moment else _now(settings, event, kind or "")
            found, code = await asked
        except (PastError, AlarmRefused) as error:
            echo(f"livedeck alarm explain: {error}", err=True)
            return FAULT
        if found and output_format == "json":
            echo_json({"schema": schema_name("alarm explain"), **explanation_object(found)})
        elif found:
            echo("\n".join(_text(found, of_collector=bool(settings.collector_urls))))
        return code

    ctx.exit(run(work))


async def _now(settings: Settings, words: str, kind: str) -> tuple[Explanation | None, int]:
    """Return the explanation at present, or None, and the exit code.

    A collector explains an event that it knows, even while the platform is silent.
    """
    async with open_watch(settings) as watch:
        snapshot = await watch.feed.wait_ready(_LOOKED_FOR, _PATIENCE)
        if code := code_of_link(snapshot.link):
            echo(f"livedeck alarm explain: cannot watch: {snapshot.link.why}", err=True)
        if code and not snapshot.events:
            return None, code
        event = await find_known_event(watch.api, snapshot, words)
        if watch.unread:
            echo(f"livedeck alarm explain: {watch.unread}", err=True)
        return _watched(await watch.feed.explain(event.id, kind), words, code)


async def _then(settings: Settings, words: str, kind: str, at: datetime) -> tuple[Explanation | None, int]:
    """Return the explanation at a time of the past, or None, and the exit code. Raises PastError."""
    path = settings.history_file()
    if path is None:
        raise SettingsError("no history is kept, so there is no past to explain: set `history` in the settings")
    past = await Playback.open(path, SystemClock(), at)
    try:
        event = match_event((state.event for state in past.snapshot.events), words)
        return _watched(await past.explain(event.id, kind), words, DONE)
    finally:
        await past.close()


def _watched(found: Explanation | None, words: str, code: int) -> tuple[Explanation | None, int]:
    """Return the explanation and the exit code. Without an explanation, print that the event is not watched."""
    if found is None:
        echo(f"livedeck alarm explain: {words!r} is not watched", err=True)
    return found, NOT_SO if found is None else code


def _text(explanation: Explanation, *, of_collector: bool) -> list[str]:
    """Return the lines of the explanation, with file and line of each setting."""

    def place(keys: tuple[str, ...]) -> str:
        return f"{setting_text(keys)}, {setting_location(keys)}"

    lines = [explanation_title(explanation)]
    for label, texts in explanation_lines(explanation, place, of_collector=of_collector):
        lines += [f"{'' if row else label:<{_CELLS}}{text}" for row, text in enumerate(texts)]
    return lines
