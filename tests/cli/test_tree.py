"""Tree of commands: one meaning for each flag, a schema beside JSON, every row of the table, new words for old ones."""

from __future__ import annotations

import asyncio
import json
import re
import subprocess
import sys
from collections import defaultdict
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import click
import pytest

from cli.commands import TIMEOUT, called, environment, served
from livedeck.cli import SECTIONS, TREE, main
from livedeck.cli.command_tree import GUESSES, MOVED, MOVED_FLAGS, DescribedCommand, describe, flag_text
from livedeck.cli.description import description_file, load_description, purposes
from livedeck.cli.schema import command_schemas
from livedeck.monitor import ActionKind, HistoryReader, MatchField

ROWS = {
    "": "",
    "events list": "event list", "events get": "event get", "events create": "event create",
    "events edit": "event edit",
    "events enable": "event enable", "events complete": "event complete", "events move": "event move",
    "events delete": "event delete", "events poster": "event poster", "events recordings": "video list",
    "streams list": "event stream list", "streams get": "event stream get", "streams schedule": "event schedule",
    "streams reschedule": "event reschedule", "preflight": "event preflight", "wait": "event wait",
    "check": "event check", "qos": "event qos", "chat export": "event chat", "rebaseline": "event rebaseline",
    "profile": "event content", "rooms list": "room list", "rooms get": "room get", "rooms create": "room create",
    "rooms delete": "room delete", "relays list": "room relay list", "relays get": "room relay get",
    "relays edit": "room relay edit", "posters list": "video poster list", "posters get": "video poster get",
    "posters download": "video poster download", "posters create": "video poster create",
    "posters activate": "video poster activate", "posters delete": "video poster delete",
    "posters upload": "video poster import", "subtitles list": "video subtitle list",
    "subtitles get": "video subtitle get", "subtitles download": "video subtitle download",
    "subtitles upload": "video subtitle upload", "subtitles recognise": "video subtitle recognise",
    "subtitles edit": "video subtitle edit", "subtitles copy": "video subtitle copy",
    "subtitles delete": "video subtitle delete", "subtitles reorder": "video subtitle reorder",
    "annotations list": "video annotation list", "annotations get": "video annotation get",
    "annotations create": "video annotation create", "annotations edit": "video annotation edit",
    "annotations delete": "video annotation delete", "materials list": "video material list",
    "materials get": "video material get", "materials download": "video material download",
    "materials upload": "video material upload", "materials delete": "video material delete",
    "materials reorder": "video material reorder", "materials rename": "video material edit", "status": "status",
    "alarms": "alarm list", "notify explain": "notify explain", "notify list": "notify list",
    "notify retry": "notify dead retry", "notify test": "notify test", "metrics": "status --format prometheus",
    "history": "past show", "history show": "past show", "history verify": "past check",
    "history prune": "past prune", "history vacuum": "past vacuum", "history salvage": "past salvage",
    "history export": "past export", "episodes": "past episodes", "search": "past search", "report": "past report",
    "handover": "past handover", "record": "past record", "replay": "past replay", "wallboard": "wall", "demo": "demo",
    "serve": "serve", "doctor": "doctor", "collect": "collector run", "collect token add": "collector token create",
    "collect token list": "collector token list", "collect token remove": "collector token delete",
    "collect token rotate": "collector token rotate", "config init": "config init", "config show": "config show",
    "config path": "config path", "config validate": "config check", "keys": "config keys", "docs": "docs",
    "screenshots": "docs --screenshots", "schema": "docs json", "help": "help",
}  # fmt: skip
"""Former words of each command -> its present words."""

NEW = (
    "event restreams", "alarm ack", "alarm unack", "alarm shelve", "alarm unshelve", "alarm note", "change list",
    "alarm explain", "alarm close", "alarm kpi", "alarm link",
    "change close", "collector calendar", "collector dashboard", "api", "notify dead list", "notify dead show",
    "notify dead drop",
    "silence list", "silence add", "silence extend", "silence end", "completion", "drill play", "drill list",
    "drill show", "drill grade", "past convert", "probe", "show apply", "show diff", "show export", "mcp",
)  # fmt: skip
"""Commands that are new in the tree."""


