"""What an export of a chat says of itself: the deck and `livedeck chat export` take their words from here."""

from __future__ import annotations

from collections.abc import Iterator

from livedeck.client import ChatExport, ExportProgress, ExportResult, MessageFilter
from livedeck.text import values


def progress(known: ExportProgress) -> Iterator[str]:
    """`120.0 MB of 250.7 MB`, `45.1 MB/s`, `3 s left`; what is not known is said to be unknown."""
    whole = "of unknown size" if known.size is None else f"of {values.size(known.size)}"
    yield f"{values.size(known.came)} {whole}"
    if known.messages is not None:
        yield f"{known.messages:,} messages"
    if known.rate:
        yield f"{values.size(known.rate)}/s"
    yield "time left unknown" if known.left is None else f"{values.age(known.left)} left"


def outcome(wanted: ChatExport, done: ExportResult) -> Iterator[str]:
    """How much was written, and what has to be known of it."""
    size = values.size(done.size)
    if done.messages is None:
        yield f"{size} as the platform sent it"
    else:
        yield f"{done.messages:,} of {done.read:,} messages, {size}"
    if wanted.safe_csv:
        yield f"cells that a spreadsheet would compute, with a ' before them now: {done.neutralised:,}"
    if done.undated:
        yield f"left out for want of a readable time: {done.undated:,}"
    if done.spilled:
        yield f"longer than a cell, and going on behind the last column: {done.spilled:,}"


def sieve(wanted: MessageFilter) -> Iterator[str]:
    """Which messages are wanted, a condition each; nothing where all are."""
    if wanted.search:
        yield f'holds "{values.safe(wanted.search, 40)}"'
    if wanted.users:
        yield f"by {values.safe(' or '.join(wanted.users), 60)}"
    if wanted.admins:
        yield "by administrators"
    if wanted.since:
        yield f"from {wanted.since:%d %b %H:%M:%S}Z"
    if wanted.until:
        yield f"before {wanted.until:%d %b %H:%M:%S}Z"


def form(wanted: ChatExport) -> str:
    """The format, and whether the bytes are the platform's own."""
    if wanted.verbatim:
        return f"{wanted.format} as the platform sends it"
    more = [f"times in {wanted.zone}"] if wanted.zone else []
    return ", ".join([f"{wanted.format} written anew", *more, *(["safe cells"] if wanted.safe_csv else [])])
