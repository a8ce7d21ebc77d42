"""Viewers: the kinds that a probe raises, and its influence on other verdicts. Seconds from NOW."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable
from dataclasses import replace
from random import Random
from typing import Any

import pytest

from breadth import slow
from livedeck.client import Event
from livedeck.monitor import (
    AlarmKey,
    BroadcastState,
    ConnectionState,
    Content,
    Delivery,
    EventState,
    Finding,
    Grade,
    Picture,
    Reading,
    Severity,
    Snapshot,
    Sound,
    Source,
    Thresholds,
    ViewerState,
)
from livedeck.monitor.alarms.engine import AlarmEngine
from livedeck.monitor.alarms.faults import MonitorState
from livedeck.monitor.detection.health import find
from livedeck.monitor.detection.viewers import update
from livedeck.monitor.evidence.blame import Facts, blame
from livedeck.monitor.evidence.ends import Answer, Doubts, EventStanding, Standing
from livedeck.monitor.evidence.playlists import HostPlaylists, Playlists, Way, playlists_of, way_of, with_witness
from livedeck.monitor.evidence.witness import Witness, contradiction, witness
from livedeck.monitor.kinds import ALARM_KINDS
from livedeck.monitor.kinds.kind import EventCase
from livedeck.monitor.kinds.viewer import VIEWER_RULES
from livedeck.monitor.model.alarm import DECK
from livedeck.monitor.model.blame import Culprit, Failure, Sight
from livedeck.monitor.model.state import Ingest, IngestState, Phase
from livedeck.monitor.model.viewing import Viewing
from livedeck.monitor.polling.playlists import wanted
from livedeck.monitor.published import codec
from livedeck.monitor.signal.analysis import DataQuality, SignalAnalysis
from monitor.alarm_stage import WELL, state
from monitor.probing import HOST, Packager, Probe, moment, seen
from monitor.recordings import readings
from monitor.stage import NOW, Deck, Stage, event, model
from virtual_clock import VirtualClock

T = Thresholds()
ON_AIR = Phase(BroadcastState.ON_AIR, NOW, Ingest(IngestState.RECEIVING))


def folded(states: Iterable[ViewerState], thresholds: Thresholds = T, of: Event | None = None) -> Viewing | None:
    """Return the rounds of an event, with their faults."""
    viewing = None
    for each in states:
        viewing = update(viewing, each, of or model(), 0.0, thresholds)
    return viewing


def found(viewing: Viewing | None, phase: Phase = ON_AIR) -> dict[str, Severity]:
    """Return the findings after those rounds."""
    case = EventCase(SignalAnalysis(), phase, DataQuality(), NOW, viewer=viewing)
    kinds = (ALARM_KINDS[kind] for kind in VIEWER_RULES)
    return {finding.kind: finding.severity for kind in kinds for finding in find(kind, case, T)}


def rounds(count: int, start: float = 0.0, every: float = 10.0, **fields: Any) -> list[ViewerState]:
    """Return `count` rounds with the same fault, which began at the first of them."""
    return [seen(start + every * index, begun=start, **fields) for index in range(count)]


WARNING, CRITICAL, INFO = Severity.WARNING, Severity.CRITICAL, Severity.INFO
GONE, STALLED, ENDED = Delivery.GONE, Delivery.STALLED, Delivery.ENDED
PRESETS = model(video={"presets": ["360p", "720p"]})
REDUCED = model(latency_mode="reduced")


@pytest.mark.parametrize(
    ("kind", "fault", "count", "severity", "of"),
    [
        ("VIEWER_GONE", {"delivery": GONE, "error": "404"}, 2, CRITICAL, None),
        ("VIEWER_STALLED", {"delivery": STALLED}, 2, CRITICAL, None),
        ("VIEWER_STALLED", {"delivery": ENDED}, 2, CRITICAL, None),
        ("VIEWER_SLOW", {"ratio": 0.81}, 2, WARNING, None),
        ("VIEWER_RUNGS", {"rungs": (360,)}, 3, WARNING, PRESETS),
        ("VIEWER_RUNGS", {"rungs": (352, 720), "apart": ("720p is 3 segments behind",)}, 3, WARNING, PRESETS),
        ("VIEWER_LATE", {"latency": 30.1}, 3, WARNING, None),
        ("VIEWER_LATE", {"latency": 10.1}, 3, WARNING, REDUCED),
        ("VIEWER_BLACK", {"picture": Picture.BLACK}, 3, WARNING, None),
        ("VIEWER_BLACK", {"picture": Picture.BLACK}, 7, CRITICAL, None),
        ("VIEWER_FROZEN", {"picture": Picture.STILL}, 7, WARNING, None),
        ("VIEWER_SILENT", {"sound": Sound.SILENT}, 3, WARNING, None),
        ("VIEWER_SILENT", {"sound": Sound.NONE}, 7, CRITICAL, None),
    ],
)
def test_a_fault_is_raised_by_its_last_bad_round_and_cleared_by_the_second_good_one(
    kind: str, fault: dict[str, Any], count: int, severity: Severity, of: Event | None
) -> None:
    start = 10.0
    bad = [seen(0), *rounds(count, start, **fault)]
    assert found(folded(bad, of=of)).get(kind) is severity
    assert found(folded(bad[:-1], of=of)).get(kind) is not severity, "one round earlier"
    until = bad[-1].as_of
    assert until
    after = (until - NOW).total_seconds()
    well: dict[str, Any] = {"rungs": (360, 720)}
    assert kind in found(folded([*bad, seen(after + 10, **well)], of=of))
    assert found(folded([*bad, *rounds(2, after + 10, **well)], of=of)) == {}


@pytest.mark.parametrize(
    "well",
    [
        {"ratio": 0.8},
        {"latency": 30.0},
        {"rungs": ()},
        {"rungs": (72, 180)},
        {"delivery": Delivery.UNKNOWN},
        {"picture": Picture.UNKNOWN, "sound": Sound.UNKNOWN, "ratio": None, "latency": None},
        {"delivery": GONE, "is_stale": True},
        {"delivery": GONE, "source": Source.PLAYER_PAGE},
        {"delivery": GONE, "source": Source.DASH},
    ],
)
def test_what_is_well_or_not_known_raises_nothing_however_long(well: dict[str, Any]) -> None:
    assert found(folded([seen(0), *rounds(12, 10.0, **well)], of=PRESETS)) == {}


def test_missing_segments_are_counted_over_a_minute() -> None:
    def said(*missed: int, listed: int = 5) -> Severity | None:
        total, states = 0, [seen(0, rounds=1, listed=listed)]
        for index, count in enumerate(missed, 1):
            total += count
            states.append(seen(10.0 * index, rounds=index + 1, listed=listed * (index + 1), missed=total))
        return found(folded(states)).get("VIEWER_SEGMENTS")

    assert said(1) is INFO
    assert said(1, 0, 1) is WARNING
    assert said(1, 0, 0) is None, "two good rounds"
    assert said(1, 0, 0, 0, 0, 0, 0, 1) is INFO, "the first is over a minute old"
    assert said(1, 1, 1) is INFO or said(1, 1, 1) is WARNING
    assert said(3, 3) is CRITICAL
    assert said(1, listed=2) is INFO, "one segment is never more"


def test_a_latency_that_falls_is_not_late() -> None:
    falling = [seen(10.0 * index, latency=80.0 - 5 * index) for index in range(8)]
    assert found(folded(falling)) == {}
    assert found(update_all(falling, skew=3.0)) == {}


def update_all(states: Iterable[ViewerState], skew: float) -> Viewing | None:
    """Return the rounds of an event with a wrong clock."""
    viewing = None
    for each in states:
        viewing = update(viewing, each, model(), skew, T)
    return viewing


def test_without_a_right_clock_no_latency_is_judged() -> None:
    assert found(update_all(rounds(5, latency=60.0), skew=2.5)) == {}
    assert found(update_all(rounds(5, latency=60.0), skew=0.0)) == {"VIEWER_LATE": WARNING}


@pytest.mark.parametrize(
    ("content", "kinds"),
    [
        (Content.SHOW, {"VIEWER_FROZEN", "VIEWER_SILENT"}),
        (Content.SLIDES, {"VIEWER_SILENT"}),
        (Content.RADIO, {"VIEWER_SILENT"}),
        (Content.SILENT, {"VIEWER_FROZEN"}),
    ],
)
def test_only_what_the_content_expects_is_missed(content: Content, kinds: set[str]) -> None:
    states = rounds(9, picture=Picture.STILL, sound=Sound.SILENT)
    assert {*found(folded(states, replace(T, content=content)))} == kinds
    black = rounds(9, picture=Picture.BLACK)
    assert ("VIEWER_BLACK" in found(folded(black, replace(T, content=content)))) is (content is not Content.RADIO)


def test_an_event_off_air_has_no_viewers() -> None:
    viewing = folded(rounds(3, delivery=GONE))
    assert found(viewing) == {"VIEWER_GONE": CRITICAL}
    for tally in (BroadcastState.COMPLETED, BroadcastState.SCHEDULED, BroadcastState.LATE):
        assert found(viewing, Phase(tally, NOW)) == {}


def test_rounds_that_were_missed_prove_no_fault_in_between() -> None:
    """Such as those of a machine that slept: a picture that was black before and after may have been well."""
    assert found(folded([seen(0, picture=Picture.BLACK), seen(300, begun=0, picture=Picture.BLACK)])) == {}
    raised = rounds(3, picture=Picture.BLACK)
    assert "VIEWER_BLACK" in found(folded([*raised, seen(300, begun=0, picture=Picture.BLACK)])), "nothing ended it"


def test_a_probe_that_goes_stale_neither_raises_nor_clears() -> None:
    raised = rounds(2, delivery=GONE)
    stale = [seen(20.0 + index, delivery=Delivery.PLAYS, is_stale=True) for index in range(9)]
    assert found(folded([*raised, *stale])) == {"VIEWER_GONE": CRITICAL}
    assert folded([*raised, *stale]) == folded(raised)


def test_every_fact_of_a_probe_names_its_place() -> None:
    viewing = folded(rounds(9, delivery=STALLED, picture=Picture.BLACK, sound=Sound.SILENT))
    assert viewing
    assert {*viewing.faults} == {"VIEWER_STALLED", "VIEWER_BLACK", "VIEWER_SILENT"}
    assert all(fault.actual.endswith(f", from here ({HOST})") for fault in viewing.faults.values())


# The witness


def live(now: float = 30.0, **fields: Any) -> Witness:
    """Return the proof of two rounds, 5 s and 1 s before `now`, with the newest sample at NOW."""
    viewing = folded([seen(now - 5, **fields), seen(now - 1, **fields)])
    return witness(viewing, NOW.timestamp(), moment(now), T)


def test_a_live_witness_is_ahead_of_the_newest_sample_by_two_segments_and_the_latency() -> None:
    assert live(head_time=moment(12.1), latency=8.0, target=2.0) is Witness.LIVE
    assert live(head_time=moment(12.0), latency=8.0, target=2.0) is Witness.NONE


@pytest.mark.parametrize(
    "doubt",
    [
        {"picture": Picture.STILL},
        {"picture": Picture.BLACK},
        {"advances": 0},
        {"target": None},
        {"is_stale": True},
        {"source": Source.PLAYER_PAGE},
        {"delivery": Delivery.UNKNOWN},
        {"delivery": Delivery.ENDED},
        {"head_time": None, "latency": None},
        {"latency": None},
    ],
)
def test_anything_less_is_no_witness(doubt: dict[str, Any]) -> None:
    assert live(head_time=moment(25), latency=8.0) is Witness.LIVE
    assert live(**{"head_time": moment(25), "latency": 8.0, **doubt}) is Witness.NONE


def test_old_rounds_are_no_witness_and_neither_is_one_alone() -> None:
    viewing = folded([seen(20, head_time=moment(19), latency=1.0), seen(26, head_time=moment(25), latency=1.0)])
    assert witness(viewing, NOW.timestamp(), moment(45), T) is Witness.LIVE
    assert witness(viewing, NOW.timestamp(), moment(45.1), T) is Witness.NONE
    assert witness(viewing, None, moment(30), T) is Witness.NONE
    assert witness(None, NOW.timestamp(), moment(30), T) is Witness.NONE


def test_without_dates_the_head_must_move_in_three_rounds_of_the_silence() -> None:
    undated: dict[str, Any] = {"head_time": None, "latency": None}
    states = [seen(seconds, advances=count, **undated) for count, seconds in enumerate((1, 5, 9, 13), 1)]
    assert witness(folded(states), NOW.timestamp(), moment(14), T) is Witness.LIVE
    assert witness(folded(states), NOW.timestamp() + 2, moment(14), T) is Witness.NONE, "the first is too early"
    slow = [replace(each, advances=index % 2) for index, each in enumerate(states)]
    assert witness(folded(slow), NOW.timestamp(), moment(14), T) is Witness.NONE, "it moved in two of them"


def test_long_segments_and_rare_rounds_make_no_witness_flicker() -> None:
    """A head of 6 s segments does not move in every round of 4 s; a tight budget makes a round rare."""
    long: dict[str, Any] = {"target": 6.0, "latency": 8.0, "head_time": moment(40)}
    viewing = folded([seen(36, **long), seen(40, **{**long, "advances": 0})])
    assert witness(viewing, NOW.timestamp(), moment(41), T) is Witness.LIVE
    rare: dict[str, Any] = {"interval": 30.0, "latency": 8.0}
    viewing = folded([seen(100, **rare), seen(130, **rare)])
    assert witness(viewing, NOW.timestamp(), moment(160), T) is Witness.LIVE


@pytest.mark.parametrize("delivery", [GONE, STALLED])
def test_viewers_who_get_nothing_in_two_rounds_are_a_witness_against(delivery: Delivery) -> None:
    assert live(delivery=delivery) is Witness.AGAINST
    assert witness(folded([seen(29, delivery=delivery)]), NOW.timestamp(), moment(30), T) is Witness.NONE


# Who is to blame


def hosts(replying: str = "", /, **counts: tuple[int, int]) -> Playlists:
    """Playlists by host: number of all, and of those that fail. `replying`: host that replies, but serves none."""
    return Playlists(
        tuple(
            HostPlaylists(host, asked, lost, lost, asked if host == replying else asked - lost)
            for host, (asked, lost) in counts.items()
        )
    )


@pytest.mark.parametrize(
    ("playlists", "is_answering", "way"),
    [
        (None, True, Way.NONE),
        (None, False, Way.NONE),
        (hosts(a=(8, 0)), True, Way.NONE),
        (hosts(a=(8, 1)), True, Way.EVENT),
        (hosts(a=(2, 2)), True, Way.EVENT),
        (hosts(a=(1, 1), b=(1, 1)), True, Way.EVENT),
        (hosts(a=(8, 3), b=(2, 0)), True, Way.EVENT),
        (hosts(a=(8, 4), b=(2, 0)), True, Way.HOST),
        (hosts(a=(3, 3), b=(1, 0)), True, Way.HOST),
        (hosts(a=(8, 4)), True, Way.HOST),
        (hosts(a=(3, 3)), True, Way.LONE_HOST),
        (hosts(a=(2, 2), b=(1, 1)), True, Way.OWN_WAY),
        (hosts(a=(8, 8), b=(3, 3)), True, Way.OWN_WAY),
        (hosts("a", a=(8, 8), b=(3, 3)), True, Way.HOST),
        (hosts("a", a=(3, 3)), True, Way.HOST),
        (hosts(a=(8, 8), b=(3, 3)), False, Way.OWN_LINK),
        (hosts("b", a=(8, 8), b=(3, 3)), False, Way.API),
        (hosts(a=(1, 1)), False, Way.OWN_LINK),
        (hosts(a=(8, 0)), False, Way.API),
        (hosts(a=(8, 7)), False, Way.API),
    ],
)
def test_the_table_of_blame(playlists: Playlists | None, is_answering: bool, way: Way) -> None:
    assert way_of(playlists, is_answering=is_answering, least=3, part=0.5) is way


class Board:
    """Alarm engine for events with viewers, stepped each 5 s. `tally`: state of every event."""

    def __init__(self, *names: str, tally: BroadcastState = BroadcastState.ON_AIR) -> None:
        self.engine, self.names, self.now, self.tally = AlarmEngine(T), names, 0.0, tally
        self.viewings: dict[str, Viewing | None] = {}
        self.announced: list[tuple[str, str]] = []

    def look(self, see: Callable[[str], ViewerState], *, link: ConnectionState = ConnectionState.OK) -> None:
        """Take a round of each event, and step the alarms."""
        self.now += 5.0
        answered = moment(self.now) if link is ConnectionState.OK else NOW
        status = replace(WELL, state=link, as_of=answered)
        states = tuple(self._state(name, see(name), is_blind=link is ConnectionState.BLIND) for name in self.names)
        known = MonitorState(states, with_witness(status, states), moment(self.now), is_probing=True)
        changes = self.engine.step(known).changes
        self.announced += [(change.alarm.event_id, change.alarm.kind) for change in changes]

    def _state(self, name: str, viewer: ViewerState, *, is_blind: bool) -> EventState:
        viewing = self.viewings[name] = update(self.viewings.get(name), viewer, model(id=name), 0.0, T)
        case = EventCase(SignalAnalysis(), ON_AIR, DataQuality(), moment(self.now), viewer=viewing)
        kinds = () if is_blind else (ALARM_KINDS[kind] for kind in VIEWER_RULES)
        findings: list[Finding] = [each for kind in kinds for each in find(kind, case, T)]
        grade = Grade.STALE if is_blind else Grade.GOOD
        return replace(state(*findings, name=name, grade=grade, tally=self.tally), viewer=viewer)

    def shown(self) -> dict[tuple[str, str], str]:
        """Return event and kind of the active alarms -> their evidence."""
        alarms = self.engine.ordered(())
        return {(each.event_id, each.kind): each.actual for each in alarms if each.active and each.present}


def lost(
    board: Board, gone: Iterable[str], on: Callable[[str], str], since: float = 20.0
) -> Callable[[str], ViewerState]:
    """Return the probe's view: these events are gone from `since` on. `on`: host of an event."""
    names = {*gone}

    def see(name: str) -> ViewerState:
        is_gone = name in names and board.now >= since
        fault: dict[str, Any] = {"delivery": GONE, "error": "503", "begun": since} if is_gone else {}
        return seen(board.now, host=on(name), rounds=1 + int(board.now / 5), **fault)

    return see


