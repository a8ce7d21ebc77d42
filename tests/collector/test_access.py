"""Rights of tokens; delays after wrong tokens; limits on how much a token reads, with the reason."""

from __future__ import annotations

from datetime import timedelta
from hashlib import sha256
from typing import Any

import pytest
from starlette.requests import Request

from collector.service import MAY, Service, known, secret, service
from livedeck.collector.protocol.wire import EXPIRED, REPLACED
from livedeck.collector.serving import access as accesses
from livedeck.collector.serving.access import MAX_PEERS, MAX_READERS, MAX_READERS_OF_TOKEN, MAX_WRONG, Access
from livedeck.collector.serving.endpoints import Caller, Refusal
from virtual_clock import VirtualClock

ROUTES = [
    ("GET", "/healthz", {"": 200, "prometheus": 200, "wall": 200, "anna": 200}),
    ("GET", "/readyz", {"": 200, "prometheus": 200, "wall": 200, "anna": 200}),
    ("GET", "/metrics", {"": 401, "prometheus": 200, "wall": 200, "anna": 200}),
    ("GET", "/v1/snapshot", {"": 401, "prometheus": 403, "wall": 200, "anna": 200}),
    ("GET", "/v1/changes", {"": 401, "prometheus": 403, "wall": 410, "anna": 410}),
    ("GET", "/v1/events/one/samples", {"": 401, "prometheus": 403, "wall": 200, "anna": 200}),
    ("POST", "/v1/events/one/usual", {"": 401, "prometheus": 403, "wall": 403, "anna": 200}),
    ("POST", "/v1/poke", {"": 401, "prometheus": 403, "wall": 200, "anna": 200}),
    ("GET", "/v1/nothing", {"": 401, "prometheus": 404, "wall": 404, "anna": 404}),
    ("DELETE", "/v1/snapshot", {"": 401, "prometheus": 405, "wall": 405, "anna": 405}),
]


@pytest.mark.parametrize(("method", "path", "wanted"), ROUTES, ids=[f"{row[0]} {row[1]}" for row in ROUTES])
async def test_each_token_may_what_it_may(method: str, path: str, wanted: dict[str, int]) -> None:
    async with service() as made:
        for token, status in wanted.items():
            answered = await made.ask(path, token, method)
            assert answered.status_code == status, (token, answered.text)
            if status >= 400:
                assert set(answered.json()) == {"error", "say"}


@pytest.mark.parametrize(
    "header", ["", "Bearer", "Bearer ", f"Basic {secret('anna')}", "Bearer anna", f"Bearer {secret('anna')}x"]
)
async def test_what_is_no_token_of_ours_is_refused_and_not_repeated(header: str) -> None:
    async with service() as made:
        answered = await made.ask("/v1/snapshot", "", authorization=header)
        assert (answered.status_code, answered.headers["www-authenticate"]) == (401, "Bearer")
        assert secret("anna") not in answered.text


async def test_a_token_in_the_address_is_none() -> None:
    async with service() as made:
        answered = await made.ask(f"/v1/snapshot?token={secret('anna')}&access_token={secret('anna')}", "")
        assert answered.status_code == 401


async def test_no_page_of_a_browser_may_ask() -> None:
    async with service() as made:
        answered = await made.ask("/v1/snapshot", origin="https://elsewhere.example")
        assert (answered.status_code, answered.json()["error"]) == (403, "browser")
        assert not [name for name in answered.headers if name.startswith("access-control")]


async def test_who_guesses_is_told_to_wait_and_who_knows_is_heard() -> None:
    async with service() as made:
        wrong = [(await made.ask("/v1/snapshot", "mallory")).status_code for _ in range(MAX_WRONG + 2)]
        assert wrong == [401] * MAX_WRONG + [429] * 2
        assert (await made.ask("/v1/snapshot", "mallory")).headers["retry-after"]
        assert (await made.ask("/v1/snapshot")).status_code == 200
        await made.deck.clock.run(made.deck.clock.sleep(accesses.WRONG_SECONDS))
        assert (await made.ask("/v1/snapshot", "mallory")).status_code == 401


async def test_behind_a_proxy_the_one_who_guesses_is_the_one_that_the_proxy_saw() -> None:
    for is_proxied, other in ((True, 401), (False, 429)):
        async with service(is_proxied=is_proxied) as made:
            for index in range(MAX_WRONG + 1):
                said = f"198.51.100.{index}, 203.0.113.9"  # what stands first anybody can write
                last = await made.ask("/v1/snapshot", "mallory", x_forwarded_for=said)
            assert last.status_code == 429
            again = await made.ask("/v1/snapshot", "mallory", x_forwarded_for="203.0.113.9, 203.0.113.10")
            assert again.status_code == other


