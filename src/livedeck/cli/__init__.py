"""Command line: `main`, and the tables of commands. Only this room connects the others (architecture.md).

`main` imports a command when it is called, so `--help` and `--version` cost next to nothing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import click

from livedeck.cli import options
from livedeck.cli.command_tree import CommandTree, NounGroup, did_you_mean, flag_text, guessed, guessed_extra
from livedeck.cli.description import children, purposes
from livedeck.cli.options import appearance, platform, rehearsal

if TYPE_CHECKING:
    from datetime import datetime

    from click.shell_completion import CompletionItem


GROUPS = {
    "": "A terminal deck for live events on a video platform",
    "event": "Live events, with their streams, chat and quality of service",
    "room": "Meeting rooms and their relay profiles",
    "video": "Recordings of events, with their posters, subtitles, annotations and materials",
    "show": "Shows as files: what events, rooms and videos should be like",
    "alarm": "Alarms: what is wrong now and why, and your actions on it",
    "silence": "Silences and maintenance windows: alarms that neither ring nor notify for a time",
    "past": "The history: what happened, recordings and replays, and the history file",
    "change": "Changes with an unknown outcome",
    "drill": "Drills: scenarios that grade how you react, and the scores so far",
    "collector": "The collector, which watches as a service, with its tokens and its dashboard",
    "notify": "Notifications: who is notified, targets and unsent messages",
    "config": "The settings and the keys in force, and the settings file",
    "event stream": "The streams of events",
    "room relay": "The relay profiles of a room: name, address and stream key",
    "video poster": "The posters of a video",
    "video subtitle": "The subtitle tracks of a video",
    "video annotation": "The annotations of a video",
    "video material": "The materials of a video: additional files",
    "notify dead": "Dead letters: messages that livedeck has given up",
    "collector token": "The access tokens of the collector, for decks and walls",
}
"""Groups of the command tree: path -> purpose."""

PLACES = {
    "event preflight": "event.preflight:command",
    "event wait": "event.wait:command",
    "event check": "event.check:command",
    "event qos": "event.qos:command",
    "event chat": "event.chat:command",
    "event content": "event.expectation:content_command",
    "event rebaseline": "event.expectation:rebaseline_command",
    "show apply": "show.command:apply_command",
    "show diff": "show.command:diff_command",
    "show export": "show.export:command",
    "status": "status:command",
    "alarm list": "alarm:list_command",
    "alarm ack": "alarm:ack_command",
    "alarm close": "alarm:close_command",
    "alarm unack": "alarm:unack_command",
    "alarm shelve": "alarm:shelve_command",
    "alarm unshelve": "alarm:unshelve_command",
    "alarm note": "alarm:note_command",
    "alarm explain": "explain:command",
    "alarm kpi": "kpi:command",
    "alarm link": "alarm:link_command",
    "silence list": "silence:list_command",
    "silence add": "silence:add_command",
    "silence extend": "silence:extend_command",
    "silence end": "silence:end_command",
    "past show": "past.telling:show_command",
    "past episodes": "past.telling:episodes_command",
    "past search": "past.telling:search_command",
    "past report": "past.report:command",
    "past handover": "past.telling:handover_command",
    "past record": "past.recording:record_command",
    "past replay": "past.recording:replay_command",
    "past convert": "past.conversion:convert_command",
    "past check": "past.file:check_command",
    "past export": "past.file:export_command",
    "past prune": "past.file:prune_command",
    "past vacuum": "past.file:vacuum_command",
    "past salvage": "past.file:salvage_command",
    "change list": "change:list_command",
    "change close": "change:close_command",
    "wall": "wall.command:command",
    "demo": "demo:command",
    "serve": "serve:command",
    "drill play": "drill.play:command",
    "drill list": "drill.scores:list_command",
    "drill show": "drill.scores:show_command",
    "drill grade": "drill.scores:grade_command",
    "collector run": "collect.command:command",
    "collector dashboard": "collect.metrics:dashboard_command",
    "collector calendar": "collect.tokens:calendar_command",
    "collector token create": "collect.tokens:create_command",
    "collector token rotate": "collect.tokens:rotate_command",
    "collector token list": "collect.tokens:list_command",
    "collector token delete": "collect.tokens:delete_command",
    "notify test": "collect.notify:test_command",
    "notify explain": "collect.notify:explain_command",
    "notify list": "collect.notify:list_command",
    "notify dead list": "collect.dead_letters:list_command",
    "notify dead show": "collect.dead_letters:show_command",
    "notify dead retry": "collect.dead_letters:retry_command",
    "notify dead drop": "collect.dead_letters:drop_command",
    "config init": "config:init_command",
    "config show": "config:show_command",
    "config path": "config:path_command",
    "config check": "config:check_command",
    "config keys": "config:keys_command",
    "probe": "probe:command",
    "doctor": "doctor:command",
    "docs": "docs:command",
    "completion": "completion_script:command",
    "api": "api:command",
    "mcp": "agents.command:command",
    "help": "docs:help_command",
}
"""Path of a command -> its module, and its name in the module. `NOUNS` adds the commands made from operations."""

NOUNS = {
    "event": "event",
    "event stream": "stream",
    "room": "room",
    "room relay": "relay",
    "video": "video",
    "video poster": "poster",
    "video subtitle": "subtitle",
    "video annotation": "annotation",
    "video material": "material",
}
"""Path of a group -> noun whose operations become its commands."""

TREE = CommandTree(GROUPS, PLACES, NOUNS)

SECTIONS = {
    "Platform": ("event", "room", "video", "show", "api", "mcp"),
    "Watching": ("status", "probe", "alarm", "silence", "past", "change", "wall", "collector", "notify"),
    "Setup and practice": ("config", "doctor", "docs", "completion", "demo", "serve", "drill"),
}
"""Section of the help of `livedeck` -> first words of the commands in it."""

DECK_OPTIONS = ("version", "theme", "ascii", "plain", "at", "follow_clock")
"""Options that the help of `livedeck` lists. Most commands have the other options, too, and their help lists them."""

_WORDS = "livedeck.words"
"""Key in `ctx.meta` of the words after `livedeck` and its options. Set only while a shell completes a line."""


class _Livedeck(NounGroup):
    """Root of the command tree."""

    def __init__(self, **attributes: Any) -> None:
        super().__init__("", TREE, **attributes)

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command. First unset environment variables that make Textual write secrets to files.

        If the settings are wrong, print one line and exit.
        """
        from livedeck.environment import SettingsError, ignore_telltale_variables

        for name in ignore_telltale_variables():
            click.echo(f"livedeck: ignoring {name}, which would write secrets where others can read them", err=True)
        try:
            return super().invoke(ctx)
        except click.NoSuchOption as error:
            at = error.ctx or ctx
            if advice := flag_text(error.option_name, options.command_words(at), at.command):
                raise click.UsageError(f"No such option: {error.option_name}. {advice}", error.ctx) from None
            near = [name for name in error.possibilities or () if _is_close(name, error.option_name)]
            raise click.NoSuchOption(error.option_name, possibilities=near, ctx=error.ctx) from None
        except click.MissingParameter as error:
            at = error.ctx or ctx
            places = guessed(options.command_words(at), str(error.param.metavar if error.param else ""))
            if not places:
                raise
            raise click.MissingParameter(f"See {' or '.join(places)}.", at, error.param) from None
        except click.UsageError as error:
            is_extra = error.message.startswith("Got unexpected extra argument")
            meant = did_you_mean(guessed_extra(options.command_words(error.ctx))) if is_extra and error.ctx else ""
            if not meant:
                raise
            raise click.UsageError(f"{error.message}. {meant}", error.ctx) from None
        except SettingsError as error:
            from livedeck.cli.exit_codes import USAGE
            from livedeck.cli.output import echo
            from livedeck.text.secrets import masked

            echo(f"livedeck: {masked(str(error))}", err=True)
            ctx.exit(USAGE)

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve a command as click does. Raises UsageError.

        While a shell completes a line, imports and returns no command.
        """
        if ctx.resilient_parsing:
            ctx.meta[_WORDS] = args
            return None, None, []
        return super().resolve_command(ctx, args)

    def shell_complete(self, ctx: click.Context, incomplete: str) -> list[CompletionItem]:
        """Return the candidates for the last word of the line, without importing a command."""
        from livedeck.cli.completion import answer
        from livedeck.environment import SettingsError

        try:
            return answer(ctx.meta.get(_WORDS, ()), incomplete)
        except SettingsError:  # the command itself reports it; here the text would land in the line that the user types
            return []

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the words after `livedeck`, each with its verbs or its purpose, and then the options."""
        purpose_of = purposes()
        for heading, words in SECTIONS.items():
            with formatter.section(heading):
                formatter.write_dl([(f"{word:10}", "; ".join(verbs(word)) or purpose_of[word]) for word in words])
        own: list[tuple[str, str]] = []
        shared: dict[bool, list[str]] = {False: [], True: []}
        for param in self.get_params(ctx):
            form, text = param.get_help_record(ctx) or ("", "")
            if param.name in DECK_OPTIONS:
                own.append((form, text))
            elif isinstance(param, click.Option) and param.name not in {"yes", "notify"}:  # of --follow-clock
                shared[param.is_flag].append(form)
        rows = [("Most commands", ", ".join(shared[False])), ("", ", ".join(shared[True]))]
        with formatter.section("Options"):
            formatter.write_dl([*own, *rows])