NINE = tuple("abcdefghi")


def of_two(name: str) -> str:
    return "one.example" if name < "f" else "two.example"


def of_one(_name: str) -> str:
    return "one.example"


def played(
    gone: str,
    on: Callable[[str], str],
    link: ConnectionState = ConnectionState.OK,
    looks: int = 14,
    tally: BroadcastState = BroadcastState.ON_AIR,
) -> Board:
    """Return a board after a minute in which these events are gone from the 20th second on."""
    board = Board(*NINE, tally=tally)
    see = lost(board, gone, on)
    for _ in range(3):
        board.look(see)
    for _ in range(looks - 3):
        board.look(see, link=link)
    return board


def test_one_of_many_is_an_event_of_its_own() -> None:
    assert played("c", of_two).shown() == {("c", "VIEWER_GONE"): "503, from here (one.example)"}


def test_half_of_a_host_while_another_plays_is_its_cdn_and_nothing_else_is_told() -> None:
    board = played("ace", of_two)
    assert board.shown() == {(DECK, "CDN"): "one.example: 3 of 5 playlists fail"}
    assert board.announced[0] == (DECK, "CDN"), "the members follow"
    hidden = [each for each in board.engine.alarms.values() if each.kind == "VIEWER_GONE"]
    assert [(each.parent, each.event_id) for each in hidden] == [("CDN", name) for name in "ace"]


