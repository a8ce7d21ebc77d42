"""A new alarm calls a person away from the screen, in literal bytes; the terminal gets its title back at the end."""

from __future__ import annotations

import re
from datetime import timedelta
from pathlib import Path

from hypothesis import given
from hypothesis import strategies as st

from cli.terminals import terminal
from livedeck.monitor import Alarm, ConnectionState, ConnectionStatus, Snapshot
from livedeck.ui.kit.control_strings import osc_notification, osc_title
from livedeck.ui.shell.calls import Caller, Calls
from notify.stage import NOW, acknowledged, alarm
from payloads import SEQUENCES

TITLES = re.compile(rb"\x1b\]2;([^\x07]*)\x07")
QUIET = {"LIVEDECK_BELL": "false", "LIVEDECK_NOTIFICATION": "off", "LIVEDECK_WINDOW_TITLE": "false"}


def test_new_alarms_ring_once_and_the_title_tells_the_worst_until_it_is_answered(tmp_path: Path) -> None:
    """The demo begins with alarms of several events: the first call is a notification that names one, and one bell."""
    with terminal(tmp_path, "demo", size=(80, 24)) as deck:
        deck.until_raw(rb"\x1b\]9;livedeck: [^\x07]* (WARN|CRIT) [^\x07]*\x07\x07")
        deck.until_raw(rb"\x1b\]2;[^\x07]* CRIT [^\x07]*- livedeck DEMO\x07")
        deck.pause(1.0)  # a key acts on what could be read before it
        deck.press("a")
        event = deck.until(r"INFO ([^:]+?)(?: [A-Z_]+)?: (?:\d+ alarms )?acknowledged").encode()
        assert [title for title in TITLES.findall(deck.written) if event in title]
        deck.until_raw(rb"\x1b\]2;(?:(?!" + re.escape(event) + rb")[^\x07])*\x07(?![\s\S]*\x1b\]2;)")
        deck.press("q")
        assert deck.ended() == 0
    written = deck.written
    assert written.count(b"\x1b[22;2t") == written.count(b"\x1b[23;2t") == 1
    assert written.index(b"\x1b[22;2t") < written.index(b"\x1b]2;")
    assert written.rindex(b"\x1b]2;") == written.index(b"\x1b]2;\x07\x1b[23;2t")
    assert written.count(b"\x1b]9;") == len(re.findall(rb"\x1b\]9;[^\x07]*\x07", written))


def test_what_the_settings_switch_off_is_never_sent(tmp_path: Path) -> None:
    with terminal(tmp_path, "demo", "--scenario", "preflight", size=(80, 24), **QUIET) as deck:
        deck.until("Night lecture.*NOT STARTED")
        deck.press("q")
        assert deck.ended() == 0
    for sequence in (b"\x1b]2;", b"\x1b]9;", b"\x1b]777;", b"\x1b[22;2t", b"\x1b[23;2t"):
        assert sequence not in deck.written
    assert b"\x07" not in re.sub(rb"\x1b\][^\x07]*\x07", b"", deck.written)


@given(st.one_of(st.text(), st.sampled_from([*SEQUENCES.values()])))
def test_no_word_of_an_event_ends_a_control_string_or_begins_another(text: str) -> None:
    for sequence in (osc_title(text), osc_notification("osc9", "livedeck", text)):
        assert re.fullmatch(r"\x1b\]\d+;[^\x00-\x1f\x7f-\x9f]*\x07", sequence)
    assert re.fullmatch(
        r"\x1b\]777;notify;livedeck;[^\x00-\x1f\x7f-\x9f;]*\x07", osc_notification("osc777", "livedeck", text)
    )
    assert re.fullmatch(
        r"\x1b\]99;o=unfocused;[^\x00-\x1f\x7f-\x9f]*\x1b\\", osc_notification("osc99", "livedeck", text)
    )
    assert osc_notification("off", "livedeck", text) == ""


def test_a_desktop_is_notified_once_in_five_seconds_and_of_all_that_rang() -> None:
    caller, begun = Caller(Calls(bell=True, notification="osc99")), NOW

    def call(after: float, *standing: Alarm, rung: tuple[Alarm, ...] = ()) -> str:
        at = begun + timedelta(seconds=after)
        bells = tuple(alarm.key for alarm in rung)
        link = ConnectionStatus(ConnectionState.OK, begun)
        return caller.call_string(Snapshot(1, at, link, alarms=standing, bells=bells))

    one, two, three = (alarm(name) for name in ("one", "two", "three"))
    assert call(0, one, rung=(one,)) == f"{begins('ONE')}\x1b\\\x07"
    assert call(1, one, two, rung=(two,)) == "\x07"
    assert call(2, one, two, three, rung=(three,)) == "\x07"
    assert call(4.9, one, two, three) == ""
    assert call(5, one, two, acknowledged(three)) == f"{begins('TWO')}\x1b\\"
    assert call(20, one, two) == ""


def begins(name: str) -> str:
    """Return the notification of the alarm of an event."""
    return f"\x1b]99;o=unfocused;livedeck: ✖ CRIT {name} NO_INGEST, no samples, expected samples"
