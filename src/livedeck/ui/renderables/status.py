"""The status number of a QoS sample as glyph, word and ink (platform-api.md, 2; monitoring.md, QoS status)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from livedeck.ui.renderables.ink import Ink
from livedeck.wording import UNKNOWN


class Look(NamedTuple):
    """How one status is shown. `weight` orders them: the heaviest of a column is the one that is drawn."""

    glyph: str
    word: str
    meaning: str
    ink: Ink
    weight: int


NORMAL = Look("▁", "normal", "normal", Ink.OK, 0)
KEY_20 = Look("▲", "KEY>20%", "key-frame time difference over 20 %", Ink.KEY_20, 2)
KEY_50 = Look("◆", "KEY>50%", "key-frame time difference over 50 %", Ink.KEY_50, 3)
LOSS = Look("✖", "LOSS", "packet loss", Ink.LOSS, 4)
ODD = Look(UNKNOWN, "UNKNOWN", "a status that the document does not name", Ink.ODD, 1)

LOOKS = {0: NORMAL, 3: KEY_20, 4: KEY_50, 5: LOSS}
HIGHLIGHTED = (KEY_20, KEY_50, LOSS)


def look(status: int) -> Look:
    """The look of a status; what the document does not name is unknown: neither normal nor bad."""
    return LOOKS.get(status, ODD)


def worst(statuses: Iterable[int]) -> Look | None:
    """The heaviest look among them; None where there are none."""
    return max(map(look, set(statuses)), key=lambda one: one.weight, default=None)
