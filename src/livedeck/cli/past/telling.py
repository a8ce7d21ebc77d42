"""Commands that print the recorded past: `livedeck past show`, `episodes`, `search` and `handover`."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from datetime import datetime, timedelta

import click

from livedeck.cli.exit_codes import DONE
from livedeck.cli.formats import schema_name
from livedeck.cli.options import PLOT
from livedeck.cli.output import echo, echo_json, echo_lines
from livedeck.cli.past.asking import Past, past_command, print_lines, width
from livedeck.environment import terminal
from livedeck.report.facts import facts_of
from livedeck.report.handover import handover_lines, handover_markdown, handover_object, read_handover
from livedeck.report.recorded import gather
from livedeck.report.spans import Span
from livedeck.report.tables import entries_csv, episode_object, episodes_csv, history_csv, history_object
from livedeck.report.text import entry_lines, episode_lines, episode_sums, head_lines, sample_lines, stretch_text
from livedeck.report.timeline import matching, timeline
from livedeck.settings import Settings
from livedeck.text.values import safe

Work = Callable[[Past], Awaitable[int]]

_LAST_DAY = timedelta(days=1)


@click.command
@click.argument("event", metavar="EVENT")
@past_command("table", "json", "csv", has_plot=True)
def show_command(
    *, settings: Settings, event: str, since: datetime | None, until: datetime | None, output_format: str
) -> Work:
    """Print what happened on EVENT: samples, alarms and acknowledgements, actions, markers, the connection.

    EVENT: an id, a name, or the beginning of either, if unambiguous; deleted events too, as long as the
    history has them. Without --from and --to it prints the last show. --plot draws the samples. Reads the history of
    this machine or of the collector, never the platform.
    """

    async def work(past: Past) -> int:
        meant = past.event(event)
        span = past.span(since, until, await past.last_show(meant))
        recorded = await gather(past.reader, span, past.now, meant.event_id)
        entries = timeline(recorded)
        if output_format == "json":
            echo_json(history_object(recorded, meant, entries))
        elif output_format == "csv":
            echo(history_csv(recorded, entries), nl=False)
        else:
            head = head_lines(recorded, safe(meant.name or meant.event_id, 80))
            if output_format == PLOT:
                from livedeck.report.plot import facts_plot

                print_lines([*head, ""])
                echo_lines(facts_plot(facts_of(recorded, meant, settings.uptime_target, None), terminal().columns))
            else:
                print_lines([*head, *sample_lines(recorded)])
            lines = entry_lines(entries, width(), has_names=False) if entries else ["nothing recorded in that time"]
            print_lines(["", *lines])
        return DONE

    return work


@click.command
@click.argument("event", metavar="[EVENT]", required=False)
@past_command("table", "json", "csv")
def episodes_command(
    *, settings: Settings, event: str | None, since: datetime | None, until: datetime | None, output_format: str
) -> Work:
    """Print the cleared faults of EVENT, or of every event, with start and end.

    Without --from and --to it prints those of the last day. Reads the history of this machine or of the collector,
    never the platform. Start and end are times of samples. For faults that last, see `livedeck alarm list`.
    """
    del settings

    async def work(past: Past) -> int:
        meant = past.event(event) if event else None
        span = past.span(since, until, Span(past.now - _LAST_DAY, past.now))
        found = await past.reader.episodes(*span, meant.event_id if meant else None)
        episodes = sorted(found, key=lambda episode: episode.since)
        names = {event_id: safe(name, 80) for event_id, name in past.names().items()}
        if output_format == "json":
            objects = [episode_object(episode, names) for episode in episodes]
            echo_json({"schema": schema_name("past episodes"), "episodes": objects})
        elif output_format == "csv":
            echo(episodes_csv(episodes, names), nl=False)
        elif episodes:
            print_lines([*episode_lines(episodes, names, width()), "", *episode_sums(episodes)])
        else:
            print_lines([f"no fault is recorded from {stretch_text(span)} UTC"])
        return DONE

    return work


@click.command
@click.argument("text", metavar="TEXT...", nargs=-1, required=True)
@past_command("table", "json", "csv")
def search_command(
    *, settings: Settings, text: tuple[str, ...], since: datetime | None, until: datetime | None, output_format: str
) -> Work:
    """Print every history entry that has all words of TEXT, ignoring case, oldest first.

    Searches alarms with their reasons, notes and acknowledgements, actions, markers, events, and the connection.
    Without --from and --to it searches as far back as this machine keeps its own history. Reads the history of this
    machine or of the collector, never the platform.
    """
    words = " ".join(text)

    async def work(past: Past) -> int:
        span = past.span(since, until, Span(past.now - timedelta(days=settings.retention_days + 1), past.now))
        found = matching(timeline(await gather(past.reader, span, past.now, has_samples=False)), words)
        if output_format == "json":
            entries = [entry.as_object() for entry in found]
            echo_json({"schema": schema_name("past search"), "text": words, "entries": entries})
        elif output_format == "csv":
            echo(entries_csv(found), nl=False)
        elif found:
            print_lines([*entry_lines(found, width(), has_names=True)])
        else:
            print_lines([f"no record contains {safe(words, 80)!r}"])
        return DONE

    return work


@click.command
@past_command("table", "json", "markdown", has_range=False)
def handover_command(*, settings: Settings, output_format: str) -> Work:
    """Print the handover: what runs, what is wrong, who acknowledged it, what is shelved or silenced, what comes next.

    Reads the history of this machine or of the collector, never the platform, and prints how old its data are.
    """

    async def work(past: Past) -> int:
        handover = await read_handover(past.reader, past.now, settings.maintenance_windows())
        if output_format == "json":
            echo_json(handover_object(handover))
        elif output_format == "markdown":
            echo(handover_markdown(handover), nl=False)
        else:
            print_lines([*handover_lines(handover, width())])
        return DONE

    return work
