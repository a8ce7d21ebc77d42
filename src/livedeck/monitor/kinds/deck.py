"""What is wrong with the deck itself: its connection, its clock, its history (monitoring.md, "Alarms"). Pure."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta

from livedeck.monitor.model.state import ConnectionProblem, ConnectionState, ConnectionStatus, Finding, Severity
from livedeck.monitor.model.thresholds import Thresholds
from livedeck.text.values import age, safe

API_BLIND = "API_BLIND"


def findings(link: ConnectionStatus, history_fault: str, thresholds: Thresholds) -> Iterator[Finding]:
    """`history_fault`: why nothing can be recorded, or empty."""
    yield from _link(link)
    yield from _skew(link, thresholds)
    if history_fault:
        yield Finding("HISTORY_FAILED", Severity.WARNING, safe(history_fault), "a history that can be written")


def _link(link: ConnectionStatus) -> Iterator[Finding]:
    if link.state is ConnectionState.BLIND:
        since = link.since + timedelta(seconds=link.skew)
        yield Finding(API_BLIND, Severity.CRITICAL, link.reason or "no answer", "an answer from the platform", since)
    if link.is_unauthorized:
        yield Finding("AUTH_FAILED", Severity.CRITICAL, link.reason, "a token that the platform accepts")
    if link.problem is ConnectionProblem.RATE_LIMITED:
        yield Finding("RATE_LIMITED", Severity.WARNING, link.reason, "a platform that takes our calls")


def _skew(link: ConnectionStatus, thresholds: Thresholds) -> Iterator[Finding]:
    """A skew that counts at all is a warning (`connection.skew` leaves the rest out)."""
    if link.skew:
        severity = Severity.CRITICAL if abs(link.skew) > thresholds.skew_critical else Severity.WARNING
        actual = f"this machine's clock is {age(abs(link.skew))} {'behind' if link.skew > 0 else 'ahead'}"
        expected = f"the platform's time, within {thresholds.skew_least:.0f} s"
        yield Finding("CLOCK_SKEW", severity, actual, expected)
