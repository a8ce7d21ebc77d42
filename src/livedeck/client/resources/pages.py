"""Lists: single pages, and all items of a list that may change during the read (platform-api.md, "Lists")."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, overload

from livedeck.client.http.errors import Unreadable
from livedeck.client.resources.validation import FieldFault
from livedeck.record import Record
from livedeck.text.values import counted

MAX_PER_PAGE = 100  # platform-api.md, "Lists"

MAX_UNANNOUNCED = 1_000_000
"""Maximum number of rows to read from a list that announces fewer, because such a list may have no end."""

_MAX_WALKS = 8

T = TypeVar("T")


class Shortfall(Record):
    """Rows of a list that the platform announced and did not send.

    `missing`: their number, None if it is unknown. `announced`: number of rows in the list according to its last
    `total`, None if no page states it.
    """

    missing: int | None = None
    announced: int | None = None

    def text(self, noun: str) -> str:
        """Return `20 of 300 events not received`. `noun`: word for a row, in the singular."""
        if self.missing is None or self.announced is None:
            return f"an unknown number of {noun}s not received"
        return f"{self.missing} of {counted(self.announced, noun)} not received"


@dataclass(frozen=True, slots=True)
class Page(Sequence[T], Generic[T]):
    """Page of a list, and a sequence of its items: it has a length, and can be iterated over and indexed.

    Attributes:
        items: Readable rows of the page.
        page: Number of the page by the reply, or by the request if the reply lacks it.
        per_page: Size of a page by the reply, or by the request if the reply lacks it.
        total: Number of rows on all pages; None if the reply lacks it.
        order: Field -> `asc` or `desc`.
        unreadable: Faults of rows without an id, which are left out.
        is_last: True if the page is shorter than its stated size, and the total agrees exactly.
        is_paged: True if the reply states a page, a size or a total.
        is_null: True if the reply has null instead of rows, which is no sign of the end.
    """

    items: tuple[T, ...]
    page: int
    per_page: int
    total: int | None = None
    order: Mapping[str, str] = field(default_factory=dict)
    unreadable: tuple[FieldFault, ...] = ()
    is_last: bool = False
    is_paged: bool = True
    is_null: bool = False
    fetch_next: Callable[[], Awaitable[Page[T]]] | None = field(default=None, repr=False, compare=False)

    def __len__(self) -> int:
        return len(self.items)

    def __iter__(self) -> Iterator[T]:
        return iter(self.items)

    @overload
    def __getitem__(self, index: int) -> T: ...

    @overload
    def __getitem__(self, index: slice) -> tuple[T, ...]: ...

    def __getitem__(self, index: int | slice) -> T | tuple[T, ...]:
        return self.items[index]

    async def next(self) -> Page[T] | None:
        """Return the next page, requested in the same way; None after the last.

        Raises ApiError; Unreadable also if the next page is null although the list may go on.

        >>> page = await api.events.list(per_page=5)
        >>> while page:
        ...     names = [event.name for event in page]
        ...     page = await page.next()
        """
        if self.is_last or self.fetch_next is None or not (self.items or self.unreadable):
            return None
        page = await self.fetch_next()
        if page.is_null and not self._is_all_before(page):
            page = await self.fetch_next()
            if page.is_null and not self._is_all_before(page):
                raise Unreadable(f"page {page.page} of a list is null, and the list may go on after page {self.page}")
        return page if page.items or page.unreadable else None

    def _is_all_before(self, page: Page[T]) -> bool:
        """Return whether the list ends with this page. `page`: next page, whose total counts if it states one."""
        total = self.total if page.total is None else page.total
        return total is not None and (self.page - 1) * self.per_page + len(self) + len(self.unreadable) >= total


class _Walk:
    """Pass over a list from its first page to its apparent end.

    Attributes:
        ids: Ids of the rows.
        total: Last stated total; None without any.
        totals: All stated totals.
        is_idle: True if the newest page has rows, but no new ones.
        is_end_shown: True if the newest page proves the end of the list: it is empty or last, or the platform ignores
            the number of the page.
    """

    def __init__(self) -> None:
        self.first_page: frozenset[str] | None = None
        self.is_over = self.is_idle = self.is_end_shown = self.found_new = False
        self.is_paged = True
        self.unreadable: tuple[FieldFault, ...] = ()
        self.ids = set[str]()
        self.total: int | None = None
        self.totals = set[int]()
        self._has_repeats = self._was_null = False

    @property
    def received(self) -> int:
        """Number of rows so far, unreadable ones included."""
        return len(self.ids) + len(self.unreadable)

    def needs_again(self, page: Page[Any]) -> bool:
        """Return whether to request a page again: the page is null, and the page before was not."""
        total = self.total if page.total is None else page.total
        return page.is_null and not self._was_null and (total is None or self.received < total)

    def add(self, page: Page[Any], ids: Collection[str], number: int) -> None:
        """Add the next page. `number`: its number."""
        if page.total is not None:
            self.total = page.total
            self.totals.add(page.total)
        if page.is_null:
            is_beyond = self.total is not None and max(number * page.per_page, self.received) >= self.total
            self.is_over, self.is_end_shown = is_beyond or self._was_null, False
            self._was_null = True
            return
        self._was_null = False
        if self.first_page is None:
            self.first_page = frozenset(ids)
        new_ids = {*ids} - self.ids
        self.is_idle = bool(ids) and not new_ids
        is_empty = not (ids or page.unreadable)
        ignores_page = self.is_idle and self.first_page.issuperset(ids) and self.received < page.per_page
        self.is_over = page.is_last or self.is_idle or is_empty
        self.is_end_shown = page.is_last or ignores_page or is_empty
        self.is_paged &= page.is_paged
        self._has_repeats |= len(new_ids) < len(ids)
        self.ids |= new_ids
        if not self.is_idle:
            self.unreadable += page.unreadable

    @property
    def is_counted(self) -> bool:
        """True if every page states the same total, exactly this number of rows came, and no row came twice."""
        return not self._has_repeats and self.totals == {self.received}

    def is_settled(self, before: _Walk | None) -> bool:
        """Return whether another pass is unlikely to find more. `before`: the previous pass, or None."""
        if self.is_counted or not self.is_paged:
            return True
        if not self.ids:
            return before is not None or not self.total
        if before is None:
            return False
        ignores_page = self.is_idle and before.is_idle and self.first_page == before.first_page
        return ignores_page or not (self.found_new or (self._has_repeats and before.found_new))


class PagedItems(AsyncIterator[T]):
    """Iterator over all items of a list, page by page, each id once.

    Items that are created or deleted during the read move other items to another page. Therefore the list is read in
    several passes:
    - One pass is enough if every page states the same total, and exactly this number of items came.
    - Otherwise passes follow until a pass finds nothing new and nothing twice, or two passes find nothing new.
    - Four identical pages show that the platform ignores `page`; two are enough if its replies do not mention pages.
    - A page that is null is requested once more, then skipped. Two such pages in a row end a pass, as does a page
      without new items.

    Args:
        fetch: Returns the page with a number.
        max_unannounced: Maximum number of rows to read if the list announces fewer.

    Attributes:
        unreadable: Faults of the rows that were left out.
        shortfall: Announced rows that were not received; None if all were, which is certain only after the last item.
        total: Number of rows that the list states; None if it states none.
    """

    def __init__(self, fetch: Callable[[int], Awaitable[Page[T]]], *, max_unannounced: int = MAX_UNANNOUNCED) -> None:
        self.unreadable: tuple[FieldFault, ...] = ()
        self.shortfall: Shortfall | None = Shortfall()
        self.total: int | None = None
        self._max_unannounced = max_unannounced
        self._ids = set[str]()
        self._totals = set[int]()
        self._items = self._iterate(fetch)

    @property
    def is_complete(self) -> bool:
        """True if the replies show that every row was received, unreadable ones included; False before the end.

        >>> events = api.events.iterate()
        >>> names = [event.name async for event in events]
        >>> events.is_complete, events.missing
        (True, 0)
        """
        return self.shortfall is None

    @property
    def missing(self) -> int | None:
        """Number of rows that were announced and not received; None if it is unknown, also before the end."""
        return self.shortfall.missing if self.shortfall else 0

    def __anext__(self) -> Awaitable[T]:
        return anext(self._items)

    async def _iterate(self, fetch: Callable[[int], Awaitable[Page[T]]]) -> AsyncIterator[T]:
        before: _Walk | None = None
        for _ in range(_MAX_WALKS):
            walk, number = _Walk(), 0
            while not walk.is_over:
                number += 1
                page = await fetch(number)
                if walk.needs_again(page):
                    page = await fetch(number)
                ids = [_identity(item) for item in page.items]
                walk.add(page, ids, number)
                self.unreadable = max(self.unreadable, walk.unreadable, key=len)
                for identity, item in zip(ids, page.items, strict=True):
                    if identity not in self._ids:
                        self._ids.add(identity)
                        walk.found_new = True
                        yield item
                if self._is_endless(walk, number) and not walk.is_over:
                    return
            self.total = walk.total
            self._totals |= walk.totals
            is_settled = walk.is_settled(before)
            self.shortfall = self._count(walk, is_settled=is_settled)
            if self.shortfall is None or is_settled:
                return
            before = walk

    def _is_endless(self, walk: _Walk, number: int) -> bool:
        """Return whether the list is longer than announced and than `max_unannounced`, so that it may have no end."""
        announced = walk.total or 0
        max_pages = max(self._max_unannounced // MAX_PER_PAGE, announced)
        return len(self._ids) > max(self._max_unannounced, announced) or number > max_pages

    def _count(self, walk: _Walk, *, is_settled: bool) -> Shortfall | None:
        """Return the shortfall after a pass; None if no row is missing."""
        total, received = walk.total, walk.received
        if self._totals == {total}:  # no row came or went, so the passes complement each other
            received = len(self._ids) + len(self.unreadable)
        if total is not None and received < total:
            return Shortfall(total - received, total)
        is_counted = self._totals == {received} or walk.is_counted
        return None if is_counted or (is_settled and walk.is_end_shown) else Shortfall(None, total)


def _identity(item: Any) -> str:
    return str(getattr(item, "id", None) or repr(item.model_dump()))


async def collect(items: AsyncIterator[T]) -> tuple[T, ...]:
    """Return all items as a tuple. Raises the errors of the iterator."""
    return tuple([item async for item in items])
