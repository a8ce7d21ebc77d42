"""With `collector_url`, commands show the data of the collector and send no request to the platform."""

from __future__ import annotations

import asyncio
import json
import socket
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread

import pytest

from cli.commands import TIMEOUT, called, livedeck
from cli.terminals import terminal
from collector.stand_in import StandIn, plain, saying, stand_in
from collector.third_party import EXPLAINED, STARTED, LoopClock, ThirdParty, text_of


@dataclass
class Stage:
    """Collector of another make, and a platform that only counts its requests.

    `env`: variables that point a deck at both.
    """

    theirs: ThirdParty
    server: StandIn
    loop: asyncio.AbstractEventLoop
    connections: list[object]
    env: dict[str, str]

    def wait_for_listener(self) -> None:
        """Wait until a program follows the changes."""
        asked = self.server.wait_for("GET", "/v1/changes")
        asyncio.run_coroutine_threadsafe(asked, self.loop).result(TIMEOUT)

    def say(self, what: str) -> None:
        """Make the collector publish something, by the name of its method."""
        self.loop.call_soon_threadsafe(getattr(self.theirs, what))


@contextmanager
def staged(home: Path) -> Iterator[Stage]:
    """Yield both, running in a thread of their own."""
    began, end, made = Event(), asyncio.Event(), list[Stage]()
    token = home / "collector-token"
    token.write_text("of-a-deck", encoding="utf-8")
    token.chmod(0o600)
    platform = socket.create_server(("127.0.0.1", 0))

    async def serve() -> None:
        connections: list[object] = []
        counting = await asyncio.start_server(lambda _, writer: connections.append(writer), sock=platform)
        theirs = ThirdParty(LoopClock())
        async with stand_in(theirs.answer) as server:
            env = {
                "LIVEDECK_COLLECTOR_URL": server.address,
                "LIVEDECK_COLLECTOR_TOKEN_FILE": str(token),
                "LIVEDECK_BASE_URL": f"http://127.0.0.1:{platform.getsockname()[1]}",
                "LIVEDECK_TOKEN": "of-the-person-4711",
            }
            made.append(Stage(theirs, server, asyncio.get_running_loop(), connections, env))
            began.set()
            await end.wait()
        counting.close()

    thread = Thread(target=asyncio.run, args=(serve(),))
    thread.start()
    assert began.wait(TIMEOUT)
    try:
        yield made[0]
    finally:
        made[0].loop.call_soon_threadsafe(end.set)
        thread.join(TIMEOUT)


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """Stage for all tests that only read."""
    with staged(tmp_path_factory.mktemp("stage")) as made:
        made.say("raise_alarm")
        yield made


@pytest.mark.parametrize(
    ("arguments", "code", "words"),
    [(("status",), 0, "Größe 試合"), (("alarm", "list"), 0, "NO_INGEST"), (("event", "check"), 2, "NO_INGEST")],
)
def test_a_command_prints_what_the_collector_says_and_asks_the_platform_nothing(
    tmp_path: Path, stage: Stage, arguments: tuple[str, ...], code: int, words: str
) -> None:
    done = called(tmp_path, *arguments, env=stage.env)
    assert (done.returncode, words in done.stdout) == (code, True), done.stdout + done.stderr
    assert stage.connections == []


@pytest.mark.parametrize(("command", "code"), [("status", 2), ("event check", 3)])
def test_patience_is_refused_since_the_collector_decides(tmp_path: Path, stage: Stage, command: str, code: int) -> None:
    done = called(tmp_path, *command.split(), "--patience", "5s", env=stage.env)
    assert done.returncode == code
    words = "--patience: the collector decides how long to poll late streams. Leave --patience out."
    assert words in done.stdout + done.stderr


def test_metrics_are_those_of_the_collector_and_one_that_is_away_leaves_nothing_to_print(
    tmp_path: Path, stage: Stage
) -> None:
    stage.theirs.metrics[1:] = ["livedeck_platform_link_up 1", 'livedeck_event_info{event_id="e1",name="Größe 試合"} 1']
    done = called(tmp_path, "status", "--format", "prometheus", env=stage.env)
    assert (done.returncode, done.stdout) == (0, "\n".join(stage.theirs.metrics) + "\n"), done.stderr
    stage.theirs.metrics[1] = "livedeck_platform_link_up 0"
    blind = called(tmp_path, "status", "--format", "prometheus", env=stage.env)
    assert (blind.returncode, "link_up 0" in blind.stdout) == (4, True)
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    away = called(tmp_path, "status", "--format", "prometheus", env={**stage.env, "LIVEDECK_COLLECTOR_URL": address})
    assert (away.returncode, away.stdout, "refuses connections" in away.stderr) == (4, "", True)
    assert stage.connections == []


