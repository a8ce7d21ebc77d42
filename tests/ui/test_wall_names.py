"""Real names of events on a wall of nine tiles: each can be told from every other."""

from __future__ import annotations

import unicodedata
from collections.abc import Iterator
from dataclasses import replace
from itertools import chain

import pytest
import pytest_asyncio

from livedeck.monitor import Snapshot
from livedeck.text.segments import ShadedLine
from livedeck.ui.wallboard import glyphs
from livedeck.ui.wallboard.face import HEIGHT_DOTS, text_dots
from livedeck.ui.wallboard.glyphs import wrap_text
from livedeck.ui.wallboard.seats import Seats
from ui.wall_stage import dots, evening, is_drawn, lines, many, text

LATIN = (
    "Cup final, pitch 2", "Annual general meeting Nordwind", "Annual general meeting Südwind",
    "Town hall, main", "Esports semi-final 1", "Esports semi-final 12", "Lecture: Thermodynamics II",
    "Lecture: Thermodynamics III", "Konferenz für Ärztinnen und Ärzte", "Übertragung Großer Saal (Straße)",
    "Soirée à l'Opéra – 2ᵉ partie", "Fête de la Musique : œuvres choisies", "Jornada «Ñandú» nº 3",
    "¿Qué pasó? Edición especial", "São João do Porto, manhã", "Žluťoučký kůň, Ďáblice",
    "Łódź: sesja główna, część 1", "Łódź: sesja główna, część 2", "Gdańsk – noc świętojańska",
    "İstanbul Boğazı şöleni", "Győri őszi tűzijáték", "Iași: ședință și dezbatere", "Rīga, Jāņi: ķekatas",
    "Šiauliai ąžuolų šventė", "Tallinn: õhtused kõned", "Reykjavík: þingræða Ðórs", "Tromsø sjømatfestival",
    "Malmö håller öppet hus", "Helsinki, Töölö", "Casa_do_Povo_2026", "Q&A @ 18:30 #live [EN/DE]",
    "50 % off! Sale™ & more…", "Investor call Q3/2026 (€, £, $)", "“Live” — Gala | Day 1",
    "“Live” — Gala | Day 2", "Ŵy Ŷ ĝŭste ĉiam ĥoro ĵus ŝi", "Bún chả: buổi sáng Hà Nội",
    "Jahreshauptversammlung der Gesellschaft für elektronische Musik und Kunst e. V. 1",
    "Jahreshauptversammlung der Gesellschaft für elektronische Musik und Kunst e. V. 2",
    "The Very Long Conference on Distributed Systems and Their Discontents, Stage A, Day 10",
    "Donaudampfschifffahrtselektrizitätenhauptbetriebswerkbauunterbeamtengesellschaft", "x",
)  # fmt: skip
OTHER = (
    "Выпускной вечер, зал 1", "Выпускной вечер, зал 2", "Київ: вечірні новини", "Αθήνα, κεντρική σκηνή",
    "Θεσσαλονίκη 2026", "日本語の講義 第1回", "日本語の講義 第2回", "会議室 大ホール", "年度股东大会 北京",
    "서울 콘퍼런스 1일차", "اجتماع الجمعية العمومية", "حفل الافتتاح ٢", "כנס שנתי תל אביב", "งานสัมมนาประจำปี",
    "हिन्दी कवि सम्मेलन", "🎉 Party 🎉", "👩‍👩‍👧 Family day 🏳️‍🌈",
    "国際会議「人工知能と社会の未来について考える円卓会議」東京国際フォーラム大ホール第1日",
    "国際会議「人工知能と社会の未来について考える円卓会議」東京国際フォーラム大ホール第2日",
)  # fmt: skip
TILE_CELLS = range(44, 54)
"""Numbers of cells that a name may have in a tile of 53."""


@pytest_asyncio.fixture(scope="module", loop_scope="module", name="known")
async def _known() -> Snapshot:
    return await evening()


def _walls(known: Snapshot, names: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], list[ShadedLine]]]:
    """Yield nine names, and a wall with them."""
    for start in range(0, len(names), 9):
        nine = (*names[start : start + 9], *names)[:9]
        crowd = many(known, 9)
        events = tuple(
            replace(state, event=state.event.model_copy(update={"name": name}))
            for state, name in zip(crowd.events, nine, strict=True)
        )
        yield nine, lines(replace(crowd, events=events), (160, 45))


