"""The sentences of the deck outside its tables, each with the record of the platform that proves it."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime
from itertools import pairwise
from statistics import mean, median

from ui.truth import (
    CLOCK,
    LIST_INTERVAL,
    SPAN,
    TALLY,
    Document,
    Reader,
    Sample,
    Then,
    clock_of,
    epoch,
    is_duration,
    is_number,
    is_short_for,
    seconds_of,
    sentence,
)

_Found = re.Match[str]
_SEVERITY = r"[✖▲●] (?P<severity>CRIT|WARN|INFO)"
_KIND = r"(?P<kind>(?!QUIET|SILENCED|CLEARED|ACKNOWLEDGED|ROOMS|RECORDINGS)[A-Z][A-Z_]{4,})"
_TIME = r"\d\d:\d\d:\d\d"


def _states(reader: Reader, *tallies: str) -> tuple[int, int]:
    """Least and greatest number of events with these tallies in the time that the screen may show."""
    ids = {key for _, events in reader.records.seconds[-120:] for key in events}
    sure = possible = 0
    for key in ids:
        found = [then.tallies() for then in reader.lately(key)]
        if not found:
            continue
        possible += any(set(tallies) & states for states in found)
        sure += all(states <= set(tallies) for states in found) and found[0] != set()
    return sure, possible


def _starts_in(now: float, text: str) -> Callable[[Then], bool]:
    """Return whether an event is planned for that time after `now`."""
    return lambda then: is_duration(text, (then.planned or 0) - now)


def _within(text: str, bounds: tuple[int, int]) -> bool:
    return bounds[0] <= int(text) <= bounds[1]


def _split_board(reader: Reader, text: str) -> tuple[str, str]:
    """Return subject and actual value of a row; one blank separates them where the subject fills its column."""
    places = [place.start() for place in re.finditer(r"\s+", text)]
    for place in sorted(places, reverse=True):
        subject = text[:place]
        if reader.records.named(subject) or subject == "platform" or _is_target(reader, subject):
            return text[:place], text[place:].strip()
    return text, ""


def _is_target(reader: Reader, text: str) -> bool:
    """Whether a shortened subject is an event and its destination."""
    pairs = [f"{event['name']} / {row['name']}" for event in reader.records.all("event") for row in event["restreams"]]
    return any(is_short_for(text, pair) for pair in pairs)


_WORDS = (
    ("loss in|packet loss", "PACKET_LOSS"),
    ("no samples", "RECONNECTING"),
    ("disconnected", "RESTREAM_DOWN"),
    ("no ingest", "LATE_START"),
    ("fps now", "PROFILE_CHANGE"),
    ("^fps", "FPS_LOW"),
    ("uneven key frames", "KEYFRAME_DRIFT"),
    ("events on air", "PLATFORM"),
    ("was sending", "ENDED_ON_AIR"),
    ("answers again", "API_BLIND"),
)
"""Words of an alarm -> its kind, for a board that is too narrow to name it."""

# header and banner


@sentence(r"✓ link ok|▲ link FAILING|✖ BLIND|▒ STALE|▲ link POOR|… connecting")
def link(reader: Reader, text: str, _: _Found) -> None:
    struck = [is_struck for at, is_struck in reader.records.faults if at >= reader.now - 20]
    reader.says(
        text, not all(struck) if text == "✓ link ok" else bool(reader.records.faults_lately(reader.age + 35)), "link"
    )


@sentence(rf"(?P<age>(?:{SPAN})|\d+ s) ago")
def age(reader: Reader, text: str, found: _Found) -> None:
    seconds = seconds_of(found["age"])
    is_calm = not reader.records.faults_lately(seconds + 2)
    reader.says(text, seconds <= 40 if is_calm else True, "age")


@sentence(r"rtt (\d+) ms")
def round_trip(reader: Reader, text: str, found: _Found) -> None:
    delays = {0.0, *reader.records.delays_lately(reader.age + LIST_INTERVAL)}
    reader.says(text, any(abs(int(found[1]) / 1000 - delay) <= 0.05 for delay in delays), "rtt")


@sentence(r"(\d\d:\d\d:\d\d)(?:Z| UTC)")
def clock(reader: Reader, text: str, found: _Found) -> None:
    if reader.number:
        reader.sheet.unread["99:99:99Z elsewhere"] += 1
        return
    reader.says(text, abs(clock_of(found[1], reader.now) - reader.now) <= 1, "clock")


@sentence(r"(?:✖ (?P<critical>\d+))?(?:   )?(?:▲ (?P<warning>\d+))?")
def chips(reader: Reader, text: str, found: _Found) -> None:
    if reader.number:
        reader.sheet.unread[text] += 1
        return
    reader.chips |= {name: int(number) for name, number in found.groupdict().items() if number}


@sentence(r"clear|measuring")
def calm(reader: Reader, text: str, _: _Found) -> None:
    """Compare the word with the platform: `clear` with the worst that it shows, `measuring` with a cause to wait."""
    events = [reader.lately(key) for key in reader.records.seconds[-1][1]]
    if text == "clear":
        reader.says(text, not any(moments and all(map(_is_bad_now, moments)) for moments in events), "not clear")
    else:
        reader.says(
            text, any(_is_unmeasured(reader, then) for moments in events for then in moments), "nothing to wait for"
        )


def _is_bad_now(then: Then) -> bool:
    """Whether an event is surely late or without ingest, or each of its last 6 samples lost packets."""
    last = [sample.status for sample in then.recent(30)[-6:]]
    return then.tallies() <= {"LATE", "LOST", "RECONN"} or (len(last) == 6 and set(last) == {5})


def _is_unmeasured(reader: Reader, then: Then) -> bool:
    """Whether the samples of an event on air are late or gone, or began or came back lately."""
    began = max(then.started or 0, reader.run_start(then))
    return then.status == "live" and (then.gap > PROOF_OF_GAP or then.at - began <= 120)


@sentence(rf".*since ({_TIME})Z  data from ({_TIME})Z.*")
def banner(reader: Reader, text: str, found: _Found) -> None:
    since, data = (clock_of(found[i], reader.now) for i in (1, 2))
    reader.says(text, abs(reader.now - data - reader.age) <= 2, "data from")
    reader.says(text, data <= since + 35 and since <= reader.now, "since")
    reader.says(text, bool(reader.records.faults_lately(reader.age + 10)), "failing")


@sentence(rf"● (?P<name>.+) was completed while on air, seen at ({_TIME})Z")
def completed(reader: Reader, text: str, found: _Found) -> None:
    at = clock_of(found[2], reader.now)
    reader.says(
        text,
        reader.any_of(
            found["name"],
            lambda then: then.status == "finished" and abs(epoch(then.event["stream"]["finished_at"]) - at) <= 20,
        ),
        "completed",
    )


# addresses, and what is set to send there


@sentence(r"(?P<url>rtmps?://\S+)  (\d+) relay profiles?, (\d+) destinations? of events")
def used_address(reader: Reader, text: str, found: _Found) -> None:
    reader.address = found["url"]
    profiles = [row for room_ in reader.records.all("room") for row in room_["restreams"]]
    reader.says(text, int(found[2]) == sum(_is_at(reader, row) for row in profiles), "profiles")
    counts = {
        sum(_is_at(reader, row) for event in events.values() if not _is_over(event) for row in _enabled(event))
        for at, events in reader.records.seconds
        if at >= reader.now - reader.age - LIST_INTERVAL
    }
    reader.says(text, int(found[3]) in counts, f"destinations of events: {counts}")


def _is_at(reader: Reader, row: Document) -> bool:
    return bool(row["url"]) and row["url"].rstrip("/") == reader.address


def _is_over(event: Document) -> bool:
    return event["stream"] is not None and event["stream"]["status"] == "finished"


def _enabled(event: Document) -> list[Document]:
    return [row for row in event["restreams"] if row.get("enabled") is not False]


def _is_shared(reader: Reader, row: Document, key: str) -> bool:
    """Whether another destination at the address of a row has its key."""
    events = [event for event in reader.records.seconds[-1][1].values() if not _is_over(event)]
    keys = [other["key"] for event in events for other in _enabled(event) if _is_at(reader, other)]
    rooms_ = reader.records.all("room")
    keys += [other["stream_key"] for room_ in rooms_ for other in room_["restreams"] if _is_at(reader, other)]
    return keys.count(row[key]) > 1


_KEY_CELL = r"•+(?P<end>\w{4})(?P<shared> shared)?(?:  +(?P<changed>changed .*))?"


def _changed_at(reader: Reader, found: _Found) -> None:
    """Read the last change, beside the key, of a destination."""
    reader.key = reader.number, found["end"]
    if found["changed"]:
        reader.segment(found["changed"], reader.column)


@sentence(rf"room +(?P<status>●? ?\w+) +(?P<owner>\S.*?) +[✓▲] (?P<target>\S.*?) +{_KEY_CELL}")
def relay_at_address(reader: Reader, text: str, found: _Found) -> None:
    def so(room_: Document, row: Document) -> bool:
        return (
            is_short_for(found["owner"], room_["name"])
            and found["status"].removeprefix("● ") == room_["status"]
            and is_short_for(found["target"], row["name"])
            and row["stream_key"].endswith(found["end"])
            and _is_at(reader, row)
            and bool(found["shared"]) == _is_shared(reader, row, "stream_key")
        )

    rows = [(room_, row) for room_ in reader.records.all("room") for row in room_["restreams"]]
    reader.says(text, any(so(*pair) for pair in rows), "relay at its address")
    _changed_at(reader, found)


@sentence(
    rf"{TALLY} +{CLOCK} +(?P<owner>\S.*?) +(?P<mark>[✓▲○·]) (?P<target>\S.*?)"
    rf" (?P<status>connected|disconnected|off) +{_KEY_CELL}"
)
def event_at_address(reader: Reader, text: str, found: _Found) -> None:
    name = found["owner"]
    _changed_at(reader, found)
    reader.tally(text, name, found["lamp"], found["tally"])
    reader.clock(text, name, found["clock"])
    reader.says(text, reader.is_destination(name, found["mark"], f"{found['target']} {found['status']}"), "destination")

    def so(then: Then) -> bool:
        return any(
            is_short_for(found["target"], row["name"])
            and row["key"].endswith(found["end"])
            and _is_at(reader, row)
            and bool(found["shared"]) == _is_shared(reader, row, "key")
            for row in then.event["restreams"]
        )

    reader.says(text, reader.any_of(name, so), "address")


# Events


@sentence(r"[●▒] (\d+) on air(?: +.*)?")
def summary(reader: Reader, text: str, _: _Found) -> None:
    for chunk in re.split(r"\s{2,}", text):
        if found := re.fullmatch(r"([●✖▲✓▒○]) (\d+) (on air|bad|watch|good|not up to date|planned)", chunk):
            if found[3] == "on air":
                reader.says(chunk, _within(found[2], _states(reader, "ON AIR", "RECONN", "LOST")), "on air")
            elif found[3] == "planned":
                reader.says(chunk, _within(found[2], _states(reader, "SCHED")), "planned")
            elif found[3] == "good":
                reader.good = int(found[2])
            else:
                reader.sheet.unread[chunk[2:]] += 1
        elif found := re.fullmatch(rf"next (.+) {CLOCK}", chunk):
            reader.says(chunk, reader.any_of(found[1], _starts_in(reader.now, found["clock"][2:])), "next")
            planned = [
                then.planned
                for key in reader.records.seconds[-1][1]
                for then in reader.lately(key)[:1]
                if "SCHED" in then.tallies()
            ]
            named = [then.planned for key in reader.records.named(found[1]) for then in reader.lately(key)[:1]]
            reader.says(chunk, bool(named) and named[0] == min(filter(None, planned), default=None), "is next")
        elif found := re.fullmatch(r"↑ ([\d.]+) Mbit/s in", chunk):
            bit_rate(reader, chunk, found)
        elif re.search(r"\d", chunk):
            reader.sheet.unread[chunk] += 1


@sentence(r"(?:[↑] )?([\d.]+) ([MGk])bit/s in")
def bit_rate(reader: Reader, text: str, found: _Found) -> None:
    low = high = 0.0
    for key in reader.records.seconds[-1][1]:
        sums = [
            then.past[-1].video + then.past[-1].audio
            if then.status == "live" and then.past and then.gap <= PROOF_AND_A_POLL
            else 0.0
            for then in reader.lately(key)
        ]
        low, high = low + min(sums, default=0.0), high + max(sums, default=0.0)
    scale = {"k": 1e3, "M": 1e6, "G": 1e9}[found[2]] if found.re.groups > 1 else 1e6
    half = 0.05 * scale
    reader.says(text, low - half <= float(found[1]) * scale <= high + half, f"{low:.0f} to {high:.0f}")


PROOF_AND_A_POLL = 17.0


@sentence(r"↓ (\d+) of (\d+) arrive(?:, \? (\d+) unknown)?")
def arrivals(reader: Reader, text: str, found: _Found) -> None:
    sure, possible = _states(reader, "ON AIR")
    unknown = int(found[3] or 0)
    reader.says(text, sure - unknown <= int(found[1]) <= possible, "arrive")
    reader.says(text, _within(found[2], _states(reader, "ON AIR", "RECONN", "LOST")), "expected")


@sentence(r"✖ (\d+) lost")
def lost(reader: Reader, text: str, found: _Found) -> None:
    reader.says(text, _within(found[1], _states(reader, "RECONN", "LOST")), "lost")


@sentence(r"○ (\d+) planned")
def planned(reader: Reader, text: str, found: _Found) -> None:
    reader.says(text, _within(found[1], _states(reader, "SCHED")), "planned")


@sentence(r"→ (\d+) of (\d+) destinations? connected(?:, \? (\d+) unknown)?")
def destinations(reader: Reader, text: str, found: _Found) -> None:
    live = connected = live_least = least = 0
    for key in reader.records.seconds[-1][1]:
        counts = [
            (len(then.restreams), sum(row["status"] == "connected" for row in then.restreams))
            for then in reader.lately(key)
            if then.tallies() & {"ON AIR", "RECONN", "LOST"}
        ]
        all_live = len(counts) == len(reader.lately(key))
        live += max((count for count, _ in counts), default=0)
        connected += max((count for _, count in counts), default=0)
        live_least += min((count for count, _ in counts), default=0) if all_live else 0
        least += min((count for _, count in counts), default=0) if all_live else 0
    reader.says(text, least - int(found[3] or 0) <= int(found[1]) <= connected, f"{least} to {connected}")
    reader.says(text, live_least <= int(found[2]) <= live, "destinations")


# the selected event


@sentence(rf"(?:(?P<name>\S.*?)   )?{TALLY}(?: +{CLOCK})?(?: +(?P<rest>\S.*))?")
def head(reader: Reader, text: str, found: _Found) -> None:
    name = found["name"] or reader.pane or reader.selected or ""
    if found["rest"] and reader.records.named(found["rest"].strip()):  # the head of the chat
        reader.selected = name = found["rest"].strip()
        reader.tally(text, name, found["lamp"], found["tally"])
        return
    if not reader.records.named(name):
        reader.sheet.unread[f"head of {name}: {text}"] += 1
        return
    reader.selected = name
    reader.tally(text, name, found["lamp"], found["tally"])
    if found["clock"]:
        reader.clock(text, name, found["clock"])
    rest = found["rest"] or ""
    if window := re.search(rf"window ({SPAN}) left", rest):
        reader.says(
            text,
            reader.any_of(
                name,
                lambda then: (
                    bool(then.past)
                    and is_duration(window[1], then.event["reconnect_window"] - (reader.now - then.past[-1].time))
                ),
                sampled=True,
            ),
            "window left",
        )
    if health := re.match(r"([✖▲✓▒~?◆]? *(?:\d+|--) [A-Z-]+(?: [A-Z]+)?(?: [a-z]+)?|[✖▲] NOT STARTED)", rest):
        reader.health(text, name, health[1].strip())


@sentence(rf"window ({SPAN}) left")
def window_left(reader: Reader, text: str, found: _Found) -> None:
    reader.says(
        text,
        reader.any_of(
            reader.selected or "",
            lambda then: (
                bool(then.past)
                and is_duration(found[1], then.event["reconnect_window"] - (reader.now - then.past[-1].time))
            ),
            sampled=True,
        ),
        "window left",
    )


@sentence(r"([✖▲✓▒~?◆] *(?:\d+|--) (?:GOOD|FAIR|POOR|NO DATA|STALE|WARM-UP)(?: [a-z]+)?)")
def health(reader: Reader, text: str, found: _Found) -> None:
    reader.health(text, reader.selected or "", found[1])


@sentence(rf"({_TIME})  video (\S+) (\S)bit/s  audio (\S+) (\S)bit/s  fps (\S+)  (.*?)(?:  .*)?")
def readout(reader: Reader, text: str, found: _Found) -> None:
    at = clock_of(found[1], reader.now)
    words = {0: "▁ normal", 3: "▲ KEY>20%", 4: "◆ KEY>50%", 5: "✖ LOSS"}

    def so(sample: Sample) -> bool:
        return (
            abs(sample.time - at) < 1
            and is_number(found[2] + found[3], sample.video)
            and is_number(found[4] + found[5], sample.audio)
            and is_number(found[6], sample.fps)
            and found[7].strip().replace("3 ", "").replace("4 ", "").replace("5 ", "") == words.get(sample.status, "?")
        )

    reader.says(
        text, reader.any_of(reader.selected or "", lambda then: any(map(so, then.past)), sampled=True), "readout"
    )
    _chunks(reader, text, r".*?(as of .*)")


def _chunks(reader: Reader, text: str, pattern: str) -> None:
    if found := re.fullmatch(pattern, text):
        for chunk in re.split(r"\s{2,}", found[1]):
            reader.segment(chunk, 1)


@sentence(rf"as of ({_TIME})Z \((\d+) s\)")
def as_of(reader: Reader, text: str, found: _Found) -> None:
    seconds = reader.now - clock_of(found[1], reader.now)
    reader.says(text, is_duration(f"{found[2]} s", seconds), "as of")
    is_over = reader.any_of(reader.selected or "", lambda then: then.status == "finished")
    reader.says(text, is_over or seconds <= reader.age + 33, "is that old")


@sentence(r"cadence (\d+) s")
def cadence(reader: Reader, text: str, found: _Found) -> None:
    reader.says(text, found[1] == "2", "cadence")


@sentence(r"▲ 3 KEY>20% (\d+)   ◆ 4 KEY>50% (\d+)   ✖ 5 LOSS (\d+)  ▁ normal (\d+) of (\d+) samples.*")
def counts(reader: Reader, text: str, found: _Found) -> None:
    key3, key4, loss, normal, total = (int(part) for part in found.groups())
    reader.says(text, key3 + key4 + loss + normal <= total, "sum")

    def so(then: Then) -> bool:
        statuses = [sample.status for sample in then.past]
        return any(
            [statuses[-n - skip : len(statuses) - skip].count(status) for status in (3, 4, 5, 0)]
            == [key3, key4, loss, normal]
            for n in (total,)
            for skip in range(6)
        )

    reader.says(text, reader.any_of(reader.selected or "", so, sampled=True), "counts")


@sentence(rf"▌?({_TIME})  ({SPAN})(?P<open> so far)?   [✖▲●◆] {_KIND}.*")
def episode(reader: Reader, text: str, found: _Found) -> None:
    at = clock_of(found[1], reader.now)

    def so(then: Then) -> bool:
        past = then.past
        if found["kind"] in {"RECONNECTING", "DROPOUTS"}:
            later = [sample.time for sample in past if sample.time > at + 1]
            begins = any(abs(sample.time - at) <= 2 for sample in past)
            ends = reader.now if found["open"] else (later[0] if later else 0)
            return begins and is_duration(found[2], ends - at, 12 if not found["open"] else 1)
        return (_began(found["kind"], then, at) or reader.is_older(reader.selected or "", at)) and (
            not found["open"] or is_duration(found[2], reader.now - at)
        )

    reader.says(text, reader.any_of(reader.selected or "", so, sampled=True), "episode")


# alarms


def _is_bad(kind: str, sample: Sample, then: Then) -> bool:
    """Whether a sample shows that fault, generously: by the platform's numbers alone."""
    usual = median(row.video for row in then.past[-300:])
    frames = median(row.fps for row in then.past[:60])
    if kind == "PACKET_LOSS":
        return sample.status == 5
    if kind in {"KEYFRAME_DRIFT", "KEYFRAME_SEVERE"}:
        return sample.status in ({3, 4} if kind == "KEYFRAME_DRIFT" else {4})
    if kind in {"FPS_LOW", "FPS_COLLAPSE"}:
        return sample.fps < 0.97 * frames or sample.fps < 29
    if kind in {"VIDEO_LOW", "VIDEO_STARVED", "BITRATE_UNSTABLE"}:
        return sample.video < 0.9 * usual or sample.status == 5
    return True


