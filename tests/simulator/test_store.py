"""The store gives the same page and count as a sort of everything, and reads no more than the page."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import suppress
from functools import partial
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from costs import check
from livedeck.simulator.engine.store import Document, Order, Query, Store
from trials import trials

BY_DATE = (("created_at", "desc"), ("name", "asc"))
"""Default order of a list of events."""

_TEXTS = st.none() | st.sampled_from(["", "a", "B", "b", "é", "zz"])
_DOCUMENTS = st.lists(
    st.fixed_dictionaries(
        {"id": st.sampled_from("abcdefgh")}, optional={"created_at": _TEXTS, "name": _TEXTS, "updated_at": _TEXTS}
    ),
    max_size=20,
)
_ORDERS = st.lists(
    st.tuples(st.sampled_from(["created_at", "name", "updated_at"]), st.sampled_from(["asc", "desc"])),
    max_size=3,
    unique_by=lambda term: term[0],
)


def place(name: str, document: Document) -> tuple[bool, str]:
    """Return the place of a document by a field."""
    return document.get(name) is not None, document.get(name) or ""


def reference(documents: Iterable[Document], order: Order) -> list[Document]:
    """Sort the documents: no value before any text, and equal ones by id."""
    ordered = sorted(documents, key=lambda document: document["id"])
    for name, direction in reversed(order):
        ordered.sort(key=partial(place, name), reverse=direction == "desc")
    return ordered


def fill(store: Store, documents: Iterable[Document]) -> dict[str, Document]:
    """Store the documents and return what is there then. A stored id is replaced, or deleted by one without a name."""
    stored = dict[str, Document]()
    for document in documents:
        key = document["id"]
        if key not in stored:
            store.insert("event", "w", document)
        elif "name" in document:
            store.update("event", document)
        else:
            store.delete("event", key)
            del stored[key]
            continue
        stored[key] = document
    return stored


@trials(300)
@given(_DOCUMENTS, _ORDERS, st.integers(1, 3), st.integers(1, 9))
def test_a_page_is_a_part_of_everything_in_order(
    documents: list[Document], order: Order, page: int, per_page: int
) -> None:
    store = Store()
    try:
        stored = fill(store, documents)
        store.insert("event", "other", {"id": "z", "name": "a"})
        found, total = store.find(Query("event", "w", order=order, page=page, per_page=per_page))
        assert total == len(stored)
        assert found == reference(stored.values(), order)[(page - 1) * per_page : page * per_page]
    finally:
        store.close()


def total(store: Store, kind: str = "event", workspace: str = "w") -> int:
    return store.find(Query(kind, workspace))[1]


def insert_both(store: Store, first: str, second: str) -> None:
    with store.transaction():
        store.insert("event", "w", {"id": first})
        store.insert("event", "w", {"id": second})


def test_the_count_follows_every_change() -> None:
    store = Store()
    assert total(store) == 0
    for document_id in ("a", "b", "c"):
        store.insert("event", "w", {"id": document_id})
        store.put("setting", {"id": "one", "value": document_id})
    assert total(store) == 3
    assert total(store, "setting", "") == 1
    assert store.get("setting", "one") == {"id": "one", "value": "c"}
    store.delete("event", "b")
    store.delete("event", "unknown")
    assert total(store) == 2
    with pytest.raises(sqlite3.IntegrityError):
        insert_both(store, "d", "a")
    assert total(store) == 2
    store.clear()
    assert total(store) == 0
    store.close()


def test_a_data_file_of_an_earlier_version_is_counted_when_it_is_opened(tmp_path: Path) -> None:
    path = tmp_path / "deck.db"
    store = Store(path)
    fill(store, [{"id": "a", "name": "b"}, {"id": "b", "name": "a"}])
    store.close()
    with sqlite3.connect(path) as earlier:
        names = earlier.execute("SELECT type, name FROM sqlite_schema WHERE name LIKE 'by_%' OR name LIKE '%tally'")
        for kind, name in sorted(names.fetchall(), reverse=True):
            earlier.execute(f"DROP {kind} {name}")
        earlier.execute("""INSERT INTO document VALUES ('event', 'c', 'w', '{"id": "c", "name": "c"}')""")
    earlier.close()
    again = Store(path)
    found, count = again.find(Query("event", "w", order=(("name", "desc"),)))
    assert ([document["id"] for document in found], count) == (["c", "a", "b"], 3)
    again.close()


@pytest.mark.parametrize("name", ["name') ASC; DELETE FROM document; --", "name'", 'x"', "created_at') --"])
def test_a_field_from_outside_is_never_a_part_of_a_statement(name: str) -> None:
    store = Store()
    store.insert("event", "w", {"id": "a", name: 1})
    with suppress(sqlite3.OperationalError):  # no path of JSON
        store.find(Query("event", "w", order=((name, "asc"),), where=((name, "1"),)))
    assert store.get("event", "a")
    with pytest.raises(KeyError):
        store.find(Query("event", "w", order=(("name", name),)))
    store.close()


def steps(events: int, order: Order = BY_DATE, page: int = 1) -> int:
    """Return the steps of SQLite that a page of a list of so many events takes."""
    store, count = Store(), 0
    with store.transaction():
        for number in range(events):
            date, name = f"2026-{number * 7919 % events:05}", f"Event {number * 104_729 % events:05}"
            store.insert("event", "w", {"id": f"{number:05}", "name": name, "created_at": date})

    def step() -> None:
        nonlocal count
        count += 1

    store._db.set_progress_handler(step, 1)
    assert len(store.find(Query("event", "w", order=order, page=page))[0]) == 100
    store.close()
    return count


@pytest.mark.parametrize("order", [BY_DATE, (("name", "asc"),), (("name", "desc"),), ()])
@pytest.mark.parametrize("page", [1, 2])
def test_a_page_of_a_long_list_takes_as_many_steps_as_of_a_short_one(order: Order, page: int) -> None:
    growth = steps(2000, order, page) / steps(200, order, page)
    check("simulator: steps of a page of 2,000 events to 200", growth)
