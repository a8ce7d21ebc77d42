"""Chat exports as text: progress, result, filter and format, for the deck and `livedeck event chat`. Pure."""

from __future__ import annotations

from collections.abc import Iterator

from livedeck.client import ChatExport, ExportProgress, ExportResult, MessageFilter
from livedeck.text.values import age, safe, size


def progress_parts(progress: ExportProgress) -> Iterator[str]:
    """Yield the parts of the progress: `120.0 MB of 250.7 MB`, `45.1 MB/s`, `3 s left` or `time left unknown`."""
    total = "of unknown size" if progress.size is None else f"of {size(progress.size)}"
    yield f"{size(progress.received)} {total}"
    if progress.messages is not None:
        yield f"{progress.messages:,} messages"
    if progress.rate:
        yield f"{size(progress.rate)}/s"
    yield "time left unknown" if progress.seconds_left is None else f"{age(progress.seconds_left)} left"


def result_parts(export: ChatExport, result: ExportResult) -> Iterator[str]:
    """Yield the amounts that were written, changed and left out, and the reason for doubt about the log."""
    if result.messages is None:
        yield f"{size(result.size)} as the platform sent it"
    else:
        yield f"{result.messages:,} of {result.read:,} messages, {size(result.size)}"
    if export.safe_csv:
        yield f"cells made safe for spreadsheets by an apostrophe: {result.escaped_formulas:,}"
    if result.undated:
        yield f"left out, no readable time: {result.undated:,}"
    if result.unreadable:
        yield f"left out, not a message: {result.unreadable:,}"
    if result.split_messages:
        yield f"messages too long for a cell, continued after the last column: {result.split_messages:,}"
    if result.doubt:
        yield f"this is not proved to be the log: {result.doubt}"


def filter_conditions(message_filter: MessageFilter) -> Iterator[str]:
    """Yield the conditions of a filter as text; none if every message passes."""
    if message_filter.search:
        yield f'contains "{safe(message_filter.search, 40)}"'
    if message_filter.users:
        yield f"by {safe(' or '.join(message_filter.users), 60)}"
    if message_filter.admins:
        yield "by administrators"
    if message_filter.since:
        yield f"from {message_filter.since:%d %b %H:%M:%S}Z"
    if message_filter.until:
        yield f"before {message_filter.until:%d %b %H:%M:%S}Z"


def format_text(export: ChatExport) -> str:
    """Return the format, and whether the platform or livedeck made the file."""
    if export.is_verbatim:
        return f"{export.format} as the platform sends it"
    zone = [f"times in {export.zone}"] if export.zone else []
    return ", ".join([f"converted to {export.format}", *zone, *(["safe cells"] if export.safe_csv else [])])
