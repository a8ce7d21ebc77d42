"""The stylesheets of the deck, parsed once in a process: Textual parses them anew for each app, theme and dialog."""

from __future__ import annotations

from typing import Any

import pytest
from textual.css.model import RuleSet
from textual.css.stylesheet import Stylesheet

# Parsing was a seventh of the processor time of a test of the deck, and Textual keeps what it has parsed for one app
# alone. A set of rules is not changed once it is parsed: Textual itself shares it between two passes of one app.
_parse_rules = Stylesheet._parse_rules
_parsed: dict[tuple[Any, ...], list[RuleSet]] = {}


@pytest.fixture
def parsed_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let every app share the rules of the first app with the same colours."""
    monkeypatch.setattr(Stylesheet, "_parse_rules", parse_once)


def parse_once(sheet: Stylesheet, css: str, read_from: Any, *details: Any, **more: Any) -> list[RuleSet]:
    """Replace `Stylesheet._parse_rules`; parse the same text with the same variables once in a process."""
    key = (css, read_from, *details, *more.items(), *sheet._variables.items())
    if key not in _parsed:
        _parsed[key] = _parse_rules(sheet, css, read_from, *details, **more)
    return _parsed[key]