def _began(kind: str, then: Then, at: float) -> bool:
    """Whether the platform shows a beginning of that fault around a moment."""
    near = [sample for sample in then.past if abs(sample.time - at) <= 12]
    return any(_is_bad(kind, sample, then) for sample in near)


def _is_so_now(reader: Reader, kind: str, then: Then, target: str) -> bool:
    """Whether the platform holds a proof that the fault is there at that moment."""
    rows = [row for row in then.event["restreams"] if not target or is_short_for(target, row["name"])]
    proofs: dict[str, Callable[[], bool]] = {
        "RECONNECTING": lambda: then.gap > PROOF_OF_GAP or then.at - reader.run_start(then) <= 30,
        "STREAM_LOST": lambda: then.gap > then.event["reconnect_window"] - 5,
        "RESTREAM_DOWN": lambda: any(row["status"] == "disconnected" and row["enabled"] for row in rows),
        "LATE_START": lambda: (
            "LATE" in then.tallies() or ("SCHED" in then.tallies() and (then.planned or 0) - then.at <= START_NOTICE)
        ),
        "ENDED_ON_AIR": lambda: then.status == "finished",
        "PROFILE_CHANGE": lambda: True,
    }
    samples = then.recent(620)
    return proofs.get(kind, lambda: any(_is_bad(kind, sample, then) for sample in samples))()


