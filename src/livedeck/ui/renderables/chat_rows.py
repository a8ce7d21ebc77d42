"""The preview of a chat log as a table. What people wrote is data: it obeys nothing and commands nothing."""

from __future__ import annotations

from livedeck import wording
from livedeck.ui.preview import Said
from livedeck.ui.renderables.columns import Column, Sheet
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line
from livedeck.ui.renderables.moment import Moment


def _at(said: Said, _: Moment) -> Line:
    return [(f"{said.at:%d %b %H:%M:%S}" if said.at else wording.UNKNOWN, Ink.DIM)]


def _name(said: Said, _: Moment) -> Line:
    return [(wording.safe(said.name, 80) or wording.UNKNOWN, Ink.STRONG if said.admin else Ink.TEXT)]


def _role(said: Said, _: Moment) -> Line:
    return [({True: "admin", False: "", None: wording.UNKNOWN}[said.admin], Ink.INFO)]


def _text(said: Said, _: Moment) -> Line:
    return [(wording.safe(said.text, 400), Ink.TEXT)]


MESSAGES: Sheet[Said] = Sheet(
    columns=(
        Column("at", "WRITTEN (UTC)", 15, 0, _at, right=True),
        Column("role", "ROLE", 5, 2, _role),
        Column("name", "BY", 14, 0, _name),
        Column("text", "MESSAGE", 20, 0, _text, wide=True),
    ),
    key=lambda said: str(said.number),
    text=lambda said: said.text,
    grave=lambda _: False,
    rows=lambda _: (),
)
