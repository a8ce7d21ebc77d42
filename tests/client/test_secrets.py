"""Secrets are never shown: by print, repr, an error or a log."""

import asyncio
import json
import logging
import pickle
import subprocess
import sys
import threading
import traceback
from base64 import b64encode
from collections.abc import Callable, Mapping
from pathlib import Path
from urllib.parse import quote, quote_plus

import pytest

from client.answers import EMPTY_LIST, TOKEN, Platform, api_of, listening, saying
from client.raw_platform import raw_platform
from client.test_events import DOCUMENTED, read
from livedeck.client import (
    Api,
    ApiError,
    Conflict,
    Event,
    EventDraft,
    EventRestreamDraft,
    Secret,
    SecretLink,
    Validation,
)
from livedeck.client.http.secrets import Address, IngestAddress, PublicName, SignedLink
from livedeck.client.resources.base import Model
from livedeck.text.secrets import REGISTER, masked, register_public

SECRETS = (
    TOKEN,
    DOCUMENTED["streamkey"],
    DOCUMENTED["rtmp_link"],
    DOCUMENTED["restreams"][0]["key"],
    "canary-in-extra",
)


def clean(text: str) -> bool:
    return not any(secret in text for secret in SECRETS)


def test_a_secret_shows_its_mask_and_reveals_when_asked() -> None:
    secret = Secret("live-key-of-the-event-9c1d")
    assert (str(secret), repr(secret), f"{secret:>10}") == ("••••9c1d", "Secret('••••9c1d')", "  ••••9c1d")
    assert secret.reveal() == "live-key-of-the-event-9c1d"


def test_a_link_shows_all_but_its_key() -> None:
    link = SecretLink("rtmp://ingest.example/live/live-key-of-the-event-9c1d")
    assert f"{link}" == "rtmp://ingest.example/live/••••9c1d"
    assert str(SecretLink("rtmps://ingest.example:443/short")) == "rtmps://ingest.example:443/••••"


def test_secrets_are_equal_by_value() -> None:
    assert Secret("a") == Secret("a")
    assert Secret("a") != Secret("b")
    assert Secret("a") != "a"
    assert len({Secret("a"), Secret("a")}) == 1


async def test_an_event_shows_no_secret_in_any_form() -> None:
    event = await read(DOCUMENTED | {"new_key": "canary-in-extra"})
    assert event.streamkey == Secret(DOCUMENTED["streamkey"])
    assert clean(f"{event} {event!r} {event.restreams!r} {[event]}")
    named = event.model_copy(update={"new_key": None})
    assert str(event.rtmp_link) == "rtmp://in.example.com/live/••••"
    assert clean(f"{named.model_dump()} {named.model_dump_json()}")


