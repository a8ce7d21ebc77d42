"""The example in the docstring of every public call runs unchanged, against a platform of its own."""

from __future__ import annotations

import ast
import doctest
import inspect
from collections.abc import AsyncIterator, Coroutine, Iterator
from contextlib import asynccontextmanager, redirect_stdout
from datetime import UTC, datetime
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

import livedeck.client
from livedeck.client import Api, Page
from livedeck.simulator import Simulator, serve

_FLAGS = doctest.ELLIPSIS


def _public_calls() -> Iterator[tuple[str, object]]:
    """Yield every method of the Api, of its resources and of a page."""
    api = Api(base_url="http://127.0.0.1", token="t")
    resources = {name: type(resource) for name, resource in vars(api).items() if not name.startswith("_")}
    for name, owner in {"api": Api, "page": Page, **resources}.items():
        for method, call in vars(owner).items():
            if not method.startswith("_") and (inspect.isfunction(call) or isinstance(call, property)):
                yield f"{name}.{method}", call


CALLS = dict(_public_calls())
_NO_CALL = {"api.read_only", "api.host", "api.timings"}
"""Attributes that are read and not called."""


def examples(call: object) -> list[doctest.Example]:
    """Return the examples in the docstring of a call."""
    return doctest.DocTestParser().get_examples(inspect.getdoc(call) or "")


@asynccontextmanager
async def platform(folder: Path) -> AsyncIterator[dict[str, Any]]:
    """Yield the names that an example may use, with a platform that is still unchanged."""
    simulator = Simulator(seed=7)
    async with (
        serve(simulator) as addresses,
        Api(base_url=addresses.base_url, upload_url=addresses.upload_url, token=simulator.token) as api,
    ):
        events = {event.name: event async for event in api.events.iterate()}
        event, recorded = events["Town hall, main"], events["Rehearsal Tuesday"]
        assert event.stream
        (recording,) = await api.events.videos(recorded.id)
        rooms = [room async for room in api.rooms.iterate() if room.restreams]
        material = await api.materials.upload(recording.id, b"slides", "slides.txt", "Slides")
        assert material
        yield vars(livedeck.client) | {
            "api": api,
            "event_id": event.id,
            "stream_id": event.stream.id,
            "draft_id": events["Untitled event"].id,
            "recorded_id": recorded.id,
            "parent_id": recorded.parent_id,
            "video_id": recording.id,
            "poster_id": (await api.posters.list(recording.id))[-1].id,
            "subtitle_id": (await api.subtitles.list(recording.id))[0].id,
            "annotation_id": (await api.annotations.list(recording.id))[0].id,
            "material_id": material.id,
            "room_id": rooms[0].id,
            "restream_id": (rooms[0].restreams or ())[0].id,
            "owner_id": simulator.user_id,
            "folder": folder,
            "datetime": datetime,
            "UTC": UTC,
        }
    simulator.close()


async def output_of(example: doctest.Example, names: dict[str, Any]) -> str:
    """Return the output of an example, typed into `python -m asyncio`."""
    code = compile(example.source, "<example>", "single", flags=ast.PyCF_ALLOW_TOP_LEVEL_AWAIT)
    output = StringIO()
    with redirect_stdout(output):
        running = eval(code, names)
        if isinstance(running, Coroutine):
            await running
    return output.getvalue()


@pytest.mark.parametrize("name", sorted(CALLS.keys() - _NO_CALL))
async def test_every_public_call_has_an_example_that_runs_and_shows_what_it_says(name: str, tmp_path: Path) -> None:
    shown = examples(CALLS[name])
    assert shown, f"{name} has no example"
    async with platform(tmp_path) as names:
        for example in shown:
            output = await output_of(example, names)
            assert doctest.OutputChecker().check_output(example.want, output, _FLAGS), (example.source, output)
