"""Control strings of our own: the title of the window, notifications of the desktop, the clipboard. Pure."""

from __future__ import annotations

from base64 import b64encode

from livedeck.text.outside import shown
from livedeck.ui.kit.output_filter import without_controls

TITLE = "\x1b]2;"
"""Begins the control string that calls the window otherwise."""

MAX_TITLE = 120
"""Characters of a title or a notification."""


def osc_title(text: str) -> str:
    """The control string that calls the window so."""
    return f"{TITLE}{_plain_words(text)}\x07"


def osc_notification(kind: str, title: str, text: str) -> str:
    """The control string that notifies the desktop; empty for a kind that there is not.

    `osc9` (iTerm2, WezTerm, ghostty, kitty) has one text, `osc777` (foot, urxvt, some VTE) a title and a text,
    which a semicolon would part. `osc99` is kitty's own: it shows none while its window has the keyboard.
    """
    whole = _plain_words(f"{title}: {text}")
    if kind == "osc9":
        return f"\x1b]9;{whole}\x07"
    if kind == "osc99":
        return f"\x1b]99;o=unfocused;{whole}\x1b\\"
    title, text = (_plain_words(part).replace(";", ",") for part in (title, text))
    return f"\x1b]777;notify;{title};{text}\x07" if kind == "osc777" else ""


def _plain_words(text: str) -> str:
    """The text in one line without anything that a terminal would obey: it passes the last filter as it is."""
    return without_controls(shown(text)).strip()[:MAX_TITLE]


MAX_COPIED = 74_994
"""Bytes of text: 100,000 in base64, which is what terminals take at least."""

_SCREEN_CHUNK = 240
"""GNU screen drops a longer control string."""


def osc52(text: str, multiplexer: str = "") -> str | None:
    """The control string that copies over any number of ssh hops; None where the text is too long for it.

    tmux and GNU screen eat control strings: it is wrapped so that they hand it on.
    """
    if len(text.encode()) > MAX_COPIED:
        return None
    whole = clipboard_string(text)
    if multiplexer == "tmux":
        return f"\x1bPtmux;\x1b{whole}\x1b\\"
    if multiplexer == "screen":
        parts = [whole[at : at + _SCREEN_CHUNK] for at in range(0, len(whole), _SCREEN_CHUNK)]
        return "".join(f"\x1bP{part}\x1b\\" for part in parts)
    return whole


def clipboard_string(text: str) -> str:
    """The control string that copies, to a terminal that nothing stands between (OSC 52)."""
    return f"\x1b]52;c;{b64encode(text.encode()).decode()}\x07"
