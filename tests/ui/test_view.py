"""The operator arranges the table; no arrangement can hide a fault in silence."""

from __future__ import annotations

import base64
import json
import stat
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from textual.pilot import Pilot

from livedeck.cli.deck import StateFile
from livedeck.cli.screenshots import EVENING, still_deck
from livedeck.client import Event
from livedeck.monitor import Severity
from livedeck.presentation.events import EVENTS
from livedeck.presentation.filtering import PROJECTS, FilterError, TableView, apply_view, read_view
from livedeck.presentation.render_time import RenderTime
from livedeck.presentation.table import TableSchema, text_column
from livedeck.ui.app import Deck
from livedeck.ui.events.screen import EventsScreen
from livedeck.ui.general import copying
from livedeck.ui.kit.control_strings import MAX_COPIED, osc52
from livedeck.ui.kit.table import Table
from livedeck.ui.shell.preferences import MAX_PINNED, Preferences, ViewState
from ui.stage import act, known, letters_of, running, show, text_of

ON_AIR = {"ON AIR"}
FRESH = RenderTime(EVENING, EVENING, stale=False)


class Row(NamedTuple):
    """Row of any table."""

    name: str
    folder: str


ROWS: TableSchema[Row] = TableSchema(
    columns=(text_column("event", "EVENT", 10, 0, lambda row: row.name),),
    key=lambda row: row.name,
    text=lambda row: row.name,
    groups={"project": lambda row, _: row.folder},
)


class Kept:
    """Preferences in memory."""

    def __init__(self) -> None:
        self.saved = Preferences()

    def load(self) -> Preferences:
        return self.saved

    def save(self, preferences: Preferences) -> None:
        self.saved = preferences

    def write_overflow(self, name: str, text: str) -> Path:
        raise NotImplementedError(name, text)


async def typed(pilot: Pilot[int], text: str, *then: str) -> None:
    for char in text:
        await pilot.press({" ": "space", ":": "colon", "<": "less_than_sign", "'": "apostrophe"}.get(char, char))
    await pilot.press(*then)
    await pilot.pause()


async def test_a_filter_counts_what_it_hides_and_a_bad_one_leaves_the_good_one() -> None:
    async with running() as (deck, pilot):
        await act(pilot, "view.filter")
        await typed(pilot, "tally:air")
        assert "5 of 12 match" in text_of(deck)
        await pilot.press("enter")
        await pilot.pause()
        assert "2 with a critical fault hidden" in text_of(deck)
        assert {state.phase.tally for state in [deck.selected_event()] if state} == ON_AIR
        await act(pilot, "view.filter")
        await typed(pilot, " heatlh<70", "enter")
        assert "no field 'heatlh'; did you mean: health" in text_of(deck)
        await pilot.press("escape")
        await pilot.pause()
        assert deck.preferences.view("events").filter == "tally:air"
        deck.dispatch("view.filter", "nobody")
        await pilot.pause()
        assert "0 of 12 match" in text_of(deck)
        assert deck.selected_event() is None
        deck.dispatch("row.open")
        await pilot.pause()
        assert (deck.current_mode, "needs an event" in text_of(deck)) == ("events", True)
        deck.dispatch("view.filter", "health<")
        await pilot.pause()
        assert "health< needs a number" in text_of(deck)
        await act(pilot, "view.clear")
        assert deck.preferences.view("events").filter == ""
        assert "match" not in text_of(deck)