def test_all_of_the_only_host_may_be_the_way_to_it() -> None:
    board = played("abcdefghi", of_one)
    words = "one.example, or the way to it from here: 9 of 9 playlists fail"
    assert board.shown() == {(DECK, "CDN"): words}
    assert {*board.announced[:1]} == {(DECK, "CDN")}


def test_all_of_two_hosts_are_this_machine_s_way_out() -> None:
    board = played("abcdefghi", of_two)
    assert {*board.shown()} == {(DECK, "PROBE_BLIND")}
    assert "9 of 9 playlists on 2 hosts fail: this machine's way to them, or several CDNs" in board.shown().values()


@pytest.mark.parametrize("link", [ConnectionState.FAILING, ConnectionState.BLIND])
def test_a_refused_connection_blames_no_network_of_this_machine_while_playlists_play(link: ConnectionState) -> None:
    own = blame(Facts(failure=Failure(Sight.NO_CONNECTION, reason="nothing accepts a connection")))
    playing = tuple(replace(state(name=name), viewer=seen(30.0, host="one.example", rounds=6)) for name in NINE)
    found = with_witness(replace(WELL, state=link, as_of=NOW, blame=own), playing).blame
    assert (found.cause, found.text) == (
        Culprit.PLATFORM, "the platform's API: 9 of 9 playlists play, from here",
    )  # fmt: skip
    assert with_witness(replace(WELL, state=link, as_of=NOW, blame=own), ()).blame is own


