"""Tree of commands, which are imported on use; the generated description; new names of renamed commands."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from importlib import import_module
from inspect import cleandoc
from typing import Any, NamedTuple

import click

from livedeck.cli.description import children, load_description, purposes
from livedeck.cli.examples import with_examples

MOVED = {
    "alarms": "alarm list",
    "annotations": "video annotation",
    "chat": "event chat",
    "chat export": "event chat",
    "check": "event check",
    "collect": "collector run",
    "collect token": "collector token",
    "collect token add": "collector token create",
    "collect token remove": "collector token delete",
    "collector token add": "collector token create",
    "collector token remove": "collector token delete",
    "config validate": "config check",
    "episodes": "past episodes",
    "event profile": "event content",
    "event recordings": "video list",
    "events": "event",
    "events recordings": "video list",
    "handover": "past handover",
    "history": "past show",
    "history export": "past export",
    "history prune": "past prune",
    "history salvage": "past salvage",
    "history show": "past show",
    "history vacuum": "past vacuum",
    "history verify": "past check",
    "keys": "config keys",
    "materials": "video material",
    "materials rename": "video material edit",
    "metrics": "status --format prometheus",
    "notify retry": "notify dead retry",
    "past history": "past show",
    "past verify": "past check",
    "posters": "video poster",
    "posters upload": "video poster import",
    "preflight": "event preflight",
    "profile": "event content",
    "qos": "event qos",
    "rebaseline": "event rebaseline",
    "record": "past record",
    "relays": "room relay",
    "replay": "past replay",
    "report": "past report",
    "rooms": "room",
    "schema": "docs json",
    "screenshots": "docs --screenshots",
    "search": "past search",
    "streams": "event stream",
    "streams reschedule": "event reschedule",
    "streams schedule": "event schedule",
    "subtitles": "video subtitle",
    "video material rename": "video material edit",
    "video poster upload": "video poster import",
    "wait": "event wait",
    "wallboard": "wall",
}
"""Words of earlier versions -> the words that replace them. Version 0.2 drops the table."""

GUESSES = {
    "--audio-only": ("event content EVENT radio",),
    "--close": ("change close ID",),
    "--content": ("event content EVENT CONTENT",),
    "--no-audio": ("event content EVENT silent",),
    "--no-video": ("event content EVENT radio",),
    "--radio": ("event content EVENT radio",),
    "--silent": ("event content EVENT silent",),
    "--write": ("collector dashboard -o FOLDER",),
    "EVENT": ("event list",),
    "ROOM": ("room list",),
    "VIDEO": ("video list EVENT",),
    "ack": ("alarm ack",),
    "alarm --all": ("alarm list --shelved",),
    "alarm EVENT": ("alarm list",),
    "alarm KIND": ("alarm list",),
    "alarm acknowledge": ("alarm ack",),
    "alarm comment": ("alarm note",),
    "alarm get": ("alarm list",),
    "alarm hide": ("alarm shelve",),
    "alarm mute": ("alarm shelve", "silence add"),
    "alarm show": ("alarm list",),
    "alarm silence": ("silence add", "alarm shelve"),
    "alarm snooze": ("alarm shelve",),
    "alarm unmute": ("alarm unshelve",),
    "alarm who": ("notify explain",),
    "alarm why": ("alarm explain",),
    "change ID": ("change list",),
    "collector NAME": ("collector token list",),
    "collector serve": ("collector run",),
    "collector start": ("collector run",),
    "config get": ("config show",),
    "config limits": ("config show",),
    "config list": ("config show",),
    "config test": ("config check",),
    "config thresholds": ("config show",),
    "config verify": ("config check",),
    "event add": ("event create",),
    "event chat --all": ("event chat EVENT --all-streams",),
    "event close": ("event complete",),
    "event end": ("event complete",),
    "event export": ("event chat", "past export"),
    "event history": ("past show",),
    "event limits": ("config show",),
    "event log": ("past show", "event chat"),
    "event move *": ("event move EVENT --parent-id ID",),
    "event new": ("event create",),
    "event poster *": ("event poster EVENT --url URL",),
    "event probe": ("probe",),
    "event remove": ("event delete",),
    "event report": ("past report",),
    "event reschedule *": ("event reschedule EVENT --started-at TIME",),
    "event schedule *": ("event schedule EVENT --started-at TIME",),
    "event set": ("event edit", "event content"),
    "event show": ("event get",),
    "event start": ("event enable", "event schedule"),
    "event status": ("event check", "event get"),
    "event stop": ("event complete",),
    "event thresholds": ("config show",),
    "event update": ("event edit",),
    "event verify": ("event check",),
    "event view": ("event get",),
    "apply": ("show apply",),
    "diff": ("show diff",),
    "drill *": ("drill play",),
    "drill report": ("drill show",),
    "drill run": ("drill play",),
    "drill start": ("drill play",),
    "explain": ("alarm explain",),
    "export": ("show export", "event chat", "past export"),
    "folder": ("event move",),
    "limits": ("config show",),
    "list": ("event list", "alarm list"),
    "maintenance": ("silence add",),
    "mute": ("silence add", "alarm shelve"),
    "live": ("status", "event list"),
    "log": ("past show", "event chat"),
    "move": ("event move",),
    "notify check": ("notify test",),
    "notify delete": ("notify dead drop",),
    "notify drop": ("notify dead drop",),
    "notify resend": ("notify dead retry",),
    "notify send": ("notify test",),
    "notify show": ("notify list", "notify dead show"),
    "notify who": ("notify explain",),
    "notify why": ("notify explain",),
    "past *": ("past show", "past episodes"),
    "past --from": ("past show EVENT --from TIME", "past episodes --from TIME"),
    "past --since": ("past show EVENT --from TIME", "past episodes --from TIME"),
    "past --to": ("past show EVENT --to TIME", "past episodes --to TIME"),
    "past clean": ("past prune",),
    "past compact": ("past vacuum",),
    "past import": ("past convert",),
    "past serve": ("past convert",),
    "past delete": ("past prune",),
    "past faults": ("past episodes",),
    "past list": ("past episodes", "past show"),
    "past play": ("past replay",),
    "past repair": ("past salvage",),
    "room RELAY": ("room relay list",),
    "room edit": ("room relay edit",),
    "room relay add-key": ("room relay edit",),
    "room relay key": ("room relay edit",),
    "room relay set-key": ("room relay edit",),
    "room relay update": ("room relay edit",),
    "room set-key": ("room relay edit",),
    "room show": ("room get",),
    "shelve": ("alarm shelve",),
    "show create": ("show apply",),
    "show import": ("show apply",),
    "show plan": ("show diff",),
    "silence *": ("silence add", "silence list"),
    "silence create": ("silence add",),
    "silence delete": ("silence end",),
    "silence expire": ("silence end",),
    "silence remove": ("silence end",),
    "silence stop": ("silence end",),
    "simulate": ("serve",),
    "simulator": ("serve",),
    "start": ("event enable", "event schedule"),
    "stop": ("event complete",),
    "test": ("doctor", "notify test"),
    "token": ("collector token",),
    "upload": ("video subtitle upload", "video material upload"),
    "video ANNOTATION": ("video annotation list",),
    "video MATERIAL": ("video material list",),
    "video POSTER": ("video poster list",),
    "video SUBTITLE": ("video subtitle list",),
    "video annotation add": ("video annotation create",),
    "video chat": ("event chat",),
    "video delete": (
        "video poster delete",
        "video subtitle delete",
        "video annotation delete",
        "video material delete",
    ),
    "video material add": ("video material upload",),
    "video material create": ("video material upload",),
    "video move": ("event move", "event edit EVENT --record-parent-id ID"),
    "video poster add": ("video poster create", "video poster import"),
    "video poster set": ("video poster activate",),
    "video subtitle add": ("video subtitle upload",),
    "video subtitle create": ("video subtitle upload", "video subtitle recognise"),
    "video upload": ("video subtitle upload", "video material upload"),
}
"""Wrong command lines that new users type -> the commands that they mean.

