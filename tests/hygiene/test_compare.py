"""The comparison of two commits calls a figure slower only on proof, and knows each script that it runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench import compare
from bench.compare import BENCHES, Figure, Verdict, table, write


def test_each_script_is_there() -> None:
    assert [name for name in BENCHES if not (Path(compare.__file__).parent / f"{name}.py").exists()] == []


@pytest.mark.parametrize(
    ("ratios", "word"),
    [
        ([1.2] * 7, "SLOWER"),
        ([1.2] * 6 + [0.9], "SLOWER"),
        ([1.2] * 5 + [0.9] * 2, "no difference shown"),
        ([1.04] * 7, "no difference shown"),
        ([1.0] * 7, "no difference shown"),
        ([0.8] * 6 + [1.1], "faster"),
        ([0.8] * 4 + [1.1] * 3, "no difference shown"),
    ],
)
def test_six_of_seven_pairs_must_agree(ratios: list[float], word: str) -> None:
    verdict = Verdict("keys", [(10.0, 10.0 * ratio) for ratio in ratios])
    assert (verdict.word, verdict.is_slower) == (word, word == "SLOWER")
    assert table([verdict]).splitlines()[-1].endswith(f" {word} |")


def test_a_drifting_machine_is_no_slower_head() -> None:
    """Both sides of a pair drift alike."""
    assert not Verdict("keys", [(speed, speed) for speed in (1.0, 1.3, 1.9, 2.5, 3.0, 3.1, 4.0)]).is_slower


def test_a_figure_is_read_as_a_ratio_and_a_speed_is_inverted() -> None:
    line = "a tick of 200 samples stored, ms: 9.00, budget 3, naive 4.50"
    assert Figure("tick", r"stored, ms: ([\d.]+).*naive ([\d.]+)").read(line) == 2.0
    assert Figure("verbatim", r"^verbatim: ([\d.]+) of curl", is_speed=True).read("csv: 1\nverbatim: 0.50 of curl") == 2
    assert Figure("verbatim", r"^verbatim: ([\d.]+) of curl").read("nothing") is None


def test_the_table_goes_between_the_marks_alone(tmp_path: Path) -> None:
    page = tmp_path / "page"
    page.write_text(f"before\n{compare.BEGIN}\nold\n{compare.END}\nafter\n", encoding="utf-8")
    write(page, "new")
    assert page.read_text(encoding="utf-8") == f"before\n{compare.BEGIN}\n\nnew\n\n{compare.END}\nafter\n"
    page.write_text("no marks", encoding="utf-8")
    with pytest.raises(ValueError, match="lacks"):
        write(page, "new")
    assert page.read_text(encoding="utf-8") == "no marks"
