"""Show files over real HTTP: what they create, a second run, drift, kills, and refused files."""

from __future__ import annotations

import json
import subprocess
from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from cli.commands import TIMEOUT, called, environment
from cli.groups_stage import REHEARSAL, VTT, Stage
from cli.starts import LIVEDECK, Start
from livedeck import docs
from livedeck.cli.show.file import read_show
from livedeck.simulator import Platform

CHANGING = {"any_of": ["POST", "PUT", "PATCH", "DELETE"]}
EMPTY = {"meta": {"pagination": {"page": 1, "per_page": 100, "total": 0}, "order": {}}, "data": []}
KEYS = {"CDN_KEY": "cdn-key-4711-x", "HALL_KEY": "hall-key-4712-x"}


@pytest.fixture
def platform(on_stage: Stage) -> Platform:
    platform = Platform.attach(on_stage.service["control_url"], on_stage.service["control_token"])
    platform.reset(keep=["clock"])
    platform.requests.clear()
    for path in on_stage.home.iterdir():
        if path.is_dir():
            subprocess.run(["rm", "-r", str(path)], check=True)
    return platform


def run(on_stage: Stage, *words: str, **env: str) -> Any:
    return called(on_stage.home, "show", *words, env={**on_stage.env, **KEYS, **env})


def folder(on_stage: Stage) -> str:
    """Return a project or folder with one event, which nobody watches."""
    listed = on_stage.read("event", "list")["items"]
    sizes = Counter(event["parent_id"] for event in listed if not event["name"].startswith("Part "))
    idle = (event for event in listed if not event["stream"] and event["parent_id"])
    return next(str(event["parent_id"]) for event in idle if sizes[event["parent_id"]] == 1)


def events(on_stage: Stage, count: int) -> str:
    """Return the events of a show: each has a restream, every third a stream, every fifth a poster."""
    rows = []
    for number in range(count):
        rows.append(f"""
  - name: Part {number}
    type: one-time
    scheduled: {{time: "2036-12-01T18:{number:02}:00+01:00"}}
    video: {{presets: [1080p, 720p]}}
    reconnect_window: {300 + number}
    restreams:
      - {{name: CDN, url: rtmp://live.example/app/, key: {{env: CDN_KEY}}}}
      - {{name: Hall, url: rtmps://hall.example/app, key: {{env: HALL_KEY}}, enabled: false}}""")
        rows.append('\n    stream: {started_at: "2036-12-01T17:00Z"}' if number % 3 == 0 else "")
        rows.append('\n    poster: {url: "https://pictures.example/a.png?sign=s3cretsign"}' if number % 5 == 0 else "")
    return f"name: Gala\nparent_id: {folder(on_stage)}\nevents:{''.join(rows)}\n"


def rooms_and_videos(on_stage: Stage) -> str:
    on_stage.file("b.uk.vtt", VTT)
    on_stage.file("key", KEYS["CDN_KEY"])
    (on_stage.home / "key").chmod(0o600)
    return f"""
rooms:
  - name: Green room
    owner_id: {on_stage.service["user_id"]}
    restreams:
      - {{name: CDN, url: rtmp://live.example/app/, stream_key: {{file: key}}}}
      - {{name: Hall, url: rtmp://hall.example/app, stream_key: {{command: [echo, {KEYS["HALL_KEY"]}]}}}}
videos:
  - id: {on_stage.video()}
    poster: {{from_time: "0:23"}}
    subtitles:
      - {{language: en, description: English, file: rehearsal-tuesday.en.vtt}}
      - {{language: uk, description: Hall, file: b.uk.vtt}}
"""


def names(on_stage: Stage) -> Counter[str]:
    listed = (event["name"] for event in on_stage.read("event", "list")["items"])
    return Counter(name for name in listed if name.startswith("Part "))


def no_secret_in(*texts: str) -> bool:
    secrets = [*KEYS.values(), "s3cretsign"]
    return not [secret for secret in secrets for text in texts if secret in text]


