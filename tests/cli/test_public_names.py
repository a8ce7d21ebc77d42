"""An event whose stream key is its name keeps its name in JSON and metrics, and `doctor` warns of the key."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path

from cli.commands import livedeck, served
from livedeck.client import Api, Secret


async def named_like_its_key(base_url: str, token: str) -> tuple[str, str]:
    """Give an event its stream key as its name. Returns its id and the name."""
    async with Api(base_url=base_url, token=token) as api:
        (event,) = (await api.events.list(per_page=1)).items
        event = await api.events.get(event.id)
        assert isinstance(event.streamkey, Secret)
        name = event.streamkey.reveal().upper()
        await api.events.update(event.id, name=name)
        return event.id, name


def test_json_names_the_event_and_the_doctor_tells_of_its_key(tmp_path: Path) -> None:
    with served(tmp_path) as (_, service):
        event_id, name = asyncio.run(named_like_its_key(service["base_url"], service["token"]))
        env = {"LIVEDECK_BASE_URL": service["base_url"], "LIVEDECK_TOKEN": service["token"]}
        status = json.loads(livedeck(tmp_path, "status", "--json", env=env).stdout)
        listed = json.loads(livedeck(tmp_path, "event", "get", event_id, "--json", env=env).stdout)
        checks = json.loads(livedeck(tmp_path, "doctor", "--json", env=env).stdout)["checks"]
    assert name in [event["name"] for event in status["events"]]
    assert name in json.dumps(listed)
    assert name.lower() not in json.dumps(listed), "the key itself"
    (told,) = [check for check in checks if check["name"] == "keys"]
    assert told["verdict"] == "warn"
    assert f"{name[:30]}" in told["found"]
    assert "the stream key ••••" in told["found"]