def leaves() -> Iterator[tuple[str, click.Command]]:
    """Yield every command that is no group, with its path."""
    for path in load_description():
        command = TREE.get(path) if path else main
        assert command is not None, path
        if not isinstance(command, click.Group) or not path:
            yield path, command


def test_the_description_is_that_of_the_commands() -> None:
    """`livedeck docs --write src/livedeck/docs` renews it."""
    assert describe(TREE, main) == description_file().read_text(encoding="utf-8")


def different_help(width: int) -> list[str]:
    """Return the commands whose help, as the description has it, is not their own."""
    different = []
    for path, command in leaves():
        ctx = click.Context(main, info_name="livedeck", terminal_width=width, **main.context_settings)
        for word in path.split():
            assert isinstance(ctx.command, click.Group)
            _, found, rest = ctx.command.resolve_command(ctx, [word, "--help"])
            assert found
            assert rest == ["--help"]
            ctx = click.Context(found, parent=ctx, info_name=word)
        own = click.Context(command, parent=ctx.parent, info_name=ctx.info_name, terminal_width=width)
        assert isinstance(ctx.command, DescribedCommand) or not path
        if ctx.get_help() != own.get_help():
            different.append(path)
    return different


@pytest.mark.parametrize("width", [40, 80])
def test_the_help_of_the_description_is_that_of_the_command(tmp_path: Path, width: int) -> None:
    """In a process of its own: a command keeps its help option as the first test in a process asked for it."""
    env = environment(tmp_path)
    env["PYTHONPATH"] += f":{Path(__file__).parents[1]}"
    line = [sys.executable, "-c", f"from cli.test_tree import different_help; print(different_help({width}))"]
    done = subprocess.run(line, env=env, capture_output=True, text=True, timeout=TIMEOUT, check=False)
    assert (done.stdout, done.stderr) == ("[]\n", "")


def test_a_flag_has_one_meaning_in_every_command() -> None:
    """The fields of a form belong to their noun; no name of theirs is that of a flag but `--file` of uploads.

    The conditions of a silence are the fields of an alarm, so their flags belong to `silence add`. `--start` is the
    start of what the command makes: of a silence, or of a simulated clock.
    """
    meanings = defaultdict[str, set[str]](set)
    fields, conditions = set[str](), {*MatchField, "start"}
    for path, command in leaves():
        for param in command.params:
            if isinstance(param, click.Option) and not param.hidden:
                if path == "silence add" and param.name in conditions:
                    continue
                if str(param.name).startswith("field_"):
                    fields |= {*param.opts}
                else:
                    for name in param.opts:
                        meanings[name].add(param.help or "")
    assert {name: texts for name, texts in meanings.items() if len(texts) > 1} == {}
    assert not fields & {*meanings}


def test_a_command_that_prints_json_prints_its_schema() -> None:
    names = {path: {name for option in facts["options"] for name in option["names"]} for path, facts in _described()}
    with_json = {path for path, flags in names.items() if "--json" in flags}
    assert with_json == {path for path, flags in names.items() if "--schema" in flags} == {*command_schemas()}
    chosen = {path: facts for path, facts in _described() if path != "event chat"}
    for path, facts in chosen.items():
        formats = [option["takes"] for option in facts["options"] if "--format" in option["names"]]
        assert all("json" in words for words in formats) == (path in with_json or not formats), path
    for path in with_json:
        done = called(Path("/nonexistent"), *path.split(), "--schema")
        assert json.loads(done.stdout)["title"] == f"livedeck {path} v1", done.stderr


def test_a_list_and_a_display_of_livedecks_own_prints_json() -> None:
    """`config check` and `event check` print a verdict; their exit code is the answer."""
    verdicts = {"config check", "event check"}
    for path, facts in _described():
        is_command = path not in {*verdicts, *TREE.groups}
        if path.rpartition(" ")[2] in {"list", "get", "show", "check", "status"} and is_command:
            assert "--json" in {name for option in facts["options"] for name in option["names"]}, path


def _described() -> list[tuple[str, dict[str, Any]]]:
    return [(path, dict(facts)) for path, facts in load_description().items()]


