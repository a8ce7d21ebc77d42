"""Register of secrets. It masks them in every text that leaves the process.

Errors of the platform, exceptions of libraries and notes of people may contain a key or a token. Therefore every parsed
secret enters the register. The log, the history, notices, errors, the clipboard, pictures and printed tables pass
through the register. It keeps the newest `MAX_SECRETS`, because signed links expire.

A secret that equals a public name, such as the name of an event, protects nothing. A mask would hide which object is
meant, so the name stays readable in texts. The field of the secret itself stays masked (trust.md, "The register").

The register looks up short runs (grams) of a text, one at every fifth character. This takes 15 µs for a line of the
log, with any number of secrets.
"""

from __future__ import annotations

import binascii
import html.entities
import re
from base64 import urlsafe_b64decode
from collections import OrderedDict
from collections.abc import Callable, Iterator, Sequence
from functools import lru_cache
from threading import Lock
from urllib.parse import unquote

from livedeck.text import addresses, values
from livedeck.text.outside import Shown, shown
from livedeck.text.values import MASK, mask

MAX_SECRETS = 4096

MAX_PUBLIC = 32_768
"""Maximum number of public names and ids in the register: about three for each of 10,000 events."""

_MAX_PUBLIC_LENGTH = 512
"""Maximum length of a public name. No platform accepts a longer key."""

_MIN_ALONE = 4
"""Minimum length of a secret. A shorter value occurs in any text."""

_MIN_ANYWHERE = 8
"""Minimum length of a secret that is masked inside words. A shorter secret must stand alone and not be a word."""

_GRAM = 4
_STRIDE = _MIN_ANYWHERE - _GRAM + 1  # every run of `_MIN_ANYWHERE` characters holds a whole gram at such a step

_CREDENTIAL = re.compile(
    r"(?i)(\bbearer\s+|(?:sign|signature|token|key|auth|secret|password|passphrase)=)(?!••••)[^&#\s\"'<>\\,;]+"
)
"""Pattern of text that is labelled as a secret. It finds secrets that were never parsed as such."""

_TICKET = re.compile(r"WzEsI[\w-]+\.[\w-]+", re.ASCII)
"""Pattern of the end of a link that acknowledges an alarm (`Links`). This end alone grants the permission."""

_ESCAPE = re.compile(r"((?:\\+x[0-9a-f]{2})+)|\\+(?:u([0-9a-f]{4})|(.))", re.IGNORECASE | re.DOTALL)
_BASE64, _NO_WORD = re.compile(r"[A-Za-z0-9+/_-]{11,}"), re.compile(r"[A-Z0-9+]")
_HEX = re.compile(r"(?:[0-9a-fA-F]{2}){8,}[0-9a-fA-F]?")
_STARTS = re.compile(rf"(?<!\w)(?=.{{{_MIN_ALONE}}})", re.DOTALL)
"""Pattern of the places where a separate secret of under eight characters may begin."""

_SHORT_LENGTHS = range(_MIN_ANYWHERE - 1, _MIN_ALONE - 1, -1)

_WORD = re.compile(r"\w")
_ROUNDS = 16
"""Maximum number of nested escapings of a text that are undone. A text with more of them is masked as a whole."""


