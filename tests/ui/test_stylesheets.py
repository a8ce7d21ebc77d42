"""Decks of the tests share parsed rules, which equal those that each deck would parse alone."""

from __future__ import annotations

from typing import Any

import pytest
from textual.css.stylesheet import Stylesheet
from textual.theme import BUILTIN_THEMES

import stylesheets
from ui.stage import running


def rules(sheet: Stylesheet) -> list[Any]:
    """Return the selectors and the styles of each rule, in words: two equal layouts are two objects."""
    return [(rule.selectors, repr(rule.styles.get_rules())) for rule in sheet.rules]


async def test_shared_rules_are_those_that_a_deck_alone_would_parse() -> None:
    async with running() as (deck, pilot):
        names = [name for name in deck.available_themes if name not in BUILTIN_THEMES]
        assert len(names) > 1
        for name in names[:2]:
            deck.theme = name
            await pilot.pause()
            shared, alone = rules(deck.stylesheet), deck.stylesheet.copy()
            with pytest.MonkeyPatch.context() as patched:
                patched.setattr(Stylesheet, "_parse_rules", stylesheets._parse_rules)
                alone.parse()
            assert rules(alone) == shared