def test_the_table_names_every_command() -> None:
    named = {new.partition(" --")[0] for new in ROWS.values()} | {*NEW}
    assert named - {"docs json"} == {path for path, _ in leaves()}


@pytest.mark.parametrize("path", [*ROWS.values(), *NEW])
def test_every_row_of_the_table_is_a_command(tmp_path: Path, path: str) -> None:
    done = called(tmp_path, *path.partition(" --")[0].split(), "--help")
    assert (done.returncode, done.stderr) == (0, "")
    assert "Usage: " in done.stdout


@pytest.mark.parametrize("old", [old for old, new in ROWS.items() if old and old != new])
def test_an_old_word_is_answered_with_the_new(tmp_path: Path, old: str) -> None:
    done = called(tmp_path, *old.split(), "word")
    assert done.returncode == 2
    assert "No such command" in done.stderr
    assert f"Did you mean 'livedeck {ROWS[old]}'?" in done.stderr


def test_moved_words_lead_to_commands_and_no_command_moved() -> None:
    known = load_description()
    assert not {*MOVED} & {*known}
    assert {new.partition(" --")[0] for new in MOVED.values()} - {*known} == {"docs json"}


@pytest.mark.parametrize("guess", GUESSES)
def test_a_first_guess_is_answered_with_the_commands_that_it_means(tmp_path: Path, guess: str) -> None:
    done = called(tmp_path, *typed(guess))
    meant = " or ".join(f"'livedeck {command}'" for command in GUESSES[guess])
    said = " ".join(done.stderr.split())
    assert (done.returncode, f"Did you mean {meant}?" in said or f"See {meant}." in said) == (2, True), said


def typed(guess: str) -> list[str]:
    """Return a line that this key of GUESSES answers."""
    *path, last = guess.split()
    below = [known for known in load_description() if known.split()[: len(path)] == path and known]
    if last.startswith("--"):
        words = next(known for known in below if not knows(TREE.get(known), last)).split()
        return [*(path if not path or path == ["past"] else words), *([] if path else words), last]
    if last.isupper():
        command, index = next((known, place) for known in below if (place := place_of(last, known)) is not None)
        return [*command.split(), *["word"] * index]
    return [*path, "zzz" if last == "*" else last, "word"]


def place_of(argument: str, path: str) -> int | None:
    """Return the place of an argument among those of a command, or None."""
    names = [str(taken["name"]) for taken in load_description()[path]["arguments"]]
    return names.index(argument) if argument in names else None


@pytest.mark.parametrize("hint", sorted({*MOVED.values()}.union(*GUESSES.values())))
def test_a_hint_names_a_command_its_arguments_and_its_flags(hint: str) -> None:
    words = hint.split()
    count = max(count for count in range(len(words) + 1) if " ".join(words[:count]) in load_description())
    command, rest = TREE.get(" ".join(words[:count])), words[count:]
    assert command is not None
    assert count or not rest
    arguments = iter([param for param in command.params if isinstance(param, click.Argument)])
    while rest:
        word = rest.pop(0)
        if word.startswith("-"):
            option = next(param for param in command.params if word in param.opts)
            assert isinstance(option, click.Option)
            if rest and not option.is_flag:
                value = rest.pop(0)
                assert value.isupper() or value in getattr(option.type, "choices", ()), hint
        else:
            taken = next(arguments)
            assert word in {taken.metavar, *getattr(taken.type, "choices", ())} or hint == "docs json"


def test_no_guess_is_a_command_or_a_flag_of_one() -> None:
    known = load_description()
    assert not {*GUESSES} & {*known, *MOVED}
    for guess in GUESSES:
        path, _, flag = guess.rpartition(" ")
        if flag.startswith("--") and path in known:
            assert not knows(TREE.get(path), flag), guess


def test_the_option_of_a_field_says_more_than_its_name() -> None:
    for path, command in leaves():
        for param in command.params:
            if isinstance(param, click.Option) and str(param.name).startswith("field_"):
                said = str(param.help).partition("  [required]")[0].rstrip(".").casefold()
                assert said != param.opts[0].removeprefix("--").replace("-", " "), (path, said)


