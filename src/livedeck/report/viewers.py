"""State of an event for viewers over time, by the rounds of a probe. Pure.

A round stands for the time until the next one. Time without rounds was not seen: it counts neither as played nor as
lost. All figures hold for the place of the probe only.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from itertools import pairwise
from statistics import median

from livedeck.monitor import Delivery, Picture, Sound, ViewerRound
from livedeck.report.spans import Span, Spans, common, joined, seconds_of
from livedeck.text.values import age, short_duration

_USUAL = 10.0
"""Assumed seconds between rounds, if there is only one."""

_MISSED = 3
"""Multiple of the usual interval between two rounds of the probe. A longer time without a round counts as not seen."""

ViewerFigure = tuple[str, str, float | None]
"""Name of a figure, its text, and its number: seconds, percent or a count; None if unknown."""


@dataclass(frozen=True, slots=True, eq=False)
class ViewerFacts:
    """Parts of the time on air by the state for viewers. Each field with spans is a part of `seen`.

    `rounds`: number of rounds. `seen`: time for which rounds stand. `gone`: time without a playlist. `stalled`: time
    with a playlist that was stalled or had ended. `black`, `still`, `silent`: time with such a picture or sound.
    `latency`, `worst_latency`: median and highest seconds from the encoder to the playlist; None if unknown. `missing`,
    `listed`: number of missing segments, and of all segments asked for.
    """

    rounds: int = 0
    seen: Spans = ()
    gone: Spans = ()
    stalled: Spans = ()
    black: Spans = ()
    still: Spans = ()
    silent: Spans = ()
    latency: float | None = None
    worst_latency: float | None = None
    missing: int = 0
    listed: int = 0

    @property
    def played(self) -> float | None:
        """Percentage of the seen time in which the playlist played; None if nothing was seen."""
        seen = seconds_of(self.seen)
        lost = seconds_of(self.gone) + seconds_of(self.stalled)
        return 100.0 * (seen - lost) / seen if seen else None

    def figures(self, on_air: Spans) -> list[ViewerFigure]:
        """Return the figures; none without a round. `on_air`: time on air, with which the seen time is compared."""
        if self.played is None:
            return []
        seen, of = seconds_of(self.seen), seconds_of(on_air)
        played = "100 %" if self.played == 100.0 else f"{min(self.played, 99.999):.2f} %"
        spans = (
            ("gone", self.gone),
            ("stalled", self.stalled),
            ("black", self.black),
            ("still picture", self.still),
            ("silent", self.silent),
        )
        late = f"median about {age(round(self.latency or 0))}, worst {age(round(self.worst_latency or 0))}"
        return [
            ("seen from here", f"{self.rounds} rounds, {short_duration(seen)} of {short_duration(of)} on air", seen),
            ("played", f"{played} of the seen time", self.played),
            *((name, short_duration(seconds_of(found)), seconds_of(found)) for name, found in spans),
            ("latency", "unknown" if self.latency is None else late, self.latency),
            ("missing segments", f"{self.missing} of {self.listed:,}", float(self.missing)),
        ]


NO_VIEWERS = ViewerFacts()


def viewer_facts(rounds: Sequence[ViewerRound], on_air: Spans) -> ViewerFacts:
    """Return the facts of the time on air. `rounds`: oldest first."""
    heard = [found for found in rounds if any(span.since <= found.at < span.until for span in on_air)]
    spans = _stretches(heard)

    def of(*states: object) -> Spans:
        """Return the time of the rounds with one of these states."""
        pairs = zip(heard, spans, strict=True)
        chosen = (span for found, span in pairs if {found.delivery, found.picture, found.sound} & {*states})
        return common(joined(chosen), on_air)

    latencies = [found.latency for found in heard if found.latency is not None]
    return ViewerFacts(
        len(heard),
        common(joined(spans), on_air),
        of(Delivery.GONE),
        of(Delivery.STALLED, Delivery.ENDED),
        of(Picture.BLACK),
        of(Picture.STILL),
        of(Sound.SILENT, Sound.NONE),
        median(latencies) if latencies else None,
        max(latencies, default=None),
        sum(found.missed for found in heard),
        sum(found.listed for found in heard),
    )


def _stretches(rounds: Sequence[ViewerRound]) -> list[Span]:
    """Return the time that each round stands for."""
    steps = [(after.at - before.at).total_seconds() for before, after in pairwise(rounds)]
    usual = median(steps) if steps else _USUAL
    ends = zip(rounds, [*steps, usual], strict=False)
    lengths = ((found.at, step if step <= _MISSED * usual else usual) for found, step in ends)
    return [Span(at, at + timedelta(seconds=length)) for at, length in lengths]
