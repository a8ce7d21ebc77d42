"""First start: it leads to the demo, or to a platform that was tried before it is saved."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from itertools import count

import pytest
from textual import events
from textual.pilot import Pilot

from livedeck.text.segments import plain
from livedeck.ui.general.welcome import (
    COMMAND,
    ENVIRONMENT,
    FILE,
    SCHEMA,
    TYPED,
    Choice,
    PlatformSettings,
    Welcome,
    platform_settings,
)
from livedeck.ui.kit.dialogs.form import Form, Label
from livedeck.ui.kit.dialogs.inputs import TextInput


@asynccontextmanager
async def asking(
    *answers: str,
) -> AsyncIterator[tuple[Welcome, Pilot[Choice], list[PlatformSettings], list[PlatformSettings]]]:
    """Yield a first start whose platform gives these replies, try by try; the tried settings, and the saved ones."""
    tried: list[PlatformSettings] = []
    kept: list[PlatformSettings] = []
    left = list(answers)

    async def try_out(given: PlatformSettings) -> str:
        tried.append(given)
        return left.pop(0) if left else ""

    def save(given: PlatformSettings) -> str:
        kept.append(given)
        return ""

    seconds = count()  # one passes with each look at the clock: nobody hurries
    welcome = Welcome(try_out, save, lambda: float(next(seconds)), theme="dark")
    async with welcome.run_test(size=(80, 24)) as pilot:
        await pilot.pause()
        yield welcome, pilot, tried, kept


async def typed(pilot: Pilot[Choice], text: str) -> None:
    pilot.app.post_message(events.Paste(text))
    await pilot.pause()


async def test_one_key_leads_to_the_demo() -> None:
    async with asking() as (welcome, pilot, tried, _):
        await pilot.press("enter")
        assert welcome.return_value is Choice.DEMO
        assert not tried


async def test_answers_that_do_not_work_come_back_with_the_reason_and_those_that_do_are_kept() -> None:
    async with asking("list events: the platform refused the token") as (welcome, pilot, tried, kept):
        await pilot.press("right", "enter")
        await pilot.pause()
        await typed(pilot, "https://platform.example")
        welcome.screen.query(TextInput)[2].focus()
        await typed(pilot, "a-secret-token")
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert isinstance(welcome.screen, Form)
        assert not kept
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert welcome.return_value is Choice.DECK
        assert kept == tried[1:] == [PlatformSettings({"base_url": "https://platform.example"}, "a-secret-token")]


@pytest.mark.parametrize(
    ("source", "place", "settings"),
    [
        (FILE, "~/token", {"token_file": "~/token"}),
        (COMMAND, "pass show 'my token'", {"token_command": ["pass", "show", "my token"]}),
        (ENVIRONMENT, "", {}),
    ],
)
def test_a_token_can_come_from_elsewhere(source: str, place: str, settings: dict[str, object]) -> None:
    entries = {**SCHEMA.empty(), "base_url": "https://p.example", "source": source}
    entries |= {FILE: {"file": place}, COMMAND: {"command": place}}.get(source, {})
    assert platform_settings(entries) == PlatformSettings({"base_url": "https://p.example", **settings})


@pytest.mark.parametrize("source", [TYPED, FILE, COMMAND])
def test_a_source_without_its_token_is_refused_in_words(source: str) -> None:
    with pytest.raises(ValueError, match="token"):
        platform_settings({**SCHEMA.empty(), "base_url": "https://p.example", "source": source})


def required(welcome: Welcome) -> set[str]:
    """Return the labels that the form shows with a star."""
    shown = [label for label in welcome.screen.query(Label) if label.parent and label.parent.display]
    texts = [plain(label.draw(20, 1)[0]).split() for label in shown]
    return {" ".join(text[:-1]) for text in texts if text[-1] == "*"}


async def test_the_form_shows_and_requires_only_the_entry_of_the_chosen_source() -> None:
    async with asking() as (welcome, pilot, tried, _):
        await pilot.press("right", "enter")
        await pilot.pause()
        starred = {TYPED: required(welcome)}
        await typed(pilot, "https://platform.example")
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert not tried
        await pilot.press("shift+tab")
        for source in (FILE, COMMAND, ENVIRONMENT):
            await pilot.press("right")
            await pilot.pause()
            starred[source] = required(welcome)
        assert starred == {
            TYPED: {"Address", "Token"},
            FILE: {"Address", "File"},
            COMMAND: {"Address", "Command"},
            ENVIRONMENT: {"Address"},
        }
        await pilot.press("ctrl+s")
        await pilot.pause()
        assert tried == [PlatformSettings({"base_url": "https://platform.example"})]