def test_an_earlier_incident_that_nobody_acknowledged_does_not_come_back_beside_its_cause() -> None:
    board = played("ace", of_two)
    for gone, looks in (("", 8), ("abcdefghi", 12)):
        see = lost(board, gone, of_two, board.now)
        for _ in range(looks):
            board.look(see)
    assert {*board.shown()} == {(DECK, "PROBE_BLIND")}


@pytest.mark.parametrize("on", [of_one, of_two])
@pytest.mark.parametrize("gone", ["ace", "abcdefghi"])
def test_playlists_that_lost_their_encoders_blame_neither_a_host_nor_this_machine(
    gone: str, on: Callable[[str], str]
) -> None:
    board = played(gone, on, tally=BroadcastState.RECONNECTING)
    assert {event_id for event_id, _ in board.shown()} == {*gone}


@pytest.mark.parametrize(
    ("delivery", "newest", "returned", "is_fed"),
    [
        (Delivery.STALLED, 63.0, 0.0, False),  # the encoder may have died with the playlist, and metrics are late
        (Delivery.STALLED, 66.0, 0.0, True),
        (Delivery.STALLED, 80.0, 65.0, False),  # the encoder is back, and its first segments are not yet listed
        (Delivery.PLAYS, 90.0, 65.0, False),  # the faults of its absence still await their second good round
        (Delivery.STALLED, 100.0, 65.0, True),
        (Delivery.GONE, 50.0, 0.0, True),
    ],
)
def test_a_playlist_that_may_have_stopped_with_its_encoder_blames_no_host(
    delivery: Delivery, newest: float, returned: float, is_fed: bool
) -> None:
    sample = readings([Reading(moment(newest).timestamp(), 4e6, 128e3, 30.0, 0)])
    phase = replace(ON_AIR, ingest=Ingest(IngestState.RECEIVING, moment(returned)))
    viewer = seen(101.0, delivery=delivery, head_time=moment(60.0))
    well = state()
    found = replace(well, phase=phase, viewer=viewer, qos=replace(well.qos, readings=sample))
    assert (found.is_fed, playlists_of([found]) is not None) == (is_fed, is_fed)


