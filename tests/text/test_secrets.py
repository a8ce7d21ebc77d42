"""Every registered secret is masked in every text, in any spelling, at a known cost."""

from __future__ import annotations

import base64
import html
import json
import random
import re
import string
import sys
from collections.abc import Callable, Iterable
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from livedeck.text.secrets import (
    MAX_PUBLIC,
    MAX_SECRETS,
    REGISTER,
    SecretRegister,
    mask_secrets,
    mask_value,
    masked,
    masked_line,
)
from livedeck.text.values import MASK
from trials import trials

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


@pytest.mark.parametrize("times", [4, 16, 30])
@pytest.mark.parametrize("escape", ["percent", "HTML, numbers"])
def test_a_secret_is_masked_however_often_it_is_escaped(escape: str, times: int) -> None:
    REGISTER.add(ODD)
    spelt = "".join(f"%{byte:02X}" for byte in ODD.encode()) if escape == "percent" else SPELLINGS[escape](ODD)
    for _ in range(times - 1):
        spelt = spelt.replace("%", "%25").replace("&", "&amp;")
    assert spelt[:8] not in masked(f"refused: {spelt}")


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


_ODD_CASES = "aAbBsSiIkKfF1_-. •\n\u0130\u0131\u017f\u212a\u00df\u1e9e\u0390\u1fd3\ufb05\ufb06\u03c3\u03c2\u0345\u0149"
"""Letters that Python compares, lowers or raises in unusual ways, and ends of words."""

_SHORT_SECRETS = st.lists(st.text(_ODD_CASES, min_size=4, max_size=7), min_size=1, max_size=5)


def reference(secrets: Iterable[str], text: str) -> str:
    """Mask the short secrets that stand alone by one pattern of all of them: the law in one line."""
    guarding = (secret for secret in secrets if secret.strip() and not secret.isalpha() and not secret.startswith(MASK))
    either = "|".join(map(re.escape, sorted(guarding, key=len, reverse=True)))
    return re.sub(rf"(?<!\w)(?:{either})(?!\w)", MASK, text, flags=re.IGNORECASE) if either else text


@trials(2000)
@given(_SHORT_SECRETS, st.data())
def test_short_values_are_masked_where_a_pattern_of_them_all_finds_them(
    secrets: list[str], data: st.DataObject
) -> None:
    register = SecretRegister()
    for secret in secrets:
        register.add(secret)
    spellings = st.sampled_from([*secrets, *map(str.upper, secrets), *map(str.lower, secrets)])
    text = "".join(data.draw(st.lists(spellings | st.text(_ODD_CASES, max_size=2), max_size=8)))
    assert register.mask(text) == reference(secrets, text)


def test_a_short_value_is_found_in_every_case_that_a_pattern_takes_for_the_same() -> None:
    cased = [char for char in map(chr, range(sys.maxunicode + 1)) if char.casefold() != char or char.upper() != char]
    every = "".join(cased)
    for char in cased:
        register = SecretRegister()
        register.add(f"{char}-42")
        for same in re.findall(re.escape(char), every, re.IGNORECASE):
            assert register.mask(f"{same}-42") == MASK


def calls_of(work: Callable[[], object]) -> int:
    """Count the calls of Python and C that the work makes."""
    count = 0

    def profile(_frame: object, event: str, _argument: object) -> None:
        nonlocal count
        count += event in {"call", "c_call"}

    sys.setprofile(profile)
    try:
        work()
    finally:
        sys.setprofile(None)
    return count


def adding_calls(register: SecretRegister, numbers: Iterable[int]) -> int:
    keys = [f"k{number:06}" for number in numbers]

    def add() -> None:
        for key in keys:
            register.add(key)

    return calls_of(add)


def masking_calls(register: SecretRegister, text: str) -> int:
    return calls_of(lambda: register.mask(text))