async def test_the_bar_stands_where_the_rows_do_though_they_were_scrolled_before_there_was_one(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    async with running(size=(80, 24)) as (deck, pilot):
        monkeypatch.setattr(EventsScreen, "refresh_all", lambda _screen: None)  # each second it shows the deck's rows
        table = deck.screen.query_one(Table)
        snapshot, render_time = known(deck), deck.render_time()
        assert render_time
        table.show((), render_time, None, "", TableView())
        await pilot.pause()
        table.show(snapshot.events * 4, render_time, None, "", TableView())
        table.scroll_to(y=table.max_scroll_y, animate=False, force=True, immediate=True)
        await pilot.pause()
        assert table.vertical_scrollbar.position == table.scroll_y > 0


async def test_nothing_that_a_filter_hides_stays_selected() -> None:
    """Acts on what you saw."""
    async with running() as (deck, pilot):
        await act(pilot, "row.last")
        hidden = deck.selected_event()
        deck.dispatch("view.filter", "tally:air")
        await pilot.pause()
        assert hidden is not None
        assert deck.selected_event() != hidden
        assert deck.screen.query_one(Table).cursor == getattr(deck.selected_event(), "id", None)


async def test_rows_are_sorted_by_any_column_and_the_columns_are_chosen() -> None:
    async with running() as (deck, pilot):
        await act(pilot, "view.sort", "view.sort")
        assert (deck.preferences.view("events").sort, "↑" in text_of(deck)) == ("event", True)
        await act(pilot, "view.invert")
        names = [str(state.event.name) for state in known(deck).events]
        shown = text_of(deck)
        assert "↓" in shown
        table = shown[shown.index("EVENT") :]
        ordered = sorted(names, key=lambda name: table.index(f">{name[:12]}"))
        assert ordered == sorted(names, key=str.casefold, reverse=True)
        await act(pilot, "view.sort_back", "view.sort_back")
        assert deck.preferences.view("events").sort == ""
        await act(pilot, "view.columns")
        await pilot.press("down", "down", "space", "enter")
        await pilot.pause()
        assert deck.preferences.view("events").hidden == ("time",)
        assert "T-/ELAPSED" not in text_of(deck)
        deck.dispatch("view.columns", "tally event health")
        await pilot.pause()
        assert "AUDIO" not in text_of(deck)
        deck.dispatch("view.sort", "colour")
        await pilot.pause()
        assert "there is no column colour" in text_of(deck)


async def test_a_frozen_display_holds_still_says_so_and_alarms_go_on() -> None:
    async with running() as (deck, pilot):
        await act(pilot, "view.freeze")
        first = known(deck).events[0]
        alarm = replace(known(deck).alarms[0], subject="Brand new trouble")
        await show(deck, pilot, events=tuple(reversed(known(deck).events)), alarms=(alarm,))
        assert "FROZEN at 21:14:07Z" in text_of(deck)
        assert "Brand new trouble" in text_of(deck)
        chosen = deck.selected_event()
        assert chosen is not None
        assert chosen.id == first.id
        await act(pilot, "view.freeze")
        assert "FROZEN" not in text_of(deck)
        chosen = deck.selected_event()
        assert chosen is not None
        assert chosen.id == known(deck).events[0].id


async def test_an_event_is_copied_by_its_letter() -> None:
    async with running() as (deck, pilot):
        await act(pilot, "view.copy")
        assert "link to watch" in text_of(deck)
        await pilot.press("c")
        await pilot.pause()
        assert "curl of Cup final, pitch 2 copied" in text_of(deck)
        deck.dispatch("view.copy", "carbon")
        await pilot.pause()
        assert "there is no format carbon: id, link, json, curl" in text_of(deck)


def test_what_is_copied_of_an_event_holds_no_secret() -> None:
    event = Event.model_validate(
        {"id": "one", "streamkey": "very-secret-key-1234", "rtmp_link": "rtmp://a.example/live/very-secret-key-1234"}
    )
    texts = copying.copy_texts(event, "https://a.example/v1/one")
    assert "very-secret" not in "".join(texts.values())
    assert texts["curl"] == "curl -H \"Authorization: Bearer $LIVEDECK_TOKEN\" 'https://a.example/v1/one'"
    assert json.loads(texts["json"])["id"] == "one"


@pytest.mark.parametrize("multiplexer", ["", "tmux", "screen"])
@pytest.mark.parametrize("text", ["short", "x" * 3000, "東京"])
def test_a_copy_reaches_the_terminal_through_a_multiplexer(multiplexer: str, text: str) -> None:
    """What the multiplexer hands on is the bare control string; GNU screen takes none over 256 characters."""
    sent = osc52(text, multiplexer)
    assert sent is not None
    bare = f"\x1b]52;c;{base64.b64encode(text.encode()).decode()}\x07"
    if multiplexer == "tmux":
        assert sent.removeprefix("\x1bPtmux;").removesuffix("\x1b\\").replace("\x1b\x1b", "\x1b") == bare
    elif multiplexer == "screen":
        parts = sent.removesuffix("\x1b\\").removeprefix("\x1bP").split("\x1b\\\x1bP")
        assert "".join(parts) == bare
        assert max(map(len, parts)) <= 252
    else:
        assert sent == bare


def test_what_is_too_long_for_a_terminal_is_not_sent() -> None:
    assert osc52("x" * MAX_COPIED) is not None
    assert osc52("x" * (MAX_COPIED + 1)) is None


def saved(file: StateFile, *preferences: Preferences) -> None:
    """Store preferences, one after another, and leave the deck."""
    with closing(file):
        for each in preferences:
            file.save(each)


def test_the_arrangement_outlives_the_deck_and_is_for_its_owner_alone(tmp_path: Path) -> None:
    kept = Preferences("light", {"events": TableView("tally:air", "health", down=True, hidden=("fps",))})
    saved(StateFile(tmp_path / "state", "a/b"), kept)
    (file,) = (tmp_path / "state").iterdir()
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert StateFile(tmp_path / "state", "a/b").load() == kept
    assert StateFile(tmp_path / "state", "other").load() == Preferences()


@pytest.mark.parametrize("content", ["", "{", "[]", '{"views": 3}', '{"views": {"events": []}}', "\x00"])
def test_a_file_that_cannot_be_read_keeps_nothing(tmp_path: Path, content: str) -> None:
    saved(StateFile(tmp_path, "p"), Preferences())
    (file,) = tmp_path.iterdir()
    file.write_text(content, encoding="utf-8")
    assert StateFile(tmp_path, "p").load() == Preferences()


def test_a_place_that_cannot_be_written_stops_nothing(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    saved(StateFile(tmp_path / "file" / "below", "p"), Preferences("light"))


async def copied(deck: Deck) -> None:
    """Wait until a copy is in its file."""
    await deck.workers.wait_for_complete([worker for worker in deck.workers if worker.group == "copy"])


async def test_what_is_too_long_for_the_clipboard_goes_to_a_file_or_it_is_said_why_not(tmp_path: Path) -> None:
    (tmp_path / "file").touch()
    async with running() as (deck, _):
        deck.preferences.store = StateFile(tmp_path / "state", "p")
        deck.copy("x" * (MAX_COPIED + 1), "JSON")
        await copied(deck)
        assert (tmp_path / "state" / "copied.txt").stat().st_size == MAX_COPIED + 1
        deck.preferences.store = StateFile(tmp_path / "file" / "below", "p")
        deck.copy("x" * (MAX_COPIED + 1), "JSON")
        await copied(deck)
        told = deck.preferences.notices[-1]
        assert told.severity is Severity.WARNING
        assert told.text.startswith("JSON is too long for the clipboard, and could not be written to a file: ")


def test_every_column_has_a_name_of_its_own() -> None:
    names = [column.name for column in EVENTS.columns]
    assert len(set(names)) == len(names)


LIVE = read_view(
    EVENTS, "live", rows="tally:air", sort="-health", columns=("tally", "event", "health"), group="project"
)


async def test_a_view_names_itself_and_counts_what_it_hides_until_it_is_left() -> None:
    for size in ((80, 24), (120, 40), (200, 60)):
        async with still_deck(views={"live": LIVE}) as deck, deck.run_test(size=size) as pilot:
            await pilot.pause()
            before = letters_of(deck)
            deck.dispatch("event.view", "live")
            await pilot.pause()
            lines = letters_of(deck)
            assert "view live   5 of 12 match   ✖ 2 with a critical fault hidden" in lines
            assert "RECONNECTING" in lines, "the alarm of a hidden event"
            assert "6 on air" in lines
            assert "LAST 5 MIN" not in lines
            await act(pilot, "view.sort")
            assert "view changed by hand   5 of 12 match" in letters_of(deck)
            assert "esc clears it" not in letters_of(deck)
            deck.dispatch("event.view", "live")
            await act(pilot, "view.clear")
            assert letters_of(deck) == before
            deck.dispatch("event.view", "live")
            deck.dispatch("event.view", "all")
            await pilot.pause()
            assert letters_of(deck) == before


def test_a_view_survives_a_restart_as_the_settings_have_it_then() -> None:
    store = Kept()
    ViewState(store, {"live": LIVE}).use_view("events", LIVE)
    assert ViewState(store, {"live": LIVE}).view("events") == LIVE
    later = replace(LIVE, filter="tally:late")
    assert ViewState(store, {"live": later}).view("events") == later
    assert ViewState(store).view("events") == TableView()


def test_pins_and_views_are_kept_in_the_file_of_the_deck(tmp_path: Path) -> None:
    with closing(StateFile(tmp_path, "north")) as file:
        state = ViewState(file, {"live": LIVE})
        state.use_view("events", LIVE)
        assert [state.toggle_pin(key) for key in ("one", "two", "one", "three")] == [True, True, False, True]
    again = ViewState(StateFile(tmp_path, "north"), {"live": LIVE})
    assert again.pinned == {"two", "three"}
    assert again.view("events") == LIVE


@pytest.mark.parametrize("view", [TableView(), TableView(sort="event"), PROJECTS, replace(PROJECTS, sort="event")])
def test_pinned_rows_are_first_and_all_others_keep_their_order(view: TableView) -> None:
    rows = tuple(Row(f"{number}", f"folder {number % 3}") for number in range(12))
    schema = replace(ROWS, has_pins=True)
    plain_rows = apply_view(schema, rows, view, FRESH)
    pinned = apply_view(schema, rows, view, replace(FRESH, pinned=frozenset({"7", "4", "gone"})))
    assert {row.name for row in pinned.rows[:2]} == {"7", "4"}
    assert [row for row in plain_rows.rows if row.name not in {"7", "4"}] == [*pinned.rows[2:]]
    assert pinned.first == plain_rows.first
    assert sorted(pinned.rows) == sorted(rows)
    if view.group:
        titles = [head[0][0].strip() for _, head in pinned.sections]
        assert titles == ["pinned", "folder 0", "folder 1", "folder 2"]
        for (begin, head), (end, _) in zip(pinned.sections, (*pinned.sections[1:], (len(rows), [])), strict=True):
            folders = {row.folder for row in pinned.rows[begin:end]}
            assert folders == {head[0][0].strip()} or head[0][0].strip() == "pinned"


def test_a_folder_called_pinned_keeps_a_head_of_its_own() -> None:
    rows = (Row("a", "pinned"), Row("b", "other"), Row("c", "pinned"))
    found = apply_view(replace(ROWS, has_pins=True), rows, PROJECTS, replace(FRESH, pinned=frozenset({"b"})))
    assert [row.name for row in found.rows] == ["b", "a", "c"]
    assert [(index, head[0][0].strip()) for index, head in found.sections] == [(0, "pinned"), (1, "pinned")]


async def test_no_pin_is_lost_to_another() -> None:
    async with running() as (deck, pilot):
        first, last = known(deck).events[0], known(deck).events[-1]
        others = [*(f"gone {number}" for number in range(MAX_PINNED - 1)), first.id]
        for key in others:
            deck.preferences.toggle_pin(key, others)
        assert deck.preferences.toggle_pin(last.id, others) is None
        assert deck.preferences.pinned == {*others}
        deck.select_event(last.id)
        await act(pilot, "event.pin")
        assert deck.preferences.pinned == {first.id, last.id}, "pins of events that are not listed make room"


async def test_a_pin_marks_an_event_at_once_and_the_cursor_still_follows_the_worst() -> None:
    async with running() as (deck, pilot):
        last, worst = known(deck).events[-1], known(deck).events[0]
        deck.preferences.toggle_pin(last.id)
        deck.snapshot_signal.publish(None)
        await pilot.pause()
        selected = deck.selected_event()
        assert selected is not None
        assert selected.id == worst.id
        rows = deck.screen.query_one(Table)._rows
        assert rows[0].id == last.id
        assert f"★ {last.event.name}" in letters_of(deck)
        deck.select_event(last.id)
        await act(pilot, "event.pin")
        assert "unpinned" in deck.preferences.notices[-1].text
        assert "★" not in letters_of(deck)


@pytest.mark.parametrize("words", [{"rows": "nofield:x"}, {"sort": "nocolumn"}, {"columns": ("nocolumn",)}])
def test_a_view_with_an_unknown_field_or_column_is_refused(words: dict[str, Any]) -> None:
    whole: dict[str, Any] = {"rows": "", "sort": "", "columns": (), "group": ""}
    with pytest.raises(FilterError, match=r"no (field|column) 'no"):
        read_view(EVENTS, "live", **(whole | words))


@pytest.mark.parametrize(("name", "sort", "reason"), [("live", "-", "no column ''"), ("all", "", "another name")])
def test_a_view_without_a_column_after_the_minus_or_called_all_is_refused(name: str, sort: str, reason: str) -> None:
    with pytest.raises(FilterError, match=reason):
        read_view(EVENTS, name, rows="", sort=sort, columns=(), group="")


def test_a_view_always_shows_the_names_of_the_events() -> None:
    view = read_view(EVENTS, "live", rows="", sort="", columns=("health",), group="")
    assert {column.name for column in EVENTS.columns} - {*view.hidden} == {"event", "health"}
