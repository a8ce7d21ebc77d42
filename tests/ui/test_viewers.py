"""Screen 8: what viewers get, as pictures; and no other screen changes while no probe runs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import pairwise

import pytest
from rich.segment import Segment
from rich.terminal_theme import MONOKAI
from syrupy.assertion import SnapshotAssertion
from textual.color import Color

from livedeck.monitor import (
    ConnectionState,
    ConnectionStatus,
    Delivery,
    Finding,
    Severity,
    Snapshot,
    Sound,
    Source,
    ViewerState,
)
from livedeck.presentation.events import Standing, standing
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.viewer import WITH_VIEWER_FAULTS
from livedeck.text.segments import Line, Pixels, ShadedLine, StyleRole, plain, width
from livedeck.ui.app import Deck
from livedeck.ui.events.view import cockpit_lines
from livedeck.ui.kit import themes
from livedeck.ui.kit.graphics import FIRST_VIEWER_ID, Frame, Graphics
from livedeck.ui.kit.meter import SOUND
from livedeck.ui.kit.terminal import TruecolorFilter
from livedeck.ui.kit.viewer_picture import Look
from livedeck.ui.shell.viewer_pictures import ViewerPictures
from livedeck.ui.viewers.mosaic import FRAME_SEGMENTS, Mosaic
from livedeck.ui.viewers.view import plan_grid, summary_line
from presentation.test_events import FRESH
from presentation.test_viewer import seen
from ui.stage import act, known, letters_of, running, show, steady
from ui.viewer_stage import PLAYS, VIEWERS, ago, judged, loaded, probing

SIZES = (((80, 24), "dark"), ((120, 40), "light"), ((120, 40), "mono"), ((200, 60), "contrast"))


async def test_the_screen(picture: SnapshotAssertion) -> None:
    async with running(SIZES[0][0], "8") as (deck, pilot):
        assert await steady(deck, pilot) == picture(name="no probe")
        await probing(deck, pilot)
        for size, theme in SIZES:
            await pilot.resize_terminal(*size)
            deck.theme = theme
            while deck.screen.size != size:
                await pilot.pause()
            await loaded(deck, pilot)
            assert await steady(deck, pilot) == picture(name=f"{size[0]}x{size[1]}-{theme}")


async def test_no_tab_before_a_probe_runs_and_the_key_says_how_to_start_one() -> None:
    async with running() as (deck, pilot):
        assert "8 Viewers" not in letters_of(deck)
        await act(pilot, "screen.viewers")
        assert "no probe runs" in letters_of(deck)
        assert "[probe]" in letters_of(deck)
        await act(pilot, "viewers.back")
        assert deck.current_mode == "events"
        await probing(deck, pilot)
        assert "8 Viewers" in letters_of(deck)


@pytest.mark.parametrize(
    ("size", "count", "grid"),
    [
        ((120, 33), 9, (3, 3, Frame(32, 9))),
        ((80, 19), 4, (2, 2, Frame(25, 7))),
        ((200, 53), 20, (5, 4, Frame(32, 9))),
        ((200, 53), 99, (5, 4, Frame(32, 9))),
        ((120, 33), 1, (1, 1, Frame(110, 31))),
        ((60, 15), 9, (1, 1, Frame(46, 13))),
    ],
)
def test_pictures_are_as_large_as_the_number_of_events_allows(
    size: tuple[int, int], count: int, grid: tuple[int, int, Frame]
) -> None:
    found = plan_grid(*size, count)
    assert (found.columns, found.rows, found.frame) == grid
    assert found.columns * found.cells <= size[0]
    assert found.rows * found.lines <= size[1]


def _selected(deck: Deck) -> str:
    state = deck.selected_event()
    return state.id if state else ""


async def test_the_cursor_moves_among_tiles_and_pages_and_opens_the_event() -> None:
    async with running((80, 24), "8") as (deck, pilot):
        await probing(deck, pilot)
        assert _selected(deck) == "event-00"
        assert "page 1 of 3" in letters_of(deck)
        await act(pilot, "viewers.right", "viewers.down")
        assert "page 1 of 3" in letters_of(deck)
        await act(pilot, "viewers.left", "viewers.up")
        assert _selected(deck) == "event-00"
        await act(pilot, "viewers.next_page")
        assert "page 2 of 3" in letters_of(deck)
        await act(pilot, "viewers.previous_page")
        assert _selected(deck) == "event-00"
        await act(pilot, "viewers.open")
        assert (deck.current_mode, _selected(deck)) == ("qos", "event-00")


async def test_a_tile_writes_the_time_on_air_as_the_events_table_does() -> None:
    async with running((80, 24), "8") as (deck, pilot):
        await probing(deck, pilot)
        assert "◌ RECONN 00:41:12" in letters_of(deck)


async def test_a_click_selects_a_tile_and_two_open_its_event() -> None:
    async with running((120, 40), "8") as (deck, pilot):
        await probing(deck, pilot)
        await pilot.click(Mosaic, offset=(50, 5))
        await pilot.pause()
        assert (deck.current_mode, _selected(deck)) == ("viewers", "event-01")
        deck.dispatch("viewers.select", "event-00")
        assert _selected(deck) == "event-00"
        deck.dispatch("viewers.select", "nobody")
        assert _selected(deck) == "event-00"
        await pilot.click(Mosaic, offset=(90, 5), times=2)
        await pilot.pause()
        assert (deck.current_mode, _selected(deck)) == ("qos", "event-02")


async def test_the_meter_of_an_event_that_viewers_no_longer_get_is_old() -> None:
    async with running((120, 40), "8") as (deck, pilot):
        for delivery, role in ((Delivery.PLAYS, SOUND), (Delivery.GONE, StyleRole.STALE)):
            await probing(deck, pilot, [replace(PLAYS, delivery=delivery, since=ago(5))])
            assert _bars(deck) == {role}
        await probing(deck, pilot, [replace(PLAYS, delivery=Delivery.GONE, since=ago(70), image_at=ago(61))])
        assert _bars(deck) == set(), "the picture is taken away, and so are its peaks"


def _bars(deck: Deck) -> set[object]:
    return {role for line in deck.screen.query_one(Mosaic)._lines for text, role in line if "█" in text}


@pytest.mark.parametrize("word", ["black", "silent", "stalled", "no sound"])
def test_a_narrow_table_says_a_fault_in_full(word: str) -> None:
    sound = Sound.NONE if word == "no sound" else Sound.HEARD
    kind = {"no sound": "VIEWER_SILENT"}.get(word, f"VIEWER_{word.upper()}")
    found = seen()
    faults = (Finding(kind, Severity.CRITICAL, "", ""),)
    state = replace(found, viewer=replace(PLAYS, sound=sound), assessment=replace(found.assessment, findings=faults))
    health = next(column for column in WITH_VIEWER_FAULTS if column.name == "health")
    assert f"✖ viewers {word}" in plain(health.cell(state, FRESH, health.width))


async def test_only_what_is_wrong() -> None:
    async with running((120, 40), "8") as (deck, pilot):
        await probing(deck, pilot)
        await act(pilot, "viewers.wrong")
        text = letters_of(deck)
        assert [name for name in ("Hall 1 ", "Hall 2 ", "Hall 3 ", "Hall 4 ") if name in text] == [
            "Hall 1 ",
            "Hall 2 ",
            "Hall 3 ",
        ]
        assert "only what is wrong" in text
        await probing(deck, pilot, [PLAYS])
        assert "The probe sees nothing wrong. Press" in letters_of(deck)
        await probing(deck, pilot, [PLAYS, ViewerState(source=Source.PLAYER_PAGE)])
        assert "Whether 1 of 2 events play is unknown." in letters_of(deck)


async def test_a_probe_without_an_event_is_not_off() -> None:
    async with running((120, 40), "8") as (deck, pilot):
        await show(deck, pilot, probe="probe 0 of 0")
        assert "No event is probed now." in letters_of(deck)
        assert "no probe runs" not in letters_of(deck)


async def test_many_new_pictures_are_painted_in_several_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    async with running((120, 40), "8") as (deck, pilot):
        await probing(deck, pilot, [PLAYS] * 9)
        mosaic = deck.screen.query_one(Mosaic)
        lines: list[ShadedLine] = [[("▀", Pixels(row, column)) for column in range(120)] for row in range(33)]
        later: list[Callable[[], None]] = []
        monkeypatch.setattr(mosaic, "call_after_refresh", later.append)
        mosaic.show(lines, (), ())
        frames = [_painted(mosaic, lines)]
        while later:
            later.pop()()
            frames.append(_painted(mosaic, lines))
        steps = [after - before for before, after in pairwise([0, *frames])]
        assert max(steps) < FRAME_SEGMENTS + 120, "a frame holds the event loop"
        assert sum(steps) == 33 * 120


def _painted(mosaic: Mosaic, lines: Sequence[ShadedLine]) -> int:
    return sum(len(line) for line in mosaic._lines if line in lines)


def test_the_styles_of_a_screen_of_pictures_stay_in_the_filter_of_colours() -> None:
    colours = TruecolorFilter.of(MONOKAI)
    row = [Segment("▀", themes.pixel_style(Pixels(upper, 7))) for upper in range(3000)]
    colours.apply(row, Color(0, 0, 0))
    misses = colours.truecolor_style.cache_info().misses
    assert [part.style for part in colours.apply(row, Color(0, 0, 0))] == [part.style for part in row]
    assert colours.truecolor_style.cache_info().misses == misses


async def test_a_deck_filters_colours_with_room_for_pictures() -> None:
    async with running() as (deck, _):
        assert any(isinstance(each, TruecolorFilter) for each in deck.get_line_filters())


async def test_the_order_holds_for_a_minute_unless_a_person_asks() -> None:
    async with running((80, 24), "8") as (deck, pilot):
        await probing(deck, pilot, [PLAYS, PLAYS])
        assert _place(deck, "event-00") < _place(deck, "event-01")
        await probing(deck, pilot, [PLAYS, replace(PLAYS, delivery=Delivery.GONE, since=ago(5))])
        assert "✖ Hall 2" in letters_of(deck)
        assert _place(deck, "event-00") < _place(deck, "event-01")
        await act(pilot, "viewers.rank")
        assert _place(deck, "event-01") < _place(deck, "event-00")


def rendered(deck: Deck) -> RenderTime:
    render_time = deck.render_time()
    assert render_time
    return render_time


def _place(deck: Deck, event_id: str) -> int:
    tiles = deck.screen.query_one(Mosaic)._tiles
    return next(place for place, (_, found) in enumerate(tiles) if found == event_id)


async def test_a_picture_is_asked_for_once_and_only_while_it_is_on_the_screen() -> None:
    async with running((80, 24)) as (deck, pilot):
        asked = await probing(deck, pilot)
        assert not asked, "the screen of viewers is not in front"
        await act(pilot, "screen.viewers")
        await loaded(deck, pilot)
        first = [found.image for found in VIEWERS[:4]]
        assert sorted(asked) == sorted(first)
        await show(deck, pilot)
        await loaded(deck, pilot)
        assert len(asked) == len(first)
        await act(pilot, "screen.events")
        await show(deck, pilot, events=known(deck).events)
        assert not deck.state(ViewerPictures)._wanted


async def test_a_picture_ages_fades_and_goes() -> None:
    async with running((120, 40), "8") as (deck, pilot):
        await probing(deck, pilot)
        text = letters_of(deck)
        for words in ("GONE 00:38", "last seen 21:13:29Z", "BLACK 01:10", "22 s old", "33 s old", "a player page"):
            assert words in text
        assert "04 s old" not in text
        colours = {
            role for line in deck.screen.query_one(Mosaic)._lines for _, role in line if isinstance(role, Pixels)
        }
        assert Pixels(0xFCFCFC, 0xFCFCFC) not in colours, "the white picture is 33 s old, so it is faded"
        assert any(pixel.upper & 0xFF > 0xF0 and pixel.upper >> 16 < 0x10 for pixel in colours), "the blue one is not"


async def test_a_broken_picture_is_no_picture() -> None:
    async with running((80, 24), "8") as (deck, pilot):
        await probing(deck, pilot, [PLAYS])

        async def broken(_: str, /) -> bytes:
            return b"\xff\xd8\xff broken"

        deck.monitor.viewer_picture = broken  # type: ignore[method-assign]
        await show(
            deck, pilot, events=tuple(replace(state, viewer=replace(PLAYS, image="x")) for state in known(deck).events)
        )
        await loaded(deck, pilot)
        assert "late 8 s" in letters_of(deck)


@pytest.mark.parametrize("how", [Graphics.KITTY, Graphics.ITERM2])
async def test_pixels_are_drawn_over_blank_cells_of_fresh_pictures_alone(how: Graphics) -> None:
    async with running((120, 40)) as (deck, pilot):
        deck.graphics = how
        await act(pilot, "screen.viewers")
        await probing(deck, pilot)
        placed = deck.screen.query_one(Mosaic)._placed
        fresh = [found for found in VIEWERS if found.image_at == ago(4) and found.image != "black"]
        assert len(placed) == len(fresh)
        assert {item.number for item in placed} <= {*range(FIRST_VIEWER_ID, FIRST_VIEWER_ID + 9)}
        assert all(len(item.sequence) < 6000 for item in placed)


async def test_the_events_table_has_a_column_of_viewers_and_a_narrow_one_their_faults_as_health() -> None:
    async with running((120, 40)) as (deck, pilot):
        before = letters_of(deck)
        assert "VIEWER" not in before
        healthy = next(state for state in known(deck).events if standing(state, rendered(deck)) is Standing.GOOD)
        gone = judged(healthy, replace(PLAYS, delivery=Delivery.GONE, since=ago(38)))
        await show(deck, pilot, events=(gone,))
        assert "✖ viewers gone" in letters_of(deck)
        await show(deck, pilot, events=(replace(healthy, viewer=PLAYS),))
        assert "100 GOOD" in letters_of(deck)
        await pilot.resize_terminal(140, 40)
        await show(deck, pilot, events=(gone,))
        text = letters_of(deck)
        assert "VIEWER" in text
        assert "100 GOOD" in text
        assert "✖ gone" in text


@pytest.mark.parametrize("height", [5, 9, 10, 30, 40])
def test_the_pane_of_an_event_says_what_viewers_get_in_the_lines_that_it_has(height: int) -> None:
    event, look = seen(), Look(tuple([("▀" * 24, Pixels(1, 2))] for _ in range(7)))
    lines = cockpit_lines(event, FRESH, 62, height, look=look)
    text = [plain(line) for line in lines]
    assert len(lines) <= height
    assert max(width(line) for line in lines) <= 62
    assert any("viewers ✓ plays 8 s late" in line for line in text)
    assert sum("▀" * 24 in line for line in text) == (7 if height >= 9 else 0)
    assert [plain(line) for line in cockpit_lines(replace(event, viewer=None), FRESH, 62, height)] == [
        plain(line) for line in cockpit_lines(replace(event, viewer=None), FRESH, 62, height, look=look)
    ]


@pytest.mark.parametrize(
    ("cells", "words"),
    [
        (160, " probe 9 of 9: 4 requests/s, 0.3 Mbit/s, 1.1 GB in 8 h "),
        (120, " from this machine "),
        (70, " ✖ 1  elsewhere"),
    ],
)
def test_the_summary_says_the_traffic_of_the_probe_after_what_matters_more(cells: int, words: str) -> None:
    snapshot = Snapshot(
        1,
        FRESH.now,
        ConnectionStatus(ConnectionState.OK, FRESH.now),
        probe="probe 9 of 9: 4 requests/s, 0.3 Mbit/s, 1.1 GB in 8 h",
    )
    page: list[Line] = [[("page 1 of 3", StyleRole.TEXT)], [(" ✖ 1  elsewhere", StyleRole.CRITICAL)]]
    assert words in plain(summary_line((), snapshot, FRESH, cells, "worst first", page=page))


GONE = replace(PLAYS, delivery=Delivery.GONE, since=ago(5))


async def test_an_event_that_turns_critical_on_another_page_is_in_sight_at_once_and_moves_one_tile_only() -> None:
    async with running((80, 24), "8") as (deck, pilot):
        await probing(deck, pilot, [PLAYS] * 9)
        deck.dispatch("viewers.select", "event-03")
        await probing(deck, pilot, [*[PLAYS] * 6, GONE, PLAYS, PLAYS])
        assert _shown(deck) == ["event-00", "event-01", "event-06", "event-03"]
        assert "elsewhere" not in letters_of(deck)
        await act(pilot, "viewers.rank")
        assert _shown(deck) == ["event-06", "event-00", "event-01", "event-03"]


async def test_the_page_in_sight_keeps_the_selected_event_when_five_others_are_worse() -> None:
    async with running((80, 24), "8") as (deck, pilot):
        await probing(deck, pilot, [PLAYS] * 9)
        deck.dispatch("viewers.select", "event-01")
        await probing(deck, pilot, [PLAYS, PLAYS, *[GONE] * 5, PLAYS, PLAYS])
        await act(pilot, "viewers.rank")
        assert _shown(deck) == ["event-02", "event-03", "event-04", "event-01"]
        assert "✖ 2  elsewhere" in letters_of(deck)


async def test_a_later_page_says_how_many_faults_other_pages_have() -> None:
    async with running((80, 24), "8") as (deck, pilot):
        await probing(deck, pilot, [PLAYS] * 9)
        deck.dispatch("viewers.select", "event-04")
        silent = replace(PLAYS, sound=Sound.SILENT, sound_since=ago(34))
        await probing(deck, pilot, [GONE, *[PLAYS] * 7, silent])
        assert _shown(deck) == ["event-04", "event-05", "event-06", "event-07"]
        text = letters_of(deck)
        assert "page 2 of 3" in text
        assert "✖ 1  ▲ 1  elsewhere" in text


def _shown(deck: Deck) -> list[str]:
    return [event_id for _, event_id in deck.screen.query_one(Mosaic)._tiles]
