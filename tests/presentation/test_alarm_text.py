"""Words of an alarm's transitions."""

from __future__ import annotations

import pytest

from livedeck.monitor import AlarmChange, AlarmTransition
from livedeck.presentation.alarm_text import change_text
from monitor.recordings import NOW
from notify.stage import alarm


@pytest.mark.parametrize(
    ("transition", "words"),
    [
        (AlarmTransition.RELEASED, "visible again"),
        (AlarmTransition.RETURNED, "cleared, not acknowledged"),
        (AlarmTransition.CLEARED, "cleared"),
    ],
)
def test_a_transition_has_the_word_that_screens_and_reports_have(transition: AlarmTransition, words: str) -> None:
    line = change_text(AlarmChange(NOW, transition, alarm()))
    assert line.partition("Z  ")[2].startswith(f"{words}  ")