def test_what_waits_to_be_sent_is_the_collectors(tmp_path: Path, stage: Stage) -> None:
    unsent = {"at": "2026-03-01T12:00:00Z", "route": "ops", "target": "ops", "title": "CRIT NO_INGEST Größe 試合"}
    stage.theirs.unsent = [{**unsent, "state": "dead", "tries": 3, "answer": "404 gone", "new": 1}]
    stage.theirs.commands["retry"] = plain("200 OK", b'{"revived":1}')
    env = {**stage.env, "LIVEDECK_HISTORY": str(tmp_path / "own.sqlite")}
    listed, retried = (called(tmp_path, "notify", *words, env=env) for words in (("list",), ("dead", "retry")))
    assert (listed.returncode, listed.stdout) == (
        0,
        "2026-03-01 12:00:00Z  ops           CRIT NO_INGEST Größe 試合  given up after 3 tries: 404 gone\n",
    ), listed.stderr
    assert (retried.returncode, retried.stdout) == (0, "1 message will be retried\n"), retried.stderr
    stage.theirs.commands["retry"] = plain("403 Forbidden", b'{"error":"not allowed","say":"the token may read"}')
    refused = called(tmp_path, "notify", "dead", "retry", env=env)
    assert (refused.returncode, "(403): the token may read" in refused.stderr) == (3, True), refused.stderr
    assert stage.connections == []
    assert not (tmp_path / "own.sqlite").exists()


def test_an_acknowledgement_goes_through_the_collector_alone(tmp_path: Path) -> None:
    with staged(tmp_path) as stage:
        stage.say("raise_alarm")
        env = {**stage.env, "LIVEDECK_HISTORY": str(tmp_path / "own.sqlite")}
        acked = called(tmp_path, "alarm", "ack", "e1", "NO_INGEST", env=env)
        sent = stage.server.bodies("POST", "/acknowledge")
        stage.theirs.commands["acknowledge"] = plain("200 OK", b'{"changed":false}')
        again = called(tmp_path, "alarm", "ack", "e1", "NO_INGEST", env=env)
        stage.theirs.commands["acknowledge"] = plain("403 Forbidden", b'{"error":"x","say":"the token may read"}')
        refused = called(tmp_path, "alarm", "ack", "e1", "NO_INGEST", env=env)
        stage.theirs.commands["acknowledge"] = b""
        cut = called(tmp_path, "alarm", "ack", "e1", "NO_INGEST", env=env)
        unjudged = called(tmp_path, "alarm", "ack", "e1", "FPS_LOW", env=env)
        missing = called(tmp_path, "alarm", "ack", "platform", "CLOCK_SKEW", env=env)
    assert (acked.returncode, acked.stderr) == (0, ""), acked.stderr
    assert acked.stdout.endswith(" NO_INGEST: acknowledged\n")
    assert len(sent) == 1
    assert (again.returncode, again.stdout.endswith(" NO_INGEST: no change needed\n")) == (0, True), again.stderr
    assert (refused.returncode, "the token may read" in refused.stderr) == (6, True), refused.stderr
    assert (cut.returncode, "unknown whether the action was done" in cut.stderr) == (5, True), cut.stderr
    assert (unjudged.returncode, "unknown whether" in unjudged.stderr) == (4, True)  # no sample of it was judged
    assert (missing.returncode, "platform has no alarm CLOCK_SKEW" in missing.stderr) == (6, True), missing.stderr
    assert stage.connections == []


