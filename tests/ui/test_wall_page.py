"""Data of the wall in a browser: the judgement of the terminal wall, inert text, and readable colours."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta, timezone
from importlib.resources import files
from itertools import pairwise
from typing import Any
from unittest.mock import ANY

import pytest
import pytest_asyncio
from hypothesis import given
from hypothesis import strategies as st
from msgspec import json

from livedeck.cli.screenshots import EVENING
from livedeck.client import Poster
from livedeck.monitor import EventState, Finding, Grade, RuleChange, Severity, Snapshot
from livedeck.presentation.events import Standing, odd_sign
from livedeck.presentation.render_time import RenderTime
from livedeck.text.names import name_order
from livedeck.text.outside import shown
from livedeck.text.segments import plain
from livedeck.ui.kit.palette import COLOURS
from livedeck.ui.wallboard.cache import DrawCache
from livedeck.ui.wallboard.model import WallModel, wall_model
from livedeck.ui.wallboard.page import MAX_WRONG, Page, page, update_since
from livedeck.ui.wallboard.page_style import TINTS, page_colours, page_stylesheet
from ui.test_themes import contrast
from ui.wall_stage import STILL, evening, lines, many, text

ASSETS = files("livedeck.ui.wallboard") / "assets"


@pytest_asyncio.fixture(scope="module", loop_scope="module", name="known")
async def _known() -> Snapshot:
    return await evening()


def _model(snapshot: Snapshot, seconds: float = 0.0, fault: str = "") -> WallModel:
    now = EVENING + timedelta(seconds=seconds)
    return wall_model(snapshot, RenderTime.from_snapshot(snapshot, now, watched=not fault), fault=fault)


def _page(snapshot: Snapshot, seconds: float = 0.0, fault: str = "") -> Page:
    return page(_model(snapshot, seconds, fault), STILL, DrawCache())


def _sent(made: Page) -> str:
    return json.encode(update_since(None, made)).decode()


def _renamed(state: EventState, name: str, **fields: Any) -> EventState:
    return replace(state, event=state.event.model_copy(update={"name": name, "id": name, **fields}))


def test_an_event_is_bad_where_something_critical_was_found_and_good_where_nothing_was(known: Snapshot) -> None:
    made = _page(known)
    by_id = {state.id: state for state in known.events}
    for event_id, entry in made.entries.items():
        severities = {finding.severity for finding in by_id[event_id].assessment.findings}
        assert (entry.tone is Standing.BAD) == (Severity.CRITICAL in severities)
        assert not (entry.tone is Standing.GOOD and severities - {Severity.INFO})
    counts = {count.word: count.count for count in made.head.counts}
    assert counts == {"on air": 6, "bad": 4, "watch": 1, "good": 2}
    assert made.head.summary == "6 on air, 4 bad, 1 to watch, 2 good"


def test_the_page_has_the_events_of_the_terminal_wall_in_its_order_and_says_the_same_of_them(known: Snapshot) -> None:
    made, wall = _page(known), text(lines(known, (240, 67), replace(STILL, scale=1)))
    assert made.order == tuple(state.id for state in _model(known).states)
    for entry, time in zip(made.entries.values(), made.times, strict=True):
        assert entry.name in wall
        assert time in wall
        assert not entry.health.isdecimal() or f"{entry.health:>3} " in wall


def test_the_sentence_that_is_read_out_says_name_state_reason_and_health(known: Snapshot) -> None:
    labels = {entry.name: entry.label for entry in _page(known).entries.values()}
    assert labels["Town hall, main"] == ("Town hall, main, on air", ", packet loss, health 20")
    assert labels["Cup final, pitch 2"] == ("Cup final, pitch 2, reconnecting", ", lost 01:21")


def test_a_fault_that_the_health_does_not_judge_stands_without_the_health(known: Snapshot) -> None:
    well = next(state for state in known.events if state.assessment.health.grade is Grade.GOOD)
    found = (Finding("VIEWER_GONE", Severity.CRITICAL, "HTTP 503, from here", ""),)
    gone = replace(well, assessment=replace(well.assessment, findings=found))
    (entry,) = _page(replace(known, events=(gone,))).entries.values()
    assert (entry.why, entry.health) == ("viewer gone", "")
    assert "health" not in entry.label[1]


def test_what_is_only_to_be_known_is_no_reason(known: Snapshot) -> None:
    found = (Finding("RESTREAM_SLOW", Severity.INFO, "3 s behind", ""),)
    first = next(state for state in known.events if not state.assessment.findings and state.phase.tally.expects_signal)
    told = replace(first, assessment=replace(first.assessment, findings=found))
    loud = replace(told, assessment=replace(first.assessment, findings=(replace(found[0], severity=Severity.WARNING),)))
    (calm,), (wrong,) = (_page(replace(known, events=(state,), alarms=())).entries.values() for state in (told, loud))
    assert (calm.why, wrong.why, wrong.detail) == ("", "restream slow", "3 s behind")


def test_what_was_made_of_an_event_that_has_left_is_kept_no_longer(known: Snapshot) -> None:
    cache, gone = DrawCache(), known.events[0]
    page(_model(known), STILL, cache)
    assert cache.get("entry", gone.id, gone, ANY, lambda: None) is not None
    page(_model(replace(known, events=known.events[1:])), STILL, cache)
    assert cache.get("entry", gone.id, gone, ANY, lambda: None) is None


def test_an_event_that_could_not_be_read_whole_is_marked_to_the_eye_and_to_the_ear(known: Snapshot) -> None:
    unlisted = replace(known.events[-6], is_listed=False)
    (entry,) = _page(replace(known, events=(unlisted,), alarms=())).entries.values()
    assert entry.sign == plain(odd_sign(unlisted)).strip() == "≠ unlisted"
    assert ", unlisted" in entry.label[1]


def test_late_metrics_and_changed_limits_are_told_as_on_the_terminal(known: Snapshot) -> None:
    """wallboard.md, "Tiles" and "Grid"."""
    late = replace(known.events[0], qos=replace(known.events[0].qos, lag=24.0))
    change = RuleChange(EVENING, "video_low 0.5 -> 0.6")
    model = replace(_model(replace(known, events=(late,))), rule_changes=(change,))
    made = page(model, STILL, DrawCache())
    (entry,) = made.entries.values()
    assert "samples up to 24 s late" in entry.detail
    assert "samples up to 24 s late" in entry.label[1]
    assert any("every event: video_low 0.5 -> 0.6" in banner.text for banner in made.head.banners)


def test_above_nine_events_each_keeps_its_place_by_name_and_the_worst_stand_over_them(known: Snapshot) -> None:
    names = [f"semi-final {number}" for number in range(12, 0, -1)]
    good = next(state for state in known.events if not state.assessment.findings)
    made = _page(replace(known, events=(*known.events, *(_renamed(good, name) for name in names))))
    assert not made.has_tiles
    finals = [made.entries[event_id].name for event_id in made.order if "semi" in event_id]
    assert finals == sorted(finals, key=lambda name: int(name.split()[1]))
    assert made.wrong == tuple(state.id for state in known.events[:MAX_WRONG])


@given(st.lists(st.tuples(st.sampled_from(["a", "B", "ä"]), st.integers(0, 10**20)), min_size=2))
def test_numbers_in_names_count_as_numbers(parts: list[tuple[str, int]]) -> None:
    in_order = sorted((f"{word} {number}" for word, number in parts), key=name_order)
    for first, second in pairwise(in_order):
        if first.split()[0] == second.split()[0] and max(len(first), len(second)) < 18:
            assert int(first.split()[1]) <= int(second.split()[1])


def test_only_what_changed_is_sent_again(known: Snapshot) -> None:
    cache = DrawCache()
    before, after = (page(_model(known, seconds), STILL, cache) for seconds in (0, 1))
    update = update_since(before, after)
    assert update.order is None
    assert [entry.name for entry in update.entries.values()] == ["Cup final, pitch 2"]  # its loss grows by the second
    assert update.times != before.times
    assert update_since(None, after).entries == after.entries


HOSTILE = [
    "<img src=x onerror=alert(1)>",
    "\u202eevil\u2066",
    "a\x1b[2Jb\x07",
    "x\ndata: {}\n\nevent: y",
    "\u202e" * 9,
    "\0",
]


@pytest.mark.parametrize("name", HOSTILE)
def test_a_hostile_name_is_nothing_but_text_in_one_line(known: Snapshot, name: str) -> None:
    made = _page(replace(known, events=(_renamed(known.events[1], name),)))
    sent = _sent(made)
    (entry,) = made.entries.values()
    assert entry.name == shown(name) or not shown(name).strip()
    assert not re.search("[\0-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]", entry.name + "".join(entry.label))
    assert "\n" not in sent
    assert "\r" not in sent


def test_nothing_looks_good_that_is_not_up_to_date(known: Snapshot) -> None:
    for stale in (_page(known, seconds=90), _page(known, fault="ValueError; see the log")):
        assert {entry.tone for entry in stale.entries.values()} == {Standing.STALE}
        assert not [entry for entry in stale.entries.values() if entry.is_lit or entry.health.isdecimal()]
        assert "good" not in _sent(stale)
        assert stale.head.is_stale
        assert stale.head.banners[0].is_headline


def test_a_stopped_monitor_is_told_in_the_words_of_the_terminal(known: Snapshot) -> None:
    made = _page(known, fault="the monitor sends no more snapshots")
    assert "MONITOR STOPPED" in made.head.banners[0].text
    assert "the monitor sends no more snapshots" in made.head.banners[1].text
    assert "MONITOR STOPPED" in made.head.summary


def test_no_address_of_a_picture_is_sent_and_the_platforms_own_picture_is_none(known: Snapshot) -> None:
    secret = "https://cdn.example/p.jpg?sign=0123456789abcdef"
    stored = Poster.model_validate({"id": "p1", "media_id": "m1", "md": secret})
    own = replace(known, events=(_renamed(known.events[0], "own", poster=stored), known.events[1]))
    made = _page(own)
    assert "cdn.example" not in _sent(made)
    assert "sign" not in repr(made.posters)
    assert [link.reveal() for link in made.posters.values()] == [secret]
    assert [bool(entry.poster) for entry in made.entries.values()] == [True, False]
    assert [entry.initials for entry in made.entries.values()] == ["O", "TH"]


def test_the_time_of_the_place_stands_beside_utc_where_it_is_another(known: Snapshot) -> None:
    abroad = page(_model(known), replace(STILL, zone=timezone(timedelta(hours=1), "CET")), DrawCache())
    assert (abroad.head.clock, abroad.head.local) == ("21:14:07", "22:14 CET")
    assert not _page(known).head.local


def test_an_empty_wall_says_why(known: Snapshot) -> None:
    assert _page(replace(known, events=(), alarms=())).head.empty[0] == "NOTHING ON AIR"
    assert _page(known).head.empty == ("", "")


def test_two_hundred_events_have_no_curves_and_sixty_have(known: Snapshot) -> None:
    sixty, crowd = _page(many(known, 60)), _page(many(known, 200))
    assert any(entry.curve for entry in sixty.entries.values())
    assert not any(entry.curve for entry in crowd.entries.values())
    curve = next(entry.curve for entry in sixty.entries.values() if entry.curve and entry.curve.faults)
    assert all(value is None or 0 <= value <= 1000 for value in curve.values)
    assert all(0 <= start < end <= len(curve.values) for start, end, _ in curve.faults)


SHARED = ("panel", "stale-ground", *(f"tint-{number}" for number in range(len(TINTS))))
READ = {
    "text": ("ground", "raised", "critical-ground", "warning-ground", *SHARED),
    "strong": ("ground", "panel", "critical-ground", "warning-ground"),
    "dim": ("ground", "panel", "critical-ground", "warning-ground", "stale-ground"),
    "critical": ("ground", "critical-ground"),
    "warning": ("ground", "warning-ground", "warning-bar"),
    "ok": ("ground", "panel"),
    "ink": ("critical", "warning"),
}
"""Every colour of letters in wall.css, and its backgrounds."""


@pytest.mark.parametrize("theme", COLOURS)
def test_every_word_on_the_page_can_be_read(theme: str) -> None:
    colours = page_colours(COLOURS[theme])
    for letters, grounds in READ.items():
        for ground in grounds:
            assert contrast(colours[letters], colours[ground]) >= 4.5, (letters, ground)
    for graphic in ("tally", "video", "key"):
        assert contrast(colours[graphic], colours["panel"]) >= 3.0


def test_the_stylesheet_names_no_colour_that_the_palette_lacks() -> None:
    style = (ASSETS / "wall.css").read_text(encoding="utf-8")
    own = set(re.findall(r"(--[a-z]+):", style)) | {"--area", "--shade"}
    for colours in COLOURS.values():
        assert {f"--{name}" for name in page_colours(colours)} | own >= set(re.findall(r"var\((--[a-z0-9-]+)\)", style))
    assert not re.findall(r"#[0-9a-f]{3,8}\b(?=[^{]*[;}])", style)


def test_the_browser_chooses_a_theme_unless_one_is_set() -> None:
    assert "prefers-color-scheme: light" in page_stylesheet("auto")
    assert "prefers-color-scheme" not in page_stylesheet("light")
    assert page_stylesheet("light").startswith(":root { color-scheme: light;")


def test_the_page_has_no_script_or_style_of_its_own_and_names_nothing_of_elsewhere() -> None:
    """Its policy forbids them, and an own one would be a hole for names."""
    page_text = (ASSETS / "index.html").read_text(encoding="utf-8")
    script = (ASSETS / "wall.js").read_text(encoding="utf-8")
    assert not re.findall(r"<style|<script>|\sstyle=|\son[a-z]+=|https?:|//[a-z]|=\"/", page_text)
    assert not re.findall(r"innerHTML|outerHTML|insertAdjacent|document\.write|eval|new Function|\"style\"", script)
    assert re.findall(r"https?:", script) == ["http:"]  # the name of SVG