@pytest.mark.parametrize("flag", MOVED_FLAGS)
def test_an_old_flag_is_answered_with_the_new(tmp_path: Path, flag: str) -> None:
    path = next(
        path
        for path, command in leaves()
        if path and flag_text(flag, path, command).startswith("Use ") and not knows(command, flag)
    )
    done = called(tmp_path, *path.split(), flag, "word")
    said = " ".join(done.stderr.split())
    assert (done.returncode, f"No such option: {flag}. Use {MOVED_FLAGS[flag]}." in said) == (2, True), (path, said)


@pytest.mark.parametrize("flag", ["--folder", "--project"])
def test_a_folder_to_move_an_event_to_is_answered_with_its_flag(tmp_path: Path, flag: str) -> None:
    done = called(tmp_path, "event", "move", "show", flag, "Trailers")
    assert (done.returncode, f"No such option: {flag}. Use --parent-id." in done.stderr) == (2, True)


def knows(command: click.Command | None, flag: str) -> bool:
    """Return whether the command has that flag."""
    return command is not None and any(flag in param.opts for param in command.params)


@pytest.mark.parametrize(
    ("path", "flag"), [("status", "--csv"), ("notify test", "--csv"), ("status", "--since"), ("doctor", "--html")]
)
def test_a_flag_is_never_answered_with_one_that_the_command_lacks(tmp_path: Path, path: str, flag: str) -> None:
    done = called(tmp_path, *path.split(), flag)
    assert (done.returncode, f"No such option '{flag}'." in done.stderr, "Use --" in done.stderr) == (2, True, False)


def test_a_line_that_follows_the_usage_lacks_no_option() -> None:
    """A stranger copies the usage: each option without which the command does nothing is in it."""
    for path, facts in load_description().items():
        required = [
            option
            for option in facts["options"]
            if option["help"].endswith("[required]") or "[required]" in option["note"]
        ]
        words = " ".join(facts["usage"])
        for option in required:
            assert option["names"][0] in words.split(), f"{path}: {words}"


def test_the_help_names_every_command_on_one_screen(tmp_path: Path) -> None:
    text = called(tmp_path, "--help", env={"COLUMNS": "80"}).stdout
    assert len(text.splitlines()) <= 48
    assert max(map(len, text.splitlines())) <= 80
    assert [line for line in text.splitlines() if re.match(r"[A-Z].*:$", line)] == [
        *(f"{heading}:" for heading in SECTIONS),
        "Options:",
    ]
    rows = text.partition("\n\n")[2].partition("\nOptions:")[0].partition(":\n")[2]
    assert {*shown(rows)} == {path for path, _ in leaves()} - {"", "help"}


def shown(rows: str) -> Iterator[str]:
    """Return the paths of the commands in these rows of the root help."""
    nouns = {path.partition(" ")[0] for path in load_description() if path}
    for row in re.split(r"\n  (?=\w)", f"\n{rows}"):
        word, _, said = " ".join(row.partition("\n\n")[0].split()).partition(" ")
        if word in nouns:
            is_command = said == load_description()[word]["purpose"]
            for group in [] if is_command else said.split("; "):
                verbs = group.split(", ")
                inner, _, verbs[0] = verbs[0].rpartition(" ")
                yield from (" ".join(f"{word} {inner} {verb}".split()) for verb in verbs)
            if is_command:
                yield word


def test_the_purposes_are_those_of_the_description() -> None:
    described = {path: facts["purpose"] for path, facts in load_description().items() if path}
    assert purposes() == described


def lasting_alarm(home: Path, env: Mapping[str, str]) -> dict[str, Any]:
    """Return an alarm that lasts, from the first look that has judged its stream.

    A slow machine may need several looks.
    """
    for _ in range(10):
        listed = json.loads(called(home, "alarm", "list", "--json", env=env).stdout)["alarms"]
        if found := next((alarm for alarm in listed if alarm["kind"] == "KEYFRAME_SEVERE"), None):
            return dict(found)
    raise AssertionError("no look found KEYFRAME_SEVERE")


