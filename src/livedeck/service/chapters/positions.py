"""The order of what a video carries: `position` counts from 1."""

from __future__ import annotations

from collections import defaultdict

from livedeck.service.errors import invalid
from livedeck.service.exchange import Call
from livedeck.service.rules import Rule, demand, each
from livedeck.service.store import Document, Store


def order_of(rule: Rule) -> Rule:
    """Ids in the order that is wanted, each once."""
    ids = each(rule, 10_000, least=1)
    return Rule(f"{ids.says}, each once", lambda given: _once(ids.take(given)), ids.schema | {"uniqueItems": True})


def _once(ids: list[str]) -> list[str]:
    return demand(len({*ids}) == len(ids), ids)


def last(store: Store, kind: str, workspace: str, video: str) -> int:
    """The highest position so far; 0 where there is none."""
    placed = store.every(kind, workspace, [("of_video", video)], [("position", "desc")])
    return int(placed[0]["position"]) if placed else 0


def put_in_order(call: Call, kind: str, video: str, order: list[str]) -> list[Document]:
    """All of that kind of a video, put in the order of those ids. Raises the refusal for a list that is not full."""
    store = call.world.store
    placed = {document["id"]: document for document in store.every(kind, call.workspace, [("of_video", video)])}
    if sorted(placed) != sorted(order):
        raise invalid(("body", "must be the full list of ids"))
    moved = [placed[identity] | {"position": place} for place, identity in enumerate(order, 1)]
    with store.transaction():
        for document in moved:
            store.change(kind, document)
    return moved


def put_among(call: Call, kind: str, order: list[Document]) -> None:
    """These in that order, in the places that they hold already: what is not named stays. Each video by itself."""
    held: dict[str, list[int]] = defaultdict(list)
    for document in order:
        held[document["of_video"]].append(document["position"])
    places = {video: iter(sorted(some)) for video, some in held.items()}
    with call.world.store.transaction():
        for document in order:
            call.world.store.change(kind, document | {"position": next(places[document["of_video"]])})
