"""A banner about a collector: what happened is read at every width."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from livedeck.monitor import Attachment, AttachmentState, ConnectionProblem, ConnectionState, ConnectionStatus, Snapshot
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