def test_a_silence_of_a_command_takes_the_exit_code_and_not_the_text(tmp_path: Path) -> None:
    with served(tmp_path) as (_, service):
        env = {
            "LIVEDECK_BASE_URL": service["base_url"],
            "LIVEDECK_TOKEN": service["token"],
            "LIVEDECK_HISTORY": str(tmp_path / "history.sqlite"),
        }

        def silence(*line: str) -> subprocess.CompletedProcess[str]:
            return called(tmp_path, "silence", *line, env=env)

        found = lasting_alarm(tmp_path, env)
        flags = ("--event", found["event_id"], "--comment", "encoder swap", "--json")
        before = called(tmp_path, "event", "check", found["event_id"], env=env)
        preview = silence("add", *flags, "--duration", "2h", "--preview")
        none = silence("list", "--json")
        long = silence("add", *flags, "--duration", "5h")
        everything = silence("add", "--name", "*", "--comment", "x", "--duration", "15m")
        unclear = silence("add", "--match", "colour = red", "--comment", "x", "--duration", "15m")
        endless = silence("add", "--name", "x", "--comment", "x")
        added = json.loads(silence("add", *flags, "--duration", "2h").stdout)["silence"]
        during = called(tmp_path, "event", "check", found["event_id"], env=env)
        extended = json.loads(silence("extend", added["id"], "30m", "--json").stdout)["silence"]
        shown = json.loads(silence("list", "--json").stdout)["silences"]
        handover = called(tmp_path, "past", "handover", env=env)
        ended = silence("end", added["id"][:5])
        again = silence("end", added["id"])
        after = called(tmp_path, "event", "check", found["event_id"], env=env)
    assert (before.returncode, during.returncode, after.returncode) == (1, 0, 1), (before, during, after)
    assert "silenced until" in during.stdout
    assert "(encoder swap, " in during.stdout
    covered = json.loads(preview.stdout)
    assert not covered["saved"]
    assert found["kind"] in {alarm["kind"] for alarm in covered["covers"]["alarms"]}
    assert json.loads(none.stdout)["silences"] == []
    codes = [done.returncode for done in (long, everything, unclear, endless, ended, again)]
    assert codes == [6, 6, 2, 2, 0, 6]
    assert "4" in long.stderr
    assert [silence["id"] for silence in shown] == [added["id"]]
    assert extended["ends_at"] > added["ends_at"]
    assert handover.returncode == 0


def test_an_alarm_action_of_a_command_is_one_of_a_deck(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    with served(tmp_path) as (_, service):
        env = {
            "LIVEDECK_BASE_URL": service["base_url"],
            "LIVEDECK_TOKEN": service["token"],
            "LIVEDECK_HISTORY": str(path),
        }
        found = lasting_alarm(tmp_path, env)
        named = (found["event_id"], found["kind"])
        lines = (
            ("ack", *named),
            ("unack", *named),
            ("note", *named, "provider called"),
            ("close", *named, "meant-so"),
            ("shelve", *named, "--duration", "15m", "--reason", "known line"),
            ("unshelve", *named),
        )
        said = [called(tmp_path, "alarm", *line, env=env) for line in lines]
        again = called(tmp_path, "alarm", "unshelve", *named, env=env)
        missing = called(tmp_path, "alarm", "ack", found["event_id"], "CLOCK_SKEW", env=env)
        unkept = called(tmp_path, "alarm", "ack", *named, env={**env, "LIVEDECK_HISTORY": "off"})
        shown = json.loads(called(tmp_path, "alarm", "list", "--json", env=env).stdout)["alarms"]
    assert [(done.returncode, done.stderr) for done in said] == [(0, "")] * len(lines)
    assert (again.returncode, missing.returncode, unkept.returncode) == (6, 6, 2)
    assert "no history is kept" in unkept.stderr
    kinds = [action.kind for action in asyncio.run(HistoryReader(path).new_alarm_actions())]
    assert kinds == [
        ActionKind.ACKNOWLEDGE,
        ActionKind.UNACKNOWLEDGE,
        ActionKind.NOTE,
        ActionKind.CLOSE,
        ActionKind.SHELVE,
        ActionKind.UNSHELVE,
    ]
    (now,) = [alarm for alarm in shown if (alarm["event_id"], alarm["kind"], alarm["target"]) == (*named, None)]
    assert (now["state"], now["note"]) == ("unacknowledged", "provider called")