def request(peer: str) -> Request:
    """Return a request of a stranger from an address."""
    headers = [(b"authorization", b"Bearer wrong")]
    return Request({"type": "http", "headers": headers, "client": (peer, 1), "path": "/", "method": "GET"})


def test_strangers_without_number_cost_no_memory_without_end() -> None:
    access = Access(dict, VirtualClock())
    for number in range(2 * MAX_PEERS):
        with pytest.raises(Refusal):
            access.identify(request(str(number)))
    assert len(access._wrong) == MAX_PEERS


async def test_a_token_that_is_taken_away_opens_nothing_from_then_on() -> None:
    async with service() as made:
        assert (await made.ask("/v1/snapshot")).status_code == 200
        made.tokens.update(known({"new": "read"}))
        del made.tokens["anna"]
        assert (await made.ask("/v1/snapshot")).status_code == 401
        assert (await made.ask("/v1/snapshot", "new")).status_code == 200


def change(made: Service, **fields: Any) -> None:
    """Change the token of anna from now on."""
    made.tokens["anna"] = made.tokens["anna"].model_copy(update=fields)


async def wait(made: Service, seconds: float) -> None:
    """Let some time pass."""
    await made.deck.clock.run(made.deck.clock.sleep(seconds))


def digest(name: str) -> str:
    """Return the digest of a token, as in the settings."""
    return sha256(secret(name).encode()).hexdigest()


async def test_a_token_is_valid_until_it_expires_and_is_refused_with_what_to_do() -> None:
    async with service() as made:
        change(made, expires=made.deck.clock.now() + timedelta(seconds=60))
        await wait(made, 59)
        assert (await made.ask("/v1/snapshot")).status_code == 200
        await wait(made, 1)
        for _ in range(MAX_WRONG + 2):  # nobody guesses who has the right one
            answered = await made.ask("/v1/snapshot")
            assert (answered.status_code, answered.json()["error"]) == (401, EXPIRED)
        say = answered.json()["say"]
        assert f"the token of anna expired {made.tokens['anna'].expires:%Y-%m-%d %H:%M}Z" in say
        assert "livedeck collector token rotate anna" in say
        assert (await made.ask("/v1/snapshot", "wall")).status_code == 200


async def test_a_rotated_token_is_valid_beside_the_new_one_until_its_grace_is_over() -> None:
    async with service() as made:
        grace = made.deck.clock.now() + timedelta(seconds=60)
        change(made, sha256=digest("new"), previous_sha256=digest("anna"), previous_until=grace)
        for token in ("anna", "new"):
            listing = await made.ask("/v1/snapshot", token)
            assert (listing.status_code, listing.json()["by"], listing.json()["may"]) == (200, "anna", MAY["anna"])
        await wait(made, 60)
        answered = await made.ask("/v1/snapshot")
        assert (answered.status_code, answered.json()["error"]) == (401, REPLACED)
        assert "this token of anna was replaced" in answered.json()["say"]
        assert (await made.ask("/v1/snapshot", "new")).status_code == 200


async def test_a_stream_goes_on_for_the_very_token_it_began_with() -> None:
    """Not for its name: one that is removed and made anew is another."""
    async with service() as made:
        now, anna = made.deck.clock.now(), Caller("anna", "act", digest("anna"))
        later, over = now + timedelta(seconds=1), now
        for fields, is_known in (
            ({}, True),
            ({"may": "read"}, False),
            ({"sha256": digest("new")}, False),
            ({"sha256": digest("new"), "previous_sha256": digest("anna"), "previous_until": later}, True),
            ({"sha256": digest("new"), "previous_sha256": digest("anna"), "previous_until": over}, False),
            ({"expires": later}, True),
            ({"expires": over}, False),
        ):
            made.tokens.update(known(MAY))
            change(made, **fields)
            assert made.access.is_known(anna) is is_known, fields
        del made.tokens["anna"]
        assert not made.access.is_known(anna)


def test_no_more_readers_than_there_may_be() -> None:
    access = Access(dict, VirtualClock())
    anna, readings = Caller("anna", "read"), []
    for _ in range(MAX_READERS_OF_TOKEN):
        access.check_readers(anna)
        readings.append(access.reading(anna))
        readings[-1].__enter__()
    with pytest.raises(Refusal, match="8 readers already use the token of anna") as refused:
        access.check_readers(anna)
    assert refused.value.status == 429
    access.check_readers(Caller("bert", "read"))
    for number in range(MAX_READERS - MAX_READERS_OF_TOKEN):
        readings.append(access.reading(Caller(str(number), "read")))
        readings[-1].__enter__()
    with pytest.raises(Refusal, match="256 readers") as full:
        access.check_readers(Caller("bert", "read"))
    assert full.value.status == 503
    for reading in readings:
        reading.__exit__(None, None, None)
    access.check_readers(anna)