@pytest.mark.parametrize("count", [8, pytest.param(30, marks=pytest.mark.slow)])
def test_a_show_applied_twice_sends_nothing_the_second_time_and_mends_drift(
    on_stage: Stage, platform: Platform, count: int
) -> None:
    file = on_stage.file("show.yaml", events(on_stage, count) + rooms_and_videos(on_stage))
    first = run(on_stage, "apply", file, "--yes")
    assert first.returncode == 0, first.stderr
    assert names(on_stage) == Counter(f"Part {number}" for number in range(count))
    platform.requests.clear()
    second = run(on_stage, "apply", file, "--yes")
    assert (second.returncode, platform.requests.count(method=CHANGING)) == (0, 0), second.stderr
    assert f"{count + 2} objects as in the file" in second.stderr

    drift = ("event", "edit", "Part 7", "--reconnect-window", "5", "--yes")
    assert called(on_stage.home, *drift, env=on_stage.env).returncode == 0
    on_stage.file("other", "another-key-99")
    relay = ("room", "relay", "edit", "Green room", "Hall", "--stream-key-file", str(on_stage.home / "other"), "--yes")
    assert called(on_stage.home, *relay, env=on_stage.env).returncode == 0
    platform.requests.clear()
    shown = run(on_stage, "diff", file)
    assert (shown.returncode, platform.requests.count(method=CHANGING)) == (6, 0)
    assert '~ event "Part 7"' in shown.stdout
    assert "Reconnect window: 5 → 307" in shown.stdout
    assert '~ relay profile "Hall" of room "Green room"' in shown.stdout
    assert shown.stdout.count("\n") == 4, shown.stdout
    mended = run(on_stage, "apply", file, "--yes")
    assert (mended.returncode, platform.requests.count(method=CHANGING)) == (0, 2), mended.stderr
    assert run(on_stage, "diff", file).returncode == 0
    assert no_secret_in(*(text for done in (first, second, shown, mended) for text in (done.stdout, done.stderr)))


def test_what_was_sent_is_reported_though_a_poster_cannot_be_remembered(on_stage: Stage, platform: Platform) -> None:
    show = events(on_stage, 1)
    assert run(on_stage, "apply", on_stage.file("show.yaml", show), "--yes").returncode == 0
    (remembered,) = on_stage.home.rglob("posters.json")
    remembered.unlink()
    remembered.mkdir()  # nothing can be written over a folder
    platform.requests.clear()
    file = on_stage.file("show.yaml", show.replace("/a.png", "/b.png"))
    done = run(on_stage, "apply", file, "--yes", "--format", "json")
    assert (done.returncode, platform.requests.count(method=CHANGING)) == (1, 1), done.stderr
    (step,) = json.loads(done.stdout)["steps"]
    assert step["verdict"] == "done"
    assert "the next apply sets it again" in step["text"]


@pytest.mark.parametrize("output_format", ["yaml", "toml"])
def test_an_exported_show_changes_nothing_when_applied_and_makes_it_anew_elsewhere(
    on_stage: Stage, platform: Platform, output_format: str
) -> None:
    file = on_stage.file("show.yaml", events(on_stage, 4) + rooms_and_videos(on_stage))
    assert run(on_stage, "apply", file, "--yes").returncode == 0
    out = on_stage.home / f"out.{output_format}"
    words = ("export", folder(on_stage), "Green room", REHEARSAL, "--format", output_format, "-o", str(out), "--force")
    done = run(on_stage, *words)
    assert done.returncode == 0, done.stderr
    text = out.read_text()
    assert no_secret_in(text)
    platform.requests.clear()
    applied = run(on_stage, "apply", str(out), "--yes")
    assert (applied.returncode, platform.requests.count(method=CHANGING)) == (0, 0), applied.stderr
    with pytest.raises(FileExistsError):  # the start of the command says so
        run(on_stage, *words[:-1])

    platform.reset(keep=["clock"])
    needs_keys = run(on_stage, "apply", str(out), "--dry-run")
    assert (needs_keys.returncode, "key is required" in needs_keys.stderr) == (2, True), needs_keys.stderr