PROOF_OF_GAP = 9.0

START_NOTICE = 300.0
"""Seconds before the planned start from which an alarm says "no ingest yet" (monitoring.md, "Alarm kinds")."""


def _alarm(reader: Reader, text: str, subject: str, kind: str, *, since: str, words: str) -> None:
    """Check an open alarm: that the fault is there, since when, and its figures."""
    name, _, target = subject.partition(" / ")
    if not reader.records.named(name):
        pairs = [(event["name"], row["name"]) for event in reader.records.all("event") for row in event["restreams"]]
        name, target = next((pair for pair in pairs if is_short_for(subject, " / ".join(pair))), (name, target))
    is_quiet = bool(re.search(r"cleared|hidden by|answers again|acknowledged$", words))
    if kind == "RESTREAM_DOWN" and not is_quiet:  # it clears after 30 s of good lists (monitoring.md, "Alarm kinds")
        late = [
            then for key in reader.records.named(name) for then in reader.records.then(key, reader.age + 30 + 2 * 17)
        ]
        reader.says(text, any(_is_so_now(reader, kind, then, target) for then in late), "is not so")
        is_quiet = True
    if name == "platform" or kind in {"PLATFORM", "API_BLIND", "CLOCK_SKEW"}:
        _platform_alarm(reader, text, kind, since, words)
        return
    if not reader.records.named(name):
        reader.says(text, False, f"no event has the name {name}")
        return
    begun = reader.now - seconds_of(since) if since else 0
    if over := re.search(rf"cleared ({_TIME})Z", words):
        at, slack = clock_of(over[1], reader.now), 60 if "h" in since or "d" in since else 2
        reader.says(text, begun - slack <= at <= reader.now + 1, "cleared before it began")
    if not is_quiet:
        reader.says(
            text,
            reader.any_of(name, lambda then: _is_so_now(reader, kind, then, target), sampled=kind != "RESTREAM_DOWN"),
            "is not so",
        )
    if since and reader.is_older(name, begun):
        pass  # the platform no longer serves the samples that would show it
    elif since and kind == "RECONNECTING" and not is_quiet:
        reader.says(
            text,
            reader.any_of(
                name,
                lambda then: bool(_gap_starts(then)) and is_duration(since, reader.now - _gap_starts(then)[-1]),
                sampled=True,
            ),
            "since",
        )
    elif since and kind == "LATE_START":
        ahead = START_NOTICE if "no ingest yet" in words else 0.0
        reader.says(
            text,
            reader.any_of(name, lambda then: is_duration(since, reader.now - (then.planned or 0) + ahead)),
            "since",
        )
    elif since and kind not in {"RESTREAM_DOWN", "ENDED_ON_AIR", "PROFILE_CHANGE", "RECONNECTING", "STREAM_LOST"}:
        slack = 60 if "h" in since or "d" in since else 0
        reader.says(
            text,
            reader.any_of(
                name, lambda then: any(_began(kind, then, begun - s) for s in range(0, slack + 1, 10)), sampled=True
            ),
            "since",
        )
    _figures(reader, text, name, kind, words)


