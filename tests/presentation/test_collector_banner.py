"""A banner: what happened is read at every width."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime

import pytest

from livedeck.client import ApiError, ServerFault, Unauthorized, Unreachable, Unreadable
from livedeck.monitor import Attachment, AttachmentState, ConnectionProblem, ConnectionState, ConnectionStatus, Snapshot
from livedeck.monitor.evidence.blame import CHECKING, Facts, blame, seen
from livedeck.presentation.connection import banner_line
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import clip, plain

NOW = datetime(2026, 3, 1, 12, tzinfo=UTC)
AWAY = "refuses connections; check that the collector runs, and the address in collector_url"
PROXY = "responds 502: the collector or its proxy has failed"


@pytest.mark.parametrize(
    ("reason", "columns", "words"),
    [
        *((AWAY, columns, "refuses connections") for columns in (80, 100, 120)),
        (PROXY, 80, "responds 502: the coll"),
        (PROXY, 120, PROXY),
    ],
)
def test_a_cut_takes_no_word_of_what_happened(reason: str, columns: int, words: str) -> None:
    link = ConnectionStatus(
        ConnectionState.BLIND, NOW, as_of=NOW, next_try=NOW, problem=ConnectionProblem.COLLECTOR_SILENT
    )
    attachment = Attachment(AttachmentState.SILENT, "127.0.0.1:28711", NOW, reason=f"127.0.0.1:28711 {reason}")
    snapshot = Snapshot(1, NOW, link, attachment=attachment)
    banner = banner_line(snapshot, RenderTime.from_snapshot(snapshot, NOW), hint="@ polls alone")
    shown = plain(clip(banner, columns))
    assert "since 12:00:00Z" in shown
    assert words in shown


FAULT = ServerFault("list events: the platform failed (no; code 503503); try again later", status=503, code=503503)


def test_a_banner_of_120_columns_says_the_cause_once_and_that_the_network_works() -> None:
    link = ConnectionStatus(
        ConnectionState.BLIND, NOW, as_of=NOW, next_try=NOW, reason=str(FAULT), blame=blame(Facts(failure=seen(FAULT)))
    )
    snapshot = Snapshot(1, NOW, link)
    shown = plain(clip(banner_line(snapshot, RenderTime.from_snapshot(snapshot, NOW)), 120))
    assert shown.count("answers 503") == 1
    assert "  the network works" in shown


def test_a_platform_that_answers_again_is_not_said_to_fail_since_then() -> None:
    cause = replace(blame(Facts(failure=seen(FAULT))), text=CHECKING, short=CHECKING)
    link = ConnectionStatus(
        ConnectionState.FAILING,
        NOW,
        as_of=NOW,
        problem=ConnectionProblem.PLATFORM_FAILING,
        reason=str(FAULT),
        blame=cause,
        is_checking=True,
    )
    snapshot = Snapshot(1, NOW, link)
    shown = plain(banner_line(snapshot, RenderTime.from_snapshot(snapshot, NOW))).strip()
    assert shown == "▲ ANSWERS AGAIN since 12:00:00Z  answers again, checking  data from 12:00:00Z"


def test_a_failure_during_the_check_is_not_said_to_have_begun_with_the_check() -> None:
    link = ConnectionStatus(
        ConnectionState.FAILING,
        NOW,
        as_of=NOW,
        problem=ConnectionProblem.PLATFORM_FAILING,
        reason=str(FAULT),
        blame=blame(Facts(failure=seen(FAULT))),
        is_checking=True,
        failures=1,
    )
    snapshot = Snapshot(1, NOW, link)
    shown = plain(banner_line(snapshot, RenderTime.from_snapshot(snapshot, NOW))).strip()
    assert shown.startswith("▲ PLATFORM FAILING  checking since 12:00:00Z")


@pytest.mark.parametrize("state", [ConnectionState.BLIND, ConnectionState.FAILING])
@pytest.mark.parametrize(
    ("error", "words"),
    [
        (Unreachable("list events: x.example refuses", "refused", is_connected=False), "connections are refused"),
        (Unreachable("list events: x.example", "dns"), "the platform's host name does not reso"),
        (Unreachable("list events: x.example", "route"), "this machine finds no way to the plat"),
        (Unreachable("list events: x.example", "tls"), "no trusted connection"),
        (Unreachable("list events: x.example", "timeout", is_connected=True), "no reply in time"),
        (ServerFault("list events: page", status=502), "something answers 502"),
        (ServerFault("list events: failed", status=503, code=503503), "the platform answers 503"),
        (Unauthorized("list events: refused", status=401, code=401401), "the platform refuses the token"),
        (Unreadable("list events: page", is_foreign=True), "something answers in the platform's pl"),
    ],
)
def test_a_banner_of_80_columns_names_the_cause(state: ConnectionState, error: ApiError, words: str) -> None:
    cause = blame(Facts(failure=seen(error)))
    problem = ConnectionProblem.NO_ANSWER
    link = ConnectionStatus(
        state, NOW, as_of=NOW, next_try=NOW, problem=problem, reason=f"{error} {'; try again' * 8}", blame=cause
    )
    snapshot = Snapshot(1, NOW, link)
    assert words in plain(clip(banner_line(snapshot, RenderTime.from_snapshot(snapshot, NOW)), 80))
