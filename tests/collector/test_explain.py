"""A collector explains its alarms to decks as its own monitor does."""

from __future__ import annotations

from collector.service import service
from livedeck.monitor.published.codec import decode_explanation


async def test_an_event_is_explained_over_http_as_the_monitor_explains_it() -> None:
    async with service() as made:
        answered = await made.ask("/v1/events/one/explain", "wall")
        own = await made.deck.monitor.explain("one")
        of_kind = await made.ask("/v1/events/one/explain?kind=VIDEO_LOW", "wall")
    assert answered.status_code == 200
    assert own is not None
    assert decode_explanation(answered.json()) == own
    found = decode_explanation(of_kind.json())
    assert found.kind is not None
    assert found.kind.kind == "VIDEO_LOW"
    assert {forecast.kind for forecast in found.forecasts or ()} <= {"VIDEO_LOW"}


async def test_what_is_not_there_is_refused() -> None:
    async with service() as made:
        gone = await made.ask("/v1/events/nobody/explain")
        unknown = await made.ask("/v1/events/one/explain?kind=NOTHING")
        metrics = await made.ask("/v1/events/one/explain", "prometheus")
    assert (gone.status_code, gone.json()["error"]) == (404, "gone")
    assert (unknown.status_code, metrics.status_code) == (422, 403)
