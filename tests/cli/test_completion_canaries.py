"""Hostile names of events, completed in real shells: nothing runs, expands or is written."""

from __future__ import annotations

import random
import re
from pathlib import Path

import pytest

from breadth import slow_rows
from cli.completing import Shell, shell

PIECES = (
    "$(touch PWNED)",
    "$(touch${IFS}PWNED)",
    "`touch PWNED`",
    "${IFS}",
    "$HOME",
    "\\|sh",
    "|sh",
    "\\;date",
    ";date",
    "&&date",
    "&date",
    "\\>FILE",
    ">FILE",
    ">>FILE",
    "<(date)",
    "\n",
    "\r",
    "\t",
    "date\n",
    "!!",
    "!date",
    "^a^b",
    "~root",
    "~",
    "{a,b}",
    "*",
    "?",
    "[a-z]",
    '"',
    "'",
    "\\",
    "\\\\",
    "\\\\\\",
    "$'\\x41'",
    "#",
    "%F{red}",
    "%",
    ":",
    ",",
    "=",
    "=ls",
    "@",
    "--yes",
    "-f",
    "\u202e",
    "\u200b",
    "東京",
    "é",
    "\x1b[31m",
    "\x07",
    " ",
    "  ",
    "(",
    ")",
    "$((1+1))",
    "(date)",
    "; (date)",
    "plain",
    "&",
    "|",
    "<",
    "$",
)
"""Parts that some shell evaluates, expands, splits at or shows."""

PLAIN = re.compile(r"[A-Za-z0-9_][A-Za-z0-9_.-]*")


def hostile(chance: random.Random) -> str:
    return "".join(chance.choices(PIECES, k=chance.randint(1, 5)))


def try_name(shown: Shell, name: str, identity: str, quote: str) -> None:
    """Complete an event by the beginning of its name, then by that of its id, run the line and look at the canaries."""
    for typed in (name[:5], identity[:5]):
        if not PLAIN.fullmatch(typed):
            continue  # a person types a plain beginning, and the shell meets the rest
        dropped = "\x15" if quote else ""  # a quote that stays open would wait for its end
        calls = shown.enter(f"livedeck event get {quote}{typed}\t{dropped}")
        taken = [] if quote else [["event", "get", word] for word in (typed, identity) if PLAIN.fullmatch(word)]
        assert (calls[0] in taken) if taken else (calls == []), (name, identity, calls)
        assert shown.fired() == [], (name, identity, quote)


@pytest.mark.parametrize(
    ("program", "names"),
    [("bash", 10), ("zsh", 10), ("fish", 10), *slow_rows(("bash", 2000), ("zsh", 2000), ("fish", 2000))],
)
def test_no_name_of_an_event_does_anything_in_a_shell(program: str, names: int, tmp_path: Path) -> None:
    chance = random.Random(names)
    with shell(program, tmp_path) as shown:
        for first in range(0, names, 50):
            events = []
            for at in range(first, min(first + 50, names)):
                tail = hostile(chance)
                events.append((f"i{at:04d}{'' if chance.random() < 0.7 else hostile(chance)}", f"n{at:04d}{tail}"))
            shown.offer(events)
            for identity, name in events:
                try_name(shown, name, identity, chance.choice(("", "", "", '"', "'")))
        assert not re.search(r"Traceback|Error", shown.errors())


@pytest.mark.parametrize("program", ["bash", "zsh", "fish"])
@pytest.mark.parametrize("name", ["Gala $(touch${IFS}PWNED) \\|sh", "zq\\;date", "zr\\>FILE"])
def test_a_name_completes_to_the_id_of_its_event(program: str, name: str, tmp_path: Path) -> None:
    """fish drops candidates that do not look like the typed word, so there the id completes to itself."""
    with shell(program, tmp_path) as shown:
        shown.offer([("71c2-Gala", name), ("8d00", "Another")])
        typed = "71c" if program == "fish" else name[:2].lower()
        assert shown.enter(f"livedeck event get {typed}\t") == [["event", "get", "71c2-Gala"]]
        assert shown.fired() == []


@pytest.mark.parametrize("program", ["bash", "zsh", "fish"])
def test_a_tab_behind_a_hostile_word_runs_nothing_of_it(program: str, tmp_path: Path) -> None:
    with shell(program, tmp_path) as shown:
        shown.offer([("71c2", "$(touch PWNED)")])
        for word in ("'$(touch PWNED)", "\\$(touch\\ PWNED", "\\;date", "$HOME", "a{b,c}"):
            shown.enter(f"livedeck event get {word}\t\x15")
            assert shown.fired() == [], word
