"""Names of objects as a person tells them apart: what has to be typed to confirm, and which names deceive. Pure.

A name that is typed is compared with the real one, letter by letter, and never with a cleaned form of it (trust.md,
"Names").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from livedeck.text.outside import BLANK_LETTER, escaped, shown
from livedeck.text.values import safe

ID_LETTERS = 6
"""Letters of the end of an id that are shown: a person compares no more at a glance. Two of 100 random ids share them
once in 3,400 times; then the whole id is asked for."""

MAX_TYPED = 60
"""Letters of a name that is typed whole; a dialog shows no more of one."""

MAX_NAMESAKES = 3
"""Objects of a like name that a confirmation lists."""

_TYPABLE = re.compile(r"[!-~]+( [!-~]+)*")
"""Names of letters that every keyboard has, with single blanks."""

_ODD_BLANK = re.compile(r"^\s|\s$|(?<=\s)\s|[^\S ]")
"""Blanks at an end, behind another one, or of another width."""

_WITH_LATIN = frozenset({"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC"})
"""Scripts whose words hold Latin letters as a rule (UTS 39, "Highly Restrictive"): `NHK東京` deceives nobody."""

_TWINS = str.maketrans("аеорсухіјѕһԁԛԝвкмнтαβεηικμνορτυχ01i", "aeopcyxljshdqwbkmhtabehlkmnoptuxoll")
"""Cyrillic and Greek letters, in lower case, and the Latin letters that they or their capitals look like; and digits
that look like letters. Names that have the same letters after it look alike. It is no table of all of Unicode: other
letters that look alike are found where a word mixes alphabets."""


class Named(NamedTuple):
    """An object by its id and its real name, which is empty for none."""

    id: str
    name: str


def id_end(identity: str) -> str:
    """Return the last letters of an id, which are shown beside a name."""
    return identity[-ID_LETTERS:]


def word_to_type(named: Named, others: Iterable[Named]) -> str:
    """Return what has to be typed to confirm: the whole name, else the end of the id.

    The name is asked for if every keyboard has its letters and no other known object has it, or one that looks like it.
    """
    name = named.name
    others = tuple(others)
    if _TYPABLE.fullmatch(name) and len(name) <= MAX_TYPED and not namesakes(named, others):
        return name
    end = id_end(named.id)
    is_shared = any(id_end(other.id) == end and other.id != named.id for other in others)
    return (named.id if is_shared else end) or name


def namesakes(named: Named, others: Iterable[Named]) -> tuple[Named, ...]:
    """Return the other objects whose names are the same, or look the same."""
    looks = _looks(named.name)
    return tuple(other for other in others if other.id != named.id and looks and _looks(other.name) == looks)


def warnings(named: Named, others: Iterable[Named], kind: str) -> tuple[str, ...]:
    """Return what is deceptive about a name, each a sentence. `kind`: of the object, `event`."""
    return (*_deceptions(named.name), *_of_namesakes(named, others, kind))


def _deceptions(name: str) -> Iterator[str]:
    if shown(name) != name:
        yield f'Its name has letters that cannot be seen: "{safe(escaped(name), 120)}".'
    elif name != " ".join(name.split()):
        yield f'Its name has blanks that cannot be seen: "{safe(_ODD_BLANK.sub(BLANK_LETTER, name), 120)}".'
    for word in "".join(char if char.isalpha() else " " for char in name).split():
        scripts = sorted({script for char in word if (script := _script(char)) not in _WITH_LATIN})
        if len(scripts) > 1:
            alphabets = " and ".join(script.capitalize() for script in scripts)
            yield f'Its name mixes alphabets in one word, {alphabets}: "{safe(word, 60)}".'
        elif any(_stands_for_another(char) for char in word):
            yield f'Its name has letters that stand for others: "{safe(word, 60)}".'


def _stands_for_another(char: str) -> bool:
    """Return whether Unicode knows it as another form of a letter: of full width, a ligature, mathematical bold."""
    return char not in "ªº" and unicodedata.normalize("NFKC", char) != unicodedata.normalize("NFC", char)


def _of_namesakes(named: Named, others: Iterable[Named], kind: str) -> Iterator[str]:
    found = namesakes(named, others)
    for other in found[:MAX_NAMESAKES]:
        is_same = other.name == named.name
        what = "the same name" if is_same else f'a name that looks the same, "{safe(escaped(other.name), 60)}"'
        yield f"Another {kind} has {what} (id …{safe(id_end(other.id), ID_LETTERS)})."
    if len(found) > MAX_NAMESAKES:
        yield f"So have {len(found) - MAX_NAMESAKES} more."


def _looks(name: str) -> str:
    """Return what a person reads: no hidden letters, one case, one letter for all that look alike."""
    text = unicodedata.normalize("NFKC", shown(name)).casefold()
    return " ".join(text.translate(_TWINS).split())


def _script(char: str) -> str:
    """Return the script of a letter, by the first word of its name in Unicode: LATIN, CYRILLIC, CJK."""
    return unicodedata.name(char, "?").partition(" ")[0]
