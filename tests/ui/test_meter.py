"""A meter shows the level of each channel, and never an unknown one."""

from __future__ import annotations

import pytest

from livedeck.text.segments import plain
from livedeck.ui.kit.meter import METER_CELLS, meter_line, meter_rows


@pytest.mark.parametrize("rows", [1, 5, 7, 9, 16])
@pytest.mark.parametrize("peaks", [(), (-6.0,), (0.0, -60.0), (3.0, -99.0), (-6.0, -6.0, -6.0)])
def test_a_meter_fits_its_cells(rows: int, peaks: tuple[float, ...]) -> None:
    lines = [plain(line) for line in meter_rows(peaks, rows)]
    assert len(lines) == rows
    assert {*map(len, lines)} == {METER_CELLS}


def test_columns_fill_from_the_bottom_by_eighths() -> None:
    left = [plain(line)[4] for line in meter_rows((-30.0, -60.0), 9)]
    right = [plain(line)[5] for line in meter_rows((-30.0, -60.0), 9)]
    assert left == [*"┊┊┊┊▄████"]
    assert right == [*"┊" * 9]
    assert [plain(line)[:3].strip() for line in meter_rows((), 9)] == ["0", "", "", "-20", "", "-40", "", "", "-60"]


def test_ascii_gets_signs_of_its_own() -> None:
    text = (
        "".join(plain(line)[4:] for line in meter_rows((-30.0,), 9, has_blocks=False)).replace("┊", "").replace(" ", "")
    )
    assert text == "#" * 5
    assert plain(meter_line((-30.0, -45.0), 8, has_blocks=False)) == "L ####____  R ##______"


def test_a_line_has_a_bar_for_each_channel() -> None:
    assert plain(meter_line((-6.0, -60.0), 9)) == "L ▆▆▆▆▆▆▆▆▁  R ▁▁▁▁▁▁▁▁▁"
    assert plain(meter_line((-30.0,), 4)) == "▆▆▁▁"
    assert not meter_line((), 9)
