"""Maintenance windows in the settings: weekly silences."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path

import pytest

from livedeck.monitor import Severity
from livedeck.settings import SettingsError, load

WINDOW = """
[[maintenance]]
name = "encoder updates"
hours = "Mo-Fr 03:00-04:00"
timezone = "Europe/Berlin"
match = ["name ~ Studio *", "kind = no_ingest"]
passes = "critical"
comment = "encoders restart after updates"
"""


def test_a_window_is_the_silence_of_its_next_hours(bare: Path) -> None:
    bare.write_text(WINDOW, "utf-8")
    (window,) = load().maintenance_windows()
    silence = window.silence(datetime(2026, 11, 28, 12, tzinfo=UTC))  # a Saturday
    assert silence is not None
    assert (silence.starts_at, silence.ends_at) == (
        datetime(2026, 11, 30, 2, tzinfo=UTC),
        datetime(2026, 11, 30, 3, tzinfo=UTC),
    )
    assert (silence.what, silence.passes) == ("name ~ Studio *, kind = NO_INGEST", Severity.CRITICAL)
    assert (silence.comment, silence.by) == ("encoders restart after updates", "encoder updates")


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('"Mo-Fr 03:00-04:00"', '""', "should be hours"),
        ('"Mo-Fr 03:00-04:00"', '"always"', "range of hours"),
        ('"Europe/Berlin"', '"Mars"', "unknown time zone"),
        ('"name ~ Studio *"', '"colour = red"', "not a condition"),
        ('match = ["name ~ Studio *", "kind = no_ingest"]\n', "", "matches everything"),
        ('"name ~ Studio *", "kind = no_ingest"', '"name ~ *"', "matches everything"),
        ('comment = "encoders restart after updates"\n', "", "comment"),
        ('"encoder updates"', '"a/b"', "name"),
        ("[[maintenance]]", f"{WINDOW}\n[[maintenance]]", "two windows are called"),
        ("comment =", "comments =", "comment"),
    ],
)
def test_a_window_that_cannot_be_used_is_named(bare: Path, old: str, new: str, words: str) -> None:
    bare.write_text(WINDOW.replace(old, new), "utf-8")
    with pytest.raises(SettingsError, match=words):
        load()


def test_a_window_for_everything_says_so(bare: Path) -> None:
    bare.write_text(WINDOW.replace('match = ["name ~ Studio *", "kind = no_ingest"]', "everything = true"), "utf-8")
    (window,) = load().maintenance_windows()
    assert window.matchers == ()
