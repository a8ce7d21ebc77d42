"""The order of what a video carries: `position` counts from 1, and a new order names every one of them."""

from __future__ import annotations

from dataclasses import replace

from livedeck.service.errors import invalid
from livedeck.service.exchange import Call
from livedeck.service.rules import Rule, each
from livedeck.service.store import Document, Store


def order_of(rule: Rule) -> Rule:
    """The full list of ids in the order that is wanted."""
    ids = each(rule, 10_000, least=1)
    return replace(ids, schema=ids.schema | {"uniqueItems": True})


def last(store: Store, kind: str, workspace: str, video: str) -> int:
    """The highest position so far; 0 where there is none."""
    placed = store.every(kind, workspace, [("of_video", video)], [("position", "desc")])
    return int(placed[0]["position"]) if placed else 0


def put_in_order(call: Call, kind: str, video: str, order: list[str]) -> list[Document]:
    """All of that kind of a video, put in the order of those ids. Raises the refusal for a list that is not full."""
    store = call.world.store
    placed = {document["id"]: document for document in store.every(kind, call.workspace, [("of_video", video)])}
    if sorted(placed) != sorted(order):
        raise invalid(("body", "must be the full list of ids, each once"))
    moved = [placed[identity] | {"position": place} for place, identity in enumerate(order, 1)]
    with store.transaction():
        for document in moved:
            store.change(kind, document)
    return moved
