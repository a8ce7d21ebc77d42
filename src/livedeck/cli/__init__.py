"""cli JOINS. The only room that constructs the others.

`main` imports a command's module when that command is called, so that `--help` and `--version` cost next to nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

import click

from livedeck import __version__
from livedeck.cli.options import CommandGroup, appearance, platform

if TYPE_CHECKING:
    from datetime import datetime

    from click.shell_completion import CompletionItem


COMMANDS = {
    "alarms": "print what is wrong, most urgent first, once or as it changes",
    "chat": "export the chat of a stream to a file or a pipe",
    "check": "check an event, or all, as a plugin of a monitoring system: exit codes of Nagios",
    "collect": "watch without a screen, as a service: keep the history, tell who is to be told",
    "config": "make, show and check the settings file",
    "demo": "the deck on a simulated platform of its own, without an account",
    "docs": "show a page of the documentation",
    "doctor": "check the settings, the token, the platform, the clock, the terminal and the files",
    "episodes": "print the faults that are over: since when, until when, of an event or of all",
    "handover": "print what the next person must know: what runs, what is wrong, who promised what, what comes",
    "help": "show the help of a command",
    "history": "print what happened on an event; look after the file of the past, take a recording out of it",
    "keys": "print the keys in force, as a table",
    "metrics": "print what is known now for Prometheus; write a dashboard and alert rules",
    "notify": "try who is told of alarms, and see what waits to be sent",
    "preflight": "say GO or NO-GO for an event, with reasons",
    "profile": "set the content of an event, so that no alarm expects anything else",
    "qos": "print the quality samples of one event, once or as they come",
    "rebaseline": "take what an event sends now as usual",
    "record": "watch without a screen, and write a recording of it",
    "replay": "open a recording on any machine, or judge it anew",
    "report": "report a show or a day: uptime, outages, alarms, who answered; Markdown, JSON, CSV, a page",
    "schema": "print the JSON Schema of what a command prints with --json",
    "screenshots": "make the pictures of the documentation from a seed and a fixed clock",
    "search": "find words in what is recorded: alarms, notes, actions, markers, events",
    "serve": "run the simulated platform on this machine",
    "status": "print what is on air and what is wrong, and leave",
    "wait": "return once an event is on air, healthy or completed",
    "wallboard": "a screen for the wall of a control room: asks nothing, changes nothing",
}

PLACES = {
    "alarms": "alarm:command",
    "chat": "event.chat:command",
    "check": "event.check:command",
    "collect": "collect.command:command",
    "episodes": "past.telling:episodes_command",
    "handover": "past.telling:handover_command",
    "help": "docs:help_command",
    "history": "past.file:command",
    "keys": "config:keys_command",
    "metrics": "collect.metrics:command",
    "notify": "collect.notify:command",
    "preflight": "event.preflight:command",
    "profile": "event.expectation:profile_command",
    "qos": "event.qos:command",
    "rebaseline": "event.expectation:rebaseline_command",
    "record": "past.recording:record_command",
    "replay": "past.recording:replay_command",
    "report": "past.report:command",
    "search": "past.telling:search_command",
    "wait": "event.wait:command",
    "wallboard": "wall.command:command",
}
"""Module and name of each command that is not `command` of the module of its name."""

GROUPS = {
    "events": "list, read and change live events",
    "streams": "list, read and schedule the streams of events",
    "rooms": "list, read, make and delete meeting rooms",
    "relays": "list, read and change the relay profiles of a room",
    "posters": "list, read, make and delete the posters of a video",
    "subtitles": "list, read, make and change the subtitle tracks of a video",
    "annotations": "list, read, make and change the annotations of a video",
    "materials": "list, read, make and change the files beside a video",
}
"""The nouns of the platform: `cli/objects/groups.py` makes their commands of the operations."""

EPILOG = """\b
Exit codes: 0 done, 1 a fault, 2 wrong use or settings, 3 the platform refuses, 4 it cannot be reached,
5 sent and not known what became of it, 6 not so (not confirmed, not in time), 128 + n ended by signal n.
Settings: flags, then LIVEDECK_BASE_URL, LIVEDECK_UPLOAD_URL, LIVEDECK_TOKEN, then a TOML file."""


_WORDS = "livedeck.words"
"""Where the words behind the options of `livedeck` are kept while a shell completes a line."""


class _Lazy(CommandGroup):
    """Knows its commands by name and purpose; imports one when it is called."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return [*COMMANDS, *GROUPS]

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name in GROUPS:
            from livedeck.cli.objects.groups import NounGroup

            return NounGroup(cmd_name, GROUPS[cmd_name])
        if cmd_name not in COMMANDS:
            return None
        from livedeck.cli.examples import with_examples

        module, _, name = PLACES.get(cmd_name, f"{cmd_name}:command").partition(":")
        command = getattr(import_module(f"livedeck.cli.{module}"), name)
        return with_examples(cmd_name, command) if isinstance(command, click.Command) else None

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; what would have Textual write secrets elsewhere is unset before that is imported.

        A setting that cannot be used ends it in a line, also where a command reads it before it runs.
        """
        from livedeck.environment import SettingsError, ignore_telltale_variables

        for name in ignore_telltale_variables():
            click.echo(f"livedeck: {name} is not heeded: it would write keys and secrets where others read", err=True)
        try:
            return super().invoke(ctx)
        except SettingsError as error:
            from livedeck.cli.exit_codes import USAGE
            from livedeck.cli.output import echo
            from livedeck.text.secrets import masked

            echo(f"livedeck: {masked(str(error))}", err=True)
            ctx.exit(USAGE)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """As click does it; whoever presses tab waits for no import of a command. Raises UsageError."""
        if ctx.resilient_parsing:
            ctx.meta[_WORDS] = args
            return None, None, []
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """What can be completed behind the words of the line, by files of its own."""
        from livedeck.cli.completion import answer
        from livedeck.environment import SettingsError

        try:
            return answer(self, ctx.meta.get(_WORDS, ()), incomplete)
        except SettingsError:  # the command itself says it; here it would stand in the middle of a line
            return []

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))
        with formatter.section("What the platform has, each with list, get and every change"):
            formatter.write_dl(list(GROUPS.items()))


@click.group(
    cls=_Lazy, invoke_without_command=True, epilog=EPILOG, context_settings={"help_option_names": ["-h", "--help"]}
)
@click.version_option(__version__, prog_name="livedeck", message="%(prog)s %(version)s")
@platform
@appearance
@click.option("--at", metavar="MOMENT", help="Begin in the past: 21:04, 'yesterday 21:04', 2026-11-21T21:04, -15m.")
@click.pass_context
def main(ctx: click.Context, /, at: str | None, **flags: Any) -> None:
    """A terminal deck for live events on a video platform: what is on air, what is wrong, since when.

    Without a command: the deck on the platform of the settings.
    """
    ctx.obj = flags
    if at and ctx.invoked_subcommand is not None:
        raise click.UsageError("--at is where the deck begins; `livedeck replay` and `livedeck history` take their own")
    if ctx.invoked_subcommand is None:
        from livedeck.cli.exit_codes import run

        moment = _past_moment(at) if at else None
        ctx.exit(run(lambda: _start(flags, moment), is_screen=True))


def _past_moment(text: str) -> datetime:
    from livedeck.cli.past.asking import past_moment

    return past_moment(text)


async def _start(flags: Mapping[str, Any], at: datetime | None = None) -> int:
    """The deck of the settings in force, or what a first start chooses. Returns the exit code. Raises SettingsError."""
    from livedeck.cli.process import lasting_imports
    from livedeck.environment import no_screen_reason

    has_screen = not no_screen_reason()
    with lasting_imports():
        from livedeck.cli.deck import run_deck
        from livedeck.settings import WatchedLimits, load, load_display

        if has_screen:
            import livedeck.ui.app  # noqa: F401  the deck needs it

    settings = load(**flags)
    if settings.base_url or settings.collector_urls or not has_screen:
        return await run_deck(settings, WatchedLimits(), at)
    from livedeck.cli.settings_file import first_start
    from livedeck.ui.general.welcome import Choice

    choice = await first_start(flags)
    if choice is Choice.DEMO:
        from livedeck.cli.demo import run_demo
        from livedeck.simulator import Simulator

        return await run_demo(Simulator(), load_display(), read_only=bool(flags["read_only"]))
    return choice if isinstance(choice, int) else await run_deck(load(**flags), WatchedLimits())