def verbs(path: str) -> list[str]:
    """Return the verbs of a group as texts: `get, list`, and `stream get, list` for each inner group.

    Returns an empty list for a command.
    """
    names = children(path)
    inner = [name for name in names if children(f"{path} {name}")]
    own = ", ".join(name for name in names if name not in inner)
    return [*filter(None, [own]), *(f"{name} {verb}" for name in inner for verb in verbs(f"{path} {name}"))]


@click.group(
    cls=_Livedeck,
    invoke_without_command=True,
    subcommand_metavar="[COMMAND] [ARGS]...",  # click 8.2 would not say that the command may be left out
    context_settings={"help_option_names": ["-h", "--help"]},
)
@click.option(
    "--version",
    is_flag=True,
    is_eager=True,
    expose_value=False,
    callback=lambda ctx, _, is_asked: _print_version(ctx) if is_asked else None,
    help="Show the version, its commit and Python, and exit.",
)
@platform
@rehearsal
@appearance
@click.option("--plain", is_flag=True, help="Print a line for each change, for a screen reader.")
@options.at()
@click.pass_context
def main(ctx: click.Context, /, at: str | None, *, plain: bool, **flags: Any) -> None:
    """Open the deck, or run a command. `livedeck event --help` explains its verbs."""
    ctx.obj = flags
    if at and ctx.invoked_subcommand is not None:
        raise click.UsageError(
            "--at is for the deck; `livedeck past replay` and `livedeck past show` have time options of their own"
        )
    if plain and (at or ctx.invoked_subcommand is not None):
        raise click.UsageError("--plain prints the present: leave out --at and the command")
    if ctx.invoked_subcommand is None:
        from livedeck.cli.exit_codes import run

        if plain:
            ctx.exit(run(lambda: _start_plain(flags)))
        moment = _past_moment(at) if at else None
        ctx.exit(run(lambda: _start(flags, moment), is_screen=True))


def _print_version(ctx: click.Context) -> None:
    from livedeck.cli.version import version_text

    click.echo(version_text())
    ctx.exit()


def _is_close(name: str, typed: str) -> bool:
    """Return whether an option is similar to the typed one.

    Ignores dashes, because click counts common dashes as similarity.
    """
    from difflib import get_close_matches

    return bool(get_close_matches(typed.lstrip("-"), [name.lstrip("-")]))


def _past_moment(text: str) -> datetime:
    from livedeck.cli.past.asking import past_moment

    return past_moment(text)


async def _start_plain(flags: Mapping[str, Any]) -> int:
    from livedeck.cli.plain import run_plain
    from livedeck.settings import WatchedLimits, load

    return await run_plain(load(**flags), WatchedLimits())


async def _start(flags: Mapping[str, Any], at: datetime | None = None) -> int:
    """Run the deck; at a first start, run what the user chooses. Returns the exit code. Raises SettingsError."""
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