class SecretRegister:
    """Register of the secrets of the process, which masks them in texts. Thread-safe."""

    def __init__(self) -> None:
        self._secrets: OrderedDict[str, str] = OrderedDict()  # by `_key_of`, the newest last
        self._public: OrderedDict[str, None] = OrderedDict()  # by `_key_of`, the newest last
        self._by_gram: dict[str, set[str]] = {}
        self._short_counts = [0] * _MIN_ANYWHERE  # number of secrets under eight characters, by length
        self._lock = Lock()

    def add(self, secret: str) -> None:
        """Mask the secret from now on, unless it is too short or too common to protect anything.

        Takes the same time with any number of secrets, because lists of 10,000 keys are registered one by one.
        """
        key = _key_of(secret)
        with self._lock:
            if key in self._secrets:
                self._secrets.move_to_end(key)
            elif _guards_something(secret):
                self._secrets[key] = secret
                self._index(key)
                if len(self._secrets) > MAX_SECRETS:
                    self._forget_oldest()

    def add_public(self, name: str) -> None:
        """Keep a name readable in texts, even if the same value is also registered as a secret, before or after.

        A secret stays readable only if it equals the whole name, apart from case and blanks around it. A secret that is
        a part of the name is masked.
        """
        if len(name) > _MAX_PUBLIC_LENGTH:
            return
        for form in {name.strip(), shown(name).strip()}:
            if _guards_something(form):
                key = _key_of(form)
                with self._lock:
                    self._public[key] = None
                    self._public.move_to_end(key)
                    if len(self._public) > MAX_PUBLIC:
                        self._public.popitem(last=False)

    def is_public(self, secret: str) -> bool:
        """Return whether a secret equals a public name. Such a secret protects nothing."""
        return _key_of(secret.strip()) in self._public

    def clear(self) -> None:
        """Remove every secret and name."""
        with self._lock:
            self._secrets.clear()
            self._public.clear()
            self._by_gram.clear()
            self._short_counts = [0] * _MIN_ANYWHERE

    def mask(self, text: str) -> str:
        """Mask every secret in a text, even if it is escaped or encoded."""
        if not self._secrets:
            return text
        for secret in self._secrets_in(text):
            text = _replace(re.escape(secret), mask(secret), text)[0]
        if lengths := [length for length in _SHORT_LENGTHS if self._short_counts[length]]:
            text = self._mask_alone(text, lengths)
        if "%" in text or "\\" in text or "&" in text:
            text = self._mask_escaped(text)
        runs = {run for run in _BASE64.findall(text) if _NO_WORD.search(run)} | {*_HEX.findall(text)}
        if runs and self._secrets_in("\n".join(decoded for run in runs for decoded in _decoded(run))):
            for run in runs:
                text = text.replace(run, MASK) if self._secrets_in("\n".join(_decoded(run))) else text
        return text

    def _index(self, key: str) -> None:
        if len(key) < _MIN_ANYWHERE:
            self._short_counts[len(key)] += 1
            return
        for gram in _grams_of(key):
            self._by_gram.setdefault(gram, set()).add(key)

    def _forget_oldest(self) -> None:
        key, _ = self._secrets.popitem(last=False)
        if len(key) < _MIN_ANYWHERE:
            self._short_counts[len(key)] -= 1
            return
        for gram in set(_grams_of(key)):
            self._by_gram[gram].discard(key)
            if not self._by_gram[gram]:
                del self._by_gram[gram]

    def _mask_alone(self, text: str, lengths: Sequence[int]) -> str:
        """Mask secrets of these lengths that stand alone. If two begin alike, mask the longer one."""
        parts, masked_to, folded = list[str](), 0, _folded(text)
        for found in _STARTS.finditer(text):
            start = found.start()
            if start < masked_to:
                continue
            for length in lengths:
                key = folded[start : start + length]
                if key in self._secrets and not self.is_public(key) and not _WORD.match(text, end := start + len(key)):
                    parts += (text[masked_to:start], MASK)
                    masked_to = end
                    break
        return "".join((*parts, text[masked_to:])) if parts else text

    def _secrets_in(self, text: str) -> list[str]:
        """Return the secrets of at least eight characters that are in the text and not public, longest first."""
        lowered = text.lower()
        candidates = self.candidates(lowered).items()
        found = [secret for key, secret in candidates if key in lowered and not self.is_public(secret)]
        return sorted(found, key=len, reverse=True)

    def candidates(self, lowered: str) -> dict[str, str]:
        """Return key -> secret for each secret that the lower-case text may contain: they share a gram."""
        samples = {lowered[at : at + _GRAM] for at in range(0, len(lowered) - _GRAM + 1, _STRIDE)}
        with self._lock:
            return {key: self._secrets[key] for gram in samples & self._by_gram.keys() for key in self._by_gram[gram]}

    @property
    def count(self) -> int:
        """Return the number of registered secrets."""
        return len(self._secrets)

    def _mask_escaped(self, text: str) -> str:
        """Mask secrets that are escaped for URLs, JSON, Python or HTML."""
        plain = text
        for _ in range(_ROUNDS):
            before, plain = plain, _unescaped(plain)
            spaced = (
                _unescaped(before.replace("+", " ")) if "+" in before else ""
            )  # a form encodes spaces as plus signs
            for secret in self._secrets_in(f"{plain}\n{spaced}"):
                text, count = _replace("".join(map(_escaped_character, secret)), mask(secret), text)
                if not count and secret.lower() not in before.lower():
                    return MASK  # the secret is there, but its escaping is unknown
            if plain == before:
                return text
        return MASK


