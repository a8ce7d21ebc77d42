"""An address in a reply may lead to public hosts or into the platform's own network, and nowhere else."""

from __future__ import annotations

from pathlib import Path

import pytest

from client.answers import TOKEN, listening
from livedeck.client import Api, Misconfigured
from livedeck.client.http.reach import LinkGuard, check_tunnel, guarding
from livedeck.egress import zone_of

ZONES = {
    "127.0.0.1": "this machine",
    "127.8.9.1": "this machine",
    "::1": "this machine",
    "0.0.0.0": "this machine",
    "::": "this machine",
    "::ffff:127.0.0.1": "this machine",
    "::127.0.0.1": "this machine",
    "64:ff9b::7f00:1": "this machine",
    "2002:7f00:1::": "this machine",
    "169.254.169.254": "a link-local network",
    "fe80::1%eth0": "a link-local network",
    "::ffff:169.254.169.254": "a link-local network",
    "10.1.2.3": "a private network",
    "172.16.0.1": "a private network",
    "192.168.1.1": "a private network",
    "100.64.0.1": "a private network",
    "fd00::1": "a private network",
    "fec0::1": "a private network",
    "224.0.0.1": "a private network",
    "255.255.255.255": "a private network",
    "192.0.2.1": "a private network",
    "1.1.1.1": "",
    "2606:4700::1111": "",
    "::ffff:1.1.1.1": "",
}

WORLD = "https://1.1.1.1"  # named, and never asked


@pytest.mark.parametrize(("address", "zone"), ZONES.items())
def test_every_way_to_write_an_address_is_judged_alike(address: str, zone: str) -> None:
    assert zone_of(address) == zone


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "127.1", "2130706433", "0x7f.0.0.1", "[::ffff:127.0.0.1]"])
async def test_a_link_to_this_machine_is_not_asked_where_the_platform_is_elsewhere(tmp_path: Path, host: str) -> None:
    """A listening socket would see it; names and odd numbers are judged by what they resolve to."""
    async with listening(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nsecret") as (address, heads):
        link = f"https://{host}:{address.rpartition(':')[2]}/poster.png"
        async with Api(base_url=WORLD, token=TOKEN, retry=0) as api:
            with pytest.raises(Misconfigured, match=r"read poster: not sent, because .* is on this machine"):
                await api.cdn.content(link, 100, "read poster")
            with pytest.raises(Misconfigured, match="not sent"):
                await api.cdn.save(link, tmp_path / "file", "download")
    assert heads == []
    assert not [*tmp_path.glob("*")]  # noqa: ASYNC240


async def test_a_link_without_tls_is_asked_on_this_machine_only_where_the_platform_is() -> None:
    async with listening(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok") as (address, heads):
        async with Api(base_url=WORLD, token=TOKEN, retry=0) as api:
            with pytest.raises(Misconfigured, match="this machine"):
                await api.cdn.content(f"{address}/a", 100, "read poster")
        assert heads == []
        async with Api(base_url="http://localhost:1", token=TOKEN, retry=0) as api:
            assert await api.cdn.content(f"{address}/a", 100, "read poster") == b"ok"
            for other in ("http://10.0.0.1/a", "http://cdn.example/a"):
                with pytest.raises(Misconfigured, match="http would send"):
                    await api.cdn.content(other, 100, "read poster")


@pytest.mark.parametrize("target", ["https://169.254.169.254/latest", "https://10.0.0.1/", "https://[fe80::1]/"])
async def test_a_redirect_is_judged_as_the_link_was(target: str) -> None:
    """The platform is on this machine, and no network around it is its own."""
    away = f"HTTP/1.1 302 Away\r\nLocation: {target}\r\nContent-Length: 0\r\n\r\n".encode()
    async with listening(away) as (address, heads), Api(base_url=address, token=TOKEN, retry=0) as api:
        with pytest.raises(Misconfigured, match=r"is on a (link-local|private) network"):
            await api.cdn.content(f"{address}/a", 100, "read poster")
    assert len(heads) == 1


async def test_where_the_platform_is_links_may_lead() -> None:
    assert await LinkGuard("read", ["127.0.0.1"]).resolve("localhost", 80)
    assert await LinkGuard("read", ["10.0.0.9"]).resolve("10.0.0.1", 80) == ["10.0.0.1"]
    with pytest.raises(Misconfigured):
        await LinkGuard("read", ["10.0.0.9"]).resolve("127.0.0.1", 80)


async def test_through_a_proxy_addresses_are_judged_and_names_are_the_proxys() -> None:
    with guarding(LinkGuard("read", ["1.1.1.1"])):
        await check_tunnel("cdn.example", 443)
        for host in ("169.254.169.254", "[::1]", "2130706433", "0x7f.1", "localhost"):
            with pytest.raises(Misconfigured):
                await check_tunnel(host, 443)
    await check_tunnel("127.0.0.1", 443)
