"""Lists of a platform that loses rows: the answers, the rows that arrive, and the report of the missing ones."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from client.raw_lists import Body

SIZE = 20
"""Rows of a page, whatever size is requested."""

Numbers = Sequence[int]


def page_body(rows: Numbers | None, **pagination: object) -> bytes:
    """Return the body of a page with these rows; for None it has null in place of rows."""
    data = None if rows is None else [{"id": f"e{number}", "name": f"Hall {number}"} for number in rows]
    meta = {"meta": {"pagination": pagination}} if pagination else {}
    return json.dumps({**meta, "data": data}).encode()


def listed(total: int = 300, *, replaced: Mapping[int, Sequence[Numbers | None]] | None = None) -> Body:
    """A list of 300 rows under that total. `replaced`: page -> its rows at each request; the last stay."""

    def body(page: int, count: int) -> bytes:
        versions = (replaced or {}).get(page, [range((page - 1) * SIZE, min(page * SIZE, 300))])
        rows = versions[min(count, len(versions) - 1)]
        return page_body(rows, page=page, per_page=SIZE, total=total)

    return body


@dataclass(frozen=True)
class Case:
    """List with missing rows. `received`: number of rows that can be read. `missing`: number of others in the report.

    It is None for unknown. `announced`: the total in the report.
    """

    body: Body
    received: int
    missing: int | None
    announced: int | None = None

    @property
    def is_complete(self) -> bool:
        return self.missing == 0

    @property
    def words(self) -> str:
        """Return the number of missing rows in words, such as `3 of 300 events`."""
        return "an unknown number of events" if self.missing is None else f"{self.missing} of {self.announced} events"


PAGE_3, PAGE_4 = range(40, 60), range(60, 80)

CASES: Mapping[str, Case] = {
    "honest": Case(listed(), 300, 0),
    "a page null once": Case(listed(replaced={3: [None, PAGE_3]}), 300, 0),
    "a page null twice": Case(listed(replaced={3: [None, None, PAGE_3]}), 300, 0),
    "a page always null": Case(listed(replaced={3: [None]}), 280, 20, 300),
    "two pages always null": Case(listed(replaced={3: [None], 5: [None]}), 260, 40, 300),
    "the first page always null": Case(listed(replaced={1: [None]}), 280, 20, 300),
    "the last page always null": Case(listed(replaced={15: [None]}), 280, 20, 300),
    "a page beyond the last is null": Case(listed(replaced={16: [None]}), 300, 0),
    "page 1 cached": Case(lambda _page, _count: page_body(range(20), page=1, per_page=20, total=300), 20, 280, 300),
    "page 1 cached, without a total": Case(lambda _page, _count: page_body(range(20), page=1, per_page=20), 20, None),
    "a page a row short": Case(listed(replaced={3: [range(40, 59)]}), 299, 1, 300),
    "a page a row short once": Case(listed(replaced={3: [range(40, 59), PAGE_3]}), 300, 0),
    "a page empty": Case(listed(replaced={3: [[]]}), 40, 260, 300),
    "ties in another order once": Case(listed(replaced={4: [range(59, 79), PAGE_4]}), 300, 0),
    "ties in another order always": Case(listed(replaced={4: [range(59, 79)]}), 299, 1, 300),
    "a total too high": Case(listed(305), 300, 5, 305),
    "a total capped": Case(listed(100), 300, 0),
    "null": Case(lambda _page, _count: b'{"data":null}', 0, None),
    "null of 5": Case(lambda page, _count: page_body(None, page=page, per_page=20, total=5), 0, 5, 5),
    "null of 0": Case(lambda page, _count: page_body(None, page=page, per_page=20, total=0), 0, 0),
    "nothing of 5": Case(lambda _page, _count: b'{"data":[],"total":5}', 0, 5, 5),
    "nothing of 5 in meta": Case(lambda page, _count: page_body([], page=page, per_page=20, total=5), 0, 5, 5),
    "nothing": Case(lambda _page, _count: b'{"data":[]}', 0, 0),
    "no pages": Case(lambda _page, _count: page_body(range(7)), 7, 0),
    "no pages, as many as asked for": Case(lambda _page, _count: page_body(range(100)), 100, None),
}
"""Name of a list -> the replies, the rows that can be read, and the report of the other rows."""
