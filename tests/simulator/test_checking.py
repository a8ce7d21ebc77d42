"""The check before the start: every problem of a scenario or workspace is found at once, with its place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from contextlib import closing
from functools import partial
from importlib import resources
from math import inf
from pathlib import Path

import pytest

from counting import calls_of
from livedeck.monitor.kinds import ALARM_KINDS
from livedeck.simulator import Simulator, SimulatorClock, SimulatorError, check_table, scenario_names
from livedeck.simulator.rehearsal import checking
from livedeck.simulator.rehearsal.offsets import offset_of
from livedeck.simulator.rehearsal.scenario_file import draft
from livedeck.simulator.rehearsal.scenarios import go_on, start
from livedeck.simulator.rehearsal.template import Template
from simulator.conftest import START

DATA = Path(str(resources.files("livedeck.simulator"))) / "data"

GALA = """\
title = "Gala"
lasts = "+00:12:00"
seed = 4

[clock]
start = 2026-03-01T18:55:00Z

[shapes.ours]
like = "clean"
video = 6_000_000
bursts = [{ period = 30, chance = 0.5, duration = 4, status = 5 }]

[workspace]
projects = [{ name = "House" }]

[workspace.targets.share]
name = "Video share"
url = "rtmp://live.videoshare.example/live2"

[[workspace.events]]
name = "Gala, hall 1"
parent = "House"
created = "-1d"
scheduled = "-00:05:00"
stream = "-00:05:00"
encoder = [["-00:05:00", "ours"]]
relays = [{ to = "share" }]

[[workspace.events]]
name = "Foyer"
created = "-1d"

[[steps]]
id = "drift"
at = "+00:00:10"
do = "encoder"
event = "Gala, hall 1"
shape = "keyframe-drift"

[[steps]]
at = "+00:01:00"
after = "drift"
do = "restream"
event = "Gala, hall 1"
restream = "Video share"
connected = false

[[alarms]]
kind = "KEYFRAME_SEVERE"
event = "Gala, hall 1"
since = "+00:00:10"
"""

LONG_SHOW = """\
title = "A whole day"
lasts = "+1d"

[[workspace.events]]
name = "Foyer"
created = "-1d"
scheduled = "+00:00:00"
stream = "+00:00:00"
chat_active = true
"""


def problems(folder: Path, text: str) -> list[str]:
    file = folder / "gala.toml"
    file.write_text(text, encoding="utf-8")
    return [str(problem) for problem in check_table(file)]


def test_every_shipped_scenario_and_workspace_is_sound() -> None:
    files = [*(DATA / "scenarios").glob("*.toml"), *(DATA / "workspaces").glob("*.toml")]
    assert {file.stem for file in files} > {*scenario_names()}
    assert [problem for file in files for problem in check_table(file)] == []


def test_the_kinds_that_a_scenario_may_expect_are_those_of_the_monitor() -> None:
    assert (DATA / "alarm_kinds.txt").read_text(encoding="ascii").split() == sorted(map(str, ALARM_KINDS))


def test_a_sound_scenario_with_a_workspace_of_its_own_plays(tmp_path: Path) -> None:
    assert problems(tmp_path, GALA) == []
    simulator = Simulator(scenario=tmp_path / "gala.toml")
    assert (simulator.seed, simulator.clock.now().isoformat()[:16]) == (4, "2026-03-01T18:55")
    simulator.close()


def replaced(*pairs: tuple[str, str]) -> Callable[[str], str]:
    def change(text: str) -> str:
        for before, after in pairs:
            assert before in text
            text = text.replace(before, after, 1)
        return text

    return change


STEP = 'event = "Gala, hall 1"\nshape'
BAD_STEP = 'event = "Gala"\nshape'

COMPLETE = """
[[steps]]
at = "+00:02:00"
do = "complete"
event = "Foyer"

