"""Delivery to viewers as a line of a monitoring plugin and as JSON (probe.md). Pure."""

from __future__ import annotations

from collections.abc import Sequence

from livedeck.monitor import Delivery, Picture, Sound, Source, Thresholds, ViewerState
from livedeck.presentation.check import ServiceState, plain
from livedeck.presentation.documents import ViewerDocument
from livedeck.presentation.viewer import ARRIVES
from livedeck.text.times import isoformat_utc
from livedeck.text.values import counted, safe


def check_viewer(viewer: ViewerState, limits: Thresholds, *, is_picture_asked: bool) -> ServiceState:
    """Return the exit code of a plugin.

    `is_picture_asked`: report UNKNOWN for an encrypted stream, because nobody can see its picture.
    """
    if viewer.delivery.is_failing or viewer.picture is Picture.BLACK:
        return ServiceState.CRITICAL
    if viewer.delivery is Delivery.UNKNOWN or not viewer.source.is_probed:
        return ServiceState.UNKNOWN
    is_late = viewer.latency is not None and viewer.latency > limits.viewer_late
    is_doubtful = viewer.delivery in {Delivery.SLOW, Delivery.ENDED} or viewer.missing or viewer.apart
    if is_doubtful or is_late or viewer.sound in {Sound.SILENT, Sound.NONE}:
        return ServiceState.WARNING
    if is_picture_asked and viewer.source is Source.ENCRYPTED:
        return ServiceState.UNKNOWN
    return ServiceState.OK


def viewer_line(viewer: ViewerState, limits: Thresholds, state: ServiceState) -> str:
    """Return the line of a plugin: state, words and performance data."""
    measures = {
        "latency": "" if viewer.latency is None else f"{viewer.latency:.1f}s;{limits.viewer_late:g}",
        "ratio": "" if viewer.ratio is None else f"{viewer.ratio:.2f};{limits.viewer_slow:g}",
        "loudness": "" if viewer.loudness is None else f"{viewer.loudness:.0f}",
    }
    performance = " ".join(f"{name}={value}" for name, value in measures.items() if value)
    return f"VIEWER {state.name} - {plain(viewer_text(viewer, limits))} | {performance}".rstrip(" |")


def viewer_text(viewer: ViewerState, limits: Thresholds) -> str:
    """Return the state in words: `plays, 2 rounds: late about 8 s, 3 rungs 144p to 1080p, picture moves`."""
    if not viewer.source.is_probed:
        return viewer.error or "no address"
    facts = [viewer.error] if viewer.error else []
    if viewer.delivery.is_failing:  # the last picture, sound and fetch time are not those that viewers get now
        if viewer.latency is not None:
            facts.append(f"the newest segment is dated {viewer.latency:.0f} s ago")
        return _of_rounds(viewer, facts)
    facts += [
        *viewer.missing,
        *viewer.apart,
        *_delay_texts(viewer, limits),
        *([_rungs_text(viewer.rungs)] if viewer.rungs else []),
        *([f"fetch {viewer.ratio:.2f}"] if viewer.ratio is not None else []),
        _picture_text(viewer),
        *_sound_texts(viewer),
    ]
    return _of_rounds(viewer, facts)


def _of_rounds(viewer: ViewerState, facts: Sequence[str]) -> str:
    is_unproven = viewer.source is Source.ENCRYPTED and viewer.delivery is Delivery.PLAYS
    words = f"{ARRIVES if is_unproven else viewer.delivery}, {counted(viewer.rounds, 'round')}"
    return safe(f"{words}: {', '.join(facts)}" if facts else words, 1000)


def _delay_texts(viewer: ViewerState, limits: Thresholds) -> list[str]:
    """Return the delay in words. A long delay has a doubt, because wrong dates in the playlist look like a delay."""
    if viewer.latency is not None:
        doubt = ", or a clock is wrong" if viewer.latency > limits.viewer_late else ""
        return [f"late about {viewer.latency:.0f} s{doubt}"]
    is_ahead = viewer.head_time is not None and viewer.as_of is not None and viewer.head_time > viewer.as_of
    return ["delay unknown: the playlist is dated in the future"] if is_ahead else []


def _rungs_text(rungs: tuple[int, ...]) -> str:
    heights = f"{rungs[0]}p" if len(set(rungs)) == 1 else f"{rungs[0]}p to {rungs[-1]}p"
    return f"{counted(len(rungs), 'rung')} {heights}"


def _picture_text(viewer: ViewerState) -> str:
    if viewer.source is Source.ENCRYPTED:
        return "encrypted, picture not judged"
    return f"picture {'?' if viewer.picture is Picture.UNKNOWN else viewer.picture}"


def _sound_texts(viewer: ViewerState) -> list[str]:
    track = [f"sound of {viewer.track}"] if viewer.track else []
    if viewer.sound in {Sound.SILENT, Sound.NONE}:
        return ["silent" if viewer.sound is Sound.SILENT else "no sound", *track]
    if viewer.sound is Sound.UNKNOWN and viewer.source is not Source.ENCRYPTED:
        return ["sound ?", *track]
    return track if viewer.loudness is None else [f"{viewer.loudness:.0f} LUFS", *track]


def viewer_document(viewer: ViewerState) -> ViewerDocument:
    """Return the state for viewers as JSON."""
    return {
        "source": viewer.source.value,
        "delivery": viewer.delivery.value,
        "picture": viewer.picture.value,
        "sound": viewer.sound.value,
        "rounds": viewer.rounds,
        "latency": viewer.latency,
        "ratio": viewer.ratio,
        "target": viewer.target,
        "head_time": isoformat_utc(viewer.head_time),
        "track": viewer.track,
        "rungs": [*viewer.rungs],
        "missing": [*viewer.missing],
        "apart": [*viewer.apart],
        "listed": viewer.listed,
        "missed": viewer.missed,
        "loudness": viewer.loudness,
        "peaks": [*viewer.peaks],
        "luma": viewer.luma,
        "change": viewer.change,
        "host": viewer.host,
        "image": viewer.image,
        "error": viewer.error,
    }