def _shown(known: Snapshot, names: tuple[str, ...], scale: int) -> dict[str, str]:
    """Return the names as shown on a wall at that scale; empty if a name is not shown."""
    shown: dict[str, str] = {}
    for nine, wall in _walls(known, names):
        drawn, words = dots(wall), text(wall)
        for name in nine:
            forms = {glyphs.wrap_text(name, scale, cells, 2) for cells in TILE_CELLS}
            shown[name] = next(
                (
                    " ".join(rows)
                    for rows in forms
                    if rows and all(is_drawn(drawn, row) if scale > glyphs.PLAIN else row in words for row in rows)
                ),
                "",
            )
    return shown


def _is_cut_in_its_middle(shown: str, name: str) -> bool:
    """Return whether the text is the name, whole or without a part of its middle.

    A word longer than a tile is broken.
    """
    head, _, tail = shown.replace(" ", "").partition("…")
    whole = unicodedata.normalize("NFC", name).replace(" ", "")
    return shown.replace(" ", "") == whole or (
        whole.startswith(head) and whole.endswith(tail) and len(tail) > 0 and len(head) > 0
    )


def test_every_name_is_told_from_every_other_on_nine_tiles(known: Snapshot) -> None:
    """wallboard.md, "Letters": Latin names in large letters, others in cells, cut in the middle, no two alike."""
    assert len({*LATIN, *OTHER}) >= 60
    shown = _shown(known, LATIN, glyphs.LARGE) | _shown(known, OTHER, glyphs.PLAIN)
    assert not [name for name, drawn in shown.items() if not drawn]
    assert not [name for name, drawn in shown.items() if not _is_cut_in_its_middle(drawn, name)]
    assert len(set(shown.values())) == len(shown)


def test_the_face_has_every_letter_of_western_and_central_europe() -> None:
    """wallboard.md, "Letters": Latin-1 and Latin Extended-A, each letter unlike every other."""
    letters = [chr(code) for code in chain(range(0x21, 0x7F), range(0xA1, 0xAD), range(0xAE, 0x180))]
    drawn = {letter: text_dots(letter) for letter in letters}
    assert not [letter for letter, dots in drawn.items() if dots is None]
    assert {len(dots) for dots in drawn.values() if dots} == {HEIGHT_DOTS}
    assert all(len({len(row) for row in dots}) == 1 for dots in drawn.values() if dots)
    words = [letter for letter in letters if letter.isalnum() and unicodedata.normalize("NFKC", letter) == letter]
    alike = [(one, two) for one in words for two in words if one < two and drawn[one] == drawn[two]]
    assert alike == [("Ð", "Đ")]


@pytest.mark.parametrize("name", ["Привет", "Ωμέγα", "会", "🎉", "שלום"])
def test_a_script_that_the_face_lacks_is_in_cell_letters(name: str) -> None:
    assert text_dots(name) is None
    assert glyphs.text_cells(name, glyphs.LARGE) is None


@pytest.mark.parametrize("size", [(160, 45), (240, 67)])
def test_every_name_is_told_from_every_other_in_the_cells_of_a_grid(known: Snapshot, size: tuple[int, int]) -> None:
    """wallboard.md, "Grid": whole or without a part of its middle, in whatever script."""
    names = sorted({*LATIN, *OTHER})
    crowd = many(known, len(names))
    events = tuple(
        replace(state, event=state.event.model_copy(update={"name": name}))
        for state, name in zip(crowd.events, names, strict=True)
    )
    seats = Seats().seat(events)
    wall = text(lines(replace(crowd, events=events, alarms=()), size))
    grid = wall[wall.index("in a fixed place") :]
    plan_cells = [cells for cells in range(14, 60) if all(wrap_text(name, 1, cells, 1)[0] in grid for name in names)]
    assert sum(seat is not None for seat in seats) == len(names) >= 60
    assert plan_cells, "each stands there, cut to one width"
    for cells in plan_cells:
        cut = [wrap_text(name, 1, cells, 1)[0] for name in names]
        assert len(set(cut)) == len(names)
        assert all(_is_cut_in_its_middle(shown, name) for shown, name in zip(cut, names, strict=True))
