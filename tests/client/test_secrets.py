"""What must not be shown is not shown: not by print, not by repr, not by an error, not by a log."""

import logging
import traceback

import pytest

from client.answers import EMPTY_LIST, TOKEN, Platform, api_of, listening, saying
from client.test_events import DOCUMENTED, read
from livedeck.client import Api, ApiError, Event, Secret, SecretLink

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


@pytest.mark.parametrize(
    "link",
    [
        "rtmp://user:word-of-the-user@ingest.example/live/key",
        "srt://ingest.example:9000?streamid=live-key-9c1d",
        "srt://ingest.example:9000/live?streamid=a/live-key-9c1d",
        "rtmp://ingest.example/live/#live-key-9c1d",
        "rtmp://ingest.example/live-key-9c1d/live/live-key-9c1d",
        "rtmp://ingest.example/live/live-key-9c1d/",
        "rtmp://ingest.example/key=live-key-9c1d/live",
        "live-key-9c1d",
        "rtmp://ingest.example/live/a b/live-key-9c1d",
    ],
)
def test_a_link_that_may_hold_a_secret_elsewhere_is_masked_whole(link: str) -> None:
    assert str(SecretLink(link)) == str(Secret(link))


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