def test_a_silent_platform_and_no_playlist_is_this_machine_s_network() -> None:
    board = played("abcdefghi", of_two, ConnectionState.BLIND)
    assert board.shown() == {(DECK, "API_BLIND"): "this machine's network: no host of a playlist replies either"}


def test_a_silent_platform_while_playlists_play_is_its_api() -> None:
    board = played("", of_two, ConnectionState.BLIND)
    assert board.shown() == {(DECK, "API_BLIND"): "the platform's API: 9 of 9 playlists play, from here"}


def test_no_event_is_blamed_before_the_api_or_another_host_has_answered_since() -> None:
    board = played("abcdefghi", of_one, ConnectionState.FAILING)
    assert board.shown() == {}
    assert {*played("c", of_two, ConnectionState.FAILING).shown()} == {("c", "VIEWER_GONE")}, "another host plays"


def test_what_viewers_lost_before_the_platform_fell_silent_stays() -> None:
    board = Board(*NINE)
    see = lost(board, "c", of_two)
    for _ in range(10):
        board.look(see)
    for _ in range(8):
        board.look(see, link=ConnectionState.BLIND)
    assert {*board.shown()} == {("c", "VIEWER_GONE"), (DECK, "API_BLIND")}


def test_an_alarm_of_an_earlier_process_waits_for_the_rounds_of_this_one() -> None:
    before = played("c", of_two)
    board = Board(*NINE)
    board.engine.restore(before.engine.alarms.values(), moment(0))
    for index in range(4):
        board.look(lambda name, index=index: seen(board.now, host=of_two(name), rounds=index))  # type: ignore[misc]
        assert ("c", "VIEWER_GONE") in board.shown()
    for index in range(4, 16):
        board.look(lambda name, index=index: seen(board.now, host=of_two(name), rounds=index))  # type: ignore[misc]
    assert board.shown() == {}


