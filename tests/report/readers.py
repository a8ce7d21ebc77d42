"""Readers of a report by other rules than ours: Markdown tables as on GitHub, HTML by the standard library."""

from __future__ import annotations

import re
from html.parser import HTMLParser

VOID = {"meta", "link", "br", "wbr", "img", "hr", "input"}
_LINK = re.compile(r"(?<!\\)!?\[[^\]]*\]\(|(?<!\\)<[a-z/!]|(?<!\\)https?://", re.IGNORECASE)


def markdown_tables(text: str) -> dict[str, list[dict[str, str]]]:
    """Return the last table under each heading, as rows.

    Raises AssertionError for a row with another number of cells than its head.
    """
    tables: dict[str, list[dict[str, str]]] = {}
    heading, head = "", list[str]()
    for line in text.splitlines():
        if line.startswith("#"):
            heading, head = line.lstrip("#").strip(), []
        elif line.startswith("|"):
            cells = [_plain(cell) for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
            if not head:
                head, tables[heading] = cells, []
            elif set("".join(cells)) != {"-"}:
                assert len(cells) == len(head), line
                tables[heading].append(dict(zip(head, cells, strict=True)))
        else:
            head = []
    return tables


def markdown_links(text: str) -> list[str]:
    """Return the parts that Markdown would render as a link, a picture or HTML."""
    return _LINK.findall(text)


def _plain(cell: str) -> str:
    return re.sub(r"\\([!-/:-@\[-`{-~])", r"\1", cell).strip()


class Page(HTMLParser):
    """Elements of a page, its words, and its tables as rows of cells."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.addresses: list[str] = []
        self.words: list[str] = []
        self.rows: list[list[str]] = []
        self._open: list[str] = []
        self.feed(text)
        self.close()
        assert not self._open, f"not closed: {self._open}"

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.addresses += [value or "" for name, value in attrs if name in {"href", "src", "action", "xlink:href"}]
        self.addresses += [name for name, _ in attrs if name.startswith("on")]
        if tag not in VOID:
            self._open.append(tag)
        if tag == "tr":
            self.rows.append([])
        if tag in {"td", "th"}:
            self.rows[-1].append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag, tag

    def handle_startendtag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.handle_starttag(tag, attrs)
        if tag not in VOID:
            self._open.pop()

    def handle_data(self, data: str) -> None:
        if self._open and self._open[-1] != "style":
            self.words.append(data)
        if {"td", "th"} & {*self._open}:
            self.rows[-1][-1] += data

    @property
    def text(self) -> str:
        """Text that a reader sees."""
        return "".join(self.words)
