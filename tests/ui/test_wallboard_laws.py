"""Laws of every wall, whatever is on it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import replace
from datetime import timedelta, timezone
from random import Random
from typing import Any
from xml.etree import ElementTree as ET

import pytest
import pytest_asyncio

from livedeck.cli.screenshots import EVENING
from livedeck.client import Secret
from livedeck.monitor import (
    NO_BLAME,
    AlarmState,
    BroadcastState,
    ConnectionState,
    ConnectionStatus,
    Finding,
    Grade,
    Health,
    HealthAssessment,
    Readings,
    RuleChange,
    Severity,
    Snapshot,
)
from livedeck.monitor.detection.health import unseen
from livedeck.presentation.events import EVENTS, STANDING_WORDS, Standing, standing
from livedeck.presentation.filtering import parse
from livedeck.presentation.render_time import RenderTime
from livedeck.text import values
from livedeck.text.segments import Shade, ShadedLine, StyleRole, plain, width
from livedeck.ui.kit import themes
from livedeck.ui.wallboard import glyphs
from livedeck.ui.wallboard.cache import DrawCache
from livedeck.ui.wallboard.layout import (
    MAX_TILES,
    SHIFT_SECONDS,
    PageState,
    Wall,
    next_page_state,
    plan_pages,
    shift_lines,
    turn_page,
)
from livedeck.ui.wallboard.model import unacknowledged_events, wall_model
from livedeck.ui.wallboard.recent import recent_chart
from livedeck.ui.wallboard.styles import WHITEST, wall_background, wall_style
from livedeck.ui.wallboard.tiles import TileLayout, tile_lines
from ui.wall_stage import COUNTS, SIZES, STILL, dots, evening, is_drawn, lines, many, picture, says, text

GOOD_ROLES = {StyleRole.OK, StyleRole.ON_AIR, StyleRole.RAISED}
NAMES = {"A": "<script>alert(1)</script>", "B": "\x1b]0;owned\x07 \u202egnp.exe", "C": "会議室 大ホール"}


@pytest_asyncio.fixture(scope="module", loop_scope="module", name="known")
async def _known() -> Snapshot:
    return await evening()


def _named(known: Snapshot, name: str) -> Snapshot:
    first, *rest = known.events
    event = first.event.model_copy(update={"name": name})
    return replace(known, events=(replace(first, event=event), *rest))


DOUBTFUL: dict[str, dict[str, Any]] = {
    "BLIND": {"state": ConnectionState.BLIND},
    "STALE": {"as_of": EVENING - timedelta(minutes=2)},
    "STOPPED": {},
}


@pytest.mark.parametrize("word", DOUBTFUL)
@pytest.mark.parametrize("size", SIZES[:3])
@pytest.mark.parametrize("count", [1, 4, 25])
def test_nothing_looks_good_on_a_wall_with_doubtful_data(
    known: Snapshot, count: int, size: tuple[int, int], word: str
) -> None:
    """monitoring.md, "Freshness": the reason in words, the age, and no lamp lit."""
    crowd = replace(many(known, count), link=replace(known.link, **DOUBTFUL[word]))
    drawn = lines(crowd, size, fault="KeyError" if word == "STOPPED" else "")
    assert word in text(drawn)
    assert "GOOD" not in text(drawn)
    assert not {role.ink if isinstance(role, Shade) else role for line in drawn for _, role in line} & GOOD_ROLES


@pytest.mark.parametrize("count", COUNTS)
@pytest.mark.parametrize("size", SIZES)
def test_page_age_and_clock_are_always_visible(known: Snapshot, size: tuple[int, int], count: int) -> None:
    crowd = many(known, count)
    link = replace(known.link, as_of=EVENING - timedelta(seconds=7))
    header = lines(replace(crowd, link=link), size)[:5]
    assert re.search(r"page \d/\d", text(header))
    assert "7 s ago" in text(header)
    assert "21:14:07Z" in text(header) or (says(header, "21:14:07") and "UTC" in text(header))


@pytest.mark.parametrize("size", [*SIZES, (60, 20), (41, 11), (30, 9), (12, 3), (2, 2), (1, 1)])
def test_a_wall_fills_its_terminal_to_the_cell(known: Snapshot, size: tuple[int, int]) -> None:
    for count in (0, 1, 9, 25):
        drawn = lines(many(known, count), (size[0] + 1, size[1] + 1), elapsed=SHIFT_SECONDS)
        assert {width(line) for line in drawn[:-1]} == {size[0] + 1}
        assert len(drawn) == size[1] + 1


def test_two_hundred_random_sizes_are_all_filled(known: Snapshot) -> None:
    random, crowds = Random(1), [many(known, count) for count in (0, 1, 6, 30)]
    for _ in range(200):
        size = random.randint(2, 400), random.randint(2, 100)
        drawn = lines(random.choice(crowds), size, Wall(scale=random.randint(0, glyphs.MAX_SCALE)))
        assert {width(line) for line in drawn[:-1]} <= {size[0]}
        assert len(drawn) == size[1]


@pytest.mark.parametrize("count", [count for count in COUNTS if count <= MAX_TILES])
@pytest.mark.parametrize("scale", [0, 1, 2, 3])
@pytest.mark.parametrize("size", SIZES)
def test_every_tile_is_on_one_page_and_pages_are_even(
    known: Snapshot, size: tuple[int, int], scale: int, count: int
) -> None:
    events = many(known, count).events
    pages = plan_pages(events, size[0], size[1] - 6, scale=scale).pages
    assert [state.id for page in pages for state in page] == [state.id for state in events]
    lengths = [len(page) for page in pages]
    assert max(lengths) - min(lengths) <= 1 or len(lengths) > 2
    assert min(lengths) > 0 or not count


@pytest.mark.parametrize("count", [4, 10])
def test_each_name_is_on_its_page(known: Snapshot, count: int) -> None:
    crowd = many(known, count)
    drawn = text(lines(crowd, (160, 45), Wall(scale=1), page=0))
    names = [str(state.event.name) for state in crowd.events[:count]]
    assert names
    assert all(name in drawn for name in names)


def test_drafts_completed_and_far_off_events_are_not_on_the_wall(known: Snapshot) -> None:
    model = wall_model(known, RenderTime.from_snapshot(known, EVENING))
    tallies = {state.phase.tally for state in known.events}
    assert {BroadcastState.DRAFT, BroadcastState.COMPLETED} <= tallies
    assert not {BroadcastState.DRAFT, BroadcastState.COMPLETED} & {state.phase.tally for state in model.states}
    starts = [state.phase.reference_time for state in model.upcoming if state.phase.reference_time]
    assert starts == sorted(starts)
    assert starts[0] > EVENING


def test_a_filter_says_what_it_hides(known: Snapshot) -> None:
    terms = parse("tally:air choir", EVENTS.filter_fields())
    drawn = text(lines(known, (160, 45), Wall(scale=1), terms=terms))
    assert "1 of 12 events" in drawn
    assert re.search(r"✖ \d critical hidden", drawn)
    assert "Cup final" not in drawn


def test_a_wall_whose_filter_hides_what_is_on_air_does_not_say_nothing_is(known: Snapshot) -> None:
    drawn = text(lines(known, (160, 45), Wall(scale=1), terms=parse("nowhere", EVENTS.filter_fields())))
    assert "NOTHING ON AIR" not in drawn
    assert "0 of 12 pass the filter: none on air" in drawn
    assert "NOTHING ON AIR" in text(lines(many(known, 0), (160, 45), Wall(scale=1)))


@pytest.mark.parametrize("word", DOUBTFUL)
def test_an_empty_wall_on_stale_data_does_not_say_that_nothing_is_on_air(known: Snapshot, word: str) -> None:
    """Missing is not zero: an event may have begun since."""
    empty = replace(many(known, 0), link=replace(known.link, **DOUBTFUL[word]))
    drawn = text(lines(empty, (160, 45), Wall(scale=1), fault="KeyError" if word == "STOPPED" else ""))
    assert "NOTHING ON AIR" not in drawn
    assert "NO FRESH DATA" in drawn


def test_the_one_line_of_a_small_wall_counts_as_a_large_wall_does(known: Snapshot) -> None:
    """An event on air is not one that lost its signal, and a warning is no critical alarm."""
    model = wall_model(known, RenderTime.from_snapshot(known, EVENING))
    on_air = sum(state.phase.tally is BroadcastState.ON_AIR for state in model.states)
    assert on_air < model.on_air
    (line, *_) = text(lines(known, (80, 9))).splitlines()
    assert f"● ON AIR {on_air} " in line
    criticals = sum(alarm.severity is Severity.CRITICAL for alarm in model.alarms)
    warnings = sum(alarm.severity is Severity.WARNING for alarm in model.alarms)
    assert criticals
    assert warnings
    assert f"✖ {criticals}   ▲ {warnings}" in line
    (stale, *_) = text(lines(replace(known, link=_stale(known.link)), (80, 9))).splitlines()
    assert f"▒ ON AIR {on_air} " in stale


def test_pages_turn_when_their_time_is_up_and_the_last_one_leads_to_the_first() -> None:
    state, pages = PageState(), list[int]()
    for second in range(61):
        state = next_page_state(state, second, 3, (), 20.0)
        pages.append(state.page)
    assert pages == [0] * 20 + [1] * 20 + [2] * 20 + [0]


def test_a_pinned_page_comes_at_once_and_stays() -> None:
    state = next_page_state(PageState(), 1.0, 4, [2], 20.0)
    assert state.page == 2
    for second in range(2, 90):
        state = next_page_state(state, second, 4, [2], 20.0)
        assert state.page == 2
    assert next_page_state(state, 111.0, 4, (), 20.0).page == 3


def test_several_pinned_pages_take_turns_and_no_other_has_one() -> None:
    state, shown = PageState(), set[int]()
    for second in range(100):
        state = next_page_state(state, second, 4, [1, 3], 20.0)
        shown.add(state.page)
    assert shown == {1, 3}


def test_a_page_that_a_person_turned_to_stays_its_time_even_while_another_is_pinned() -> None:
    state = turn_page(PageState(2, 0.0), 5.0, 4, 1)
    assert next_page_state(state, 24.0, 4, [2], 20.0).page == 3
    assert next_page_state(state, 25.0, 4, [2], 20.0).page == 2


def test_a_page_that_is_gone_is_left() -> None:
    assert next_page_state(PageState(5, 0.0), 1.0, 2, (), 20.0).page in {0, 1}


def test_the_picture_moves_by_a_cell_every_two_minutes_and_comes_back(known: Snapshot) -> None:
    drawn = lines(known, (80, 24))[:-1]
    orbit = [text(shift_lines(drawn, SHIFT_SECONDS * step)) for step in range(5)]
    assert len(set(orbit)) == 4
    assert orbit[4] == orbit[0]
    assert {re.sub(r"\s", "", shifted) for shifted in orbit} == {re.sub(r"\s", "", orbit[0])}


@pytest.mark.parametrize("theme", [name for name, palette in themes.PALETTES.items() if not palette.ansi])
def test_no_theme_has_pure_white_on_a_wall_and_a_dim_one_is_darker(theme: str) -> None:
    palette = themes.PALETTES[theme]
    bright, dim = ({role: wall_style(palette, role, dim=is_dim) for role in StyleRole} for is_dim in (False, True))
    background = wall_background(palette)
    colours = {background, *(colour for spec in bright.values() for colour in (spec.colour, spec.background))}
    assert not [colour for colour in colours if min(bytes.fromhex(colour[1:])) > min(bytes.fromhex(WHITEST[1:]))]
    distances = {role: _distance(bright[role].colour, background) for role in StyleRole}
    assert all(_distance(dim[role].colour, background) <= distances[role] for role in StyleRole)


def _distance(colour: str, background: str) -> int:
    channels = zip(bytes.fromhex(colour[1:]), bytes.fromhex(background[1:]), strict=True)
    return sum(abs(first - second) for first, second in channels)


def test_a_wall_is_idle_only_while_nothing_is_on_air_wrong_or_stale(known: Snapshot) -> None:
    drafts = tuple(state for state in known.events if state.phase.tally is BroadcastState.DRAFT)
    idle = replace(known, events=drafts, alarms=())
    render_time = RenderTime.from_snapshot(idle, EVENING)
    deck_alarm = replace(known.alarms[0], event_id="")
    assert wall_model(idle, render_time).is_idle
    assert not wall_model(idle, replace(render_time, stale=True)).is_idle
    assert not wall_model(idle, render_time, fault="KeyError").is_idle
    assert not wall_model(replace(idle, alarms=(deck_alarm,)), render_time).is_idle
    assert not wall_model(many(known, 1), render_time).is_idle


def test_the_pages_of_every_event_of_an_incident_are_pinned(known: Snapshot) -> None:
    crowd = many(known, 3)
    affected = tuple(state.id for state in crowd.events[1:])
    incident = replace(known.alarms[0], event_id="", affects=affected, severity=Severity.CRITICAL)
    unread, read = (
        wall_model(replace(crowd, alarms=(replace(incident, state=state),)), RenderTime.from_snapshot(crowd, EVENING))
        for state in (AlarmState.UNACKNOWLEDGED, AlarmState.ACKNOWLEDGED)
    )
    assert unacknowledged_events(unread) == set(affected)
    assert not unacknowledged_events(read)


def test_while_the_wall_cannot_be_believed_no_alarm_is_in_large_letters(known: Snapshot) -> None:
    alarm = replace(known.alarms[0], event_id="", severity=Severity.CRITICAL, state=AlarmState.UNACKNOWLEDGED)
    empty = replace(known, events=(), alarms=(alarm,))
    blind = replace(empty, link=replace(known.link, state=ConnectionState.BLIND))
    kind = alarm.kind.replace("_", " ")
    assert is_drawn(dots(lines(empty, (240, 67))), kind)
    assert not is_drawn(dots(lines(blind, (240, 67))), kind)


def test_an_alarm_that_is_over_is_shown_for_five_minutes_and_is_no_headline(known: Snapshot) -> None:
    """Nobody can acknowledge at a wall: what was wrong last week must neither stay on it nor keep it bright."""
    first = known.alarms[0]
    over = replace(first, state=AlarmState.RETURNED, present=False, changed=EVENING - timedelta(seconds=299))
    quiet = replace(known, events=(), alarms=(replace(over, event_id=""),))
    (below, *_) = text(lines(quiet, (160, 45))[5:]).splitlines()
    assert first.kind in below
    assert "cleared, not acknowledged" in below
    later = RenderTime.from_snapshot(quiet, EVENING + timedelta(seconds=1))
    assert not wall_model(quiet, later).alarms


@pytest.mark.parametrize("name", NAMES)
def test_a_name_from_outside_is_text_and_nothing_else(known: Snapshot, name: str) -> None:
    for scale in (0, 1):
        drawn = picture(_named(known, NAMES[name]), (160, 45), Wall(scale=scale))
        assert {element.tag.rpartition("}")[2] for element in ET.fromstring(drawn).iter()} == {
            "svg", "rect", "path", "text"
        }  # fmt: skip
        assert "\x1b" not in drawn
        assert "\u202e" not in drawn


def test_a_picture_has_no_secret_and_no_external_address(known: Snapshot) -> None:
    drawn = "".join(picture(many(known, count), (400, 100), Wall(scale=1)) for count in (6, 12))
    secrets = [secret.reveal() for state in known.events for secret in _secrets(state.event.model_dump())]
    assert secrets
    assert not [secret for secret in secrets if secret in drawn]
    assert set(re.findall(r"https?://[^\"]+", drawn)) == {"http://www.w3.org/2000/svg"}


def _secrets(value: object) -> list[Secret]:
    if isinstance(value, Secret):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    return [secret for item in inner for secret in _secrets(item)]


def test_large_letters_take_the_cells_that_they_say_and_are_cut_between_letters() -> None:
    random = Random(1)
    alphabet = "ABCDEFGHIJKLMabcdefghijklm0123456789 :-+./✖▲●Éßŷǟ"
    for _ in range(200):
        words, scale = "".join(random.choices(alphabet, k=random.randint(1, 20))), random.randint(2, glyphs.MAX_SCALE)
        cells = glyphs.text_cells(words, scale)
        assert cells is not None
        drawn = glyphs.text_lines(words, StyleRole.TEXT, scale, cells)
        assert {width(line) for line in drawn} == {cells}
        assert len(drawn) == glyphs.HEIGHTS[scale]
        cut = glyphs.text_lines(words, StyleRole.TEXT, scale, cells // 2)
        assert max(width(line) for line in cut) <= cells // 2


@pytest.mark.parametrize("size", [(100, 50), *SIZES])
@pytest.mark.parametrize("subject", ["Cup final", "Cup final – semi", "Gala | Day 2", "会議室"])
def test_the_worst_alarm_always_says_whose_it_is_and_how_old(
    known: Snapshot, size: tuple[int, int], subject: str
) -> None:
    worst = replace(known.alarms[0], subject=subject, event_id="")
    drawn = lines(replace(known, events=(), alarms=(worst,)), size)
    since = values.compact_duration((EVENING - worst.since).total_seconds())
    for words in (subject, worst.kind.replace("_", " "), since):
        assert any(says(drawn[row:], words) for row in range(10)) or words.replace(" ", "_") in text(drawn)


@pytest.mark.parametrize("name", ["Cup final – semi", "Gala | Day 2", "Øresund “Live”", "会議室"])
def test_one_name_makes_no_tile_small_but_its_own(known: Snapshot, name: str) -> None:
    """A name that cannot be drawn has plain letters in its tile; the others are as large as ever."""
    crowd = many(known, 9)
    before, after = (lines(snapshot, (160, 45)) for snapshot in (crowd, _named(crowd, name)))
    other = str(crowd.events[5].event.name)
    assert _large(other) in text(before)
    assert _large(other) in text(after)
    assert (name in text(after)) is (glyphs.text_cells(name, 2) is None)


def _large(name: str) -> str:
    """Return the lowest line of a name in large letters."""
    return plain(glyphs.text_lines(name, StyleRole.TEXT, 2, 400)[-1]).strip()


def test_a_stale_lamp_is_hatched_and_not_only_dark(known: Snapshot) -> None:
    """interface.md, "Colours": never by colour alone; in large letters as in small ones."""
    for size in SIZES:
        fresh, stale = (lines(replace(known, link=link), size)[:4] for link in (known.link, _stale(known.link)))
        assert not _is_hatched(fresh)
        assert _is_hatched(stale)


def _is_hatched(header: Sequence[ShadedLine]) -> bool:
    return "▒ ON AIR" in text(header) or says(header, "▒")


def _stale(link: ConnectionStatus) -> ConnectionStatus:
    return replace(link, as_of=EVENING - timedelta(minutes=2))


@pytest.mark.parametrize("size", SIZES)
def test_the_local_clock_is_named(known: Snapshot, size: tuple[int, int]) -> None:
    header = text(lines(known, size, Wall(zone=timezone(timedelta(hours=5, minutes=30), "IST")))[:5])
    assert "Z" in header or "UTC" in header
    assert ("02:44:07" in header) is ("02:44:07 IST" in header)


def test_a_text_with_a_letter_that_the_font_lacks_is_drawn_in_plain_letters() -> None:
    assert glyphs.text_cells("会議", 2) is None
    assert glyphs.text_lines("会議", StyleRole.TEXT, 3, 10) == [[("会議", StyleRole.TEXT)]]


def test_charts_are_drawn_once_for_each_answer(known: Snapshot) -> None:
    cache, render_time = DrawCache(), RenderTime.from_snapshot(known, EVENING)
    state = next(state for state in known.events if state.phase.tally is BroadcastState.ON_AIR)
    first = recent_chart(state, render_time, (40, 3), cache)
    later = replace(render_time, now=render_time.now + timedelta(seconds=1))
    assert recent_chart(state, later, (40, 3), cache) is first
    answered = replace(state, qos=replace(state.qos, as_of=later.now))
    assert recent_chart(answered, later, (40, 3), cache) is not first


def test_the_bar_of_a_tile_says_what_is_wrong_and_is_filled_only_then(known: Snapshot) -> None:
    """wallboard.md, "Tiles": a fault is the only filled thing on a tile, whatever its tally is."""
    render_time = RenderTime.from_snapshot(known, EVENING)
    fills = {Standing.BAD: StyleRole.CRITICAL, Standing.WATCH: StyleRole.WARNING_CHIP, Standing.GOOD: StyleRole.RAISED}
    judged = set()
    for state in wall_model(known, render_time).states:
        stands = standing(state, render_time)
        if stands in fills:
            judged.add(stands)
            bar, *rest = tile_lines(state, render_time, (53, 13), DrawCache(), TileLayout(2, 2, 2))
            assert {role for text, role in bar[:-1] if text} == {fills[stands]}
            assert (STANDING_WORDS[stands][0] in plain(bar)) is True
            assert [width(line) for line in (bar, *rest)] == [53] * 13
    assert judged == set(fills)


@pytest.mark.parametrize("layout", [TileLayout(), TileLayout(2, 2), TileLayout(2, 3), TileLayout(2, 2, 2)])
@pytest.mark.parametrize("more", range(8))
def test_a_tile_of_an_event_without_samples_holds_whatever_is_wrong_with_it(
    known: Snapshot, layout: TileLayout, more: int
) -> None:
    """As of one that was not asked again since the collector started, when that falls silent."""
    render_time = RenderTime.from_snapshot(known, EVENING)
    many_findings = tuple(finding for state in known.events for finding in state.assessment.findings)
    assert len(many_findings) > 6
    for state in (unseen(state, NO_BLAME) for state in known.events):
        judged = replace(state.assessment, findings=many_findings)
        bare = replace(state, qos=replace(state.qos, readings=Readings()), assessment=judged)
        drawn = tile_lines(bare, render_time, (53, layout.lines + more), DrawCache(), layout)
        assert [width(line) for line in drawn] == [53] * (layout.lines + more)


@pytest.mark.parametrize(("lag", "words"), [(24.0, "up to 24 s late"), (8.0, ""), (None, "")])
def test_a_tile_says_how_late_its_metrics_come(known: Snapshot, lag: float | None, words: str) -> None:
    """Where that is worth a word (monitoring.md, "Delivery"), whatever else its bar says."""
    crowd = many(known, 9)
    late = tuple(replace(state, qos=replace(state.qos, lag=lag)) for state in crowd.events)
    drawn = text(lines(replace(crowd, events=late), (240, 67)))
    assert drawn.count("late ") == (len(late) if words else 0)
    assert words in drawn


@pytest.mark.parametrize("count", [9, 24])
def test_changed_limits_are_told_for_five_minutes(known: Snapshot, count: int) -> None:
    crowd = many(known, count)
    change = RuleChange(EVENING - timedelta(seconds=299), "video_low 0.5 -> 0.6", crowd.events[0].id)
    faulty = RuleChange(EVENING, "the limits stay as they are: config.toml, line 7", is_fault=True)
    drawn = text(lines(crowd, (160, 45), rule_changes=(change, faulty)))
    assert f"● 21:09:08Z  {crowd.events[0].event.name}: video_low 0.5 -> 0.6" in drawn
    assert "▲ 21:14:07Z  the limits stay as they are: config.toml, line 7" in drawn
    later = text(lines(crowd, (160, 45), rule_changes=(change,), now=EVENING + timedelta(seconds=1)))
    assert "video_low" not in later


def test_over_tiles_stand_the_alarms_of_what_has_none(known: Snapshot) -> None:
    """wallboard.md, "Tiles": an alarm stands in one place; over the grid, where no cell has room for it."""
    own = replace(known.alarms[0], event_id="", subject="livedeck", kind="HISTORY_FAILED", severity=Severity.WARNING)
    alarms = (own, *known.alarms)
    tiles, grid = (text(lines(replace(many(known, count), alarms=alarms), (160, 45))) for count in (9, 24))
    assert tiles.count("HISTORY_FAILED") == grid.count("HISTORY_FAILED") == 1
    banner = tiles.splitlines()[:7]
    assert not any(alarm.kind in "\n".join(banner) for alarm in known.alarms)


def test_the_alarms_for_which_the_grid_has_no_line_are_counted(known: Snapshot) -> None:
    """wallboard.md, "Grid": of those without an event and of those that have cleared, three are shown."""
    own = [replace(known.alarms[0], event_id="", subject="livedeck", kind=f"OWN_{number}") for number in range(5)]
    crowd = many(known, 60)
    crowd = replace(crowd, events=tuple(state for state in crowd.events if not state.assessment.findings))
    gone = [
        replace(own[0], event_id=state.id, kind="CLEARED", state=AlarmState.RETURNED, present=False, changed=EVENING)
        for state in crowd.events[:4]
    ]
    for alarms, counted in ((own, ["and 2 more"]), (gone, ["and 1 more"]), (own[:3], [])):
        drawn = text(lines(replace(crowd, alarms=tuple(alarms)), (160, 45)))
        assert re.findall(r"and \d+ more", drawn) == counted


def test_the_health_of_each_of_nine_tiles_is_in_large_letters(known: Snapshot) -> None:
    crowd = many(known, 9)
    drawn = dots(lines(crowd, (160, 45)))
    scores = [state.assessment.health.score for state in crowd.events if state.assessment.health.score is not None]
    assert scores
    assert all(is_drawn(drawn, f"{score:.0f}") for score in scores)


@pytest.mark.parametrize("scale", [glyphs.PLAIN, glyphs.LARGE])
@pytest.mark.parametrize("count", [1, 9, 25])
def test_no_good_health_stands_beside_a_fault_that_it_does_not_judge(known: Snapshot, count: int, scale: int) -> None:
    """wallboard.md, "Tiles": in the colour of the fault, the number would be read as bad."""
    well = next(state for state in known.events if state.assessment.health.grade is Grade.GOOD)
    for score, findings in ((99, ()), (99, (Finding("VIEWER_GONE", Severity.CRITICAL, "HTTP 503", ""),))):
        state = replace(well, assessment=HealthAssessment(Health(score, Grade.GOOD), findings))
        crowd = many(replace(known, events=(state,), alarms=()), count)
        drawn = lines(crowd, (160, 45), replace(STILL, scale=scale))
        assert ("viewer gone" in text(drawn).lower()) is bool(findings)
        assert (" 99 " in text(drawn) or is_drawn(dots(drawn), "99")) is not bool(findings)


@pytest.mark.parametrize("count", [1, 9, 25])
def test_a_wall_before_the_first_answer_to_its_questions_draws_every_event(known: Snapshot, count: int) -> None:
    """What was not asked for yet has no health, and no wall fails for that."""
    crowd = many(known, count)
    unasked = tuple(
        replace(
            state,
            qos=replace(state.qos, as_of=None, readings=type(state.qos.readings)()),
            assessment=replace(state.assessment, findings=()),
        )
        for state in crowd.events
    )
    for size in SIZES:
        drawn = lines(replace(crowd, events=unasked, alarms=()), size)
        assert {width(line) for line in drawn} == {size[0]}