def _gap_starts(then: Then) -> list[float]:
    """Return the last samples before each gap, including a gap that still lasts."""
    times = [sample.time for sample in then.past]
    starts = [old for old, new in pairwise(times) if new - old > PROOF_OF_GAP]
    return [*starts, times[-1]] if times and then.gap > PROOF_OF_GAP else starts


def _platform_alarm(reader: Reader, text: str, kind: str, since: str, words: str) -> None:
    if re.search("cleared|hidden by|answers again", words):
        return
    if kind == "PLATFORM":
        gone = [
            key
            for key in reader.records.seconds[-1][1]
            if any(
                then.status == "live" and then.past and _is_so_now(reader, "RECONNECTING", then, "")
                for then in reader.samples_lately(key)
            )
        ]
        reader.says(text, len(gone) >= 2, "platform")
        if found := re.search(r"(\d+) of (\d+) events on air", words):
            reader.says(text, int(found[1]) <= len(gone) or len(gone) == 0, "number of events")
        if since:
            begun = reader.now - seconds_of(since)
            reader.says(
                text,
                any(
                    abs(start - begun) <= 3
                    for key in gone
                    for then in reader.samples_lately(key)[:1]
                    for start in _gap_starts(then)
                ),
                "since",
            )
    elif kind == "API_BLIND":
        reader.says(text, bool(reader.records.faults_lately(reader.age + 35)), "blind")
    else:
        reader.says(text, False, f"an alarm of {kind}")


def _figures(reader: Reader, text: str, name: str, kind: str, words: str) -> None:
    """Check the figures of an alarm against the samples until now; those of an older value are of its time."""
    every = [then for key in reader.records.named(name) for then in reader.samples_lately(key)]
    if not every:
        return
    samples = every[0].past
    if found := re.search(r"(?:packet loss|uneven key frames) in ([\d.]+) % of the last (10 min|60 s)", words):
        seconds = 600 if found[2] == "10 min" else 60
        bad = {"PACKET_LOSS": {5}, "KEYFRAME_SEVERE": {4}, "KEYFRAME_DRIFT": {3, 4}}[kind]
        times = [sample.time for sample in samples[-1500:]]
        step = 2.0
        shares = []
        for end in times[-400:]:
            rows = [sample for sample in samples if end - seconds < sample.time <= end]
            shares.append(100 * step * sum(row.status in bad for row in rows) / seconds)
        digits = len(found[1].partition(".")[2])
        slack = 0.5 * 10**-digits + 1.5
        reader.says(text, any(abs(share - float(found[1])) <= slack for share in shares), "share")
    elif found := re.search(r"loss in (\d+) of (\d+) samples", words):
        size = int(found[2])
        sums = {sum(row.status == 5 for row in samples[i : i + size]) for i in range(len(samples) - size + 1)}
        reader.says(text, int(found[1]) in sums, "loss in samples")
    elif found := re.search(r"(fps|video|audio) (?:now )?([\d.]+[kM]?)(?=,|$| )", words):
        column = found[1]
        values = [getattr(row, column) for row in samples]
        shown = [
            mean(values[i : i + n])
            for n in (1, 3, 4, 5, 6)
            for i in range(max(0, len(values) - 700), len(values) - n + 1)
        ]
        shown += [
            median(values[i : i + n])
            for n in range(2, 26)
            for i in range(max(0, len(values) - 700), len(values) - n + 1)
        ]
        reader.says(text, any(is_number(found[2], value) for value in shown), "figure")


@sentence(
    rf"(?:▌ ?)?{_SEVERITY} +(?P<since>{SPAN})(?: +(?P<subject>\S.*?))??"
    rf"(?: +{_KIND}(?P<words>(?:  | hidden| cleared).*)?)?"
)
def alarm(reader: Reader, text: str, found: _Found) -> None:
    section_ = reader.section
    if section_ and text.startswith(("▌", "✖", "▲", "●")) and reader.column == 0:
        reader.sections[-1][2] += 1
        reader.severities[found["severity"]] += section_ != "QUIET"
    if found["kind"] is None or (reader.board_kinds is False and section_):
        subject = text[found.start("subject") :] if found["subject"] else ""
        if reader.board_kinds is False and section_:  # a board without the column ALARM
            subject, words = _split_board(reader, subject)
            kind = next((kind for word, kind in _WORDS if re.search(word, words)), "PROFILE_CHANGE")
            if section_[:5] in {"CLEAR", "QUIET"}:
                reader.cleared.add((kind, subject))
            _alarm(
                reader,
                text,
                subject,
                kind,
                since=found["since"],
                words=words + (" cleared" if section_[:5] in {"CLEAR", "QUIET"} else ""),
            )
            return
        reader.alarm = (subject, found["since"])
        return
    subject = found["subject"] or reader.pane or reader.selected or ""
    words = (found["words"] or "").strip() + (" cleared" if section_[:5] in {"CLEAR", "QUIET"} else "")
    if section_[:5] in {"CLEAR", "QUIET"}:
        reader.cleared.add((found["kind"], subject.strip()))
    _alarm(reader, text, subject.strip(), found["kind"], since=found["since"], words=words)


