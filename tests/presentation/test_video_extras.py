"""A row of the Videos screen shows only extras that are in the received lists."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from livedeck.client import Annotation, Poster, Recording, Shortfall, Subtitle
from livedeck.monitor import CachedList, KnownMaterial, Video
from livedeck.monitor.published.codec import encode_record
from livedeck.presentation.table import TableSchema, layout, row_line
from livedeck.presentation.videos import ANNOTATIONS, MATERIALS, SUBTITLES, VIDEOS, ListedVideo, missing_extras
from livedeck.text.segments import StyleRole, plain
from livedeck.ui.videos.view import PICTURE_SIZES, event_lines, panel, video_panel
from presentation.test_events import FRESH, NOW


def received(*items: Any, **fields: Any) -> CachedList[Any]:
    return CachedList(items, NOW, **fields)


SHOWN, KEPT = (Poster(id=f"{active}", from_time=12.0, active=active) for active in (True, False))
DONE, PENDING = (Subtitle(id=status, language="uk", status=status) for status in ("done", "pending"))
WHOLE = ListedVideo(
    Video("one"),
    received(SHOWN, KEPT),
    received(DONE),
    received(Annotation(id="a", title="Bar 64")),
    received(KnownMaterial("m", "one", "Programme")),
)


@pytest.mark.parametrize(
    ("changes", "missing"),
    [
        ({}, ()),
        ({"posters": received(KEPT)}, ("no poster shown",)),
        ({"posters": received()}, ("no poster",)),
        ({"subtitles": received()}, ("no subtitles",)),
        ({"subtitles": received(DONE, PENDING)}, ("uk pending",)),
        ({"annotations": received(), "materials": received()}, ("no annotation", "no known material")),
        ({"posters": received(shortfall=Shortfall(1, 2))}, ("posters ?",)),
        ({"posters": received(KEPT, unreadable=1)}, ("posters ?",)),
        ({"posters": received(SHOWN, unreadable=1)}, ()),
        ({"subtitles": received(DONE, unreadable=1)}, ("subtitles ?",)),
        ({"annotations": received(unreadable=1)}, ("annotations ?",)),
        ({"annotations": CachedList()}, None),
        ({"annotations": CachedList(error="away")}, None),
    ],
)
def test_what_a_video_lacks_is_said_once_all_its_lists_came(
    changes: dict[str, Any], missing: tuple[str, ...] | None
) -> None:
    row = replace(WHOLE, **changes)
    assert missing_extras(row) == missing
    words = " ".join(plain(line) for line in video_panel(row, FRESH, 80, 14))
    assert (", ".join(missing) if missing else "·" if missing is None else "nothing") in words


def cells(row: ListedVideo) -> list[str]:
    """The cells of the extras."""
    columns = layout(VIDEOS.columns, 160)
    names = {"posters", "subtitles", "annotations", "materials", "missing"}
    return [plain(column.render(row, FRESH)) for column, _ in columns if column.name in names]


def test_numbers_are_those_that_came_and_nothing_is_made_up() -> None:
    assert cells(WHOLE) == ["● 2", "uk", "1", "1", "✓ nothing"]
    assert cells(replace(WHOLE, materials=received()))[3] == "?", "the platform has no list of materials"
    (materials,) = [column for column in VIDEOS.columns if column.name == "materials"]
    assert materials.value is not None
    assert [materials.value(row, FRESH) for row in (replace(WHOLE, materials=received()), WHOLE)] == [None, 1]
    assert cells(ListedVideo(Video("one"))) == ["·"] * 5
    failed = replace(WHOLE, subtitles=CachedList(error="away"), posters=received(KEPT, shortfall=Shortfall(1, 2)))
    assert cells(failed) == ["1+", "--", "1", "1", "·"]


@pytest.mark.parametrize("row", [WHOLE, replace(WHOLE, posters=received())])
def test_old_lists_make_the_words_dim_and_never_green(row: ListedVideo) -> None:
    old = replace(row, subtitles=replace(row.subtitles, as_of=NOW - timedelta(minutes=5)))
    (column,) = [column for column in VIDEOS.columns if column.name == "missing"]
    ((_, fresh),), ((_, dim),) = column.render(row, FRESH), column.render(old, FRESH)
    assert fresh is not StyleRole.DIM
    assert dim is StyleRole.DIM
    ((_, role),) = [part for part in video_panel(old, FRESH, 80, 14)[1] if "no" in part[0]]
    assert role is StyleRole.DIM


@pytest.mark.parametrize("height", [7, 14, 28])
def test_the_panel_of_a_video_fits_and_leads_to_each_extra(height: int) -> None:
    many = replace(WHOLE, annotations=received(*(Annotation(id=f"{n}", title=f"Bar {n}") for n in range(40))))
    lines = video_panel(many, FRESH, 60, height)
    assert len(lines) <= height
    text = " ".join(map(plain, lines))
    assert all(word in text for word in ("posters", "subtitles", "annotations", "materials", "Programme", "Bar 0"))
    assert " ".join(text.split()).count("id one") == 1, "the id is seen in the smallest panel, too"
    assert plain(row_line(many, FRESH, layout(VIDEOS.columns, 80))).count("40") == 1


def test_short_lists_leave_their_lines_to_a_long_one() -> None:
    many = replace(WHOLE, annotations=received(*(Annotation(id=f"{n}", title=f"Bar {n}") for n in range(8))))
    text = " ".join(map(plain, video_panel(many, FRESH, 60, 18)))
    assert all(f"Bar {n}" in text for n in range(8))
    assert "more" not in text


def test_events_without_a_recording_are_named_and_an_unread_list_proves_nothing() -> None:
    one = CachedList((Recording(id="r", duration=3600.0),), as_of=NOW)
    events = [("Choir", one), ("Council", received()), ("News", CachedList()), ("Town", CachedList(error="away"))]
    texts = [" ".join(plain(line).split()) for line in event_lines(events, FRESH, 60, 9)]
    assert texts[0] == "events Council no recording"
    assert "News not read yet" in texts
    assert "Town the platform does not respond" in texts
    assert texts[-1] == "Choir 1 recording 01:00:00"
    assert [plain(line).split()[-2:] for line in event_lines(events, FRESH, 60, 2)][1] == ["3", "more"]
    assert event_lines(events, FRESH, 60, 0) == []


def test_addresses_that_were_not_received_are_unknown_and_not_missing() -> None:
    """Attached decks and recordings have no address of an extra (past.md, "Stored data")."""
    pictures = dict.fromkeys(PICTURE_SIZES, "https://cdn.example/p.jpg")
    poster = Poster.model_validate({"id": "p", "active": True, **pictures})
    note = Annotation(id="a", title="Bar 64", annotation_type="text", link="https://shop.example")
    track = Subtitle.model_validate({"id": "s", "language": "uk", "url": "https://cdn.example/s.vtt"})
    lists = [received(poster), received(track), received(note)]
    bare = [received(type(item).model_validate(encode_record(item))) for (item,) in (known.items for known in lists)]

    def words(lists: list[CachedList[Any]]) -> str:
        posters, subtitles, annotations = lists
        row = ListedVideo(Video("one"), posters, subtitles, annotations, received())
        selected = (line for known in lists for line in panel(known.items[0], 100, stale=False))
        return " ".join(" ".join(map(plain, (*video_panel(row, FRESH, 100, 28), *selected))).split())

    assert "all sizes" in words(lists)
    assert words(lists).count("https://shop.example") == 2
    assert "sizes ?" in words(bare)
    assert "text ? " in words(bare)
    assert "original ? md ? sm ? xs ?" in words(bare)
    assert "link ?" in words(bare)
    assert "address ?" in words(bare)
    for untrue in ("no size", "no link", "none yet"):
        assert untrue not in words(bare)


@pytest.mark.parametrize(
    ("schema", "title", "name"),
    [(SUBTITLES, "description", "file"), (MATERIALS, "title", "file"), (ANNOTATIONS, "title", "link")],
)
def test_a_wide_table_gives_cells_to_files_and_links_after_titles(
    schema: TableSchema[Any], title: str, name: str
) -> None:
    """At 200 cells a name of 23 cells was cut beside 95 empty ones."""
    narrow, wide = ({column.name: cells for column, cells in layout(schema.columns, width)} for width in (119, 199))
    least = {column.name: column.width for column in schema.columns}
    assert narrow[name] == least[name]
    assert narrow[title] >= least[title]
    assert wide[title] == 60
    assert wide[name] > 40