@pytest.mark.usefixtures("platform")
def test_pruning_deletes_what_the_file_lacks_and_needs_the_name_of_the_show(on_stage: Stage) -> None:
    assert run(on_stage, "apply", on_stage.file("show.yaml", events(on_stage, 5)), "--yes").returncode == 0
    fewer = on_stage.file("show.yaml", events(on_stage, 3))
    kept = run(on_stage, "apply", fewer, "--yes")
    assert (kept.returncode, "3 not in the file" in kept.stderr, len(names(on_stage))) == (0, True, 5)
    for words, code in ((("--yes",), 2), (("--confirm", "Gal"), 2), (("--confirm", "Gala"), 0)):
        done = run(on_stage, "apply", fewer, "--prune", *words)
        assert done.returncode == code, done.stderr
        assert len(names(on_stage)) == (5 if code else 3)


@pytest.mark.parametrize(("lands", "code"), [("at-once", 0), ("never", 5)])
def test_a_killed_application_doubles_nothing_when_it_is_run_again(
    on_stage: Stage, platform: Platform, lands: str, code: int
) -> None:
    """The fourth creation is sent and gets no reply. If it arrived, it is found by its name; if not, it is unknown."""
    file = on_stage.file("show.yaml", events(on_stage, 6))
    match = {"operation": "create_event"}
    platform.faults.add("late-apply", match=match, skip=3, times=1, lands=lands, answer="hang")
    line = [*LIVEDECK, "show", "apply", file, "--yes"]
    env = environment(on_stage.home, **on_stage.env, **KEYS)
    with Start(line, env=env, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        platform.requests.verify(operation="create_event", at_least=4, within=TIMEOUT)
        process.kill()
    platform.faults.clear()
    again = run(on_stage, "apply", file, "--yes")
    assert again.returncode == code, again.stderr
    if code:
        assert names(on_stage) == Counter(f"Part {number}" for number in range(6) if number != 3)
        (change,) = [word for word in again.stderr.split() if len(word) == 8 and word.isalnum() and not word.isalpha()]
        assert f"no verdict yet. Look at the platform, then: livedeck change close {change}" in again.stderr
        assert called(on_stage.home, "change", "close", change, env=on_stage.env).returncode == 0
        assert run(on_stage, "apply", file, "--yes").returncode == 0
    assert names(on_stage) == Counter(f"Part {number}" for number in range(6))
    assert run(on_stage, "diff", file).returncode == 0


def test_an_empty_list_does_not_double_an_event_that_was_watched(on_stage: Stage, platform: Platform) -> None:
    file = on_stage.file("show.yaml", f"events:\n  - name: {json.dumps(REHEARSAL)}\n    type: one-time\n")
    line, env = [*LIVEDECK, "--plain"], environment(on_stage.home, **on_stage.env)
    with Start(line, env=env, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as deck:
        assert deck.stdout
        assert " events, " in deck.stdout.readline()
        deck.terminate()
        deck.communicate(timeout=TIMEOUT)
    platform.faults.add("answer", match={"operation": "list_events"}, json=EMPTY)
    platform.requests.clear()
    done = run(on_stage, "apply", file, "--yes")
    assert (done.returncode, platform.requests.count(method=CHANGING)) == (4, 0)
    assert f'not sent: the list lacks event "{REHEARSAL}", which still exists as' in done.stderr
    platform.faults.clear()


@pytest.mark.parametrize("kind", ["event", "room"])
def test_on_an_empty_list_objects_are_created_only_with_the_name_of_the_show(
    on_stage: Stage, platform: Platform, kind: str
) -> None:
    """A new account has such a list, and so has a platform that lost its rows."""
    fields = {"name": "First", **({"owner_id": on_stage.service["user_id"]} if kind == "room" else {})}
    file = on_stage.file("show.json", json.dumps({"name": "Gala", f"{kind}s": [fields]}))
    platform.faults.add("answer", match={"operation": f"list_{kind}s"}, json=EMPTY)
    platform.requests.clear()
    doubt = f"the {kind} list is empty, which does not prove that no {kind} exists"
    diff = run(on_stage, "diff", file, "--json")
    assert (diff.returncode, json.loads(diff.stdout)["doubt"]) == (6, doubt)
    refused = run(on_stage, "apply", file, "--yes")
    assert (refused.returncode, platform.requests.count(method=CHANGING)) == (2, 0)
    assert f"not sent: {doubt}, so objects may be created twice: --yes is not enough, add --confirm Gala" in (
        refused.stderr
    )
    done = run(on_stage, "apply", file, "--confirm", "Gala")
    assert (done.returncode, platform.requests.count(method=CHANGING)) == (0, 1), done.stderr


def test_a_list_without_an_event_that_is_served_by_its_id_is_no_proof_for_the_others(
    on_stage: Stage, platform: Platform
) -> None:
    listed = on_stage.made("event", "create", "--name", "Listed")
    served = on_stage.made("event", "create", "--name", "Served")
    page = {"page": 1, "per_page": 100, "total": 1}
    answer = {"meta": {"pagination": page, "order": {}}, "data": [{"id": listed, "name": "Listed"}]}
    platform.faults.add("answer", match={"operation": "list_events"}, json=answer)
    platform.requests.clear()
    file = on_stage.file("show.yaml", f"name: Gala\nevents:\n  - {{id: {served}, name: Served}}\n  - name: New\n")
    done = run(on_stage, "apply", file, "--yes")
    assert (done.returncode, platform.requests.count(method=CHANGING)) == (2, 0)
    assert 'the event list lacks event "Served", which still exists' in done.stderr


def test_a_lost_reply_is_unknown_and_the_rest_goes_on(on_stage: Stage, platform: Platform) -> None:
    file = on_stage.file("show.yaml", events(on_stage, 3))
    match = {"operation": "create_event", "json.name": "Part 1"}
    platform.faults.add("late-apply", match=match, times=1, lands="never", answer="lost")
    done = run(on_stage, "apply", file, "--yes", "--json")
    verdicts = {step["object"]: step["verdict"] for step in json.loads(done.stdout)["steps"]}
    assert (done.returncode, verdicts['event "Part 1"'], verdicts['event "Part 2"']) == (5, "unknown", "done")


def test_a_created_event_that_is_not_found_again_loses_no_report(on_stage: Stage, platform: Platform) -> None:
    file = on_stage.file("show.yaml", events(on_stage, 1))
    platform.faults.add("status", match={"operation": "read_event"}, status=404)
    done = run(on_stage, "apply", file, "--yes", "--json")
    assert [(step["object"], step["verdict"]) for step in json.loads(done.stdout)["steps"]] == [
        ('event "Part 0"', "done")
    ]
    assert done.returncode == 4
    assert "show apply: further changes were not sent: " in done.stderr


def test_what_no_endpoint_can_change_is_blocked(on_stage: Stage, platform: Platform) -> None:
    text = rooms_and_videos(on_stage).partition("videos:")[0]
    assert run(on_stage, "apply", on_stage.file("show.yaml", text), "--yes").returncode == 0
    platform.requests.clear()
    other = on_stage.file("show.yaml", text.replace("name: Hall", "name: Foyer"))
    done = run(on_stage, "apply", other, "--yes")
    assert (done.returncode, platform.requests.count(method=CHANGING)) == (6, 0)
    assert 'no relay profile "Foyer", and none can be added' in done.stderr
    assert 'its relay profile "Hall" is not in the file, and none can be removed' in done.stderr


@pytest.mark.usefixtures("platform")
def test_read_only_mode_refuses_before_a_program_of_the_file_runs(on_stage: Stage, tmp_path: Path) -> None:
    mark = tmp_path / "ran"
    restream = f"{{name: CDN, url: rtmp://live.example/app/, key: {{command: [touch, {mark}]}}}}"
    file = on_stage.file("show.yaml", f"events:\n  - name: A\n    restreams:\n      - {restream}\n")
    done = run(on_stage, "apply", file, "--yes", "--read-only")
    assert (done.returncode, mark.exists()) == (2, False)
    assert "show apply: not sent, livedeck is read-only" in done.stderr


@pytest.mark.usefixtures("platform")
def test_an_object_is_found_by_name_and_place_and_two_of_a_name_are_refused(on_stage: Stage) -> None:
    parent = folder(on_stage)
    ids = [on_stage.made("event", "create", "--name", "Twin", "--parent-id", parent) for _ in range(2)]
    file = on_stage.file("show.yaml", "events:\n  - name: Twin\n")
    done = run(on_stage, "apply", file, "--yes")
    assert done.returncode == 2
    assert all(identity in done.stderr for identity in ids)
    assert f'{file}:2: event "Twin": 2 events have this name' in " ".join(done.stderr.split())
    named = on_stage.file("show.yaml", f"events:\n  - {{id: {ids[0]}, name: Renamed twin}}\n")
    assert run(on_stage, "apply", named, "--yes").returncode == 0
    elsewhere = on_stage.file(
        "show.yaml", "events:\n  - {name: Twin, parent_id: 5b0c7f8e-4d53-4a57-9f0c-5f1e9a6b7c01}\n"
    )
    assert '+ event "Twin"' in run(on_stage, "diff", elsewhere).stdout


def test_the_example_of_the_page_is_a_show_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CDN_KEY", KEYS["CDN_KEY"])
    (tmp_path / "keys").mkdir()
    (tmp_path / "keys" / "cdn").write_text(KEYS["CDN_KEY"])
    (tmp_path / "keys" / "cdn").chmod(0o600)
    file = tmp_path / "gala.yaml"
    file.write_text(docs.page("shows").partition("```yaml\n")[2].partition("```")[0])
    show = read_show(str(file))
    assert [item.title for item in show.items[:2]] == ['event "Opening"', 'room "Green room"']
    assert {item.content["parent_id"] for item in show.items if item.kind == "event"} == {show.parent_id}
    assert show.name == "Gala"


YAML = ".yaml"
FAULTS: Mapping[str, tuple[str, str, str]] = {
    "an unknown field": (YAML, "events:\n  - name: A\n    reconect_window: 3\n", ":3: events.reconect_window: "),
    "advice": (YAML, "events:\n  - name: A\n    reconect_window: 3\n", "did you mean reconnect_window?"),
    "an unknown field of a row": (YAML, "rooms:\n- name: A\n  restreams:\n  - nam: B\n", ":4: rooms.restreams.nam: "),
    "in TOML": (".toml", '[[events]]\nname = "A"\n\n[[events]]\nname = "B"\nfoo = 1\n', ":6: events.foo: there is no"),
    "an inline key": (YAML, "events:\n- name: A\n  restreams:\n  - {name: B, url: rtmp://x,key: s3cretsign}\n", ":4: "),
    "a key in TOML": (".toml", '[[rooms]]\nname = "A"\n[[rooms.restreams]]\nstream_key = "s3cretsign"\n', ":1: "),
    "an unset variable": (
        YAML, "events:\n- name: A\n  restreams:\n  - {name: B, url: rtmp://x/y, key: {env: NOT_SET}}\n", "NOT_SET: the",
    ),
    "a time without a zone": (YAML, "events:\n- name: A\n  stream: {started_at: 18:30}\n", ":3: events.stream."),
    "a wrong value": (YAML, "events:\n- name: A\n  reconnect_window: soon\n", ':2: event "A": reconnect_window'),
    "a name twice": (YAML, "events:\n- name: A\n- name: A\n", ":3: "),
    "a field twice": (YAML, "events:\n- name: A\n  name: B\n", ":3: name is given twice"),
    "no name": (YAML, "events:\n- type: one-time\n", ":2: name it"),
    "a video by name": (YAML, "videos:\n- id: The video\n", ":2: video The video: this is not a whole id"),
    "no YAML": (YAML, "events: [\n", ": not YAML"),
    "a tag": (YAML, "name: !!python/object/apply:os.system [id]\n", ":1: "),
}  # fmt: skip


@pytest.mark.parametrize("fault", FAULTS)
def test_a_file_with_a_fault_is_refused_with_its_line_before_anything_is_sent(
    on_stage: Stage, platform: Platform, fault: str
) -> None:
    suffix, text, said = FAULTS[fault]
    file = on_stage.file(f"wrong{suffix}", text)
    done = run(on_stage, "apply", file, "--yes")
    shown = " ".join(done.stderr.split())
    assert done.returncode == 2, shown
    assert said in shown.replace(f"{Path(file)}", "FILE"), shown
    assert no_secret_in(done.stdout, done.stderr)
    assert platform.requests.count(method=CHANGING) == 0