@sentence(rf"(?P<cleared>cleared, not acknowledged  )?{_KIND}  (?P<words>.+)")
def second_line(reader: Reader, text: str, found: _Found) -> None:
    if reader.alarm is None:
        reader.sheet.unread[text] += 1
        return
    subject, since = reader.alarm
    words = (found["cleared"] or "") + found["words"]
    _alarm(reader, f"{subject} {since} {text}", subject, found["kind"], since=since, words=words)


@sentence(r"(?:(\d+) critical)?(?:  )?(?:(\d+) warnings?)?(?:  )?(?:(\d+) quiet)?")
def pane_counts(reader: Reader, text: str, found: _Found) -> None:
    for name, part in zip(("critical", "warning"), found.groups(), strict=False):
        reader.says(text, int(part or 0) == reader.chips.get(name, 0), f"{name} in the header")


@sentence(rf"({_TIME}) ([●▲✖✓◆○■]) (?P<name>\S.*?) +(?P<what>on air|completed|removed|[A-Z_]{{4,}})(?: .*)?")
def change(reader: Reader, text: str, found: _Found) -> None:
    at, what, name = clock_of(found[1], reader.now), found["what"], found["name"]

    def so(then: Then) -> bool:
        if what == "on air":
            return then.started is not None and abs(then.started - at) <= 3
        if what == "completed":
            return then.status == "finished" and abs(epoch(then.event["stream"]["finished_at"]) - at) <= 1
        if what == "RECONNECTING":
            times = [sample.time for sample in then.past]
            edges = (
                _gap_starts(then)
                if found[2] != "✓"
                else [new for old, new in pairwise(times) if new - old > PROOF_OF_GAP]
            )
            return any(abs(edge - at) <= 12 for edge in edges)
        if what in {"RESTREAM_DOWN", "ENDED_ON_AIR", "LATE_START", "PROFILE_CHANGE"}:
            return True
        return found[2] == "✓" or _began(what, then, at) or reader.is_older(name, at)

    if reader.records.named(name):
        reader.says(text, reader.any_of(name, so, sampled=True), "change")
    else:
        reader.says(text, name == "platform", "change of an unknown event")


# rooms, videos


@sentence(
    r"ROOMS  (\d+) rooms?  (\d+) relay profiles?  (?:▒ STALE, )?"
    r"as of (\d\d:\d\d:\d\d)Z \((\d+ s|[\d:]+)\)(?: +polled every (\d+) s)?"
)
def rooms(reader: Reader, text: str, found: _Found) -> None:
    found_rooms = reader.records.all("room")
    reader.says(text, int(found[1]) == len(found_rooms), "rooms")
    reader.says(text, int(found[2]) == sum(len(row["restreams"]) for row in found_rooms), "profiles")
    reader.says(text, is_duration(found[4], reader.now - clock_of(found[3], reader.now)), "as of")


@sentence(
    r"▌?(?P<name>(?!status )\S.*?) +(?P<status>pending|active)"
    r"(?: +(?P<mark>[✓▲?-]) (?:(?P<count>\d+) )?(?P<word>complete|no profile|not known).*?)?"
    r"(?: +(?:code )?(?P<code>\d{3}-\d{3}-\d{3}).*| .*)?"
)
def room(reader: Reader, text: str, found: _Found) -> None:
    if text.startswith("▌"):
        reader.room = found["name"]

    def so(row: dict) -> bool:  # type: ignore[type-arg]
        count = len(row["restreams"])
        return (
            row["status"] == found["status"]
            and (not found["code"] or row["code"] == found["code"])
            and (
                not found["mark"]
                or (count == 0 if found["word"] == "no profile" else int(found["count"] or -1) == count)
            )
        )

    reader.says(
        text, any(is_short_for(found["name"], row["name"]) and so(row) for row in reader.records.all("room")), "room"
    )


@sentence(r"(?P<name>\S.*?)  (?P<mark>[✓-]) (?:(?P<count>\d+) complete|no profile)(?: +code (?P<code>[\d-]+))?")
def room_head(reader: Reader, text: str, found: _Found) -> None:
    reader.says(
        text,
        any(
            is_short_for(found["name"], row["name"])
            and len(row["restreams"]) == int(found["count"] or 0)
            and found["code"] in {None, row["code"]}
            for row in reader.records.all("room")
        ),
        "room",
    )


@sentence(
    r"▌?(?P<name>\S.*?) +(?P<length>\d\d:\d\d:\d\d)(?: (?P<day>\d\d \w{3} \d{4} \d\d:\d\d))?"
    r" +(?P<shown>●)? *(?P<posters>\d+|·) "
    r"(?P<subtitles>·|-|○? ?[a-z]{2}(?: ○? ?[a-z]{2})*|\d+) +(?P<annotations>\d+|·) +(?P<materials>\d+|·|\?)(?: .*)?"
)
def video(reader: Reader, text: str, found: _Found) -> None:
    if text.startswith("▌"):
        reader.video = found["name"]

    def so(row: dict) -> bool:  # type: ignore[type-arg]
        mine = {
            kind: [x for x in reader.records.all(kind) if x.get("of_video") == row["id"]]
            for kind in ("poster", "subtitle", "annotation")
        }
        return (
            is_duration(found["length"], row["duration"])
            and (found["posters"] in {"·", str(len(mine["poster"]))})
            and (found["annotations"] in {"·", str(len(mine["annotation"]))})
            and (
                found["subtitles"] == "·"
                or sorted(re.findall(r"[a-z]{2}", found["subtitles"]))
                == sorted(x["language"] for x in mine["subtitle"])
            )
        )

    reader.says(
        text, any(is_short_for(found["name"], row["title"]) and so(row) for row in reader.records.all("video")), "video"
    )


@sentence(r"RECORDINGS  (\d+) of completed events and of the selected event")
def recordings(reader: Reader, text: str, found: _Found) -> None:
    reader.says(text, int(found[1]) <= len(reader.records.all("video")), "recordings")


# addresses and settings of an event


@sentence(
    r"(?:set +)?(?:one-time|recurring)   (?P<presets>no presets|[\dp ]+?)   "
    r"(?P<latency>standard|reduced) latency   window (?P<window>[\d:]+)"
)
def event_settings(reader: Reader, text: str, found: _Found) -> None:
    def so(then: Then) -> bool:
        presets = then.event["video"]["presets"] or []
        return (
            found["presets"].split() == (presets or ["no", "presets"])
            and then.event["latency_mode"] == found["latency"]
            and is_duration(found["window"], then.event["reconnect_window"])
        )

    reader.says(text, reader.any_of(reader.pane or reader.selected or "", so), "settings")


@sentence(r"✓ (\d+) of 15 relay profiles.*")
def profiles(reader: Reader, text: str, found: _Found) -> None:
    reader.says(text, any(len(row["restreams"]) == int(found[1]) for row in reader.chosen_rooms), "profiles")


@sentence(r"✓ each profile has an address and a key")
def whole_profiles(reader: Reader, text: str, _: _Found) -> None:
    reader.says(
        text,
        any(
            row["restreams"] and all(profile["url"] and profile["stream_key"] for profile in row["restreams"])
            for row in reader.chosen_rooms
        ),
        "profiles",
    )