def test_a_list_of_short_values_is_added_one_by_one_at_the_same_price_each() -> None:
    """Each of 1,000 keys once had a pattern of all the others compiled; a list of 10,000 held a thread for minutes."""
    register, prices = SecretRegister(), list[int]()
    for start in range(0, 3 * MAX_SECRETS, 64):
        prices.append(adding_calls(register, range(start, start + 64)))
        assert prices[-1] <= 2 * prices[0], "past the limit another one is forgotten for each"
    assert register.count == MAX_SECRETS


def test_a_text_costs_the_same_whatever_number_of_short_values_there_is() -> None:
    register, texts = SecretRegister(), ("poll k000001 again", '{"event": "k9", "id": "4d2c2f2e", "rate": 1.5}')
    register.add("k000001")
    price = [masking_calls(register, text) for text in texts]
    for number in range(MAX_SECRETS):
        register.add(f"k{number:06}")
    assert [masking_calls(register, text) for text in texts] == price
    assert register.mask(texts[0]) == f"poll {MASK} again"


def test_of_short_values_too_the_newest_are_kept() -> None:
    register = SecretRegister()
    for number in range(MAX_SECRETS + 1):
        register.add(f"k{number:06}")
    assert register.mask(f"k000000 k000001 k{MAX_SECRETS:06}") == f"k000000 {MASK} {MASK}"
    for number in range(MAX_SECRETS):
        register.add(f"signature-{number:08}")
    assert register.mask(f"k{MAX_SECRETS:06}") == f"k{MAX_SECRETS:06}"


@pytest.mark.parametrize("key", ["gala-2026-main", "gala26"], ids=["long", "short"])
@pytest.mark.parametrize("is_name_first", [True, False])
def test_a_key_that_is_also_a_public_name_is_left_as_it_is_in_texts(key: str, *, is_name_first: bool) -> None:
    """In any case and escaping, with blanks or what nobody sees around and in the name."""
    for name in (key, key.upper(), f" {key}\n", f"{key[:3]}\u200b{key[3:]}"):
        register = SecretRegister()
        if is_name_first:
            register.add_public(name)
        register.add(key)
        if not is_name_first:
            register.add_public(name)
        for text in (f"{key} is on air", key.upper(), quote(key, safe=""), json.dumps({"name": key})):
            assert register.mask(text) == text
        assert register.is_public(key)


@pytest.mark.parametrize(
    ("key", "name"),
    [
        ("gala-2026-main", "The gala-2026-main of the year"),
        ("gala-2026-main", "gala-2026"),
        ("gala26", "Gala26, main"),
        ("gala26", "gala 26"),
        ("gala-2026-main", "gala-2026-main" + " " * 600),
    ],
)
def test_a_key_that_is_a_part_of_a_name_stays_masked(key: str, name: str) -> None:
    register = SecretRegister()
    register.add(key)
    register.add_public(name)
    assert not register.is_public(key)
    assert key not in register.mask(f"the key {key} of {name}")


def test_a_public_name_uncovers_no_other_secret() -> None:
    """Nor one that it is a part of, which overlaps it, or that is spelt alike."""
    register = SecretRegister()
    for secret in ("gala-2026-main", "gala-2026-main-and-more", "the-gala-2026-main", "gala-2026-ma1n", "gala26"):
        register.add(secret)
    register.add_public("gala-2026-main")
    text = "the-gala-2026-main gala-2026-main gala-2026-main-and-more gala-2026-ma1n gala26"
    assert register.mask(text) == f"{MASK}main gala-2026-main {MASK}more {MASK}ma1n {MASK}"


def test_the_names_that_are_known_are_bounded_and_one_that_is_forgotten_is_masked_again() -> None:
    register = SecretRegister()
    register.add("gala-2026-main")
    register.add_public("gala-2026-main")
    for number in range(MAX_PUBLIC - 1):
        register.add_public(f"event {number}")
    assert register.mask("gala-2026-main") == "gala-2026-main"
    register.add_public("one more of 2026")
    assert register.mask("gala-2026-main") == f"{MASK}main"
    register.add_public("gala-2026-main")
    register.clear()
    register.add("gala-2026-main")
    assert register.mask("gala-2026-main") == f"{MASK}main"


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