@pytest.mark.parametrize(
    "platform",
    [
        saying({"data": DOCUMENTED | {"id": {}, "streamkey": [DOCUMENTED["streamkey"]]}}),
        saying({"data": [DOCUMENTED["streamkey"]]}),
        saying(f"no json {TOKEN}".encode()),
        saying({"error": {"code": 401401, "message": TOKEN}}, 401),
        saying({}, 302, {"Location": f"https://elsewhere.example.com/{TOKEN}"}),
    ],
)
async def test_an_error_and_its_traceback_show_no_secret(platform: Platform, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        async with api_of(platform) as api:
            with pytest.raises(ApiError) as caught:
                await api.events.get("x")
    assert clean("".join(traceback.format_exception(caught.value)) + repr(caught.value) + caplog.text)


async def test_a_fault_and_its_log_show_no_secret(caplog: pytest.LogCaptureFixture) -> None:
    odd = {"streamkey": [DOCUMENTED["streamkey"]], "rtmp_link": {"url": DOCUMENTED["rtmp_link"]}}
    event = await read(DOCUMENTED | odd)
    assert [fault.field for fault in event.faults] == ["streamkey", "rtmp_link"]
    assert "rtmp_link should be a string, not an object" in caplog.text
    assert clean(f"{event.faults} {caplog.text} {event!r}")


async def test_logs_of_the_wire_show_no_token(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    async with listening(EMPTY_LIST) as (address, _heads), Api(base_url=address, token=TOKEN) as api:
        await api.events.list()
    assert clean(caplog.text + repr(api) + repr(vars(api)))


def test_an_event_made_by_hand_takes_a_secret_as_it_is() -> None:
    assert Event(id="x", streamkey=Secret("k")).streamkey == Secret("k")


KEY = "live-key/of the+event-9c1d"


@pytest.mark.parametrize("spell", [str, quote, quote_plus, lambda text: json.dumps(text)[1:-1], str.upper])
async def test_a_refusal_that_repeats_a_key_shows_it_nowhere(spell: Callable[[str], str]) -> None:
    """Of a change that sent it, and of a read of something else: the platform said it before."""
    refusal = {"message": f"key {spell(KEY)} is in use", "invalid_params": [{"name": "key", "reason": spell(KEY)}]}
    event = {"data": {"id": "y", "streamkey": KEY}}
    draft = EventDraft(restreams=(EventRestreamDraft(name="n", url="rtmp://h/a", key=Secret(KEY)),))

    def reply(path: str, _query: str) -> tuple[int, bytes, Mapping[str, str]]:
        if path.endswith("/y"):
            return 200, json.dumps(event).encode(), {}
        return 400, json.dumps({"error": {"code": 400400} | refusal}).encode(), {}

    async with api_of(Platform(reply)) as api:
        with pytest.raises(Validation) as of_the_change:
            await api.events.update("x", draft)
        REGISTER.clear()
        await api.events.get("y")
        with pytest.raises(Validation) as of_the_read:
            await api.rooms.list()
    for caught in (of_the_change, of_the_read):
        error = caught.value
        texts = (str(error), error.message, str(error.invalid_params), *traceback.format_exception(error))
        assert all(spell(KEY) not in text and KEY not in text for text in texts)
        assert error.message == "key ••••9c1d is in use"


@pytest.mark.parametrize(
    "spell",
    [
        str,
        str.upper,
        lambda key: json.dumps(key).replace("u", "\\u0075"),
        lambda key: quote(key).replace("u", "%75"),
        lambda key: b64encode(key.encode()).decode(),
        lambda key: key.encode().hex(),
    ],
)
async def test_a_refusal_shows_no_key_whose_own_reply_is_still_on_its_way(spell: Callable[[str], str]) -> None:
    """The platform has sent the key, but livedeck has not received it, so that no register can hold it."""
    unread = "unread-key-of-the-event-4b7e"
    repeated = spell(unread)
    refusal = error_body(
        f"in use with {repeated}", repeated, [{"name": "key", "reason": repeated}, {repeated: repeated}]
    )
    is_refused = threading.Event()

    def reply(method: str, _path: str) -> bytes:
        if method == "GET":
            is_refused.wait(20)
            return http_reply(200, {"data": {"id": "y", "streamkey": unread}})
        return http_reply(400, refusal)

    with raw_platform(reply) as address:
        async with Api(base_url=address, token=TOKEN, retry=0.0) as api:
            reading = asyncio.create_task(api.events.get("y"))
            with pytest.raises(Validation) as caught:
                await api.events.enable("x")
            is_refused.set()
            await reading
    error = caught.value
    told = f"{error} {error.message} {error.detail} {error.invalid_params} {error.body} {pickle.dumps(error)!r}"
    assert "in use with " in told
    assert "••••" in error.message
    assert not [key for key in (repeated, unread, unread[:11]) if key.lower() in told.lower()]


@pytest.mark.parametrize(
    "plain",
    [
        "restreams[2].stream_key should have 1 to 512 characters",
        "restreams.2.stream_key is in use",
        "event 4d2c2f2e-6f53-4f0e-9a51-0a7e7c1f9b10 is live since 2026-11-30T10:00:00Z",
        "at most 1920x1080 and 6000kbit/s",
        "cannot reach rtmp://in1.example.com:1935, nor rtmp2.example.com:1935.",
        "Event 4d2c2f2e-6f53-4f0e-9a51-0a7e7c1f9b10. At most 1920x1080.",
        "`restreams.2.name` and /restreams/0/stream_key are taken, video/mp4 too",
        "/v2/live/events/4d2c2f2e-6f53-4f0e-9a51-0a7e7c1f9b10/enable, nginx/1.22.1",
    ],
)
async def test_a_refusal_keeps_words_that_are_no_keys(plain: str) -> None:
    async with api_of(saying(error_body(plain, plain, []), 400)) as api:
        with pytest.raises(Validation) as caught:
            await api.events.list()
    assert (caught.value.message, caught.value.detail) == (plain, plain)
    assert caught.value.body.count(plain) == 2


@pytest.mark.parametrize(
    "key",
    ["x9f3k2:a8d7s6", "7716293845520193", "12345678abcdef", "9999999999x9999999", "abcdefgh.123456", "live_9c1d_x7f2"],
)
async def test_a_refusal_shows_no_word_that_looks_like_a_key(key: str) -> None:
    body = {"id": key} | error_body(f"taken: {key}.", f"({key})", {f"{key}-1": "too long", f"{key}-2": key})
    async with api_of(saying(body, 400)) as api:
        with pytest.raises(Validation) as caught:
            await api.events.list()
    error = caught.value
    assert key not in f"{error} {error.message} {error.detail} {error.invalid_params} {error.body}"
    assert isinstance(error.invalid_params, dict)
    assert len(error.invalid_params) == 2


async def test_a_refusal_that_is_no_json_shows_no_word_that_looks_like_a_key() -> None:
    async with api_of(saying(b"<p>key unread-key-of-the-event-4b7e is in use</p>", 400)) as api:
        with pytest.raises(Validation) as caught:
            await api.events.list()
    assert caught.value.body == "<p>key ••••4b7e is in use</p>"


async def test_a_refusal_keeps_a_public_name_that_looks_like_a_key() -> None:
    register_public("Council-2026-11")
    async with api_of(saying(error_body("name taken: Council-2026-11.", "", []), 409)) as api:
        with pytest.raises(Conflict, match="name taken: Council-2026-11"):
            await api.events.list()


def error_body(message: str, detail: str, invalid: object) -> dict[str, object]:
    return {"error": {"code": 400400, "message": message, "detail": detail, "invalid_params": invalid}}


def http_reply(status: int, body: object) -> bytes:
    content = json.dumps(body).encode()
    return f"HTTP/1.1 {status} Any\r\nContent-Length: {len(content)}\r\n\r\n".encode() + content


async def test_what_is_hidden_of_an_address_is_hidden_in_json_and_masked_elsewhere() -> None:
    canary = "pass-word-of-the-user"
    event = await read(
        {
            "id": "x",
            "play_link": f"https://user:{canary}@play.example/e/1?t={canary}",
            "rtmp_link": f"rtmp://user:{canary}@in.example/live/{canary}?pass={canary}",
            "restreams": [{"url": f"srt://in.example:9000?passphrase={canary}", "key": canary}],
            "poster": {"xs": f"https://cdn.example/p/x.png?sign={canary}"},
            "surprise": canary,
        }
    )
    assert event.play_link is not None
    assert canary in event.play_link  # what it is stays what it is
    shown = event.model_dump_json()
    assert canary not in shown
    assert "https://••••@play.example/e/••••?••••" in shown
    assert masked(f"no access for {canary}") == "no access for ••••user"


def test_importing_the_library_changes_nothing_in_the_host() -> None:
    """Whoever imports the client finds their logging, hooks and environment as they were."""
    code = """
import logging, os, sys, warnings
def state():
    return list(logging.getLogger().handlers), sys.excepthook, dict(os.environ), warnings.filters[:], sys.stdout
before = state()
import livedeck.client
assert state() == before
"""
    env = {"PYTHONPATH": str(Path(__file__).parents[2] / "src"), "PATH": ""}
    assert subprocess.run([sys.executable, "-c", code], env=env, check=False).returncode == 0


class Parsed(Model):
    """Field of each kind that registers its secret when it is parsed."""

    ingest: SecretLink | None = None
    signed: SignedLink | None = None
    page: Address | None = None
    target: IngestAddress | None = None
    name: PublicName | None = None
    key: Secret | None = None


@pytest.mark.parametrize(
    ("field", "value", "secret"),
    [
        ("ingest", "rtmp://ingest.example/live/kq7-canary-41", "kq7-canary-41"),
        ("signed", "https://cdn.example/a.vtt?sign=kq7-canary-42", "kq7-canary-42"),
        ("page", "https://cdn.example/a.jpg?token=kq7-canary-43", "kq7-canary-43"),
        ("target", "https://ingest.example/whip/kq7-canary-44", "kq7-canary-44"),
        ("key", "kq7-canary-45", "kq7-canary-45"),
    ],
)
def test_a_parsed_secret_is_masked_in_every_text(field: str, value: str, secret: str) -> None:
    before = masked(f"refused {secret}")
    Parsed.model_validate({field: value})
    assert (before, secret in masked(f"refused {secret}")) == (f"refused {secret}", False)


def test_the_path_of_an_rtmp_target_is_no_key_and_a_public_name_is_never_masked() -> None:
    Parsed.model_validate(
        {"target": "rtmp://ingest.example/studio-north", "name": "kq7-canary-46", "key": "kq7-canary-46"}
    )
    assert masked("studio-north and kq7-canary-46") == "studio-north and kq7-canary-46"
