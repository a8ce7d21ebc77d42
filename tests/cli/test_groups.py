"""The 43 operations as commands, against the simulator over HTTP: what each prints, and how each ends."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import jsonschema_rs
import pytest

from cli.commands import called, command_of, livedeck
from cli.groups_stage import CHANGES, DRAFT, ON_AIR, READS, Stage, folder
from cli.terminals import terminal
from contract.endpoints import ROWS
from livedeck import docs
from livedeck.cli import NOUNS, TREE, main
from livedeck.cli.command_tree import NounGroup
from livedeck.cli.examples import EXAMPLES
from livedeck.cli.objects.entries import field_options
from livedeck.cli.objects.groups import make_commands
from livedeck.operations.catalogue import OPERATIONS
from livedeck.operations.commands import COMMANDS
from livedeck.ui.features import FEATURES

ELSEWHERE = {"api.qos.get", "api.chat.export"}
"""Methods whose commands belong to no group."""


@pytest.fixture
def line(request: pytest.FixtureRequest, on_stage: Stage) -> tuple[str, ...]:
    name: str = request.param
    return (CHANGES.get(name) or READS[name])(on_stage)


def run(on_stage: Stage, *arguments: str, **env: str) -> Any:
    """Run a command in this process."""
    return called(on_stage.home, *arguments, env={**on_stage.env, **env})


def assert_speaks(done: Any, code: int) -> None:
    """Check the exit code, and that standard error has words and no traceback."""
    assert done.returncode == code, done.stdout + done.stderr
    assert done.stderr
    assert "Traceback" not in done.stderr


def schema_of(on_stage: Stage, line: tuple[str, ...]) -> Any:
    """Return the schema that --schema of a command prints."""
    done = run(on_stage, *command_of(line), "--schema")
    assert done.returncode == 0, done.stderr
    return jsonschema_rs.validator_for(json.loads(done.stdout))


def test_each_of_the_43_operations_has_a_command_and_a_test() -> None:
    assert len(ROWS) == 43
    assert {row.operation for row in ROWS if row.operation} == set(COMMANDS) == set(CHANGES) == set(OPERATIONS)
    assert {row.client for row in ROWS if not row.operation} == set(READS)


def test_each_of_them_has_a_key_and_a_place_in_the_documentation() -> None:
    actions = {action.name for feature in FEATURES for action in feature.actions}
    page = docs.page("commands")
    reads = {"screen.events", "screen.qos", "screen.rooms", "screen.videos"}
    assert {row.action for row in ROWS} - reads <= actions
    assert not [command.path for command in COMMANDS.values() if f"| `{command.path}" not in page]


@pytest.mark.parametrize("line", CHANGES, indirect=True)
def test_a_change_is_done_and_says_so_in_its_schema(on_stage: Stage, line: tuple[str, ...]) -> None:
    done = run(on_stage, *line, "--yes", "--json")
    assert done.returncode == 0, done.stdout + done.stderr
    result = json.loads(done.stdout)
    schema_of(on_stage, line).validate(result)
    assert result["verdict"] == "done"


@pytest.mark.parametrize(
    "line", [name for name in READS if name not in {"api.qos.get", "api.chat.export"}], indirect=True
)
def test_a_read_prints_json_of_its_schema_and_a_table(on_stage: Stage, line: tuple[str, ...]) -> None:
    done = run(on_stage, *line, "--json")
    assert (done.returncode, done.stderr) == (0, "")
    schema_of(on_stage, line).validate(json.loads(done.stdout))
    assert run(on_stage, *line).stdout.splitlines()


@pytest.mark.parametrize("line", sorted(ELSEWHERE), indirect=True)
def test_samples_and_chat_are_read_too(on_stage: Stage, line: tuple[str, ...]) -> None:
    is_raw = line[1] == "chat"  # its file is the descriptor of standard output
    done = livedeck(on_stage.home, *line, env=on_stage.env) if is_raw else run(on_stage, *line)
    assert (done.returncode, bool(done.stdout)) == (0, True), done.stderr


@pytest.mark.parametrize("path", [*[command.path for command in COMMANDS.values()]])
def test_wrong_use_is_exit_code_two(on_stage: Stage, path: str) -> None:
    assert_speaks(run(on_stage, *path.split(), "--no-such-option"), 2)


@pytest.mark.parametrize("line", ["event.enable", "subtitle.edit", "room.create"], indirect=True)
def test_what_the_platform_refuses_is_exit_code_three(on_stage: Stage, line: tuple[str, ...]) -> None:
    with on_stage.fault(kind="status", status=403, method={"any_of": ["POST", "PUT", "PATCH", "DELETE"]}):
        done = run(on_stage, *line, "--yes", "--json")
    assert_speaks(done, 3)
    assert json.loads(done.stdout)["verdict"] == "refused"


@pytest.mark.parametrize("line", ["event.enable", "api.events.list"], indirect=True)
def test_a_platform_that_cannot_be_reached_is_exit_code_four(on_stage: Stage, line: tuple[str, ...]) -> None:
    done = run(on_stage, *line, LIVEDECK_BASE_URL="http://127.0.0.1:9")
    assert_speaks(done, 4)
    assert done.stdout == ""


@pytest.mark.parametrize("name", CHANGES)
def test_nothing_is_changed_where_it_is_read_only(on_stage: Stage, name: str) -> None:
    words = [*COMMANDS[name].path.split(), *(["x"] * len(COMMANDS[name].arguments))]
    words += ["x"] if name.endswith(".reorder") else []
    done = run(on_stage, *words, "--yes", "--read-only")
    assert_speaks(done, 2)
    assert "read-only" in done.stderr


@pytest.mark.parametrize(
    ("line", "code", "verdict"),
    [("event.enable", 5, "unknown"), ("event.edit", 0, "applied"), ("event.delete", 0, "applied")],
    indirect=["line"],
)
def test_a_lost_answer_is_looked_for_and_else_unknown(
    on_stage: Stage, line: tuple[str, ...], code: int, verdict: str
) -> None:
    """trust.md, "Verdicts"."""
    method = "DELETE" if line[1] == "delete" else "PUT"
    with on_stage.fault(kind="lose", method=method):
        done = run(on_stage, *line, "--yes", "--json")
    assert (done.returncode, json.loads(done.stdout)["verdict"]) == (code, verdict), done.stderr


def test_what_was_made_is_named_though_its_answer_was_lost(on_stage: Stage) -> None:
    """A script goes on with the id: quiet, as text and as JSON it is that of the event that is there."""
    printed = {}
    with on_stage.fault(kind="lose", method="POST"):
        for form in ("--quiet", "--json", "--yes"):
            done = run(on_stage, "event", "create", "--name", f"Lost {form}", "--yes", form)
            assert done.returncode == 0, done.stderr
            printed[form] = done.stdout
    made = {item["name"]: item["id"] for item in on_stage.read("event", "list")["items"]}
    assert printed["--quiet"] == f"{made['Lost --quiet']}\n"
    result = json.loads(printed["--json"])
    assert (result["verdict"], result["target"]["id"]) == ("applied", made["Lost --json"])
    assert result["object"]["id"] == made["Lost --json"]
    assert made["Lost --yes"] in printed["--yes"]


def test_what_has_no_verdict_is_not_repeated_by_a_yes(on_stage: Stage) -> None:
    event = on_stage.made("event", "create", "--name", "Lost answer")
    with on_stage.fault(kind="lose", method="PUT"):
        assert run(on_stage, "event", "enable", event, "--yes").returncode == 5
    again = run(on_stage, "event", "enable", event, "--yes")
    assert_speaks(again, 2)
    assert "no verdict" in again.stderr
    assert run(on_stage, "event", "enable", event, "--confirm", "Lost answer").returncode == 0
    (change,) = [found for found in on_stage.read("status")["open_changes"] if found["target"]["id"] == event]
    assert f"? {change['id'][:8]} unknown: enable" in run(on_stage, "status").stdout
    assert_speaks(run(on_stage, "change", "close", "nothing"), 2)
    assert run(on_stage, "change", "close", change["id"][:8]).returncode == 0
    assert change["id"] not in {found["id"] for found in on_stage.read("status")["open_changes"]}
    assert run(on_stage, "event", "enable", event, "--yes").returncode == 0


def test_changes_are_listed_from_the_history_or_are_unknown(tmp_path: Path) -> None:
    kept = called(tmp_path, "change", "list", env={"LIVEDECK_HISTORY": str(tmp_path / "history.sqlite")})
    said = "no change with an unknown outcome in the history of this machine\n"
    assert (kept.returncode, kept.stdout, kept.stderr) == (0, "", said)
    unkept = called(tmp_path, "change", "list", "--json", env={"LIVEDECK_HISTORY": "off"})
    assert (unkept.returncode, unkept.stdout, "outcomes of changes are unknown" in unkept.stderr) == (2, "", True)


def test_without_a_terminal_a_change_needs_a_yes(on_stage: Stage) -> None:
    done = run(on_stage, "event", "enable", DRAFT)
    assert_speaks(done, 2)
    assert "--yes" in done.stderr


def test_what_cuts_an_audience_off_needs_its_name(on_stage: Stage) -> None:
    event = next(item for item in on_stage.read("event", "list")["items"] if item["name"] == ON_AIR)
    wrong = ("another", "choir", ON_AIR.casefold(), f"{ON_AIR}\u200b", event["id"][-5:])
    for arguments in (["--yes"], *(["--yes", "--confirm", word] for word in wrong)):
        done = run(on_stage, "event", "delete", event["id"], *arguments)
        assert_speaks(done, 2)
        assert ON_AIR in done.stderr
        assert f"(id …{event['id'][-6:]})" in done.stderr
    dry = run(on_stage, "event", "delete", event["id"], "--dry-run", "--json")
    assert (dry.returncode, json.loads(dry.stdout)["verdict"]) == (0, "dry run")
    assert event["id"] in on_stage.ids("event", "list")


def test_a_token_of_what_was_seen_holds_until_somebody_changes_it(on_stage: Stage) -> None:
    event = on_stage.made("event", "create", "--name", "Seen")
    token = on_stage.read("event", "get", event)["token"]
    assert token in {item["token"] for item in on_stage.read("event", "list")["items"]}
    renamed = ("event", "edit", event, "--yes", "--if-unchanged", token, "--name")
    assert run(on_stage, *renamed, "Seen once").returncode == 0
    late = run(on_stage, *renamed, "Seen twice")
    assert_speaks(late, 3)
    assert "refused: Seen once: nothing sent" in late.stderr
    assert on_stage.read("event", "get", event)["name"] == "Seen once"


def test_what_is_changed_while_somebody_is_asked_is_not_sent(on_stage: Stage) -> None:
    event = on_stage.made("event", "create", "--name", "Seen before")
    token = on_stage.read("event", "get", event)["token"]
    line = ("event", "edit", event, "--if-unchanged", token, "--protected")
    settings: dict[str, Any] = {**on_stage.env}
    with terminal(on_stage.home, *line, **settings) as shown:
        shown.until("[y/N]")
        assert run(on_stage, "event", "edit", event, "--name", "Seen after", "--yes").returncode == 0
        shown.press("y\n")
        shown.until('not sent: the object is not as expected: its name was "Seen before" and is "Seen after" now')
        assert shown.ended() == 3
    assert on_stage.read("event", "get", event)["protected"] is False


def test_a_person_at_a_terminal_is_asked_and_types_the_name_of_what_is_on_air(on_stage: Stage) -> None:
    event = next(item["id"] for item in on_stage.read("event", "list")["items"] if item["name"] == ON_AIR)
    settings: dict[str, Any] = {**on_stage.env}
    for typed, code in (("choir", 6), (ON_AIR.casefold(), 6), (ON_AIR, 0)):
        with terminal(on_stage.home, "event", "complete", event, **settings) as shown:
            shown.until(f"Type the whole name to continue, {ON_AIR}: ")
            assert "viewers are cut off" in shown.written.decode()
            shown.press(f"{typed}\n")
            assert shown.ended() == code
        status = on_stage.read("event", "stream", "get", event)["status"]
        assert (status == "finished") is (code == 0)


def test_what_is_so_already_is_done_and_not_sent(on_stage: Stage) -> None:
    event = on_stage.made("event", "create", "--name", "As it is")
    before = on_stage.read("event", "get", event)["token"]
    assert run(on_stage, "event", "edit", event, "--name", "As it is", "--yes").returncode == 0
    assert on_stage.read("event", "get", event)["token"] == before


def test_a_form_is_filled_from_a_file_and_what_was_read_can_be_sent_back(on_stage: Stage) -> None:
    """A restream whose key is masked keeps the key that it has."""
    rows = '[[restreams]]\nname = "CDN"\nurl = "rtmp://live.example/app"\nkey = "the-cdn-key-4711"\n'
    file = on_stage.file("show.toml", f'name = "From a file"\ntype = "one-time"\nscheduled.time = "in 2 h"\n{rows}')
    event = on_stage.made("event", "create", "--from-file", file)
    read = on_stage.read("event", "get", event)
    assert read["restreams"][0]["key"] == "••••4711"
    read["restreams"][0]["description"] = "Public"
    back = on_stage.file("restreams.json", json.dumps(read["restreams"]))
    done = run(on_stage, "event", "edit", event, "--restreams", back, "--yes")
    assert done.returncode == 0, done.stderr
    restream = on_stage.read("event", "get", event)["restreams"][0]
    assert (restream["description"], restream["key"]) == ("Public", "••••4711")
    assert "the-cdn-key" not in done.stdout + done.stderr
    whole = on_stage.read("event", "get", event)
    same = run(on_stage, "event", "edit", event, "--from-file", on_stage.file("a.json", json.dumps(whole)), "--yes")
    assert (same.returncode, "the object already has these values" in same.stdout) == (0, True), same.stderr
    moved = on_stage.file("c.json", json.dumps({**whole, "parent_id": folder(on_stage)}))
    assert run(on_stage, "event", "edit", event, "--from-file", moved, "--yes").returncode == 0
    assert on_stage.read("event", "get", event)["parent_id"] == folder(on_stage)
    other = on_stage.file("b.json", json.dumps({**whole, "type": "recurring"}))
    assert_speaks(run(on_stage, "event", "edit", event, "--from-file", other, "--yes"), 2)


def test_fields_of_a_file_that_nobody_can_send_are_named_where_they_differ(on_stage: Stage) -> None:
    event = on_stage.made("event", "create", "--name", "With a subtitle")
    whole = on_stage.read("event", "get", event)
    file = on_stage.file("subtitle.json", json.dumps({**whole, "name": "Renamed", "subtitle": "in three parts"}))
    done = run(on_stage, "event", "edit", event, "--from-file", file, "--yes")
    assert (done.returncode, "fields ignored, because they cannot be sent: subtitle\n" in done.stderr) == (0, True), (
        done.stderr
    )


def test_every_track_that_speech_is_recognised_for_is_named(on_stage: Stage) -> None:
    video = on_stage.video()
    done = run(on_stage, "video", "subtitle", "recognise", video, "--languages", "de,fr", "--yes", "--quiet")
    made = done.stdout.split()
    assert len(made) == 2
    assert {*made} <= {*on_stage.ids("video", "subtitle", "list", video)}
    result = on_stage.read("video", "subtitle", "recognise", video, "--languages", "es", "--yes")
    assert (len(result["ids"]), result["target"]["id"]) == (1, result["ids"][0])


def test_names_are_candidates_where_they_are_ambiguous(on_stage: Stage) -> None:
    for _ in range(2):
        on_stage.made("event", "create", "--name", "Twins")
    done = run(on_stage, "event", "get", "twins")
    assert_speaks(done, 2)
    assert done.stderr.count("Twins") == 2
    assert "by the beginning" not in done.stderr
    assert "fits 2 events by the beginning of name or id" in run(on_stage, "event", "get", "twin").stderr
    near = run(on_stage, "event", "get", "Choir hal B")
    assert_speaks(near, 2)
    assert ON_AIR in near.stderr


def test_a_name_that_two_have_or_that_hides_letters_confirms_nothing(on_stage: Stage) -> None:
    """What has a change without a verdict wants its name, as what is on air does."""
    plain, hidden = (on_stage.made("event", "create", "--name", name) for name in ("Encore", "Enc\u200bore"))
    with on_stage.fault(kind="lose", method="PUT"):
        for event in (plain, hidden):
            assert run(on_stage, "event", "enable", event, "--yes").returncode == 5
    for event, other in ((plain, hidden), (hidden, plain)):
        again = run(on_stage, "event", "enable", event, "--yes", "--confirm", "Encore")
        assert_speaks(again, 2)
        assert "Another event has a name that looks the same" in again.stderr
        assert f"(id …{other[-6:]})" in again.stderr
        assert f"--confirm should be {event[-6:]!r} or the whole id" in again.stderr
    assert r'Its name has invisible letters: "Enc\u200bore"' in again.stderr
    assert run(on_stage, "event", "enable", plain, "--confirm", plain[-6:].upper()).returncode == 0
    assert run(on_stage, "event", "enable", hidden, "--confirm", hidden).returncode == 0
    assert on_stage.read("event", "get", "Encore")["id"] == plain
    assert on_stage.read("event", "get", "Enc\u200bore")["id"] == hidden


def test_an_id_that_is_no_more_is_refused_by_the_platform_and_a_name_is_a_mistake(on_stage: Stage) -> None:
    event = on_stage.made("event", "create", "--name", "Soon gone")
    assert run(on_stage, "event", "delete", event, "--yes").returncode == 0
    lines = (
        ("event", "get"),
        ("event", "enable", "--yes"),
        ("video", "list"),
        ("event", "qos"),
        ("event", "preflight"),
    )
    for line in lines:
        gone = run(on_stage, *line, event)
        assert_speaks(gone, 3)
        assert "deleted" in gone.stderr
    assert_speaks(run(on_stage, "event", "get", "Soon gone"), 2)
    checked = run(on_stage, "event", "check", event)
    assert (checked.returncode, "deleted" in checked.stdout) == (3, True)


def test_a_row_that_is_wrong_is_named_with_its_field(on_stage: Stage) -> None:
    rows = on_stage.file("wrong.json", json.dumps([{"name": "CDN", "url": "http://x.example/", "key": "the-key-4711"}]))
    done = run(on_stage, "event", "edit", DRAFT, "--restreams", rows, "--yes")
    assert_speaks(done, 2)
    assert '--restreams: row "CDN": url should be' in done.stderr
    assert "the-key" not in done.stderr


def test_what_may_be_left_out_is_not_called_required(on_stage: Stage) -> None:
    text = run(on_stage, "event", "create", "--help").stdout
    assert text.count("[required]") == 1
    assert "If the reply is lost" in text


@pytest.mark.parametrize("name", ["poster", "subtitle", "material"])
def test_files_come_down_whole_and_replace_nothing_unasked(on_stage: Stage, name: str, tmp_path: Path) -> None:
    line = {"poster": "poster.activate", "subtitle": "subtitle.edit", "material": "material.edit"}[name]
    video, item = CHANGES[line](on_stage)[3:5]
    target = str(tmp_path / "file")
    assert run(on_stage, "video", name, "download", video, item, "-o", target).returncode == 0
    assert Path(target).stat().st_size
    again = run(on_stage, "video", name, "download", video, item, "-o", target)
    assert_speaks(again, 1)
    assert "--force" in again.stderr
    assert run(on_stage, "video", name, "download", video, item, "-o", target, "--force", "-q").stderr == ""


def test_every_form_of_output_says_the_same(on_stage: Stage) -> None:
    items = on_stage.read("event", "list")["items"]
    lines = run(on_stage, "event", "list", "--format", "ndjson").stdout.splitlines()
    assert [json.loads(text)["id"] for text in lines] == [item["id"] for item in items]
    assert run(on_stage, "event", "list", "-q").stdout.splitlines() == [item["id"] for item in items]
    csv = run(on_stage, "event", "list", "--format", "csv", "--columns", "id,stream.status").stdout.splitlines()
    assert csv[0] == "id,stream.status"
    assert len(csv) == len(items) + 1
    assert_speaks(run(on_stage, "event", "list", "--columns", "nmae"), 2)


def test_an_option_for_every_field_of_a_form_and_help_in_words() -> None:
    for command in COMMANDS.values():
        options = field_options(command.schema, is_new=command.is_new) if command.schema else []
        assert all(option.help for option in options)
        assert len(options) == len(command.schema.fields if command.schema else ())


@pytest.mark.parametrize("path", NOUNS)
def test_every_command_of_a_noun_answers_for_itself(path: str) -> None:
    group = TREE.get(path)
    assert isinstance(group, NounGroup)
    listed = re.findall(r"^  ([a-z-]+)  +\S", group.get_help(click.Context(group)).partition("Commands:")[2], re.M)
    assert listed == TREE.names(path)
    for command in make_commands(NOUNS[path]).values():
        assert command.help
        assert command.get_short_help_str(200)


def leaves(command: click.Command, ctx: click.Context, path: str = "") -> Iterator[str]:
    """Yield the words of every command that runs without a further word."""
    if not isinstance(command, click.Group):
        yield path
        return
    if path and command.invoke_without_command:
        yield path
    for name in command.list_commands(ctx):
        inner = command.get_command(ctx, name)
        assert inner is not None
        yield from leaves(inner, click.Context(inner, parent=ctx), f"{path} {name}".strip())


def test_every_command_of_a_group_has_examples_in_its_help_and_all_are_right(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    for name in ("gala.toml", "history.db.corrupt-20261121T180000Z", "show.livedeck"):  # files that examples read
        (tmp_path / name).touch()
    every = {*leaves(main, click.Context(main))}
    assert {*EXAMPLES} <= every
    assert every == {*EXAMPLES}
    for path, lines in EXAMPLES.items():
        described, ctx, _ = found(shlex.split(path))
        for line in lines:
            command, _, words = found(shlex.split(line))
            command.make_context(path, words)
            assert f"  livedeck {line}" in described.get_help(ctx)


def found(words: list[str]) -> tuple[click.Command, click.Context, list[str]]:
    """Return the command at the beginning of these words, its context, and the remaining words."""
    command: click.Command = main
    ctx = click.Context(main)
    while isinstance(command, click.Group) and words and not words[0].startswith("-"):
        _, inner, words = command.resolve_command(ctx, words)
        assert inner is not None
        command, ctx = inner, click.Context(inner, parent=ctx)
    return command, ctx, list(words)


def test_help_is_a_command_too(tmp_path: Path) -> None:
    for words in ((), ("event",), ("event", "chat")):
        assert called(tmp_path, "help", *words).stdout == called(tmp_path, *words, "--help").stdout
    assert "Did you mean 'list'" in called(tmp_path, "help", "event", "lisst").stderr


def test_nobody_is_asked_who_does_not_want_to_be(on_stage: Stage) -> None:
    event = on_stage.made("event", "create", "--name", "Never asked")
    settings: dict[str, Any] = {**on_stage.env}
    with terminal(on_stage.home, "--no-input", "event", "delete", event, **settings) as shown:
        shown.until("No terminal to confirm at. Add --yes.")
        assert shown.ended() == 2
    assert on_stage.read("event", "get", event)["name"] == "Never asked"
