"""Control strings that livedeck makes itself: window title, desktop notifications, clipboard. Pure."""

from __future__ import annotations

from base64 import b64encode

from livedeck.text.outside import shown
from livedeck.ui.kit.output_filter import without_controls

TITLE = "\x1b]2;"
"""Start of the control string that sets the window title."""

MAX_TITLE = 120
"""Maximum number of characters of a title or a notification."""


def osc_title(text: str) -> str:
    """Return the control string that sets the window title."""
    return f"{TITLE}{_plain_words(text)}\x07"


def osc_notification(kind: str, title: str, text: str) -> str:
    """Return the control string for a desktop notification; empty for an unknown kind.

    `osc9` (iTerm2, WezTerm, ghostty, kitty) has one text. `osc777` (foot, urxvt, some VTE) has title and text,
    separated by a semicolon. `osc99` is a sequence of kitty, which shows nothing while the window has the focus.
    """
    whole = _plain_words(f"{title}: {text}")
    if kind == "osc9":
        return f"\x1b]9;{whole}\x07"
    if kind == "osc99":
        return f"\x1b]99;o=unfocused;{whole}\x1b\\"
    title, text = (_plain_words(part).replace(";", ",") for part in (title, text))
    return f"\x1b]777;notify;{title};{text}\x07" if kind == "osc777" else ""


def _plain_words(text: str) -> str:
    """Return the text in one line without control characters, so that the output filter does not change it."""
    return without_controls(shown(text)).strip()[:MAX_TITLE]


MAX_COPIED = 74_994
"""Maximum number of bytes of copied text. In base64 these are 100,000 bytes, which every terminal accepts."""

_SCREEN_CHUNK = 240
"""Maximum number of characters of a control string in GNU screen, which drops longer strings."""


def osc52(text: str, multiplexer: str = "") -> str | None:
    """Return the control string that copies a text to the clipboard, even over ssh; None if the text is too long.

    tmux and GNU screen swallow control strings, so the string is wrapped for them.
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
    """Return the control string that copies a text to the clipboard (OSC 52), not wrapped for a multiplexer."""
    return f"\x1b]52;c;{b64encode(text.encode()).decode()}\x07"