def test_the_content_and_the_baseline_of_an_event_go_to_the_collector_alone(tmp_path: Path) -> None:
    with staged(tmp_path) as stage:
        env = {**stage.env, "LIVEDECK_HISTORY": str(tmp_path / "own.sqlite")}
        chosen = called(tmp_path, "event", "content", "größe", "camera", env=env)
        undone = called(tmp_path, "event", "content", "e1", "default", env=env)
        usual = called(tmp_path, "event", "rebaseline", "e1", env=env)
        contents, marks = stage.server.bodies("POST", "/e1/content"), stage.server.bodies("POST", "/e1/usual")
        stage.theirs.commands["usual"] = plain("200 OK", b'{"changed":false}')
        nothing = called(tmp_path, "event", "rebaseline", "e1", env=env)
        stage.theirs.commands["content"] = plain("403 Forbidden", b'{"error":"x","say":"the token may read"}')
        refused = called(tmp_path, "event", "content", "e1", "radio", env=env)
        stage.theirs.commands["content"] = b""
        cut = called(tmp_path, "event", "content", "e1", "radio", env=env)
        missing = called(tmp_path, "event", "content", "nobody", "radio", env=env)
    assert (chosen.returncode, chosen.stdout) == (0, "Größe 試合: content camera\n"), chosen.stderr
    assert (undone.returncode, undone.stdout) == (0, "Größe 試合: content by the collector's settings\n"), undone.stderr
    assert contents == [{"content": "camera"}, {"content": None}]
    assert usual.stdout.startswith("Größe 試合: the new baseline is the current signal\n"), usual.stderr
    assert marks == [{}]
    assert (nothing.returncode, "no fresh samples to take as a baseline" in nothing.stderr) == (1, True)
    assert (refused.returncode, refused.stdout, "the token may read" in refused.stderr) == (6, "", True)
    assert (cut.returncode, "unknown whether the action was done" in cut.stderr) == (5, True), cut.stderr
    assert (missing.returncode, missing.stdout) == (2, "")
    assert stage.connections == []
    assert not (tmp_path / "own.sqlite").exists()


def test_while_the_platform_is_silent_its_alarms_are_acknowledged_all_the_same(tmp_path: Path) -> None:
    with staged(tmp_path) as stage:
        stage.say("be_blind")
        env = {**stage.env, "LIVEDECK_HISTORY": str(tmp_path / "own.sqlite")}
        of_event = called(tmp_path, "alarm", "ack", "e1", "NO_INGEST", "--json", env=env)
        of_all = called(tmp_path, "alarm", "shelve", "Platform", "API_BLIND", "--reason", "known", "--json", env=env)
        stage.theirs.commands["acknowledge"] = plain("200 OK", b'{"changed":false}')
        again = called(tmp_path, "alarm", "ack", "platform", "API_BLIND", "--json", env=env)
        sent = [asked.target for asked in stage.server.asked if "/alarms/" in asked.target]
    assert (of_event.returncode, of_event.stderr) == (0, "")
    assert json.loads(of_event.stdout) == {
        "schema": "livedeck alarm ack v1",
        "event_id": "e1",
        "kind": "NO_INGEST",
        "target": None,
        "action": "acknowledge",
        "changed": True,
    }
    done = json.loads(of_all.stdout)
    assert (done["event_id"], done["kind"], done["action"], done["changed"]) == (None, "API_BLIND", "shelve", True)
    assert json.loads(again.stdout)["changed"] is False
    assert [path.rpartition("/")[2] for path in sent] == ["acknowledge", "shelve", "acknowledge"]


def test_while_the_platform_is_silent_an_event_is_explained_as_it_was_last_known(tmp_path: Path) -> None:
    """As the deck's pane does. The exit code says that the platform is silent."""
    with staged(tmp_path) as stage:
        stage.say("be_blind")
        done = called(tmp_path, "alarm", "explain", "e1", env=stage.env)
        as_json = called(tmp_path, "alarm", "explain", "e1", "--json", env=stage.env)
        missing = called(tmp_path, "alarm", "explain", "nobody", env=stage.env)
    title = "Größe 試合  not known since 12:00:07Z, on air before: the platform answers 503"
    assert (done.returncode, done.stdout.partition("\n")[0]) == (4, title), done.stderr
    assert done.stderr == "livedeck alarm explain: cannot watch: the network works: the platform answers 503\n"
    found = json.loads(as_json.stdout)["not_known"]
    assert found == {"since": "2026-03-01T12:00:07Z", "cause": "platform", "text": "the platform answers 503"}
    assert (missing.returncode, missing.stdout) == (2, "")


