"""Rule for receivers: public ones are allowed, and others only if the settings name them, however they are written."""

from __future__ import annotations

from ipaddress import ip_address

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedeck.egress import Egress, host_key, literal_addresses, read_entry, zone_of

PRIVATE = {
    "127.0.0.1": "this machine",
    "127.255.255.254": "this machine",
    "0.0.0.0": "this machine",
    "::": "this machine",
    "::1": "this machine",
    "::ffff:127.0.0.1": "this machine",
    "::127.0.0.1": "this machine",
    "64:ff9b::127.0.0.1": "this machine",
    "2002:7f00:1::1": "this machine",
    "2001:db8:1::5efe:7f00:1": "this machine",
    "2606:4700::200:5efe:7f00:1": "this machine",
    "fe80::5efe:8.8.8.8": "a link-local network",
    "10.1.2.3": "a private network",
    "172.31.255.255": "a private network",
    "192.168.0.1": "a private network",
    "100.64.0.1": "a private network",
    "100.127.255.254": "a private network",
    "::ffff:10.1.2.3": "a private network",
    "64:ff9b::a01:203": "a private network",
    "64:ff9b:1::a01:203": "a private network",
    "2002:a01:203::1": "a private network",
    "169.254.169.254": "a link-local network",
    "::ffff:169.254.169.254": "a link-local network",
    "fe80::1%eth0": "a link-local network",
    "fd00::1": "a private network",
    "fec0::1": "a private network",
    "ff02::1": "a private network",
    "224.0.0.1": "a private network",
    "239.255.255.250": "a private network",
    "240.0.0.1": "a private network",
    "255.255.255.255": "a private network",
    "192.0.2.1": "a private network",
    "198.18.0.1": "a private network",
    "2001:db8::1": "a private network",
}
PUBLIC = ["8.8.8.8", "1.1.1.1", "2606:4700::1111", "::ffff:8.8.8.8", "64:ff9b::808:808", "2002:808:808::1"]


@pytest.mark.parametrize(("address", "zone"), PRIVATE.items())
def test_what_is_not_public_is_refused_in_every_form_with_what_to_set(address: str, zone: str) -> None:
    refusal = Egress().refusal("ops.example", address)
    assert refusal.startswith(f"not sent: ops.example ({address}) is on {zone}; to allow it, set ")
    assert refusal.endswith('allow_private = ["ops.example"] in [notify]')
    assert Egress.of(["ops.example"]).refusal("OPS.example.", address) == ""
    assert (
        Egress.of(["other.example", "1.2.3.4"])
        .refusal("ops.example", address)
        .endswith('to allow it, add "ops.example" to allow_private of [notify]')
    )


@pytest.mark.parametrize("address", PUBLIC)
def test_what_is_public_is_allowed(address: str) -> None:
    assert Egress().refusal("ops.example", address) == ""


@pytest.mark.parametrize("address", [address for address in PRIVATE if "%" not in address])
def test_what_a_refusal_says_to_set_is_taken_and_lifts_it(address: str) -> None:
    entry = Egress().refusal(address, address).partition('["')[2].partition('"]')[0]
    assert Egress.of([entry]).refusal(address, address) == ""


@pytest.mark.parametrize(
    ("entry", "allowed", "refused"),
    [
        ("127.0.0.1", ["127.0.0.1", "::ffff:127.0.0.1"], ["127.0.0.2", "::1", "10.0.0.1"]),
        ("10.1.0.0/16", ["10.1.255.1", "::ffff:10.1.0.1", "2002:a01:1::"], ["10.2.0.1"]),
        ("fd00:1::/32", ["fd00:1::5"], ["fd01::5", "::1"]),
        ("::1", ["::1"], ["127.0.0.1"]),
    ],
)
def test_a_network_allows_its_addresses_and_no_others(entry: str, allowed: list[str], refused: list[str]) -> None:
    rule = Egress.of([entry])
    assert {rule.refusal("ops.example", address) for address in allowed} == {""}
    assert all(rule.refusal("ops.example", address) for address in refused)


def test_a_name_allows_that_host_and_no_other_at_the_same_address() -> None:
    rule = Egress.of(["mail.studio.lan"])
    assert rule.refusal("mail.studio.lan", "10.0.0.5") == ""
    assert rule.refusal("evil.example", "10.0.0.5")
    assert rule.refusal("x.mail.studio.lan", "10.0.0.5")


@pytest.mark.parametrize(
    "text", ["", "*", "10.1.2.3/16", "2130706433", "0x7f.1", "127.1", "a b", "http://x", "x:80", "x/24", "-a.example"]
)
def test_an_entry_that_could_be_read_in_two_ways_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="should be an address, a network"):
        read_entry(text)


@given(st.lists(st.one_of(st.ip_addresses().map(str), st.sampled_from(["mail.lan", "Ops.LAN.", "localhost"]))))
def test_the_list_survives_its_own_text(entries: list[str]) -> None:
    rule = Egress.of(entries)
    assert Egress.of(rule.entries) == rule


@given(st.ip_addresses(v=4))
def test_every_form_of_an_ipv4_address_is_judged_alike(address: object) -> None:
    number = int(ip_address(str(address)))
    forms = [f"::ffff:{address}", f"64:ff9b::{address}", str(ip_address((0x2002 << 112) | (number << 80)))]
    assert {zone_of(form) for form in forms} == {zone_of(str(address))}


@pytest.mark.parametrize(
    ("host", "address"),
    [
        ("2130706433", "127.0.0.1"),
        ("0x7f.1", "127.0.0.1"),
        ("0177.0.0.1", "127.0.0.1"),
        ("127.1", "127.0.0.1"),
        ("0", "0.0.0.0"),
        ("[::1]", "::1"),
        ("localhost.", "127.0.0.1"),
        ("LOCALHOST", "127.0.0.1"),
        ("a.localhost", "127.0.0.1"),
    ],
)
def test_odd_spellings_of_an_address_are_read_without_a_look_up(host: str, address: str) -> None:
    assert literal_addresses(host) == [address]


@pytest.mark.parametrize("host", ["ops.example", "", "x" * 300, "a\x00b"])
def test_a_name_stands_for_no_address_until_it_is_looked_up(host: str) -> None:
    assert literal_addresses(host) == []


def test_names_are_compared_without_case_brackets_scope_and_final_dot() -> None:
    assert host_key("[FE80::1%eth0]") == "fe80::1"
    assert host_key("Mail.LAN.") == "mail.lan"
