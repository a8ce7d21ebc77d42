"""SQLite answers each list in its default order from an index."""

from __future__ import annotations

import httpx
import pytest

from livedeck.simulator import Simulator

LISTS = {
    "/v2/live/events": "newest_first",
    "/v1/meet/rooms": "newest_first",
    "/v2/live/events/{event}/videos": "of_event",
    "/v1/videos/{video}/posters": "of_video",
    "/v1/videos/{video}/subtitles": "of_video_by_position",
    "/v1/videos/{video}/annotations": "of_video_by_start_time",
}


@pytest.mark.parametrize("path", LISTS)
async def test_a_list_in_its_default_order_sorts_nothing(
    api: httpx.AsyncClient, simulator: Simulator, video: str, path: str
) -> None:
    events = (await api.get("/v2/live/events?per_page=100")).json()["data"]
    event = next(event["id"] for event in events if event["name"] == "Rehearsal Tuesday")
    db, asked = simulator._world.store._db, list[str]()
    db.set_trace_callback(asked.append)
    assert (await api.get(path.format(event=event, video=video))).json()["data"]
    db.set_trace_callback(None)
    pages = [sql for sql in asked if "LIMIT 20" in sql]
    plans = [row[3] for sql in pages for row in db.execute(f"EXPLAIN QUERY PLAN {sql}")]
    assert len(pages) == 1
    assert any(f"USING INDEX {LISTS[path]} " in plan for plan in plans), plans
    assert not [plan for plan in plans if "B-TREE" in plan]
