"""Documentation as it is shipped: one Markdown page a topic, for `livedeck docs` and the deck's help."""

from __future__ import annotations

import re
from importlib.resources import files

_PAGES = files(__name__)
_MARKER = re.compile(r"^<!-- .* -->\n", re.MULTILINE)


def topics() -> tuple[str, ...]:
    """Return the names of all pages, in alphabetical order."""
    return tuple(sorted(page.name.removesuffix(".md") for page in _PAGES.iterdir() if page.name.endswith(".md")))


def page(topic: str) -> str:
    """Return the Markdown text of a page, without the markers around generated tables.

    Raises LookupError for an unknown topic.
    """
    if topic not in topics():
        raise LookupError(topic)
    return _MARKER.sub("", (_PAGES / f"{topic}.md").read_text(encoding="utf-8"))


def headings(topic: str) -> tuple[str, ...]:
    """Return the second-level headings of a page. Raises LookupError for an unknown topic."""
    prose = re.sub(r"^ *```.*?^ *```", "", page(topic), flags=re.MULTILINE | re.DOTALL)
    return tuple(re.findall(r"^## (.+?)\s*$", prose, re.MULTILINE))


def topics_about(word: str) -> tuple[str, ...]:
    """Return the names of the pages with a word in its singular, plural or as a beginning, the most frequent first."""
    stem = word.casefold()[:-1] if len(word) > 4 else word.casefold()
    counts = {topic: page(topic).casefold().count(stem) for topic in topics()} if stem else {}
    return tuple(sorted(filter(counts.get, counts), key=lambda topic: -counts[topic]))