@sentence(r"✓ no event on air sends to these(?: destinations)?")
def apart(reader: Reader, text: str, _: _Found) -> None:
    taken = {(row["url"], row["key"]) for event in reader.records.all("event") for row in event["restreams"]}
    reader.says(
        text,
        any(
            all((profile["url"], profile["stream_key"]) not in taken for profile in row["restreams"])
            for row in reader.chosen_rooms
        ),
        "apart",
    )


@sentence(r"(?:goes to +|out +|on air +)?([▲○✓·?] \S.*)")
def goes_to(reader: Reader, text: str, found: _Found) -> None:
    parts = re.findall(r"([▲○✓·?]) (\S.*?)(?=  +[▲○✓·?] |  +\+|$)", found[1])
    known = {
        row["name"]
        for _, events in reader.records.seconds[-2:]
        for event in events.values()
        for row in event["restreams"]
    }
    for glyph, part in parts:
        words = re.sub(r"\s{2,}", " ", part).strip()
        to = max((name for name in known if words.startswith(name)), key=len, default=None)
        if to is None or any(is_short_for(row["name"], words) for row in reader.records.all("room")):
            _room_profile(reader, text, words)
            continue
        rest = words.removeprefix(to).strip()
        status = next((word for word in ("connected", "disconnected", "off") if rest.startswith(word)), "")
        rest = rest.removeprefix(status).strip()
        duration = re.search(rf"({SPAN})$", rest)
        name = rest if rest and not duration and reader.records.named(rest) else reader.pane or reader.selected or ""
        if rest and not duration and not reader.records.named(rest):
            _room_profile(reader, text, words)
            continue
        reader.says(text, reader.is_destination(name, glyph, f"{to} {status}".strip()), f"destination of {name}")
        if duration:
            reader.says(text, _changed(reader, name, to, reader.now - seconds_of(duration[1])), "for")


def _changed(reader: Reader, name: str, to: str, at: float) -> bool:
    """Whether the status of a destination changed about then, within the interval of the list."""
    for key in reader.records.named(name):
        rows = [
            (moment, row["status"])
            for moment, events in reader.records.seconds
            if key in events
            for row in events[key]["restreams"]
            if row["name"] == to
        ]
        if any(old[1] != new[1] and -2 <= at - new[0] <= 40 for old, new in pairwise(rows)):
            return True
    return False


def _room_profile(reader: Reader, text: str, words: str) -> None:
    """Count the text as unread unless it names a relay profile: a name alone states no fact."""
    profiles = [row for room_ in reader.records.all("room") for row in room_["restreams"]]
    if not any(words.startswith(row["name"]) for row in profiles):
        reader.sheet.unread[text[:60]] += 1


# panes of an alarm, sections of the board


@sentence(rf"[✖▲●] {_KIND}  (?P<name>\S.*)")
def alarm_title(reader: Reader, text: str, found: _Found) -> None:
    reader.pane_alarm = (found["kind"], found["name"])
    name = found["name"].partition(" / ")[0]
    reader.says(text, bool(reader.records.named(name)) or name == "platform", "alarm of an unknown event")


@sentence(rf"cleared, not acknowledged for ({SPAN}|\d+ s)")
def cleared_for(reader: Reader, _text: str, _found: _Found) -> None:
    """Keep that the alarm of this pane has cleared: its row may be out of view."""
    if reader.pane_alarm:
        reader.cleared.add(reader.pane_alarm)
    reader.sheet.unread["cleared, not acknowledged for 9:9"] += 1


@sentence(rf"since +({_TIME})Z.*")
def began(reader: Reader, text: str, found: _Found) -> None:
    if reader.pane_alarm is None:
        reader.sheet.unread[text] += 1
        return
    kind, name = reader.pane_alarm
    seconds = int(reader.now - clock_of(found[1], reader.now))
    since = (
        f"{seconds // 3600}:{seconds % 3600 // 60:02}:{seconds % 60:02}"
        if seconds >= 3600
        else f"{seconds // 60:02}:{seconds % 60:02}"
    )
    _alarm(reader, text, name, kind, since=since, words="cleared" if reader.is_cleared(kind, name) else "")


@sentence(r"actual +(?P<words>.+)")
def actual(reader: Reader, text: str, found: _Found) -> None:
    if reader.pane_alarm is None:
        reader.sheet.unread[text] += 1
        return
    kind, name = reader.pane_alarm
    words = found["words"] + (" cleared" if reader.is_cleared(kind, name) else "")
    _alarm(reader, text, name, kind, since="", words=words)


@sentence(
    r"(?P<section>NEW|ACKNOWLEDGED|SILENCED|CLEARED, NOT ACKNOWLEDGED)  (?P<count>\d+)"
    r"|(?P<quiet>QUIET)  (?P<parts>\d+ [a-z]+.*)"
)
def section(reader: Reader, text: str, found: _Found) -> None:
    reader.section = found["section"] or found["quiet"]
    count = int(found["count"]) if found["count"] else sum(int(part) for part in re.findall(r"(\d+) ", found["parts"]))
    reader.sections.append([text, count, 0])
    if reader.board_kinds is None:
        reader.board_kinds = True


@sentence(
    r"■ (video|audio|fps)(?: [\w/]+)?(?: +(?P<value>[\d.]+|--|-))?(?:  base (?P<base>[\d.]+))?"
    r"(?:  limit (?P<limit>[\d.]+))?(?:  nominal (?P<nominal>\d+))?(?:  from .*)?"
)
def chart_head(reader: Reader, text: str, found: _Found) -> None:
    name = reader.pane or reader.selected or ""
    if reader.pane_alarm:
        name = reader.pane_alarm[1].partition(" / ")[0]
    column, unit = found[1], {"video": 1e6, "audio": 1e3, "fps": 1.0}[found[1]]
    if found["value"] and found["value"] not in {"-", "--"}:
        reader.says(
            text,
            reader.any_of(
                name,
                lambda then: bool(then.past) and is_number(found["value"], getattr(then.past[-1], column), unit),
                sampled=True,
            ),
            "newest",
        )
    elif found["value"] == "--":
        reader.says(
            text, reader.any_of(name, lambda then: then.gap > PROOF_OF_GAP or reader.age > 8, sampled=True), "no newest"
        )
    if found["base"]:
        base = float(found["base"]) * unit
        reader.says(
            text,
            reader.any_of(
                name,
                lambda then: any(
                    abs(median([row.video for row in then.past[-n:]]) / base - 1) < 0.06
                    for n in (30, 60, 150, 300, 900)
                ),
                sampled=True,
            ),
            "base",
        )
    if found["limit"] and found["base"]:
        reader.says(
            text,
            abs(float(found["limit"]) / float(found["base"]) - 0.7) < 0.01
            or abs(float(found["limit"]) / float(found["base"]) - 0.85) < 0.01,
            "limit",
        )
    if found["nominal"]:
        reader.says(
            text,
            reader.any_of(
                name,
                lambda then: any(
                    abs(median([row.fps for row in then.past[-n:]]) - int(found["nominal"])) < 1
                    for n in (30, 300, 3600)
                ),
                sampled=True,
            ),
            "nominal",
        )


# an event's addresses and stream


@sentence(r"(?:status +)?(live|pending|finished)")
def stream_status(reader: Reader, text: str, found: _Found) -> None:
    reader.says(
        text, reader.any_of(reader.pane or reader.selected or "", lambda then: then.status == found[1]), "status"
    )


