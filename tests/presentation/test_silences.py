"""Words of a silence: what it covers, until when, and what passes it."""

from __future__ import annotations

import pytest

from livedeck.monitor import Severity
from livedeck.presentation.silences import silence_text
from monitor.stage import NOW
from monitor.test_silences import silence


@pytest.mark.parametrize(
    ("passes", "words"),
    [
        (None, "kind = RECONNECTING  ("),
        (Severity.CRITICAL, "kind = RECONNECTING, except critical  ("),
        (Severity.WARNING, "kind = RECONNECTING, except warning and critical  ("),
    ],
)
def test_a_silence_names_what_passes_it(passes: Severity | None, words: str) -> None:
    text = silence_text(silence("kind = RECONNECTING", passes=passes), NOW)
    assert words in text
    assert text.endswith("(encoder swap, anna@regie)")
