"""The simulator against its OpenAPI document, by schemathesis.

`python tests/simulator/conformance.py [options of st run]`: a command of its own, not a test of the suite, because it
takes minutes. Most requests name existing objects: guessed ids would only get 404.
"""

from __future__ import annotations

import asyncio
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import httpx

from livedeck.simulator import Simulator, serve

ST = Path(sys.executable).with_name("st")
CONFIG = Path(__file__).with_name("schemathesis.toml")
EVENTS, VIDEOS, ROOMS, MATERIALS = "/v2/live/events", "/v1/videos", "/v1/meet/rooms", "/upload/additional-material"
PROBABILITY = 0.8
"""The chance that a request names an existing object."""

Ids = dict[str, list[str]]


async def run(*options: str) -> int:
    """Run all checks against a simulator of its own and return the exit code of schemathesis."""
    simulator = Simulator()
    try:
        with TemporaryDirectory() as folder:
            async with serve(simulator) as addresses:
                bearer = {"Authorization": f"Bearer {simulator.token}"}
                async with httpx.AsyncClient(base_url=addresses.base_url, headers=bearer) as api:
                    kept, deleted = await find_ids(api, simulator.user_id)
                config = _write_config(Path(folder, CONFIG.name), kept, deleted)
                process = await asyncio.create_subprocess_exec(
                    *(ST, "--config-file", str(config), "run", f"{addresses.base_url}/openapi.json"),
                    *("--checks", "all", "--seed", "1", "-H", f"Authorization: Bearer {simulator.token}"),
                    # How long a case takes to be made tells the machine's load, and nothing of the simulator.
                    *("--suppress-health-check", "too_slow", *options),
                )
                return await process.wait()
    finally:
        simulator.close()


async def find_ids(api: httpx.AsyncClient, user: str) -> tuple[Ids, Ids]:
    """Return existing ids by the parameter that takes them: ids to read, and ids for DELETE only."""
    events = await _listed(api, EVENTS)
    by_name = {event["name"]: event for event in events}
    chosen = [by_name[name] for name in ("Choir, hall B", "Evening news", "Untitled event")]
    video = (await _listed(api, f"{EVENTS}/{by_name['Rehearsal Tuesday']['id']}/videos"))[0]["id"]
    rooms = sorted(await _listed(api, ROOMS), key=lambda room: -len(room["restreams"]))
    kept = {
        "path.event_id": [event["id"] for event in chosen],
        "path.stream_id": [chosen[0]["stream"]["id"]],
        "path.video_id": [video],
        "path.room_id": [rooms[0]["id"]],
        "path.restream_id": [profile["id"] for profile in rooms[0]["restreams"]],
        "header.X-Video-ID": [video],
        "header.X-Event-ID": [chosen[0]["id"]],
        "body.owner_id": [user],
        "body.parent_id": [chosen[0]["parent_id"]],
        "body.video_id": [video],
    }
    deleted = {"path.event_id": [by_name["Lecture 7"]["id"]], "path.room_id": [rooms[1]["id"]]}
    for name, pair in (await _extras(api, f"{VIDEOS}/{video}")).items():
        kept[name], deleted[name] = pair[:1], pair[1:]
    return kept, deleted


async def _extras(api: httpx.AsyncClient, video: str) -> Ids:
    """Return two ids of each kind of extra of a video."""
    pairs: Ids = {}
    for kind in ("poster", "subtitle", "annotation"):
        pairs[f"path.{kind}_id"] = [row["id"] for row in await _listed(api, f"{video}/{kind}s")][:2]
    headers = {"X-Video-ID": video.rpartition("/")[2], "X-File-Name": "notes.txt"}
    files = [await api.post(MATERIALS, headers=headers, content=b"notes") for _ in range(2)]
    return pairs | {"path.material_id": [file.json()["data"]["id"] for file in files]}


async def _listed(api: httpx.AsyncClient, path: str) -> list[dict[str, Any]]:
    answer = await api.get(path, params={"per_page": 100})
    rows: list[dict[str, Any]] = answer.raise_for_status().json()["data"]
    return rows


def _write_config(path: Path, kept: Ids, deleted: Ids) -> Path:
    path.write_text("\n".join([*_dictionaries(kept, deleted), CONFIG.read_text("utf-8")]), "utf-8")
    return path


def _dictionaries(kept: Ids, deleted: Ids) -> Iterator[str]:
    """The tables of the configuration that say so."""
    for prefix, ids in (("kept", kept), ("deleted", deleted)):
        yield from (
            f"[dictionaries.{_dictionary_name(prefix, name)}]\nvalues = {json.dumps(ids[name])}" for name in ids
        )
    yield "[parameters]"
    yield from (_bound("kept", name) for name in kept)
    yield '[[operations]]\ninclude-method = "DELETE"\n[operations.parameters]'
    yield from (_bound("deleted", name) for name in deleted)


def _bound(prefix: str, name: str) -> str:
    return f'"{name}" = {{ dictionary = "{_dictionary_name(prefix, name)}", probability = {PROBABILITY} }}'


def _dictionary_name(prefix: str, name: str) -> str:
    return f"{prefix}-{name.replace('.', '-').lower()}"


if __name__ == "__main__":
    sys.exit(asyncio.run(run(*sys.argv[1:])))