@sentence(r"(?:(?P<label>stream|id) +)?(?P<id>[0-9a-f]{8}-[0-9a-f-]{27})")
def identity(reader: Reader, text: str, found: _Found) -> None:
    name = reader.pane or reader.selected
    if found["label"] == "stream" and name:
        reader.says(text, reader.any_of(name, lambda then: _stream_id(then.event) == found["id"]), f"stream of {name}")
        return
    if found["label"] == "id" and reader.room:
        reader.says(text, any(row["id"] == found["id"] for row in reader.chosen_rooms), f"id of {reader.room}")
        return
    ids = {_stream_id(event) for _, events in reader.records.seconds[-30:] for event in events.values()}
    ids |= {row["id"] for kind in ("room", "video", "event") for row in reader.records.all(kind)}
    reader.says(text, found["id"] in ids, "id")


def _stream_id(event: Document) -> str:
    return event["stream"]["id"] if event["stream"] else ""


_FIELD = {"from": "rtmp_link", "ingest": "rtmp_link", "play": "play_link", "watch at": "play_link"}
"""Label of an address -> field of the selected event that has it."""


@sentence(
    r"(?:(?P<label>from|ingest|play|watch at|join at) +)?(?P<link>(?:rtmps?|https)://\S*?)(?:•+(?P<end>\w{0,4}))?"
)
def address(reader: Reader, text: str, found: _Found) -> None:
    start, _, tail = found["link"].partition("…")

    def fits(link: str) -> bool:
        return link.startswith(start) and tail in link and link.endswith(found["end"] or "")

    name, field = reader.pane or reader.selected, _FIELD.get(found["label"] or "")
    if field and name:
        reader.says(text, reader.any_of(name, lambda then: fits(then.event[field])), f"address of {name}")
        return
    links = [row["link"] for row in reader.chosen_rooms]
    if found["label"] != "join at":
        links += [
            link
            for event in reader.records.all("event")
            for link in (event["rtmp_link"], event["play_link"], *(row["url"] for row in event["restreams"]))
        ]
        links += [row["url"] for room_ in reader.records.all("room") for row in room_["restreams"]]
    reader.says(text, any(map(fits, links)), "address")


@sentence(r"key •+(\w{4})|•+(\w{4})")
def key_end(reader: Reader, text: str, found: _Found) -> None:
    keys = [
        row.get("stream_key") or row.get("key") or ""
        for room_ in reader.records.all("room")
        for row in room_["restreams"]
    ]
    end = found[1] or found[2]
    reader.key = reader.number, end
    reader.says(text, any(key.endswith(end) for key in keys), "key")


@sentence(r"latency +(standard|reduced)")
def latency(reader: Reader, text: str, found: _Found) -> None:
    reader.says(
        text,
        reader.any_of(reader.pane or reader.selected or "", lambda then: then.event["latency_mode"] == found[1]),
        "latency",
    )


@sentence(r"quality +(-|[\dp ]+)")
def quality(reader: Reader, text: str, found: _Found) -> None:
    reader.says(
        text,
        reader.any_of(
            reader.pane or reader.selected or "",
            lambda then: (then.event["video"]["presets"] or ["-"]) == found[1].split(),
        ),
        "quality",
    )


@sentence(rf"(?:recorded  )?(?P<none>none  )?(?:▒ STALE, )?as of (?P<age>\d+ s|{SPAN}) ago")
def listed(reader: Reader, text: str, found: _Found) -> None:
    """Compare the age of a list of recordings with the reads of it, and `none` with the videos of the event.

    The deck need not have received the last one: a reply that comes after its screen was left may be lost.
    """
    ids = reader.records.named(reader.pane or reader.selected or "")
    reads = [at for key in ids for at in reader.records.reads(f"/v2/live/events/{key}/videos")]
    meant = [at for at in reads if is_duration(found["age"], reader.now - at)]
    reader.says(text, bool(meant), "read")
    if found["none"]:
        then = datetime.fromtimestamp(min(meant, default=reader.now), UTC)
        recorded = {row["event_id"] for row in reader.records.all("video") if when(row["created_at"]) < then}
        reader.says(text, not set(ids) <= recorded, "recordings")


def when(text: str) -> datetime:
    """Return a time of the platform in UTC."""
    return datetime.fromisoformat(text).astimezone(UTC)


@sentence(r"videos (\d+)")
def videos(reader: Reader, text: str, found: _Found) -> None:
    reader.says(text, int(found[1]) <= len(reader.records.all("video")), "videos")


@sentence(r"stream +current  …(\w{4})  .*")
def chat_stream(reader: Reader, text: str, found: _Found) -> None:
    reader.says(
        text,
        reader.any_of(
            reader.selected or "",
            lambda then: then.event["stream"] is not None and then.event["stream"]["id"].endswith(found[1]),
        ),
        "stream",
    )


@sentence(r"(▲ 3 KEY>20%|◆ 4 KEY>50%|✖ 5 LOSS) (\d+)")
def count(reader: Reader, text: str, found: _Found) -> None:
    status = int(found[1][2])
    reader.says(
        text,
        reader.any_of(
            reader.selected or "",
            lambda then: sum(row.status == status for row in then.past) >= int(found[2]),
            sampled=True,
        ),
        "count",
    )


@sentence(r"(▲ 3 KEY>20% \d+)(?:   (◆ 4 KEY>50% \d+))?(?:   (✖ 5 LOSS \d+))?(?:  .*)?")
def counts_in_part(reader: Reader, _: str, found: _Found) -> None:
    for part in filter(None, found.groups()):
        reader.segment(part, 1)


@sentence(rf"window ({SPAN}) of ({SPAN})")
def chart_window(reader: Reader, text: str, found: _Found) -> None:
    reader.says(text, seconds_of(found[1]) <= seconds_of(found[2]) + 61, "window of whole")
    reader.says(
        text,
        reader.any_of(
            reader.selected or "",
            lambda then: (
                bool(then.past)
                and seconds_of(found[2]) <= reader.now - min(then.past[0].time, then.started or then.at) + 90
            ),
            sampled=True,
        ),
        "whole event",
    )


@sentence(rf"(\d+)% of ({SPAN})")
def used(reader: Reader, text: str, _: _Found) -> None:
    reader.window(text, reader.selected or "", text)


@sentence(r"(?:events +)?(?P<name>\S.*?) +(?P<count>\d+) recordings?  (?P<lengths>[\d:? ]+)")
def recordings_of_an_event(reader: Reader, text: str, found: _Found) -> None:
    lengths, videos = found["lengths"].split(), reader.records.all("video")
    known = all(item == "?" or any(is_duration(item, row["duration"]) for row in videos) for item in lengths)
    reader.says(text, known and len(lengths) == int(found["count"]), "recordings")


@sentence(r"code +(\d{3}-\d{3}-\d{3})|(\d{3}-\d{3}-\d{3})")
def code(reader: Reader, text: str, found: _Found) -> None:
    reader.says(text, any(row["code"] == (found[1] or found[2]) for row in reader.chosen_rooms), "code")


