"""The logs of the Alarms screen as lines, newest first: incidents, audit, notifications, connection."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime

from livedeck import wording
from livedeck.monitor import ActionRecord, AlarmRecord, LinkRecord, LinkState, NotificationRecord, Outcome, Turn
from livedeck.ui.notices import Notice
from livedeck.ui.renderables.cells import SEVERITIES
from livedeck.ui.renderables.columns import Column, Sheet
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line, fit, plain

Logged = AlarmRecord | ActionRecord | LinkRecord | NotificationRecord | Notice

OUTCOMES = {
    Outcome.APPLIED: ("✓", Ink.OK),
    Outcome.NOT_APPLIED: ("✖", Ink.CRITICAL),
    Outcome.REFUSED: ("▲", Ink.WARNING),
    Outcome.UNKNOWN: ("?", Ink.CRITICAL),
}

LINKS = {
    LinkState.OK: ("✓", Ink.OK),
    LinkState.CONNECTING: ("○", Ink.INFO),
    LinkState.FAILING: ("▲", Ink.WARNING),
    LinkState.BLIND: ("✖", Ink.CRITICAL),
}


def newest(records: Sequence[Logged]) -> list[Logged]:
    """The newest first."""
    return sorted(records, key=lambda one: one.at, reverse=True)


def line(one: Logged) -> Line:
    """When, how loud, what, to what."""
    if isinstance(one, AlarmRecord):
        return _alarm(one)
    if isinstance(one, ActionRecord):
        return _action(one)
    if isinstance(one, LinkRecord):
        return _link(one)
    return _notice(one)


def _when(at: datetime) -> Line:
    return [(f" {at:%d %b} ", Ink.DIM), (f"{at:%H:%M:%S}Z  ", Ink.TEXT)]


def _alarm(one: AlarmRecord) -> Line:
    glyph, word, ink = SEVERITIES[one.severity]
    loud = one.turn in {Turn.RAISED, Turn.SEVERITY, Turn.LAPSED}
    part = f" / {wording.safe(one.target_name, 40)}" if one.target_name else ""
    why = " ".join(wording.safe(text, 200) for text in (one.reason, one.note) if text)
    return [
        *_when(one.at),
        *fit([(f"{glyph} {word} ", ink if loud else Ink.DIM)], 8),
        *fit([(one.turn.value, Ink.STRONG if loud else Ink.TEXT)], 22),
        *fit([(f"{wording.safe(one.subject, 60)}{part}", Ink.STRONG)], 26, ellipsis=True),
        *fit([(f" {one.kind}", ink if loud else Ink.DIM)], 18),
        (f" {wording.safe(one.actual)}", Ink.TEXT),
        (f"   {why}" if why else "", Ink.DIM),
    ]


def _action(one: ActionRecord) -> Line:
    glyph, ink = OUTCOMES[one.outcome]
    edits = "  ".join(f"{edit.name}: {edit.before} -> {edit.after}" for edit in one.edits)
    return [
        *_when(one.at),
        *fit([(f"{glyph} {one.outcome.value}", ink)], 14),
        *fit([(one.action, Ink.STRONG)], 20),
        *fit([(wording.safe(one.target_name or one.target_id, 60), Ink.TEXT)], 26, ellipsis=True),
        (f" {wording.safe(one.detail)}", Ink.TEXT),
        (f"   {wording.safe(edits)}" if edits else "", Ink.DIM),
    ]


def _link(one: LinkRecord) -> Line:
    glyph, ink = LINKS[one.state]
    return [
        *_when(one.at),
        *fit([(f"{glyph} {one.state.value}", ink)], 14),
        *fit([(one.trouble.value, ink)], 20),
        (wording.safe(one.why), Ink.TEXT),
    ]


def _notice(one: NotificationRecord | Notice) -> Line:
    glyph, word, ink = SEVERITIES[one.severity]
    title = f"{wording.safe(one.title)}  " if isinstance(one, NotificationRecord) else ""
    return [
        *_when(one.at),
        *fit([(f"{glyph} {word}", ink)], 8),
        (title, Ink.STRONG),
        (wording.safe(one.text), Ink.TEXT),
    ]


LOG: Sheet[Logged] = Sheet(
    columns=(
        Column("entry", "WHEN (UTC)", 40, 0, lambda one, _: line(one), lambda one, _: one.at.timestamp(), wide=True),
    ),
    key=lambda one: f"{one.at.timestamp()} {hash(one)}",
    text=lambda one: plain(line(one)).casefold(),
    grave=lambda _: False,
    rows=lambda _: (),
)
