"""Lists: single pages, and all items of a list that may change during the read (platform-api.md, "Lists")."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Generic, TypeVar, overload

from livedeck.client.http.errors import Unreadable
from livedeck.client.resources.validation import FieldFault

MAX_PER_PAGE = 100  # platform-api.md, "Lists"

_MAX_PAGES = 1000
_MAX_WALKS = 8

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Page(Sequence[T], Generic[T]):
    """A page of a list, and a sequence of its items: it has a length, and can be iterated over and indexed.

    `page` and `per_page` are as answered, or as requested if the answer lacks them. `total`: items on all pages, None
    if the answer lacks it. `order`: field -> `asc` or `desc`. `unreadable`: faults of rows without an id, which are
    left out. `is_last`: the page is shorter than its stated size, and the total agrees exactly. `is_paged`: the answer
    states a page, a size or a total.
    """

    items: tuple[T, ...]
    page: int
    per_page: int
    total: int | None = None
    order: Mapping[str, str] = field(default_factory=dict)
    unreadable: tuple[FieldFault, ...] = ()
    is_last: bool = False
    is_paged: bool = True
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
        """Return the next page, requested in the same way; None after the last. Raises ApiError.

        >>> page = await api.events.list(per_page=5)
        >>> while page:
        ...     names = [event.name for event in page]
        ...     page = await page.next()
        """
        if self.is_last or self.fetch_next is None or not (self.items or self.unreadable):
            return None
        page = await self.fetch_next()
        return page if page.items or page.unreadable else None


class _Walk:
    """A pass over a list from its first page to its apparent end.

    `is_idle`: it ended at a page without new items.
    """

    def __init__(self) -> None:
        self.first_page: frozenset[str] | None = None
        self.is_over = self.is_idle = self.found_new = False
        self.is_paged = True
        self.unreadable: tuple[FieldFault, ...] = ()
        self._ids = set[str]()
        self._has_repeats = False
        self._totals = set[int | None]()

    def add(self, page: Page[Any], ids: Collection[str]) -> None:
        """Add the next page."""
        if self.first_page is None:
            self.first_page = frozenset(ids)
        new_ids = {*ids} - self._ids
        self.is_idle = bool(ids) and not new_ids
        self.is_over = page.is_last or self.is_idle or not (ids or page.unreadable)
        self.is_paged &= page.is_paged
        self._has_repeats |= len(new_ids) < len(ids)
        self._ids |= new_ids
        self._totals |= {page.total} if ids else set()
        if not self.is_idle:
            self.unreadable += page.unreadable

    def is_complete(self, before: _Walk | None) -> bool:
        """Return whether no sign of a missed item remains; `before`: the previous pass."""
        is_counted = not self._has_repeats and self._totals == {len(self._ids) + len(self.unreadable)}
        if is_counted or not self.is_paged or not self._ids:
            return True
        if before is None:
            return False
        ignores_page = self.is_idle and before.is_idle and self.first_page == before.first_page
        return ignores_page or not (self.found_new or self._has_repeats)


class PagedItems(AsyncIterator[T]):
    """Every item, page by page, each id once. `fetch`: number of a page -> page.

    `unreadable`: faults of the rows that were left out.

    Items that are created or deleted during the read move others to the next or the previous page. So the list is read
    again until a pass finds nothing new and nothing twice. One pass is enough if every page states the same total and
    as many items came. Neither the total nor the length of a page is trusted alone. Four identical pages show that the
    platform ignores `page`; two are enough if its answers do not mention pages. Raises Unreadable for an endless list.
    """

    def __init__(self, fetch: Callable[[int], Awaitable[Page[T]]]) -> None:
        self.unreadable: tuple[FieldFault, ...] = ()
        self._items = self._iterate(fetch)

    def __anext__(self) -> Awaitable[T]:
        return anext(self._items)

    async def _iterate(self, fetch: Callable[[int], Awaitable[Page[T]]]) -> AsyncIterator[T]:
        yielded, pages_left = set[str](), _MAX_PAGES
        before: _Walk | None = None
        for _ in range(_MAX_WALKS):
            walk, number = _Walk(), 0
            while not walk.is_over:
                if not pages_left:
                    raise Unreadable(f"a list has no end: {len(yielded):,} items on {_MAX_PAGES:,} pages")
                pages_left, number = pages_left - 1, number + 1
                page = await fetch(number)
                ids = [_identity(item) for item in page.items]
                walk.add(page, ids)
                self.unreadable = max(self.unreadable, walk.unreadable, key=len)
                for identity, item in zip(ids, page.items, strict=True):
                    if identity not in yielded:
                        yielded.add(identity)
                        walk.found_new = True
                        yield item
            if walk.is_complete(before):
                return
            before = walk


def _identity(item: Any) -> str:
    return str(getattr(item, "id", None) or repr(item.model_dump()))


async def collect(items: AsyncIterator[T]) -> tuple[T, ...]:
    """Return all items as a tuple. Raises the errors of the iterator."""
    return tuple([item async for item in items])