def test_a_fault_of_the_probe_itself_is_told() -> None:
    engine = AlarmEngine(T)
    engine.step(MonitorState((state(),), WELL, NOW, is_probing=True, probe_fault="the decoder died 3 times in 60 s"))
    alarm = engine.alarms[AlarmKey(DECK, "PROBE_BLIND")]
    assert (alarm.severity, alarm.actual) == (WARNING, "the decoder died 3 times in 60 s")


@pytest.mark.parametrize("words", ["", "probe 9 of 9: 4 requests/s, 0.3 Mbit/s, 1.1 GB in 8 h"])
def test_the_traffic_of_the_probe_is_published_while_a_probe_runs(words: str) -> None:
    values = codec.encode(Snapshot(1, NOW, WELL, probe=words)).values
    assert ("probe" in values["head"], codec.decode(values).probe) == (bool(words), words)


# A missing event


def gone_at(found: Witness, until: float = 200.0) -> float:
    """Return the time at which an event without a list row or a reply by id is believed to be gone."""
    doubts = Doubts()
    for tick in range(int(until)):
        doubts.take_list((), {"one": EventStanding(Standing.SENDING)}, tick, tick)
        doubts.take_answer("one", Answer.NOT_FOUND, tick)
        doubts.take_witnesses({"one": found}, T.viewer_unlisted)
        if doubts.take_gone(tick):
            return float(tick)
    return until


def test_an_event_that_still_plays_is_kept_for_a_minute_longer_and_no_more() -> None:
    assert (gone_at(Witness.AGAINST), gone_at(Witness.NONE), gone_at(Witness.LIVE)) == (1.0, 5.0, 65.0)