def test_a_still_camera_is_declared_from_here_or_in_the_settings_of_the_collector(
    tmp_path: Path, stage: Stage, monkeypatch: pytest.MonkeyPatch
) -> None:
    alarm = {"key": ["e1", "PICTURE_STILL", ""], "severity": "warning", "state": "unacknowledged"}
    words = {"since": text_of(STARTED), "actual": "", "expected": "", "ends": ""}
    monkeypatch.setitem(EXPLAINED, "open", [alarm | words])
    done = called(tmp_path, "alarm", "explain", "e1", env=stage.env)
    assert "such as a harbour at night: livedeck event content e1 camera\n" in done.stdout, done.stderr
    assert "Or in the collector's settings:" in done.stdout


def test_without_a_token_for_the_platform_it_reads_all_the_same(tmp_path: Path, stage: Stage) -> None:
    env = {name: value for name, value in stage.env.items() if "COLLECTOR" in name}
    done = called(tmp_path, "status", "--json", env=env)
    assert done.returncode == 0, done.stderr
    assert [event["id"] for event in json.loads(done.stdout)["events"]] == ["e1"]


def test_a_collector_that_is_away_is_told_as_such_and_not_as_the_platform(tmp_path: Path, stage: Stage) -> None:
    with socket.create_server(("127.0.0.1", 0)) as free:
        address = f"http://127.0.0.1:{free.getsockname()[1]}"
    done = called(tmp_path, "status", env={**stage.env, "LIVEDECK_COLLECTOR_URL": address})
    assert done.returncode == 4
    assert f"{address.removeprefix('http://')} refuses connections; check that the collector runs" in done.stderr
    assert stage.env["LIVEDECK_BASE_URL"] not in done.stderr
    assert stage.connections == []


@pytest.mark.parametrize(
    ("name", "value", "words"),
    [
        ("COLLECTOR_URL", "http://collector.example", "should be https, or http to loopback"),
        ("COLLECTOR_TOKEN_FILE", "", "no token for the collector"),
        ("COLLECTOR_FALLBACK", "ring", "collector_fallback"),
    ],
)
def test_a_setting_that_cannot_be_used_is_refused_before_anything_is_sent(
    tmp_path: Path, stage: Stage, name: str, value: str, words: str
) -> None:
    done = called(tmp_path, "status", env={**stage.env, f"LIVEDECK_{name}": value})
    assert (done.returncode, words in done.stderr) == (2, True), done.stderr


@pytest.mark.parametrize(
    ("arguments", "words"), [((), "NO_INGEST"), (("wall",), "✖ 1"), (("alarm", "list", "--follow"), "NO_INGEST")]
)
def test_what_goes_on_shows_it_and_follows_it_and_asks_the_platform_nothing(
    tmp_path: Path, arguments: tuple[str, ...], words: str
) -> None:
    with staged(tmp_path) as stage, terminal(tmp_path, *arguments, size=(120, 40), **stage.env) as shown:
        stage.wait_for_listener()
        stage.say("raise_alarm")
        shown.until(words)
        assert stage.connections == []


async def test_a_deck_whose_token_expired_says_so_and_what_to_do(tmp_path: Path) -> None:
    """On the screen, too, where a banner has little room."""
    say = "the token of wall expired 2026-11-24 02:01Z: run `livedeck collector token rotate wall` beside the collector"
    refusal = plain("401 Unauthorized", json.dumps({"error": "expired token", "say": say}).encode())
    token = tmp_path / "collector-token"
    token.write_text("of-a-deck", encoding="utf-8")
    token.chmod(0o600)

    def watch(env: dict[str, str]) -> None:
        done = livedeck(tmp_path, "status", env=env)
        assert (done.returncode, say in done.stderr) == (3, True), done.stderr
        with terminal(tmp_path, size=(160, 40), **env) as shown:
            shown.until("COLLECTOR REFUSES since .{0,200}run `livedeck collector token rotate wall`")

    async with stand_in(saying(refusal)) as server:
        env = {"LIVEDECK_COLLECTOR_URL": server.address, "LIVEDECK_COLLECTOR_TOKEN_FILE": str(token)}
        await asyncio.to_thread(watch, env)