A key is the path of a group or command, then the wrong part: an unknown word or flag, or a missing argument. `*` stands
for any unknown word in a group, or any extra word after a command. A flag or an argument fits every command below the
path.
"""

MOVED_FLAGS = {
    "--csv": "--format csv",
    "--file": "--history",
    "--folder": "--parent-id",
    "--for": "--duration",
    "--html": "--format html",
    "--http-host": "--http HOST:PORT",
    "--hours": "--duration, such as 2h",
    "--key": "--stream-key-file FILE",
    "--markdown": "--format markdown",
    "--minutes": "--duration, such as 30m",
    "--ndjson": "--format ndjson",
    "--older-than": "--before",
    "--poster-url": "--url",
    "--project": "--parent-id",
    "--since": "--from",
    "--stream-key": "--stream-key-file FILE",
    "--target": "--objective",
    "--until": "--to",
}
"""Unknown flag, from an earlier version or guessed -> flag of the same command that the user means."""


def flag_text(flag: str, path: str, command: click.Command | None) -> str:
    """Return advice for a flag that the command lacks: another flag of it, or another command. Empty without advice.

    `command`: command with the wrong flag; None if unknown, which leaves only other commands as advice.
    """
    new = MOVED_FLAGS.get(flag, "")
    option, _, value = new.partition(",")[0].partition(" ")
    found = next((param for param in command.params if option in param.opts), None) if command else None
    if found is not None and (not isinstance(found.type, click.Choice) or value in found.type.choices):
        return f"Use {new}."
    return did_you_mean(guessed(path, flag))


def guessed(path: str, word: str) -> list[str]:
    """Return the commands of GUESSES for a flag, a missing argument or `*` at that path, as a user types them."""
    words = path.split()
    keys = (" ".join([*words[:count], word]) for count in range(len(words), -1, -1))
    return _as_typed(next((GUESSES[key] for key in keys if key in GUESSES), ()))


def guessed_extra(path: str) -> list[str]:
    """Return the commands of GUESSES for an extra word after the command at that path, as a user types them."""
    return _as_typed(GUESSES.get(f"{path} *", ()))


def _as_typed(commands: Iterable[str]) -> list[str]:
    return [f"'livedeck {command}'" for command in commands]


def did_you_mean(names: Sequence[str]) -> str:
    """Return `Did you mean ...?`; empty without names."""
    return f"Did you mean {' or '.join(names)}?" if names else ""


class CommandTree(NamedTuple):
    """Command tree by paths. A path is the words after `livedeck`: `event list`.

    `groups`: path of a group -> its purpose. `places`: path of a command -> `module:attribute`. `nouns`: path of a
    group -> noun whose operations become its commands.
    """

    groups: Mapping[str, str]
    places: Mapping[str, str]
    nouns: Mapping[str, str]

    def get(self, path: str) -> click.Command | None:
        """Return the command or group at that path, or None. Imports the module of the command."""
        if path in self.groups:
            return NounGroup(path, self)
        group, _, name = path.rpartition(" ")
        if place := self.places.get(path):
            module, _, attribute = place.partition(":")
            command: click.Command | None = getattr(import_module(f"livedeck.cli.{module}"), attribute)
        else:
            command = self._of_noun(group).get(name)
        if command is None:
            return None
        _show_required_options(command)
        return with_examples(path, command)

    def names(self, group: str) -> list[str]:
        """Return the names in a group, in the order of the documentation: its commands, then its groups."""
        paths = [*self._of_noun(group), *(_last(path) for path in self.places if _parent(path) == group)]
        return [*paths, *(_last(path) for path in self.groups if path and _parent(path) == group)]

    def _of_noun(self, group: str) -> Mapping[str, click.Command]:
        if group not in self.nouns:
            return {}
        from livedeck.cli.objects.groups import make_commands

        return make_commands(self.nouns[group])


def _last(path: str) -> str:
    return path.rpartition(" ")[2]


def _parent(path: str) -> str:
    return path.rpartition(" ")[0]


def _show_required_options(command: click.Command) -> None:
    """Write the options that the help marks as required into the usage: `--file FILE [OPTIONS] VIDEO`."""
    ctx = click.Context(command)
    lines = {option: option.get_help_record(ctx) for option in command.params if isinstance(option, click.Option)}
    required = [option for option, line in lines.items() if line and line[1].endswith("[required]")]
    words = [f"{option.opts[0]} {option.make_metavar(ctx)}" for option in required]
    command.options_metavar = " ".join([*words, "[OPTIONS]"])


class NounGroup(click.Group):
    """Group of commands. Its help comes from the generated description; a command is imported when it is called."""

    def __init__(self, path: str, tree: CommandTree, **attributes: Any) -> None:
        purpose = tree.groups[path]
        attributes = {"name": _last(path), "help": f"{purpose}.", **attributes}
        super().__init__(**attributes)
        self.path, self.tree = path, tree

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return children(self.path)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        return self.tree.get(f"{self.path} {cmd_name}".strip())

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        """Resolve a command as click does, but do not import it for its help alone.

        Raises UsageError that names the nearest commands, or the new word of an old one.
        """
        name = args[0]
        path = f"{self.path} {name}".strip()
        asks_for_help = len(args) == 2 and args[1] in ctx.help_option_names
        if asks_for_help and path not in self.tree.groups and (facts := load_description().get(path)):
            return name, with_examples(path, DescribedCommand(name, facts)), args[1:]
        is_unknown = name not in self.list_commands(ctx) and not name.startswith("-")
        if is_unknown and not ctx.resilient_parsing and self.get_command(ctx, name) is None:
            raise click.UsageError(unknown_text(self.path, args, self.list_commands(ctx)), ctx)
        return super().resolve_command(ctx, args)

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write each command with its purpose, uncut, without importing it."""
        purpose_of = purposes()
        with formatter.section("Commands"):
            formatter.write_dl([(name, purpose_of[f"{self.path} {name}"]) for name in self.list_commands(ctx)])