def test_lists_and_playlists_that_contradict_each_other_are_told() -> None:
    plays = replace(state(), viewer=seen(0))
    assert contradiction(plays, NOW, T) == ""
    assert contradiction(replace(plays, is_listed=False), NOW, T) == "unlisted, plays"
    over = replace(plays, phase=Phase(BroadcastState.COMPLETED, moment(-60)))
    assert contradiction(over, NOW, T) == "completed, and still plays"
    assert contradiction(over, moment(-1), T) == ""
    assert contradiction(replace(over, viewer=seen(0, delivery=ENDED)), NOW, T) == ""
    assert contradiction(replace(over, viewer=None), NOW, T) == ""


# What is asked


@pytest.mark.parametrize(
    ("tally", "reference", "is_wanted"),
    [
        (BroadcastState.ON_AIR, -600, True),
        (BroadcastState.RECONNECTING, -600, True),
        (BroadcastState.LOST, -600, True),
        (BroadcastState.SCHEDULED, 301, False),
        (BroadcastState.SCHEDULED, 300, True),
        (BroadcastState.LATE, -300, True),
        (BroadcastState.LATE, -301, False),
        (BroadcastState.COMPLETED, -60, True),
        (BroadcastState.COMPLETED, -91, False),
        (BroadcastState.DRAFT, None, False),
        (BroadcastState.UNKNOWN, -600, False),
    ],
)
def test_what_expects_a_signal_is_probed_from_five_minutes_before_to_a_minute_after(
    tally: BroadcastState, reference: float | None, is_wanted: bool
) -> None:
    phase = Phase(tally, None if reference is None else moment(reference))
    assert bool([*wanted([replace(state(), phase=phase)], NOW, T)]) is is_wanted


def test_the_probe_is_told_what_it_needs_and_what_is_in_doubt() -> None:
    fields = {"play_link": "https://play.example/one", "protected": True, "video": {"presets": ["720p", "360p", "x"]}}
    (viewed,) = wanted([replace(state(), event=model(**fields))], NOW, T)
    assert (viewed.event_id, viewed.stream_id, viewed.link) == ("one", "stream-one", "https://play.example/one")
    assert (viewed.presets, viewed.is_protected, viewed.is_doubted) == ((720, 360), True, False)
    doubtful = [
        replace(state(), is_listed=False),
        replace(state(), is_stale=True),
        replace(state(), viewer=seen(0, delivery=GONE)),
        state(tally=BroadcastState.RECONNECTING),
    ]
    assert [viewed.is_doubted for viewed in wanted(doubtful, NOW, T)] == [True] * 4


# A whole monitor


def deck_with(see: Callable[[str, float], ViewerState | None] | None, phase: float = 0.0, *events: str) -> Deck:
    """Return a monitor of a platform, with a probe; without `see`, without one."""
    clock = VirtualClock(NOW)
    stage = Stage(clock, *(event(name, play_link="https://play.example/x") for name in events or ("one",)))
    return Deck(stage, viewer=Probe(clock, see, phase) if see else None)


def severity_of(snapshot: Snapshot, kind: str = "RECONNECTING") -> Severity | None:
    """Return the severity of an alarm, which must be on the board."""
    return next((alarm.severity for alarm in snapshot.alarms if alarm.kind == kind and alarm.present), None)


CASES = [0, 1, *slow(*range(2, 20))]


def packager(random: Random, **fields: Any) -> Packager:
    target = random.choice([2.0, 2.0, 4.0])
    return Packager(target, random.uniform(1.0, 5.0), **fields)


@pytest.mark.parametrize("case", CASES)
async def test_metrics_that_are_cut_while_viewers_get_the_programme_are_a_warning(case: int) -> None:
    random = Random(case)
    cut = random.uniform(40, 55)
    deck = deck_with(Packager(2.0, random.uniform(1.0, 6.0)).see, random.uniform(0, 9))
    await deck.until(20)
    deck.stage.silent_from = cut
    snapshot = await deck.until(cut + 25)
    assert severity_of(snapshot) is WARNING
    (alarm,) = (alarm for alarm in snapshot.alarms if alarm.kind == "RECONNECTING")
    assert alarm.actual == "no samples; metrics gone; viewers still get picture and sound, from here"
    while deck.clock.monotonic() < cut + 60:
        assert severity_of(await deck.next()) is WARNING
    await deck.close()


