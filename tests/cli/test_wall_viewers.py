"""The wall shows the state of viewers, and their pictures only if it was told to."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from cli.browsing import CHROMIUM, browser
from cli.wall_stage import data_of, model_of, served
from livedeck.monitor import Delivery, Snapshot, ViewerState
from ui.viewer_stage import PLAYS, ago, jpeg, judged
from ui.wall_stage import STILL, evening, lines, text

PICTURES = replace(STILL, has_pictures=True)


@pytest_asyncio.fixture(scope="module", loop_scope="module", name="known")
async def _known() -> Snapshot:
    return await evening()


def shown(known: Snapshot, viewer: ViewerState | None) -> Snapshot:
    """Return a snapshot of one event on air with that state of viewers."""
    good = next(state for state in known.events if not state.assessment.findings and state.phase.tally.expects_signal)
    return replace(known, events=(judged(good, viewer) if viewer else good,))


def picture(colour: str, **changes: Any) -> tuple[ViewerState, bytes]:
    """Return a state of viewers with a picture of that colour."""
    content = jpeg(colour)
    return replace(PLAYS, image=sha256(content).hexdigest(), **changes), content


@pytest.mark.parametrize(
    ("viewer", "words"),
    [
        (PLAYS, "viewers ✓ plays 8 s late"),
        (replace(PLAYS, delivery=Delivery.GONE, since=ago(38)), "viewers ✖ gone"),
        (None, ""),
    ],
)
async def test_a_tile_says_what_viewers_get(known: Snapshot, viewer: ViewerState | None, words: str) -> None:
    drawn = text(lines(shown(known, viewer), (160, 45)))
    assert (words or "viewers") in drawn if words else "viewers" not in drawn


async def _first(*models: Any, **options: Any) -> dict[str, Any]:
    async with served(*models, **options) as outlet, outlet.updates() as blocks:
        await anext(blocks)
        await anext(blocks)
        (entry,) = data_of(await anext(blocks))["entries"].values()
        return dict(entry)


async def test_without_a_probe_or_the_flag_no_picture_is_named(known: Snapshot) -> None:
    viewer, _ = picture("red")
    off = await _first(model_of(shown(known, None)), wall=PICTURES)
    assert not {"picture", "alt", "caption"} & set(off)
    assert "viewers" not in str(off)
    plain = await _first(model_of(shown(known, viewer)))
    assert "picture" not in plain
    assert ["✓ plays", "viewers", False] in plain["numbers"]
    assert "viewers plays 8 s late" in str(plain["label"])


async def test_a_picture_is_served_by_its_hash_alone_and_only_while_the_wall_shows_it(known: Snapshot) -> None:
    viewer, content = picture("red")
    asked, newest = list[str](), [content]

    async def fetch(event_id: str) -> bytes:
        asked.append(event_id)
        return newest[0]

    model = model_of(shown(known, viewer))
    entry = await _first(model, wall=PICTURES)
    address = str(entry["picture"])
    assert entry["alt"] == "picture of viewers: moves, bright"
    async with served(model, wall=PICTURES, viewer_picture=fetch) as outlet:
        for _ in range(2):
            response, body = await outlet.ask("GET", f"/{address}")
            assert (response.status, body) == (200, content)
            assert response.headers["Content-Type"] == "image/jpeg"
            assert response.headers["Cache-Control"].startswith("private")
        assert len(asked) == 1, "once for all browsers"
        for wrong in (address.replace(viewer.image, "0" * 64), f"picture/other/{viewer.image}.jpg", "picture/x.jpg"):
            assert (await outlet.ask("GET", f"/{wrong}"))[0].status == 404
        assert len(asked) == 1
    newest[0] = b"<svg onload=alert(1)>"
    async with served(model, wall=PICTURES, viewer_picture=fetch) as outlet:
        assert (await outlet.ask("GET", f"/{address}"))[0].status == 404, "other bytes than the hash says"
    async with served(model, viewer_picture=None) as outlet:
        assert (await outlet.ask("GET", f"/{address}"))[0].status == 404, "the wall was not told to show pictures"


@pytest.mark.parametrize(
    ("changes", "caption", "is_faded"),
    [
        ({"image_at": ago(15)}, None, None),
        ({"image_at": ago(22)}, "22 s old", None),
        ({"image_at": ago(33)}, "33 s old", True),
        ({"image_at": ago(38), "delivery": Delivery.GONE, "since": ago(38)}, "GONE 00:38", True),
    ],
)
async def test_a_picture_says_its_age(
    known: Snapshot, changes: dict[str, Any], caption: str | None, is_faded: bool | None
) -> None:
    viewer, _ = picture("red", **changes)
    entry = await _first(model_of(shown(known, viewer)), wall=PICTURES)
    assert (entry.get("caption"), entry.get("is_faded")) == (caption, is_faded)
    assert "picture" not in await _first(model_of(shown(known, replace(viewer, image_at=ago(60)))), wall=PICTURES)


@pytest.mark.skipif(CHROMIUM is None, reason="no chromium here: the page is not seen in a browser")
async def test_a_browser_shows_the_picture_with_its_words(known: Snapshot, tmp_path: Path) -> None:
    viewer, content = picture("red", image_at=ago(0) - timedelta(seconds=22))

    async def fetch(_: str) -> bytes:
        return content

    wall = served(model_of(shown(known, viewer)), wall=PICTURES, viewer_picture=fetch)
    async with wall as outlet, browser(tmp_path) as tab:
        await tab.open(outlet.address)
        assert await tab.wait_for("document.querySelector('.poster img')?.naturalWidth") == 160
        assert await tab.evaluate("document.querySelector('.poster img').alt") == "picture of viewers: moves, bright"
        assert await tab.evaluate("document.querySelector('.caption').textContent") == "22 s old"
        assert await tab.evaluate("document.querySelector('.poster').closest('[aria-hidden=true]')") is None