"""

BROKEN = {
    "event": (STEP, BAD_STEP, "steps[0], event", 'no event is called "Gala"; there are Gala, hall 1 and Foyer'),
    "restream": (
        '"Video share"\nconn',
        '"Vimeo"\nconn',
        "steps[1], restream",
        'is called "Vimeo"; there is Video share',
    ),
    "state": (STEP, STEP.replace("Gala, hall 1", "Foyer"), "steps[0], event", '"Foyer" is not enabled'),
    "completed": ("\n[[alarms]]", COMPLETE * 2 + "[[alarms]]", "steps[3], event", '"Foyer" is completed already'),
    "shape": ('"keyframe-drift"', '"drift"', "steps[0], shape", 'no shape is called "drift"; there are'),
    "late": ('"+00:01:00"', '"+00:11:51"', "steps[1], at", "+00:12:01 is after lasts, +00:12:00"),
    "early": ('"+00:01:00"', '"-00:01:00"', "steps[1], at", "-00:00:50 is before the start"),
    "after": ('after = "drift"', 'after = "drif"', "steps[1], after", 'no step has the id "drif"; there is drift'),
    "circle": ('id = "drift"', 'id = "drift"\nafter = "drift"', "steps[0], after", "waits for itself"),
    "field": ("connected = false", "linked = false", "steps[1], linked", "unknown parameter; there are restream, conn"),
    "kind": ("KEYFRAME_SEVERE", "KEYFRAMES", "alarms[0], kind", "there are KEYFRAME_SEVERE, "),
    "since": ('since = "+00:00:10"', 'since = "+00:13:00"', "alarms[0], since", "after lasts"),
    "target": ("since", 'target = "x"\nsince', "alarms[0], target", "there is Video share"),
    "encoder": ('"ours"]]', '"our"]]', "workspace, events[0].encoder[0][1]", 'is called "our"; there are ours'),
    "parent": ('parent = "House"', 'parent = "Hose"', "workspace, events[0].parent", "there is House"),
    "twice": ('name = "Foyer"', 'name = "Gala, hall 1"', "workspace, events", '2 events are called "Gala, hall 1"'),
    "like": ('like = "clean"', 'like = "cleaner"', "shapes, ours.like", "must be one of clean"),
    "lasts": ('lasts = "+', 'lasts = "', "lasts", "must be an offset"),
    "toml": ("[[alarms]]", "[[alarms]", "", "not TOML"),
}
"""Text to replace, its replacement, the place of the problem, and words of its reason."""


@pytest.mark.parametrize("name", BROKEN)
def test_a_problem_says_where_it_is_and_what_there_is_instead(tmp_path: Path, name: str) -> None:
    before, after, place, says = BROKEN[name]
    text = replaced((before, after))(GALA)
    found = problems(tmp_path, text)
    follows = {"field": "steps[1], connected", "circle": "steps[1], after"}
    assert places(found) - {follows.get(name)} == {place}
    found = [problem for problem in found if places([problem]) == {place}]
    assert says in found[0]
    line = re.search(r"\(line (\d+)\)", found[0])
    assert line is not None
    field = re.split(r"[.\s]", place.partition("[0][")[0])[-1]
    assert field.partition("[")[0] in text.splitlines()[int(line[1]) - 1]


WORKSPACE = {
    "projects": '[[projects]]\nname = "House"\n',
    "targets": '[targets.share]\nname = "Video share"\nurl = "rtmp://live.videoshare.example/live2"\n',
    "shapes": '[shapes.ours]\nlike = "clean"\n',
    "events": '[[events]]\nname = "Foyer"\nparent = "House"\ncreated = "-1d"\nrelays = [{ to = "share" }]\n',
    "videos": '[[videos]]\ntitle = "Gala"\nevent = "Foyer"\ncreated = "-1d"\nduration = 60\n',
    "rooms": '[[rooms]]\nname = "Green room"\ncreated = "-1d"\n',
}
"""Text of each table of a workspace, without the prefix that it needs in a scenario."""


@pytest.mark.parametrize("head", ["", 'workspace = "stage"\n'], ids=["no workspace", "a named workspace"])
@pytest.mark.parametrize("name", Template.model_fields)
def test_the_advice_for_a_table_of_the_workspace_makes_a_sound_file(tmp_path: Path, name: str, head: str) -> None:
    """Shapes may stand in the scenario itself."""
    others = "".join(re.sub(r"^(\[+)", r"\1workspace.", text) for table, text in WORKSPACE.items() if table != name)
    scenario = f'title = "Gala"\nlasts = "+1d"\n{head}{WORKSPACE[name]}{"" if head else others}'
    advised = [problem for problem in problems(tmp_path, scenario) if places([problem]) == {name}]
    assert len(advised) == (name != "shapes")
    for problem in advised:
        advice = re.search(r"write (\[.*\])(, and leave out a line workspace = )?", problem)
        assert advice is not None
        heading = WORKSPACE[name].partition("\n")[0]
        scenario = scenario.replace(heading, advice[1].replace("NAME", "share"))
        if head and advice[2]:
            scenario = scenario.replace(head, "") + others
    assert problems(tmp_path, scenario) == []


def places(found: Iterable[str]) -> set[str]:
    return {re.sub(r" ?\(line \d+\)", "", problem.partition(":")[0]) for problem in found}


def test_all_problems_are_told_at_once(tmp_path: Path) -> None:
    change = replaced(
        ('event = "Gala, hall 1"\nshape', 'event = "Gala"\nshape'),
        ('restream = "Video share"', 'restream = "Vimeo"'),
        ('at = "+00:01:00"', 'at = "+00:31:00"'),
        ('kind = "KEYFRAME_SEVERE"', 'kind = "KEYFRAMES"'),
        ("seed = 4", "seed = -4"),
    )
    found = problems(tmp_path, change(GALA))
    assert places(found) == {"seed", "steps[0], event", "steps[1], at", "steps[1], restream", "alarms[0], kind"}
    with pytest.raises(SimulatorError) as refused:
        Simulator(scenario=tmp_path / "gala.toml")
    assert all(problem in str(refused.value) for problem in found)


@pytest.mark.parametrize(
    ("before", "after", "says"),
    [
        (
            '[["-00:05:00", "ours"]]',
            '"ours"',
            'events[0].encoder: must be a list, each item a pair of offset and shape, such as ["-00:04:00", "clean"]',
        ),
        ('[{ to = "share" }]', '"share"', "relays: must be a list, each item a table"),
        ('[{ name = "House" }]', '{ name = "House" }', "projects: must be a list, each item a table"),
    ],
)
def test_a_value_that_is_no_list_is_told_what_its_items_are(tmp_path: Path, before: str, after: str, says: str) -> None:
    (found,) = problems(tmp_path, replaced((before, after))(GALA))
    assert re.sub(r" \(line \d+\)", "", found).endswith(says)


def test_a_value_that_is_no_table_is_told_the_head_that_its_tables_need_here(tmp_path: Path) -> None:
    text = 'title = "x"\nlasts = "+1d"\nworkspace = '
    (found,) = problems(tmp_path, f"{text}{{ targets = 3, events = [] }}\n")
    assert found.endswith("targets: must be tables [workspace.targets.NAME]")
    (tmp_path / "house.toml").write_text("targets = 3\nevents = []\n", encoding="utf-8")
    (found,) = problems(tmp_path, f'{text}"house"\n')
    assert found.endswith("in house: must be tables [targets.NAME]")


@pytest.mark.parametrize(
    ("request_", "says"),
    [
        ('{ operation = "event.update" }', 'no operation is called "event.update"; there are update_event, '),
        ('{ operation = "update_event", "json.reconect_window" = 900 }', "there are reconnect_window, "),
        ('{ operation = "update_event", "json.restreams.0.name" = "A", "json.reconnect_window" = 900 }', ""),
    ],
)
def test_a_request_that_can_never_come_is_a_problem(tmp_path: Path, request_: str, says: str) -> None:
    found = problems(tmp_path, f"{GALA}\n[[allowed]]\nrequest = {request_}\n")
    assert len(found) == bool(says)
    assert all(says in problem for problem in found)


@pytest.mark.parametrize(
    ("match", "says"),
    [
        ('{ operation = "get_event" }', 'match.operation: no operation is called "get_event"; there are '),
        ('{ event = "Opera" }', 'match.event: no event is called "Opera"; there are '),
        ('{ event = "Later" }', ""),
        ('{ event = { glob = "Op*" } }', ""),
    ],
)
def test_a_fault_that_can_never_hit_is_a_problem(tmp_path: Path, match: str, says: str) -> None:
    created = '[[steps]]\nat = "+00:00:01"\ndo = "create"\nfields = { name = "Later" }\n'
    fault = f'[[steps]]\nat = "+00:00:02"\ndo = "fault"\nkind = "status"\nmatch = {match}\n'
    found = problems(tmp_path, f'title = "x"\nlasts = "+00:01:00"\nworkspace = "stage"\n{created}{fault}')
    assert len(found) == bool(says)
    assert all(says in problem for problem in found)


def test_a_workspace_may_be_a_file_beside_the_scenario(tmp_path: Path) -> None:
    (tmp_path / "house.toml").write_text('[[events]]\nname = "A"\ncreated = "-1d"\n', encoding="utf-8")
    text = 'title = "x"\nlasts = "+1d"\nworkspace = "house"\n[[steps]]\nat = "+00:00:01"\ndo = "delete"\nevent = "A"\n'
    assert problems(tmp_path, text) == []
    (tmp_path / "house.toml").write_text('[[events]]\nname = "A"\n', encoding="utf-8")
    assert problems(tmp_path, text) == ["workspace (line 3), events[0].created: in house: must be given"]
    assert problems(tmp_path, text.replace("house", "hose"))[0].startswith(
        'workspace (line 3): no workspace is called "hose"; there are '
    )


def test_a_refused_step_stores_no_other_refusal_again() -> None:
    """Otherwise the check of a scenario with thousands of wrong steps takes minutes."""
    steps = [{"at": f"+00:00:{second:02}", "do": "delete", "event": f"No {second}"} for second in range(50)]
    stored: list[int] = []
    with closing(Simulator(workspace="stage", clock=SimulatorClock(START, paused=True))) as simulator:
        world = simulator._world
        scenario, _ = draft("wrong", {"title": "x", "lasts": "+1d", "steps": steps}, {})
        start(world, scenario, 1, world.workspaces())
        world.store._db.set_trace_callback(lambda sql: stored.append(len(sql)))
        assert len(world.timeline.catch_up(inf)) == 50
        world.store._db.set_trace_callback(None)
        shown = world.timeline.progress(inf)
        go_on(world)
        assert world.timeline.progress(inf) == shown
    assert shown["refused"] == 50
    assert max(stored) < 500


@pytest.mark.parametrize(
    "text",
    [f"x = [\n[[{' ' * 50_000}\n1]]]\n", f'"{"a." * 200_000}" = 1\n', f"[{' ' * 50_000}x]\n", f"{' ' * 50_000}x = 1\n"],
)
def test_the_lines_of_a_text_are_found_in_one_pass(tmp_path: Path, text: str) -> None:
    """A search that begins anew at each blank or dot takes hours."""
    assert len(problems(tmp_path, f"{text}{GALA}")) >= 1


@pytest.mark.parametrize(
    "row",
    [
        'at = "{at}"\ndo = "encoder"\nevent = "Foyer"\nsending = true',
        'at = "{at}"\ndo = "chat"\nevent = "Foyer"\nrate = 1',
        'id = "{i}"\nat = "+00:00:01"\nafter = "{before}"\ndo = "chat"\nevent = "Foyer"\nrate = 1',
        'id = "{i}"\nat = "+00:00:01"\nafter = "{following}"\ndo = "chat"\nevent = "Foyer"\nrate = 1',
        'when = {{ operation = "list_events" }}\ndo = "calm"\n[[steps]]\nat = "{at}"\ndo = "calm"',
    ],
    ids=["encoder", "chat", "after the step before", "after the step behind", "waiting"],
)
def test_the_check_costs_the_same_for_each_step(row: str) -> None:
    """Otherwise a show of a whole day, with thousands of steps, blocks a running simulator for minutes."""
    costs = {}
    for steps in (50, 50, 100, 200):  # the first run fills caches
        rows = [
            row.format(at=offset_of(i), i=i, before=i - 1, following=(i + 1) % (steps + 1)) for i in range(1, steps + 1)
        ]
        source = checking.Source.of_text("long", "\n[[steps]]\n".join([LONG_SHOW, *rows]).replace('after = "0"\n', ""))
        costs[steps] = calls_of(partial(checking.read_scenario, source, {}))
    assert costs[200] - costs[100] <= 2.05 * (costs[100] - costs[50])