@pytest.mark.parametrize("case", CASES)
async def test_an_encoder_that_dies_has_no_live_witness_whatever_buffers_play_on(case: int) -> None:
    random = Random(case)
    cut = random.uniform(40, 55)
    is_dated = case % 4 != 0
    deck = deck_with(packager(random, dies=cut, is_dated=is_dated).see, random.uniform(0, 9))
    await deck.until(20)
    deck.stage.silent_from = cut
    severities = set()
    while deck.clock.monotonic() < cut + 60:
        severities.add(severity_of(await deck.next()))
    assert severities == {None, CRITICAL}
    snapshot = await deck.next()
    (alarm,) = (alarm for alarm in snapshot.alarms if alarm.kind == "RECONNECTING")
    assert "viewers see it too, from here" in alarm.actual
    await deck.close()


def published(snapshot: Snapshot) -> str:
    """Return a snapshot as it is stored and sent, without the data of viewers."""
    values = json.loads(json.dumps(codec.encode(snapshot).values))
    values["head"]["link"].pop("round_trip", None)  # measured by a clock of the machine
    for each in values["events"].values():
        each.pop("viewer", None)
    return json.dumps(values)


def plays_on(_id: str, at: float) -> ViewerState:
    """Return the state of a playlist that plays its buffer, and ends at the newest sample."""
    return seen(at, head_time=moment(min(at, 50) - 8))


PROVES_NOTHING: dict[str, Callable[[str, float], ViewerState | None]] = {
    "no address": lambda _id, _at: None,
    "stale and gone": lambda _id, at: seen(at, is_stale=True, delivery=GONE),
    "buffer": plays_on,
    "slate": lambda _id, at: seen(at, picture=Picture.STILL if at > 50 else Picture.MOVES, begun=min(at, 50)),
    "page": lambda _id, at: seen(at, source=Source.PLAYER_PAGE, delivery=Delivery.UNKNOWN),
    "stale": lambda _id, at: seen(at, is_stale=True),
    "unknown": lambda _id, at: seen(at, delivery=Delivery.UNKNOWN, picture=Picture.UNKNOWN, sound=Sound.UNKNOWN),
}
_TOLD: dict[float, list[str]] = {}
"""Length of a story -> its snapshots without a probe."""

AT_ONCE = ("no address", "stale and gone", "buffer")


async def story(see: Callable[[str, float], ViewerState | None] | None, until: float) -> list[str]:
    """Return every snapshot of an event that loses its encoder, one with failing calls, and a failing platform."""
    deck = deck_with(see, 0.0, "one", "two")
    told = []
    while (now := deck.clock.monotonic()) < until:
        deck.stage.silent_from = 50.0 if now > 40 else 1e9
        deck.stage.broken = {"two"} if now > 60 else set()
        deck.stage.fails = (503, {}) if now > 100 else None
        told.append(published(await deck.next()))
    await deck.close()
    return told


@pytest.mark.parametrize("name", [*AT_ONCE, *slow(*(name for name in PROVES_NOTHING if name not in AT_ONCE))])
async def test_a_probe_that_proves_nothing_changes_no_byte_of_a_snapshot(name: str) -> None:
    """While the platform is silent, a playlist that plays proves something: then the story ends before."""
    is_playing = name in {"buffer", "slate"}
    until = 100.0 if is_playing else 145.0
    without = _TOLD.get(until) or _TOLD.setdefault(until, await story(None, until))
    assert any("RECONNECTING" in each for each in without)
    assert any("QOS_STALE" in each for each in without)
    assert is_playing or any("API_BLIND" in each for each in without)
    assert await story(PROVES_NOTHING[name], until) == without


@pytest.mark.parametrize(("ingest", "viewers"), [("AUDIO_LOST", "VIEWER_SILENT"), ("VIDEO_STARVED", "VIEWER_BLACK")])
def test_a_fault_that_ingest_and_viewers_show_rings_once(ingest: str, viewers: str) -> None:
    one = Finding(ingest, CRITICAL, "bad", "good", moment(0))
    two = Finding(viewers, WARNING, "bad", "good", moment(20))
    engine = AlarmEngine(T)
    for seconds, shown in ((10, (one,)), (30, (one, two)), (40, (one, two))):
        engine.step(MonitorState((state(*shown),), replace(WELL, as_of=moment(seconds)), moment(seconds)))
    assert engine.alarms[AlarmKey("one", viewers)].parent == ingest
    alone = AlarmEngine(T)
    alone.step(MonitorState((state(two),), replace(WELL, as_of=moment(30)), moment(30)))
    assert alone.alarms[AlarmKey("one", viewers)].active
