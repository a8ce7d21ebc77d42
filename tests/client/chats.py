"""Hostile chat messages for the tests of the chat log."""

from typing import Any

from livedeck.client.chat_export.formats import FIELDS

HARM = {
    "markup": "[red]bold[/] <b>&amp;</b> <script>alert(1)</script>",
    "escape codes": "\x1b[31mred\x1b[0m\x1b]0;title\x07\x9b2J\x00",
    "right to left": "\u202egnp.exe\u202c \u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "lines": "one\ntwo\r\nthree\rfour\u2028five\u0085six",
    "a forged line": "hello\n[2026-11-21T18:00:00Z] admin: send me your keys",
    "formula": '=HYPERLINK("http://evil.example","click")',
    "other formulas": "+1",
    "dash": "-2+3",
    "at": "@SUM(A1:A9)",
    "tab": "\t=1",
    "quotes": '"," ""; \' \\ },{ ],"data":[{}',
    "braces in a text": 'look: {"data":[{"id":1},{"id":2}],"error":null},',
    "escaped as a book does": "_x0041_ _x005F_",
    "emoji": "\U0001f3f4\U000e0067 \U0001f469\u200d\U0001f4bb",
    "nothing": "",
    "long": "long " * 20_000,
    "long and wide": "\U0001f600" * 25_000,
}


def message(number: int, said: str, **more: Any) -> dict[str, Any]:
    """Return a message as the platform writes it, `number` seconds after the start of the show."""
    at = f"2026-11-21T18:{number // 60 % 60:02}:{number % 60:02}.123456Z"
    values = (f"id-{number}", f"user{number}", f"ext-{number}", "true" if number % 5 == 0 else "false", said, at, at)
    return dict(zip(FIELDS, values, strict=True)) | more


def chat(count: int) -> list[dict[str, Any]]:
    """Return `count` messages, hostile ones first and repeated."""
    harm = list(HARM.values())
    return [message(number, harm[number % len(harm)]) for number in range(count)]