def _guards_something(secret: str) -> bool:
    if secret.startswith(MASK) or len(secret) < _MIN_ALONE or not secret.strip():
        return False
    return len(secret) >= _MIN_ANYWHERE or not secret.isalpha()


def _key_of(secret: str) -> str:
    return secret.lower() if len(secret) >= _MIN_ANYWHERE else _folded(secret)


def _folded(text: str) -> str:
    """Return a key of the same length, equal for two texts that `re.IGNORECASE` treats as equal."""
    lowered = text.translate(_TWINS).lower()
    upper = lowered.upper()
    if len(upper) == len(text):
        return upper
    return "".join(upper if len(upper := char.upper()) == 1 else char for char in lowered)


_TWINS = str.maketrans("\u0130\u1fd3\u1fe3\ufb05", "i\u0390\u03b0\ufb06")
"""Characters that equal another one for `re.IGNORECASE`, although both differ in upper case and in lower case."""


def _grams_of(key: str) -> Iterator[str]:
    """Yield the grams (short runs of characters) at the end of a key, since keys often begin with the same text."""
    tail = key[-_MIN_ANYWHERE:]
    return (tail[at : at + _GRAM] for at in range(_STRIDE))


def _unescaped(text: str) -> str:
    return _ESCAPE.sub(_unescape, html.unescape(unquote(text) if "%" in text else text))


def _unescape(found: re.Match[str]) -> str:
    if found[1]:
        return bytes.fromhex(found[1].replace("\\", "").replace("x", "").replace("X", "")).decode(errors="replace")
    return chr(int(found[2], 16)) if found[2] else found[3]


def _replace(pattern: str, mask: str, text: str) -> tuple[str, int]:
    return re.subn(pattern, lambda _: mask, text, flags=re.IGNORECASE)


def _escaped_character(char: str) -> str:
    """Return a pattern of a character: plain, or escaped for URLs, JSON, Python or HTML."""
    code, units = ord(char), char.encode(errors="replace")
    forms = [rf"\\*{re.escape(char)}", rf"\\+u{code:04x}"]
    forms += ["".join(f"%(?:25)*{unit:02x}" for unit in units), "".join(rf"\\+x{unit:02x}" for unit in units)]
    forms += [rf"&(?:amp;)*#0*{code};", rf"&(?:amp;)*#x0*{code:x};"]
    forms += [rf"&(?:amp;)*{name}" for name, value in html.entities.html5.items() if value == char and name[-1] == ";"]
    if char == " ":
        forms.append(r"\+")
    return f"(?:{'|'.join(forms)})"


