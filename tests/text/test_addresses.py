"""Only the harmless parts of an address are shown, whatever the rest is called or looks like."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from livedeck.text.addresses import holds_secret, secret_parts, show, show_in, show_text
from livedeck.text.values import MASK

SHOWN = {
    "rtmp://user:PW@host.example/app/live-key-9c1d?pass=word": "rtmp://••••@host.example/app/••••9c1d?••••",
    "rtmp://in.example:1935/live/short": "rtmp://in.example:1935/live/••••",
    "rtmp://in.example/live": "rtmp://in.example/live",
    "rtmp://in.example/live/": "rtmp://in.example/live",
    "rtmps://in.example/app/_inst_/live-key-9c1d": "rtmps://in.example/app/••••9c1d",
    "rtmp://in.example/live-key/live/live-key": "rtmp://in.example/••••-key",
    "rtmp://in.example/key=live-key-9c1d/live": "rtmp://in.example/••••live",
    "rtmp://in.example/live/#live-key-9c1d": "rtmp://in.example/live#••••",
    "rtmp://live-key@in.example/live-key": "rtmp://••••@in.example/••••",
    "srt://in.example:9000?streamid=live-key-9c1d&passphrase=x": "srt://in.example:9000?••••",
    "srt://in.example:9000/live?streamid=a/live-key-9c1d": "srt://in.example:9000/••••?••••",
    "https://cdn.example/s/2026/a-file.vtt?expires=1&sign=abc": "https://cdn.example/s/••••.vtt?••••",
    "https://whip.example/whip/TOKEN": "https://whip.example/whip/••••",
    "https://whip.example/TOKEN-OF-SIXTEEN": "https://whip.example/••••TEEN",
    "https://cdn.example": "https://cdn.example",
    "https://cdn.example/?": "https://cdn.example?••••",
    "https://[2001:db8::1]:8443/a/b": "https://[2001:db8::1]:8443/a/••••",
    "https://b\u00fccher.example/a/b": "https://b\u00fccher.example/a/••••",
    "https://xn--bcher-kva.example/a/b": "https://xn--bcher-kva.example/a/••••",
    "HTTPS://CDN.example/a/b": "HTTPS://CDN.example/a/••••",
    "http://a@b@c.example/x": "http://••••@c.example/••••",
    " rtmp://in.example/live/key ": "rtmp://in.example/live/••••",
}

UNREADABLE = (
    "rtmp:live-key-9c1d",
    "rtmp://",
    "rtmp:///live-key-9c1d",
    "rtmp://in.example:99999/live-key",
    "rtmp://in.example:port/live-key",
    "rtmp://in.example\\@evil.example/live-key",
    "rtmp://in example/live-key",
    "rtmp://in.example/live\n/live-key",
    "rtmp://in.example/\u202elive/live-key",
    "https://[::1/live-key",
    "https://[12345::]/live-key",
    "https://[fe80::1%25eth0]/live-key",
    "https://in.%65xample/live-key",
    "mailto:live-key@example.org",
    "data:text/plain,live-key",
    "javascript:alert('live-key')",
)


@pytest.mark.parametrize(("address", "shown"), SHOWN.items())
def test_an_address_is_shown_by_scheme_host_port_and_app(address: str, shown: str) -> None:
    assert show(address) == shown
    assert show(shown) == shown  # what was shown once stays as it is


@pytest.mark.parametrize("address", UNREADABLE)
def test_of_an_address_that_cannot_be_read_the_scheme_is_shown(address: str) -> None:
    assert show(address) == f"{address.partition(':')[0]}:{MASK}"


@pytest.mark.parametrize("address", ["live-key-9c1d", "//in.example/live-key", "in.example/live/key", "://x"])
def test_what_has_no_scheme_is_not_shown_at_all(address: str) -> None:
    assert show(address) == MASK


def test_where_the_key_is_a_part_of_the_address_no_segment_stands_alone() -> None:
    assert show("rtmp://in.example/live-key-9c1d", has_key=True) == "rtmp://in.example/••••9c1d"
    assert show("rtmp://in.example/live/key", has_key=True) == "rtmp://in.example/live/••••"


def test_no_address_is_shown_as_the_caller_says() -> None:
    assert (show(None), show("", "-")) == ("?", "-")


def test_addresses_in_a_text_are_shown_so_and_the_text_stays() -> None:
    text = (
        "push to rtmp://u:pw@in.example/live/key-9c1d-abcd, (see https://docs.example/a/b?c=d). Then 'srt://h:1?x=y'!"
    )
    assert show_in(text) == (
        "push to rtmp://••••@in.example/live/••••abcd, (see https://docs.example/a/••••?••••). Then 'srt://h:1?••••'!"
    )
    assert show_in("a plain text: nothing // in it") == "a plain text: nothing // in it"


@pytest.mark.parametrize(
    ("text", "is_secret", "as_shown"),
    [
        ("Gala https://tickets.example/?id=5", True, "Gala https://tickets.example?••••"),
        ("Gala https://tickets.example/", False, "Gala https://tickets.example"),
        ("Gala rtmp://in.example/live/key-9c1d-abcd!", True, "Gala rtmp://in.example/live/••••abcd!"),
        ("anna@example.org: see https://x.example", False, "anna@example.org: see https://x.example"),
        ("Gala: https://u:pw@x.example", True, "Gala: https://••••@x.example"),
        ("What? Why://", False, "What? Why://"),
        ("rtmp://in.example/live/my key-9c1d", True, "rtmp://in.example/live/••••"),
        ("https://x.example/a/b", False, "https://x.example/a/••••"),
    ],
)
def test_of_a_name_that_contains_an_address_the_rest_is_shown(text: str, is_secret: bool, as_shown: str) -> None:
    assert (holds_secret(text), show_text(text)) == (is_secret, as_shown)


CANARY = "cAnArY-0f3e"
_NO_CANARY = st.text(st.characters(codec="utf-8", exclude_categories=["Cs"]), max_size=12)
_PLACES = ("user", "password", "first", "middle", "last", "name", "value", "fragment")


@given(st.sampled_from(_PLACES), st.sampled_from(["rtmp", "srt", "https", "whip"]), _NO_CANARY)
@example("middle", "rtmp", "/")
def test_a_secret_in_no_part_is_shown(place: str, scheme: str, noise: str) -> None:
    """Whatever stands around it; the app alone, which is the first of two segments, may be seen."""
    part = dict.fromkeys(_PLACES, "x") | {place: f"{noise}{CANARY}x"}
    path = f"{part['first']}/{part['middle']}/{part['last']}" if place != "first" else part["first"]
    address = f"{scheme}://{part['user']}:{part['password']}@in.example/{path}?{part['name']}={part['value']}#{part['fragment']}"
    may_be_app = place == "first" or (place == "middle" and "/" in noise)
    if not may_be_app:
        assert CANARY not in show(address)
    assert CANARY not in show(address, has_key=True) or place == "middle"


@pytest.mark.parametrize(
    ("address", "has_key", "parts"),
    [
        ("rtmp://user:pa%24%24word@h/live/key", False, {"pa$$word"}),
        ("rtmp://token-as-user@h/live", False, {"token-as-user"}),
        ("rtmp://h/live/key", True, {"key"}),
        ("rtmp://h/live/a-long-key", False, {"a-long-key"}),
        ("srt://h?streamid=r%3Dlive/a-long-key&passphrase=0123456789", False, {"a-long-key", "0123456789"}),
        ("https://h/events/4d2c2f2e-6f53", False, set()),
        ("https://h/whip/a-long-token", True, {"a-long-token"}),
        ("https://h/f.vtt?lang=de&sign=0123456789", False, {"0123456789"}),
        ("no address", False, set()),
    ],
)
def test_what_must_not_be_repeated_is_known(address: str, has_key: bool, parts: set[str]) -> None:
    found = set(secret_parts(address, has_key=has_key))
    assert parts <= found
    assert bool(parts) == bool(found)
