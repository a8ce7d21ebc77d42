"""Words are readable as drawn by any widget, including those of Textual itself."""

from __future__ import annotations

import pytest

from livedeck.cli.screenshots import still_deck
from livedeck.ui.kit.palette import COLOURS
from ui.test_themes import contrast

WAYS = (("1",), ("2",), ("3",), ("5",), ("6",), ("7",), ("question_mark",), ("escape", "colon"), ("escape",))
"""Keys from one screen to the next. A dialog dims the screen under it, so none is opened here."""

SIZES = ((80, 24), (200, 60))
"""Sizes with the fewest panes of a screen, and the most."""


@pytest.mark.parametrize("theme", COLOURS)
async def test_every_letter_on_a_screen_contrasts_with_what_is_behind_it(theme: str) -> None:
    """interface.md, "Colours": 4.5 to 1."""
    async with still_deck(theme=theme) as deck, deck.run_test(size=SIZES[0]) as pilot:
        for size in SIZES:
            await pilot.resize_terminal(*size)
            for keys in WAYS:
                for key in keys:
                    await pilot.press(key)
                    await pilot.pause()
                    await pilot.pause()
                lines = deck.screen._compositor.render_strips(deck.size)
                words = [segment for line in lines for segment in line if any(char.isalnum() for char in segment.text)]
                assert len(words) > 40
                for text, style, _ in words:
                    assert style is not None
                    assert style.color is not None
                    assert style.bgcolor is not None
                    ink, ground = (colour.get_truecolor().hex for colour in (style.color, style.bgcolor))
                    ink, ground = (ground, ink) if style.reverse else (ink, ground)
                    assert contrast(ink, ground) >= 4.5, (size, keys, text, ink, ground)
