"""The wall's page in a real browser: names are text, silence is shown, pages turn, and only named sites frame it."""

from __future__ import annotations

import asyncio
import contextlib
import re
from dataclasses import replace
from pathlib import Path

import pytest
import pytest_asyncio

from cli.browsing import CHROMIUM, browser
from cli.wall_stage import model_of, served
from livedeck.cli.exposure import Exposure
from livedeck.monitor import Snapshot
from ui.wall_stage import evening

pytestmark = pytest.mark.skipif(CHROMIUM is None, reason="no chromium here: the page is not seen in a browser")


@pytest_asyncio.fixture(scope="module", loop_scope="module", name="known")
async def _known() -> Snapshot:
    return await evening()


async def test_a_browser_shows_the_events_as_text_whatever_their_names(known: Snapshot, tmp_path: Path) -> None:
    name = "<img id=hole src=x>"
    event = known.events[1].event.model_copy(update={"name": name})
    shown = replace(known, events=(replace(known.events[1], event=event), *known.events[2:]))
    async with served(model_of(shown)) as outlet, browser(tmp_path) as tab:
        await tab.open(outlet.address)
        names = await tab.wait_for("[...document.querySelectorAll('h2')].map((name) => name.textContent)")
        assert names[:2] == [name, "Harbour webcam"]
        assert await tab.evaluate("[document.getElementById('hole'), document.querySelectorAll('img').length]") == [
            None,
            0,
        ]
        assert await tab.evaluate("document.getElementById('lost').hidden")


def crowd(known: Snapshot, count: int) -> Snapshot:
    """Return the snapshot with `count` more healthy events, whose names differ only at their end."""
    good = next(state for state in known.events if not state.assessment.findings)
    names = [f"Esports semi-final of the northern league, table {number}" for number in range(count)]
    events = [good.event.model_copy(update={"id": name, "name": name}) for name in names]
    return replace(known, events=(*known.events, *(replace(good, event=event) for event in events)))


@pytest.mark.slow
async def test_in_a_browser_no_two_names_look_alike_and_what_is_wrong_is_on_every_page(
    known: Snapshot, tmp_path: Path
) -> None:
    """The page at its smallest letters; it is turned by the browser's clock."""
    cells = "[...document.querySelectorAll('.cell')].filter((cell) => !cell.hidden)"
    async with served(model_of(crowd(known, 400))) as outlet, browser(tmp_path) as tab:
        await tab.open(outlet.address)
        await tab.wait_for(cells)
        seen = set[str]()
        for page in (1, 2):
            await tab.evaluate(f"Date.now = () => {(page - 1) * 20_000}; turnPage(); fitNames()")
            assert await tab.evaluate("document.getElementById('page').textContent") == f"page {page}/2"
            names = await tab.evaluate(f"{cells}.map((cell) => cell.querySelector('.name').textContent)")
            assert len(set(names)) == len(names)
            assert {"bad", "watch"} <= set(await tab.evaluate(f"{cells}.map((cell) => cell.dataset.tone)"))
            seen |= set(await tab.evaluate(f"{cells}.map((cell) => cell.dataset.id)"))
        assert len(seen) == await tab.evaluate("order.length") > 400


async def test_a_browser_whose_wall_is_silent_says_so_and_does_not_take_an_old_picture_for_a_new_one(
    known: Snapshot, tmp_path: Path
) -> None:
    """Frozen is not fine, in a browser either; it asks anew, and what it knows already is no news."""
    async with served(model_of(known)) as outlet, browser(tmp_path) as tab:
        await tab.open(outlet.address)
        await tab.wait_for("document.querySelector('h2')?.textContent")
        await tab.evaluate("const now = performance.now(); performance.now = () => now + 11000; watch()")
        said = "document.getElementById('lost').textContent + document.getElementById('clock').textContent"
        assert re.search(r"NO PICTURE for 1\d s.*--:--:--", await tab.wait_for(said))
        assert await tab.evaluate("document.body.className") == "is-lost"
        await tab.wait_for("source.readyState === 1 && connectedAt > spokeAt")
        assert await tab.evaluate("document.body.className") == "is-lost"
        outlet.publisher.publish(model_of(known, 1))
        assert await tab.wait_for("document.getElementById('lost').hidden")
        assert await tab.evaluate("document.getElementById('clock').textContent") == "21:14:08"


@pytest.mark.parametrize("is_allowed", [True, False])
async def test_a_browser_holds_it_in_the_frame_of_a_named_site_and_of_no_other(
    known: Snapshot, tmp_path: Path, is_allowed: bool
) -> None:
    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with contextlib.suppress(asyncio.IncompleteReadError):  # browsers connect on suspicion
            await reader.readuntil(b"\r\n\r\n")
            page = f"<!doctype html><iframe src='{outlet.address}' onload='seen = true'></iframe>".encode()
            head = f"HTTP/1.0 200 OK\r\nContent-Type: text/html\r\nContent-Length: {len(page)}\r\n\r\n"
            writer.write(head.encode() + page)
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as site:
        origin = f"http://127.0.0.1:{site.sockets[0].getsockname()[1]}"
        exposure = Exposure(0, frame_ancestors=(origin if is_allowed else "https://desk.example",))
        async with served(model_of(known), exposure=exposure) as outlet, browser(tmp_path) as tab:
            await tab.open(f"{origin}/")
            assert await tab.wait_for("window.seen")
            shown = await tab.evaluate("location.origin"), await tab.frame_addresses()
    assert shown == (origin, [outlet.address if is_allowed else "chrome-error://chromewebdata/"])