@sentence(
    r"(?:(?P<label>created|changed|recorded) +)?(?P<day>\d\d \w{3}(?: \d{4})? \d\d:\d\d)Z?"
    r"(?:, (?P<length>\d\d:\d\d:\d\d))?"
)
def dated(reader: Reader, text: str, found: _Found) -> None:
    """Compare a date with its record: of the selected room or video, or of the destination whose key is in the row."""
    videos = [row for row in reader.records.all("video") if is_short_for(reader.video or "", row["title"])]
    profiles = [row for room_ in reader.records.all("room") for row in room_["restreams"]]
    restreams = [row for event in reader.records.all("event") for row in event["restreams"]]
    end = reader.key[1] if reader.key[0] == reader.number else ""
    rows = {
        "created": reader.chosen_rooms,
        "changed": [
            row for row in (*profiles, *restreams) if end and row.get("stream_key", row.get("key")).endswith(end)
        ],
        "recorded": videos,
    }.get(found["label"] or "", [*reader.records.all("room"), *reader.records.all("video"), *profiles])
    times = {when(row[name]) for row in rows for name in ("created_at", "updated_at") if row.get(name)}
    if not found["label"]:
        streams = [event["stream"] for event in reader.records.all("event") if event["stream"]]
        times |= {when(stream[name]) for stream in streams for name in ("started_at", "finished_at") if stream[name]}
    days = {f"{at:%d %b %H:%M}" for at in times} | {f"{at:%d %b %Y %H:%M}" for at in times}
    reader.says(text, found["day"] in days, "date")
    if found["length"]:
        reader.says(text, any(is_duration(found["length"], row["duration"]) for row in videos), "length")


@sentence(r"annotations +(\d+)  (?P<rows>\S.*)")
def annotations_(reader: Reader, text: str, found: _Found) -> None:
    reader.says(text, int(found[1]) == len(reader.extras("annotation")), "annotations")
    for row in found["rows"].split("; "):
        reader.segment(row, reader.column)


@sentence(r"(?:annotations +)?(\d+) to (\d+) (\S.*?)(?:   .*)?")
def annotation(reader: Reader, text: str, found: _Found) -> None:
    rows = reader.extras("annotation") if reader.video else reader.records.all("annotation")
    reader.says(
        text,
        any(
            (x["start_time"], x["end_time"]) == (int(found[1]), int(found[2])) and is_short_for(found[3], x["title"])
            for x in rows
        ),
        "annotation",
    )


@sentence(
    r"subtitles +(?:(?P<count>\d+)  )?(?P<tracks>[a-z]{2} \S.*? (?:✓ done|○ pending|-)(?:; .*)?)"
    r"(?:   \S.*)?"
)
def subtitle(reader: Reader, text: str, found: _Found) -> None:
    """Compare each track with those of the selected video: language, words and recognition; and their number."""
    mine, now = reader.extras("subtitle"), datetime.fromtimestamp(reader.now, UTC)
    reader.says(text, found["count"] in {None, str(len(mine))}, "subtitles")
    for track in found["tracks"].split("; "):
        part = re.fullmatch(r"(?P<language>[a-z]{2}) (?P<words>.*?) (?P<state>✓ done|○ pending|-)", track)
        rows = [x for x in mine if part and x["language"] == part[1] and is_short_for(part[2], x["description"])]
        is_pending = any(when(x["done_at"]) > now for x in rows)
        reader.says(text, bool(rows) and ("○" in track) == is_pending, "subtitle")


@sentence(
    r"(?:posters +(?:(?P<count>\d+)  )?)?(?P<times>(?:● )?\d\d:\d\d:\d\d(?:\.\d+)?(?: shown)?(?:; .*)?)"
    r"(?:   (?P<details>image .*))?"
)
def posters(reader: Reader, text: str, found: _Found) -> None:
    """Compare each poster with those of the selected video, and their number."""
    if not (found["details"] or text.startswith("posters")) and reader.video is None:
        reader.sheet.unread[text] += 1
        return
    mine = {(round(x["from_time"], 2), x["active"]) for x in reader.extras("poster")}
    shown = re.findall(r"(● )?(\d\d:\d\d:\d\d)((?:\.\d+)?)( shown)?", found["times"])
    rows = {(round(seconds_of(at) + float(hundredths or 0), 2), bool(sign)) for sign, at, hundredths, _ in shown}
    reader.says(text, rows <= mine and all(bool(sign) == bool(word) for sign, _, _, word in shown), "poster")
    if found["count"]:
        reader.says(text, int(found["count"]) == len(mine) and ("…" in text or rows == mine), "posters")


@sentence(r"A filter has hidden this event: .*")
def hidden_event(reader: Reader, text: str, _: _Found) -> None:
    reader.says(text, any(" match" in row for row in reader.rows), "no filter is set")


# states of the relays, of charts and of Today


@sentence(r"out(?P<marks>(?: [✓○▲·?])+)")
def outs(reader: Reader, text: str, found: _Found) -> None:
    glyphs = {"connected": "✓", "disconnected": "○", "off": "·"}

    def so(then: Then) -> bool:
        states = [glyphs[row["status"]] for row in then.restreams] + [
            "·" for row in then.event["restreams"] if not row["enabled"]
        ]
        return sorted(states) == sorted(found["marks"].replace("▲", "○").split())

    reader.says(text, reader.any_of(reader.pane or reader.selected or "", so), "out")


@sentence(rf"[▲✖●] {_KIND} +since ({_TIME})  ({SPAN})")
def state_since(reader: Reader, text: str, found: _Found) -> None:
    reader.says(text, is_duration(found[3], reader.now - clock_of(found[2], reader.now)), "since")


@sentence(r"now (\d\d:\d\d)")
def today_now(reader: Reader, text: str, found: _Found) -> None:
    reader.says(text, datetime.fromtimestamp(reader.now, UTC).strftime("%H:%M") == found[1], "now")


@sentence(r"(?:▁ )?normal (\d+) of (\d+) samples.*")
def normal(reader: Reader, text: str, found: _Found) -> None:
    reader.says(
        text,
        reader.any_of(
            reader.selected or "", lambda then: int(found[1]) <= int(found[2]) <= len(then.samples) + 5, sampled=True
        ),
        "normal",
    )


@sentence(r"should have started (\S+) ago|start in (\S+)")
def start(reader: Reader, text: str, found: _Found) -> None:
    names = [reader.selected] if reader.selected else [event["name"] for event in reader.records.all("event")]
    sign = 1 if found[1] else -1
    reader.says(
        text,
        any(
            reader.any_of(
                name,
                lambda then: (
                    then.planned is not None and is_duration(found[1] or found[2], sign * (reader.now - then.planned))
                ),
            )
            for name in names
        ),
        "start",
    )


@sentence(rf"no samples for (?:at least )?({SPAN})")
def silence(reader: Reader, text: str, found: _Found) -> None:
    """Compare with the silences of the event of this pane: longer than the spacing of samples, running or ended."""

    def so(then: Then) -> bool:
        times = [sample.time for sample in then.past]
        gaps = [new - old for old, new in pairwise(times)] + [then.at - times[-1] if times else 0]
        return any(is_duration(found[1], gap, 3) for gap in gaps if gap > PROOF_OF_GAP)

    name = reader.pane_alarm[1].partition(" / ")[0] if reader.pane_alarm else reader.pane or reader.selected or ""
    reader.says(text, reader.any_of(name, so, sampled=True), f"silence of {name}")


@sentence(r"reply (\d+) s ago")
def reply(reader: Reader, text: str, found: _Found) -> None:
    reader.says(text, int(found[1]) <= reader.age + 35, "reply")


@sentence(r"(base|limit) ([\d.]+M)")
def learnt(reader: Reader, text: str, found: _Found) -> None:
    base = float(found[2][:-1]) * 1e6 / (1.0 if found[1] == "base" else 0.7)
    reader.says(
        text,
        reader.any_of(
            reader.pane or reader.selected or "",
            lambda then: any(
                abs(median([row.video for row in then.past[-n:]]) / base - 1) < 0.06 for n in (30, 60, 150, 300, 900)
            ),
            sampled=True,
        ),
        found[1],
    )
