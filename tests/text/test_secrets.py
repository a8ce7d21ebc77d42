"""What was parsed as a secret is masked in every text, however the text spells it, and at a price that is known."""

from __future__ import annotations

import base64
import html
import json
import random
import string
from collections.abc import Callable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedeck.text.secrets import MAX_SECRETS, REGISTER, SecretRegister, mask_secrets, mask_value, masked, masked_line
from livedeck.text.values import MASK

PLAIN = "live-key-of-the-event-9C1d"
ODD = 'pA$$/w&rd+"1 \u00e9%-<zZ9>'


def json_text(text: str) -> str:
    return json.dumps(text)[1:-1]


SPELLINGS: dict[str, Callable[[str], str]] = {
    "plain": str,
    "upper": str.upper,
    "percent": lambda text: quote(text, safe=""),
    "percent, lower": lambda text: "".join(f"%{byte:02x}" for byte in text.encode()),
    "percent, twice": lambda text: quote(quote(text, safe=""), safe=""),
    "form": quote_plus,
    "JSON": json_text,
    "JSON, Unicode": lambda text: json.dumps(text, ensure_ascii=False)[1:-1],
    "JSON, slashes": lambda text: json_text(text).replace("/", "\\/"),
    "JSON, twice": lambda text: json_text(json_text(text)),
    "JSON, all": lambda text: "".join(f"\\u{ord(char):04X}" for char in text),
    "Python": lambda text: repr(text)[1:-1],
    "Python, bytes": lambda text: repr(text.encode())[2:-1],
    "HTML": html.escape,
    "HTML, numbers": lambda text: "".join(f"&#{ord(char)};" for char in text),
    "HTML, hexadecimal": lambda text: "".join(f"&#x{ord(char):X};" for char in text),
    "base64": lambda text: base64.b64encode(text.encode()).decode(),
    "base64, URL": lambda text: base64.urlsafe_b64encode(text.encode()).decode().rstrip("="),
    "Basic": lambda text: base64.b64encode(f"user:{text}".encode()).decode(),
    "hexadecimal": lambda text: text.encode().hex(),
    "HEXADECIMAL": lambda text: text.encode().hex().upper(),
}


@pytest.mark.parametrize("secret", [PLAIN, ODD], ids=["plain", "odd"])
@pytest.mark.parametrize("spelling", SPELLINGS)
def test_a_secret_is_masked_however_it_is_spelt(secret: str, spelling: str) -> None:
    REGISTER.add(secret)
    spelt = SPELLINGS[spelling](secret)
    for text in (spelt, f"the key '{spelt}' is in use, {spelt}x", json.dumps({"message": spelt})):
        shown = masked(text)
        assert spelt not in shown
        assert spelt[:8] not in shown
        assert MASK in shown


@given(st.text(string.ascii_letters + string.digits + "-_", min_size=8, max_size=40), st.text(max_size=60), st.text())
def test_a_secret_is_found_wherever_it_stands(secret: str, before: str, after: str) -> None:
    register = SecretRegister()
    register.add(secret)
    assert secret.lower() not in register.mask(before + secret + after).lower()


@given(st.text())
def test_a_text_without_a_secret_stays_as_it_is(text: str) -> None:
    register = SecretRegister()
    register.add("a-secret-that-is-not-in-there")
    assert register.mask(text) == text


@pytest.mark.parametrize(
    ("secret", "text", "shown"),
    [
        ("a", "a cat", "a cat"),
        ("abc", "abc", "abc"),
        ("live", "the event is live", "the event is live"),
        ("key1", "key1 is in use, mykey1x is not", f"{MASK} is in use, mykey1x is not"),
        ("4711", "key '4711' of 247110", f"key '{MASK}' of 247110"),
        ("        ", "a        b", "a        b"),
        ("", "a", "a"),
        (f"{MASK}9c1d", f"{MASK}9c1d", f"{MASK}9c1d"),
    ],
)
def test_a_short_value_masks_no_word(secret: str, text: str, shown: str) -> None:
    REGISTER.add(secret)
    assert mask_secrets(text) == shown


def test_of_two_secrets_in_one_another_the_longer_is_masked() -> None:
    for secret in ("live-key-of-the-event", "live-key-of-the-event-and-more-9c1d"):
        REGISTER.add(secret)
    assert mask_secrets("x live-key-of-the-event-and-more-9c1d y live-key-of-the-event") == f"x {MASK}9c1d y {MASK}vent"


def test_an_end_that_means_something_to_a_pattern_is_kept_as_it_is() -> None:
    REGISTER.add(r"a-secret-with-\g<0>\1")
    assert mask_secrets(r"x a-secret-with-\g<0>\1 y") == r"x ••••0>\1 y"


def test_what_is_not_visible_hides_no_secret() -> None:
    REGISTER.add(PLAIN)
    split = "\u200b".join(PLAIN)
    assert masked_line(f"in use: {split}") == f"in use: {MASK}9C1d"
    assert PLAIN[:4] not in masked_line(f"{'x' * 995} {PLAIN}")


def test_a_value_is_masked_whole_tree() -> None:
    REGISTER.add(PLAIN)
    value = {"a": [PLAIN, 1, None, {"b": f"rtmp://u:p@h/{PLAIN}"}], PLAIN: True}
    assert PLAIN not in repr(mask_value(value))
    assert mask_value(value) == {
        "a": [f"{MASK}9C1d", 1, None, {"b": f"rtmp://{MASK}@h/{MASK}9C1d"}],
        f"{MASK}9C1d": True,
    }


def test_the_register_is_bounded_and_keeps_what_was_parsed_last() -> None:
    for number in range(MAX_SECRETS + 10):
        REGISTER.add(f"signature-{number:08}")
        REGISTER.add(PLAIN)
    assert mask_secrets(PLAIN) != PLAIN
    assert mask_secrets(f"signature-{MAX_SECRETS:08}").startswith(MASK)
    assert mask_secrets("signature-00000000") == "signature-00000000"
    assert REGISTER.count <= MAX_SECRETS


def test_a_text_is_looked_through_once_whatever_number_of_secrets_there_is() -> None:
    """Counted, not timed: what is compared with a text are the secrets that share a sample with it."""
    noise = random.Random(1)
    for _ in range(MAX_SECRETS):
        REGISTER.add(f"live-key-{noise.randbytes(12).hex()}")
    line = '{"event": "live-key events are polled", "id": "4d2c2f2e-6f53-4f0e-9a53-0c4f1e3b7a10", "level": "info"}'
    assert len(REGISTER.candidates(line)) < MAX_SECRETS // 100
    assert mask_secrets(line) == line


def test_a_long_text_of_one_letter_is_looked_through_once() -> None:
    """Such a name froze the deck: from each letter on it was asked anew whether an encoded value begins. Would take
    minutes."""
    REGISTER.add(PLAIN)
    text = "x" * 200_000
    assert mask_secrets(text) == text
    assert PLAIN not in mask_secrets(f"{text} {PLAIN}")