def _decoded(run: str) -> Iterator[str]:
    """Yield the base64 and hex decodings of a run of letters and digits, from each offset where a code may begin."""
    for start in range(4):
        part = run[start:]
        part = part[:-1] if len(part) % 4 == 1 else part
        yield urlsafe_b64decode(part.translate(_URL_SAFE) + "=" * (-len(part) % 4)).decode(errors="replace")
    if _HEX.fullmatch(run):
        for start in range(2):
            digits = run[start:]
            yield binascii.unhexlify(digits[: len(digits) // 2 * 2]).decode(errors="replace")


_URL_SAFE = str.maketrans("+/", "-_")

REGISTER = SecretRegister()
"""Register of this process."""


def register_secret(secret: str) -> None:
    """Mask the secret from now on in every text that leaves the process."""
    REGISTER.add(secret)


def register_public(name: str) -> None:
    """Keep a name readable in texts from now on, even if it equals a secret."""
    REGISTER.add_public(name)


def is_public(secret: str) -> bool:
    """Return whether a secret equals a registered public name."""
    return REGISTER.is_public(secret)


def register_address(address: str, *, has_key: bool = False) -> None:
    """Mask the secret parts of an address from now on (`addresses.secret_parts`)."""
    if has_key or _MAY_HOLD_SECRET.search(address):
        for part in _secret_parts(address, has_key=has_key):
            REGISTER.add(part)


@lru_cache(MAX_SECRETS)
def _secret_parts(address: str, *, has_key: bool) -> tuple[str, ...]:
    return tuple(addresses.secret_parts(address, has_key=has_key))


_MAY_HOLD_SECRET = re.compile(r"[?#@]|^\s*(?!http)", re.IGNORECASE)


def mask_secrets(text: str) -> str:
    """Return a text with every registered secret masked."""
    return REGISTER.mask(text)


def mask_value(value: object, depth: int = 32, mask_text: Callable[[str], str] | None = None) -> object:
    """Return a JSON value in which every text and name is masked by `mask_text` (`masked` without it).

    Names that are equal once masked get a number. Levels deeper than `depth` are dropped.
    """
    mask_text = mask_text or masked
    if isinstance(value, str):
        return mask_text(value)
    if not isinstance(value, list | tuple | dict):
        return value
    if not depth:
        return None
    if not isinstance(value, dict):
        return [mask_value(item, depth - 1, mask_text) for item in value]
    members: dict[str, object] = {}
    for field, member in value.items():
        name = mask_text(str(field))
        members[f"{name} ({len(members) + 1})" if name in members else name] = mask_value(member, depth - 1, mask_text)
    return members


_SECRET_NAME = re.compile(
    r"(?:^|[^a-z])(?:(?:stream|api)?key|token|secret|password|passwd|passphrase|pass|sign|signature|credential|auth"
    r"|authorization|cookie|jwt)s?$"
)
_HUMP = re.compile(r"(?<=[a-z0-9])(?=[A-Z])")


def is_secret_name(name: str) -> bool:
    """Return whether a name is the name of a secret field: `stream_key`, `accessToken`, `X-Signature`."""
    return bool(_SECRET_NAME.search(_HUMP.sub("_", name).lower()))


def register_named(value: object, name: str = "", depth: int = 32) -> None:
    """Register the secrets in a JSON value of unknown shape: texts under secret names, and parts of addresses."""
    if isinstance(value, str):
        if is_secret_name(name):
            register_secret(value)
        elif "://" in value:
            register_address(value)
    elif depth and isinstance(value, dict):
        for field, member in value.items():
            register_named(member, str(field), depth - 1)
    elif depth and isinstance(value, list | tuple):
        for item in value:
            register_named(item, name, depth - 1)


def mask_named(value: object, name: str = "", depth: int = 32) -> object:
    """Return a JSON value of unknown shape, masked by `mask_value`. Fields with a secret name are masked, too.

    `name`: name of the field that holds the value. Levels deeper than `depth` are dropped.
    """
    if isinstance(value, dict) and depth:
        return {masked(str(field)): mask_named(member, str(field), depth - 1) for field, member in value.items()}
    if isinstance(value, list | tuple) and depth:
        return [mask_named(item, name, depth - 1) for item in value]
    if is_secret_name(name) and not isinstance(value, bool | None | dict | list | tuple):
        return mask(str(value)) if value != "" else ""
    return mask_value(value, depth)


def masked(text: str) -> str:
    """Mask registered secrets, labelled credentials and secret parts of addresses in a text."""
    return addresses.show_in(_TICKET.sub(MASK, _CREDENTIAL.sub(rf"\1{MASK}", REGISTER.mask(text))))


def masked_line(text: object, limit: int = 1000) -> Shown:
    """Return the `masked` text as one line of at most `limit` characters. A `Secret` gives its mask."""
    line = values.safe(masked(str(text)[:_MAX_TEXT]), _MAX_TEXT)
    return values.safe(masked(line), limit)  # again, because hidden characters may have split a secret


_MAX_TEXT = 100_000
"""Maximum length of a text that is searched for secrets. A longer text is cut before."""
