"""Names of objects: the text to type for a confirmation, and warnings about deceptive names. Pure.

A typed name is compared exactly with the real name, never with a cleaned form of the name (trust.md, "Names").
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from livedeck.text.outside import BLANK_LETTER, escaped, shown
from livedeck.text.values import safe

ID_LETTERS = 6
"""Number of letters at the end of an id that the screen shows. A person can compare that many at a glance.

Among 100 random ids, two have the same end in one of 3,400 cases. The confirmation then requires the whole id.
"""

MAX_TYPED = 60
"""Maximum length of a name that a person has to type. A dialog shows no longer part of a name."""

MAX_NAMESAKES = 3
"""Maximum number of objects with a similar name that a confirmation lists."""

_TYPABLE = re.compile(r"[!-~]+( [!-~]+)*")
"""Pattern of names that every keyboard can type, with single blanks."""

_ODD_BLANK = re.compile(r"^\s|\s$|(?<=\s)\s|[^\S ]")
"""Pattern of unusual blanks: at an end of a name, after another blank, or of another width."""

_WITH_LATIN = frozenset({"CJK", "HIRAGANA", "KATAKANA", "KATAKANA-HIRAGANA", "HANGUL", "BOPOMOFO", "IDEOGRAPHIC"})
"""Scripts whose words often contain Latin letters, such as `NHK東京` (UTS 39, "Highly Restrictive")."""

_TWINS = str.maketrans("аеорсухіјѕһԁԛԝвкмнтαβεηικμνορτυχ01i", "aeopcyxljshdqwbkmhtabehlkmnoptuxoll")
"""Cyrillic and Greek letters in lower case, and digits -> the Latin letters that they or their capitals resemble.

Two names look the same if they are equal after this mapping. The table does not cover all of Unicode. The warning about
mixed alphabets finds further letters that look the same.
"""


class Named(NamedTuple):
    """Object with its id and its real name. `name`: empty if the object has no name."""

    id: str
    name: str


def id_end(identity: str) -> str:
    """Return the last letters of an id, for display beside a name."""
    return identity[-ID_LETTERS:]


def word_to_type(named: Named, others: Iterable[Named]) -> str:
    """Return the text to type for a confirmation: the whole name, or else the end of the id.

    The name is used if every keyboard can type it, and if no other listed object has the same name or one that looks
    the same.
    """
    name = named.name
    others = tuple(others)
    if _TYPABLE.fullmatch(name) and len(name) <= MAX_TYPED and not namesakes(named, others):
        return name
    end = id_end(named.id)
    is_shared = any(id_end(other.id) == end and other.id != named.id for other in others)
    return (named.id if is_shared else end) or name


def namesakes(named: Named, others: Iterable[Named]) -> tuple[Named, ...]:
    """Return the other objects that have the same name, or one that looks the same."""
    skeleton = _skeleton(named.name)
    return tuple(other for other in others if other.id != named.id and skeleton and _skeleton(other.name) == skeleton)


def warnings(named: Named, others: Iterable[Named], kind: str) -> tuple[str, ...]:
    """Return a sentence for each deceptive trait of a name. `kind`: kind of the object, such as `event`."""
    return (*_deceptions(named.name), *_of_namesakes(named, others, kind))


def _deceptions(name: str) -> Iterator[str]:
    if shown(name) != name:
        yield f'Its name has invisible letters: "{safe(escaped(name), 120)}".'
    elif name != " ".join(name.split()):
        yield f'Its name has hidden blanks: "{safe(_ODD_BLANK.sub(BLANK_LETTER, name), 120)}".'
    for word in "".join(char if char.isalpha() else " " for char in name).split():
        scripts = sorted({script for char in word if (script := _script(char)) not in _WITH_LATIN})
        if len(scripts) > 1:
            alphabets = " and ".join(script.capitalize() for script in scripts)
            yield f'Its name mixes alphabets in one word, {alphabets}: "{safe(word, 60)}".'
        elif any(_stands_for_another(char) for char in word):
            yield f'Its name has letters that look like others: "{safe(word, 60)}".'


def _stands_for_another(char: str) -> bool:
    """Return whether the character is a variant of another in Unicode: full width, ligature, mathematical bold."""
    return char not in "ªº" and unicodedata.normalize("NFKC", char) != unicodedata.normalize("NFC", char)


def _of_namesakes(named: Named, others: Iterable[Named], kind: str) -> Iterator[str]:
    found = namesakes(named, others)
    for other in found[:MAX_NAMESAKES]:
        is_same = other.name == named.name
        likeness = "the same name" if is_same else f'a name that looks the same, "{safe(escaped(other.name), 60)}"'
        yield f"Another {kind} has {likeness} (id …{safe(id_end(other.id), ID_LETTERS)})."
    if len(found) > MAX_NAMESAKES:
        yield f"{len(found) - MAX_NAMESAKES} more have such a name."


def _skeleton(name: str) -> str:
    """Return a name as a person reads it: without hidden letters, in one case, with one letter for similar letters."""
    text = unicodedata.normalize("NFKC", shown(name)).casefold()
    return " ".join(text.translate(_TWINS).split())


def _script(char: str) -> str:
    """Return the script of a letter, the first word of its Unicode name: LATIN, CYRILLIC, CJK."""
    return unicodedata.name(char, "?").partition(" ")[0]
