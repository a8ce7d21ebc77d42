"""Citations of the documentation name a page that exists and a heading that it has.

A citation is a page's name with, as a rule, the heading in quotes: `monitoring.md, "Alarm kinds"`. Several headings of
one page follow each other: `trust.md, "Secrets" and "Files"`. It stands in a comment, a string, or a page.
"""

from __future__ import annotations

import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

import pytest

ROOT = Path(__file__).parents[2]
DOCS = ROOT / "src" / "livedeck" / "docs"
PAGES = {page.name: page.read_text(encoding="utf-8") for page in sorted(DOCS.glob("*.md"))}
MADE = {"index.md", "openapi.md", "schemas.md"}
"""Pages that the site alone has (`cli/site.py`)."""
SUFFIXES = {".py", ".toml", ".tcss", ".md"}
FILES = sorted(path for folder in ("src", "tests") for path in (ROOT / folder).rglob("*") if path.suffix in SUFFIXES)
_PAGE = re.compile(r"(?<![\w./\\-])(?P<page>[a-z][a-z-]*\.md)\b`?")
_FIRST = re.compile(r',? \(?"(?P<heading>[^"]+)"')
_NEXT = re.compile(r'(?:,? and|,) "(?P<heading>[^"]+)"')
_UNQUOTED = re.compile(r",? \(?(?P<rest>[A-Z0-9][\w ]{0,30})")
_WORDS = {tokenize.COMMENT, tokenize.STRING, getattr(tokenize, "FSTRING_MIDDLE", tokenize.STRING)}


class Citation(NamedTuple):
    """Page and cited headings. `unquoted`: words in the place of a quoted heading."""

    page: str
    headings: tuple[str, ...]
    unquoted: str = ""


def citations(text: str) -> Iterator[Citation]:
    """Yield every citation in a text whose line breaks are blanks."""
    for found in _PAGE.finditer(text):
        headings, end = [], found.end()
        step = _FIRST.match(text, end)
        while step:
            headings.append(step["heading"])
            end = step.end()
            step = _NEXT.match(text, end)
        unquoted = None if headings else _UNQUOTED.match(text, end)
        yield Citation(found["page"], tuple(headings), unquoted["rest"] if unquoted and "," in unquoted[0] else "")


def words(path: Path) -> str:
    """Return a file in one line; of Python code only its comments and strings."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".py" and _PAGE.search(text):
        tokens = tokenize.generate_tokens(io.StringIO(text).readline)
        text = "\n".join(token.string.lstrip("#") for token in tokens if token.type in _WORDS)
    return " ".join(text.split())


def headings(page: str) -> list[str]:
    """Return the headings of a page; blocks of code have none."""
    prose = re.sub(r"^ *```.*?^ *```", "", page, flags=re.MULTILINE | re.DOTALL)
    return re.findall(r"^#+ (.+?)\s*$", prose, re.MULTILINE)


def anchor(heading: str) -> str:
    """Return the anchor that a link within a page uses for a heading."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def complaints(text: str) -> list[str]:
    """Return a sentence for each citation in a text that leads nowhere."""
    found = []
    for page, named, unquoted in citations(text):
        if page in MADE:
            continue
        if page not in PAGES:
            found.append(f"{page}: there is no such page")
            continue
        if unquoted:
            found.append(f"{page}, {unquoted}: name the heading, in quotes")
        known = headings(PAGES[page])
        found += [f'{page}, "{heading}": there is no such heading' for heading in named if heading not in known]
    return found


def test_citations_lead_to_pages_and_headings() -> None:
    found = {str(path.relative_to(ROOT)): complaints(words(path)) for path in FILES}
    assert {path: wrong for path, wrong in found.items() if wrong} == {}


def test_a_page_has_each_heading_once_and_its_links_lead_to_one() -> None:
    named = {name: headings(page) for name, page in PAGES.items()}
    assert [name for name, found in named.items() if len(found) != len({*found})] == []
    lost = {
        name: {*re.findall(r"\]\(#([^)]+)\)", PAGES[name])} - {anchor(heading) for heading in found}
        for name, found in named.items()
    }
    assert {name: links for name, links in lost.items() if links} == {}


@pytest.mark.parametrize(
    ("text", "wrong"),  # with # for the dot, or this file would cite what it must not
    [
        ('see monitoring#md, "Alarm kinds".', 0),
        ('(trust#md, "Secrets" and "Files")', 0),
        ('(trust#md, "Secrets", "Files")', 0),
        ('trust#md ("Secrets")', 0),
        ("the rules of `monitoring#md` hold", 0),
        ("poster#md: no page, nobody#md neither", 2),
        ('monitoring#md, "No such heading"', 1),
        ('trust#md, "Secrets" and "No such heading"', 1),
        ("platform-api#md, 4", 1),
        ("interface#md, Behaviour", 1),
    ],
)
def test_a_citation_that_leads_nowhere_is_found(text: str, wrong: int) -> None:
    assert len(complaints(text.replace("#", "."))) == wrong
