"""What can be copied of an event, and how a text reaches the clipboard of the person's own machine. Pure."""

from __future__ import annotations

from base64 import b64encode
from collections.abc import Mapping

from livedeck.client import Event

LONGEST = 74_994
"""Bytes of text: 100,000 in base64, which is what terminals take at least."""

_SCREEN_CHUNK = 240
"""GNU screen drops a longer control string."""

FORMS = {"id": "id", "link": "link to watch", "json": "JSON", "curl": "curl"}
"""What is offered, by the word of the command."""


def forms(event: Event, address: str) -> Mapping[str, str]:
    """The event as each of FORMS; secrets are masked, and `curl` takes the token from a variable. Some may be empty."""
    return {
        "id": event.id,
        "link": event.play_link or "",
        "json": event.model_dump_json(indent=2, exclude_none=True),
        "curl": f"curl -H \"Authorization: Bearer $LIVEDECK_TOKEN\" '{address}'" if address else "",
    }


def osc52(text: str, multiplexer: str = "") -> str | None:
    """The control string that copies over any number of ssh hops; None where the text is too long for it.

    tmux and GNU screen eat control strings: it is wrapped so that they hand it on.
    """
    data = text.encode()
    if len(data) > LONGEST:
        return None
    encoded = b64encode(data).decode()
    if multiplexer == "tmux":
        return f"\x1bPtmux;\x1b\x1b]52;c;{encoded}\x07\x1b\\"
    if multiplexer == "screen":
        whole = f"\x1b]52;c;{encoded}\x07"
        parts = [whole[at : at + _SCREEN_CHUNK] for at in range(0, len(whole), _SCREEN_CHUNK)]
        return "".join(f"\x1bP{part}\x1b\\" for part in parts)
    return f"\x1b]52;c;{encoded}\x07"