class DescribedCommand(click.Command):
    """Command made from its description: it prints the help of the command, and cannot run it."""

    def __init__(self, name: str, facts: Mapping[str, Any]) -> None:
        super().__init__(name, help=facts["text"])
        self._usage: list[str] = facts["usage"]
        self._rows = [(option["form"], option["help"] + option["note"]) for option in facts["options"]]

    def collect_usage_pieces(self, ctx: click.Context) -> list[str]:  # noqa: ARG002
        return self._usage

    def format_options(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        """Write the options, and --help at the end."""
        help_rows = [param.get_help_record(ctx) for param in self.get_params(ctx)]
        with formatter.section("Options"):
            formatter.write_dl([*self._rows, *filter(None, help_rows)])


def unknown_text(group: str, words: list[str], names: list[str]) -> str:
    """Return `No such command ...`, followed by the commands that the words may mean.

    `words`: the words after the path of the group. `names`: the names in the group. Renamed commands and usual guesses
    come first; without either, similar names are listed.
    """
    from difflib import get_close_matches

    typed = [*group.split(), *(word for word in words if not word.startswith("-"))]
    near = [repr(name) for name in get_close_matches(words[0], names, 3)]
    for count in range(len(typed), len(group.split()), -1):
        words_so_far = " ".join(typed[:count])
        if new := MOVED.get(words_so_far):
            rest = typed[count:]
            while rest and f"{new} {rest[0]}" in load_description():
                new, rest = f"{new} {rest[0]}", rest[1:]
            near = _as_typed([new])
            break
        if meant := GUESSES.get(words_so_far):
            near = _as_typed(meant)
            break
    return f"No such command {words[0]!r}. {did_you_mean(near or guessed(group, '*'))}".rstrip()


def describe(tree: CommandTree, root: click.Group) -> str:
    """Return the description of every command as JSON, each on a line. Imports all commands."""
    import json

    lines = (f"{json.dumps(path)}: {json.dumps(facts)}" for path, facts in _facts(tree, "", root))
    return "{\n" + ",\n".join(lines) + "\n}\n"


def _facts(tree: CommandTree, path: str, command: click.Command) -> Iterator[tuple[str, dict[str, Any]]]:
    arguments = [param for param in command.params if isinstance(param, click.Argument)]
    options = [param for param in command.params if isinstance(param, click.Option) and not param.hidden]
    purpose = tree.groups[path] if path in tree.groups else command.get_short_help_str(200).rstrip(".")
    ctx = click.Context(command)
    yield (
        path,
        {
            "purpose": purpose,
            "text": cleandoc(command.help or ""),
            "usage": command.collect_usage_pieces(ctx),
            "arguments": [{"name": param.human_readable_name, "takes": _takes(param, command)} for param in arguments],
            "options": [_option_facts(param, command, ctx) for param in options],
        },
    )
    for name in tree.names(path) if path in tree.groups else ():
        inner_path = f"{path} {name}".strip()
        inner = tree.get(inner_path)
        if inner is not None and not inner.hidden:
            yield from _facts(tree, inner_path, inner)


def _option_facts(option: click.Option, command: click.Command, ctx: click.Context) -> dict[str, Any]:
    """Return the facts of an option. `form`: how it is written. `note`: the end of its line in the help."""
    help_text = option.help or ""
    form, line = option.get_help_record(ctx) or ("", "")
    return {
        "names": [*option.opts, *option.secondary_opts],
        "form": form,
        "help": help_text,
        "note": line.removeprefix(help_text),
        "takes": None if option.is_flag else _takes(option, command),
    }


def _takes(param: click.Parameter, command: click.Command) -> Any:
    """Return the possible values of an option or argument, for completion.

    A list of words; `{"list": words}` if a value may hold several, separated by commas; or the name of a source.
    """
    if isinstance(param.type, click.Choice):
        return [str(choice) for choice in param.type.choices]
    name = str(param.name)
    if name == "columns":
        return {"list": [*getattr(command, "columns", ())]}
    metavar = str(param.metavar or "").partition("|")[0].strip("[].")
    if name in {"profile", "scenario", "faults", "topic"}:
        return name.upper()
    return metavar if metavar in {"EVENT", "FILE", "PATH"} else "NONE"
