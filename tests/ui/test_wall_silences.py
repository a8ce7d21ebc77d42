"""A wall never hides a silence: a badge for each event under one, and a footer on every page."""

from __future__ import annotations

from dataclasses import replace
from datetime import timedelta

import pytest
import pytest_asyncio

from livedeck.cli.screenshots import EVENING
from livedeck.monitor import Matcher, Silence, Silenced, Snapshot
from livedeck.presentation.events import EVENTS
from livedeck.presentation.filtering import parse
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import width
from livedeck.ui.wallboard.cache import DrawCache
from livedeck.ui.wallboard.layout import Wall
from livedeck.ui.wallboard.model import wall_model
from livedeck.ui.wallboard.page import page
from ui.wall_stage import evening, lines, many, text

FOOTER = "MAINTENANCE Harbour webcam until 22:14Z (2 alarms silenced)"


@pytest_asyncio.fixture(scope="module", loop_scope="module", name="silent")
async def _silent() -> Snapshot:
    """Return the evening with a silence of an hour for the webcam."""
    known = await evening()
    ends_at = EVENING + timedelta(hours=1)
    matchers = (Matcher.parse("name ~ Harbour*"),)
    silence = Silence("u", "s-1", matchers, EVENING, ends_at, "anna@regie:7", "encoder swap", EVENING, "anna@regie:7")
    words = Silenced("s-1", ends_at, "encoder swap", "anna@regie:7")
    alarms = tuple(
        replace(alarm, silenced=words) if alarm.subject == "Harbour webcam" else alarm for alarm in known.alarms
    )
    return replace(known, alarms=alarms, silences=(silence,))


@pytest.mark.parametrize(("size", "pages"), [((80, 24), 2), ((160, 45), 1), ((240, 67), 1)])
def test_a_tile_has_a_badge_and_each_page_the_footer(silent: Snapshot, size: tuple[int, int], pages: int) -> None:
    shown = lines(silent, size)
    assert FOOTER in text(shown)
    assert "M 22:14Z" in text(shown)
    assert {width(line) for line in shown} == {size[0]}
    assert len(shown) == size[1]
    for number in range(pages):
        assert FOOTER in text(lines(silent, size, page=number))


def test_a_grid_and_a_filter_that_hides_the_event_have_the_footer(silent: Snapshot) -> None:
    grid = replace(many(silent, 25), silences=silent.silences, alarms=silent.alarms)
    assert "MAINTENANCE Harbour webcam" in text(lines(grid, (160, 45)))
    hidden = lines(silent, (160, 45), terms=parse("Lecture", EVENTS.filter_fields()))
    assert "MAINTENANCE name ~ Harbour* until 22:14Z (2 alarms silenced)" in text(hidden)


def test_after_its_end_nothing_of_it_is_shown(silent: Snapshot) -> None:
    shown = text(lines(silent, (160, 45), now=EVENING + timedelta(hours=1)))
    assert "MAINTENANCE" not in shown
    assert "M 22:14Z" not in shown


def test_the_page_in_a_browser_has_both(silent: Snapshot) -> None:
    model = wall_model(silent, RenderTime.from_snapshot(silent, EVENING))
    made = page(model, Wall(), DrawCache())
    assert FOOTER in [banner.text for banner in made.head.banners]
    (entry,) = [entry for entry in made.entries.values() if entry.name == "Harbour webcam"]
    assert entry.detail.startswith("M 22:14Z")
