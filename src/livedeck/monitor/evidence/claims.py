"""Evidence that each alarm kind needs, as data. The table of monitoring.md, "Evidence", is made from `CLAIMS`.

No alarm is raised before its evidence is complete. Until then screens show the words of `meanwhile`.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import NamedTuple


class Claim(NamedTuple):
    """Evidence of an alarm kind in words.

    `needs`: evidence that raises the alarm. `meanwhile`: text on screens until then; empty for no text. `ends`:
    evidence that clears the alarm.
    """

    needs: str
    meanwhile: str
    ends: str


_SAMPLES_GOOD = "good samples for its off time"


def _of_samples(needs: str, ends: str = _SAMPLES_GOOD) -> Claim:
    """Return the claim of a kind that only received samples raise and clear."""
    return Claim(f"received samples: {needs}", "", ends)


def _of_rounds(needs: str, ends: str, count: str = "two") -> Claim:
    """Return the claim of a kind that rounds of a probe raise and clear."""
    return Claim(f"{count} rounds in a row, from here: {needs}", "", f"two rounds in which {ends}")


CLAIMS: Mapping[str, Claim] = MappingProxyType(
    {
        "NO_INGEST": Claim(
            "a live stream; no sample of it in the history; and two good replies without a sample, at least 4 s apart, "
            "between which no planned poll is missing",
            "no sample yet, polled for 6 s",
            "samples for 10 s",
        ),
        "RECONNECTING": Claim(
            "two good replies without a new sample, dated at least 4 s apart; a newest sample that is too old for this "
            "stream's delay; and a reply about the event, read at least 4 s after that sample, that shows it not "
            "completed. If no such reply comes in 30 s, the first two are enough",
            "late or gone: known in 8 s",
            "newer samples for 10 s",
        ),
        "DROPOUTS": _of_samples(
            "gaps between the samples for too much of the time", "samples without another gap for 60 to 300 s"
        ),
        "BLACKOUT": _of_samples("no picture: hardly any video rate, or no frames"),
        "PICTURE_STILL": _of_samples("a rate below a tenth of the usual while all frames come"),
        "VIDEO_LOW": _of_samples("a rate below the usual"),
        "VIDEO_STARVED": _of_samples("a rate far below the usual"),
        "VIDEO_BELOW_PRESET": _of_samples("a rate below the need of the event's presets"),
        "VIDEO_DECAY": _of_samples("a rate that fell slowly, over minutes, from its best two minutes"),
        "BITRATE_UNSTABLE": _of_samples("dips of a constant rate", "samples without another dip for 60 to 300 s"),
        "PROFILE_CHANGE": _of_samples("a rate that changed and stayed at its new level"),
        "FPS_COLLAPSE": _of_samples("a frame rate far below the usual"),
        "FPS_LOW": _of_samples("a frame rate below the usual"),
        "AUDIO_LOST": _of_samples("a picture without sound"),
        "AUDIO_LOW": _of_samples("a sound rate below the usual, or near silence"),
        "AUDIO_HIGH": _of_samples("a sound rate above the limit"),
        "KEYFRAME_SEVERE": _of_samples("status 4"),
        "KEYFRAME_DRIFT": _of_samples("status 3 or 4"),
        "PACKET_LOSS": _of_samples("status 5"),
        "UNKNOWN_STATUS": _of_samples("a status that the API documentation does not name"),
        "UNKNOWN_DATA": _of_samples("fields without a value"),
        "FUTURE_SAMPLES": Claim("a good reply with samples dated in the future", "", "a reply without them"),
        "METRICS_LATE": Claim("three late deliveries in a row of this stream", "", "a delivery that is not late"),
        "LATE_START": Claim(
            "a planned start, and a reply about samples since this process last stopped or slept",
            "",
            "the first samples, or 6 h after the start",
        ),
        "RESTREAM_DOWN": Claim(
            "a complete list that says the restream is disconnected, while samples come",
            "",
            "good lists in which the restream is connected for 30 s",
        ),
        "ENDED_ON_AIR": Claim(
            "For a gone event: no new sample, and the event missing from two whole lists and from two replies to "
            "requests by id. For any other event: a new read that shows its stream finished, removed or replaced",
            "≠ unlisted",
            "an acknowledgement; for a gone event also its return in a list or by its id; for any other event also a "
            "stream on air, or 10 min. An info ends after a minute",
        ),
        "QOS_STALE": Claim(
            "new samples whose time stands still; or 20 watched seconds of failed polls while other calls succeed. "
            "The time is 60 s on a link that loses replies, or if three events, or 20 % of the other calls, fail with "
            "5xx or without a reply. Status 429 does not count",
            "no reply for 12 s",
            "a good reply",
        ),
        "API_BLIND": Claim(
            "no good reply for 30 s of watching, or two list intervals if these are longer; and three tries",
            "NO REPLY",
            "a good list, and good samples of one event",
        ),
        "AUTH_FAILED": Claim("a list that the platform refused with 401 or 403", "", "a good list"),
        "RATE_LIMITED": Claim(
            "more than 5 % of the calls in 30 s refused with 429, or one with 429 and Retry-After", "", "the usual pace"
        ),
        "CLOCK_SKEW": Claim("the dates of the last five replies", "", "dates that agree"),
        "MACHINE_CLOCK": Claim("a step between this machine's two clocks, or a stop of this process", "", "a minute"),
        "OWN_SLOW": Claim(
            "30 s in which 5 % of this process's wake-ups are late, or too few of its planned polls are made in time",
            "this machine is 3 s behind",
            "a whole minute with values below half of the limits",
        ),
        "UNIT_UNKNOWN": Claim(
            "rates that are plausible as kbit/s, and no rate that is too high for kbit/s",
            "",
            "numbers that prove the unit, or a person's choice",
        ),
        "HISTORY_FAILED": Claim("a write that failed; a locked file for 10 s", "", "a write that succeeds"),
        "NOTIFY_FAILING": Claim(
            "a target that has accepted nothing for 5 min, or a dead letter",
            "",
            "a message that the target accepts, and no dead letter",
        ),
        "LIST_WRONG": Claim(
            "events missing from two lists, although the platform still serves them by id or sends their samples",
            "requested by id, no reply yet",
            "lists that contain all of them, or proof that the others are gone",
        ),
        "COLLECTOR_SILENT": Claim(
            "12 s without a message, 60 s without a new snapshot, or a refusal by the collector",
            "",
            "a message, and a new snapshot",
        ),
        "ENGINE_APART": Claim("a failed exchange with the shared Redis", "", "an exchange that succeeds"),
        "COLLECTOR_LOST": Claim(
            "the collector's leases expired without renewal, and it did not sign off",
            "",
            "the collector is back, or an hour has passed",
        ),
        "VIEWER_GONE": _of_rounds(
            "no playlist from its host, while the API or another host has answered since", "the playlist is served"
        ),
        "VIEWER_STALLED": _of_rounds("no new segment, or a playlist that has ended", "a new segment comes"),
        "VIEWER_SEGMENTS": Claim(
            "a segment that the playlist lists, but its host does not serve whole",
            "",
            "two rounds of the probe without such a segment",
        ),
        "VIEWER_SLOW": _of_rounds(
            "segments that take most of their length to fetch, while other hosts are not slow", "segments come faster"
        ),
        "VIEWER_RUNGS": _of_rounds(
            "a rendition that is missing, or far behind another", "no rendition is missing or far behind", "three"
        ),
        "VIEWER_LATE": _of_rounds(
            "a latency that is over the limit and not falling, by the dates of the playlist; and no clock skew",
            "the latency is below the limit",
            "three",
        ),
        "VIEWER_BLACK": _of_rounds("decoded segments that have been black for 20 s", "the picture is not black"),
        "VIEWER_FROZEN": _of_rounds("decoded segments whose picture has not moved for 60 s", "the picture moves"),
        "VIEWER_SILENT": _of_rounds("decoded segments without sound for 20 s", "there is sound"),
        "CDN": Claim(
            "viewer faults that began together on enough events of one CDN host, while the API answers",
            "",
            "fewer than two of its events still fail, or fewer than half of the number that starts an incident",
        ),
        "PROBE_BLIND": Claim(
            "no playlist that plays (of at least three, on at least two hosts) while the API answers; or a fault of "
            "the probe itself",
            "",
            "a playlist that plays",
        ),
        "PLATFORM": Claim(
            "faults that began together on enough inputs",
            "",
            "fewer than two inputs still fail, or fewer than half of the number that starts an incident",
        ),
    }
)
"""Kind -> claim. A test demands a row for each kind, and no other row."""


def claims_table() -> str:
    """Return the claims as a Markdown table. Its rows have anchors, to which alert rules link."""
    rows = (
        f'| <a id="{kind}"></a>{kind} | {claim.needs}{_until_then(claim.meanwhile)} | {claim.ends} |'
        for kind, claim in CLAIMS.items()
    )
    head = "| Kind | Evidence | Ends with |\n|---|---|---|"
    return "\n".join([head, *rows])


def _until_then(words: str) -> str:
    return f"; until then `{words}`" if words else ""
