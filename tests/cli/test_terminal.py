"""Deck in a real terminal: it paints, redraws, survives an outage of its platform, and restores the terminal."""

from __future__ import annotations

import os
import re
import signal
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from breadth import slow
from cli.commands import TIMEOUT, served
from cli.crashing import SECRET
from cli.starts import LIVEDECK
from cli.terminals import RESTORED, terminal

RECORDING = Path(__file__).parents[1] / "golden" / "recordings" / "audio-lost.livedeck"

SMALL = ("demo", "--scenario", "clean-show")
"""Demo with two events and no hour of history: a third of the work, for tests of any deck."""

LOOK = 0.7
"""Seconds before the next key, as a person needs them."""


@pytest.mark.parametrize("size", [(120, 40), *slow((80, 24), (200, 60))], ids=["120x40", "80x24", "200x60"])
def test_the_demo_shows_both_screens_and_moves(tmp_path: Path, size: tuple[int, int]) -> None:
    with terminal(tmp_path, "demo", size=size) as deck:
        deck.until("POOR")  # the samples came: the worst event is first, and one with a picture
        deck.press("3")
        deck.until("video Mbit/s")
        first = deck.until(r"video (\d\.\d\d) Mbit/s")
        deck.until(rf"video (?!{first})\d\.\d\d Mbit/s")  # a new sample, another rate
        deck.press("q")
        assert deck.ended() == 0


def test_keys_of_one_write_open_answer_and_end_nothing(tmp_path: Path) -> None:
    with terminal(tmp_path, *SMALL, size=(200, 40)) as deck:  # so wide that no other dialog hides the clock
        deck.until("Foyer")
        for keys in ("/a\r\r", "\x10\r\r\r", ":app.help\r\r", "?\r\r"):
            deck.press(keys)
            for _ in range(2):  # the help may still be open, and hides the clock
                deck.pause(LOOK)
                deck.press("\x1b")
            deck.until(r"\dZ")  # the clock goes on
            deck.until(r"\dZ")
        deck.press("\x03")
        assert deck.ended() == 130
        assert b"ended with" not in deck.written


@pytest.mark.parametrize(
    ("arguments", "env", "codes"),
    [
        ((), {"NO_COLOR": "1"}, r"(?!)"),
        ((), {"TERM": "xterm-16color", "COLORTERM": ""}, r"(3|4|9|10)[0-7]|39|49"),
        (("--ascii", "--theme", "mono"), {}, r"(?!)"),
    ],
    ids=["NO_COLOR", "16 colours", "ascii"],
)
def test_a_terminal_gets_the_colours_that_it_can_show(
    tmp_path: Path, arguments: tuple[str, ...], env: dict[str, str], codes: str
) -> None:
    """interface.md, "Colours": NO_COLOR means no colour codes."""
    with terminal(tmp_path, "demo", *arguments, size=(80, 24), **env) as deck:
        deck.until("Morning service.*POOR")
        deck.press("3")
        deck.until("video Mbit/s")
        deck.press("q")
        assert deck.ended() == 0
    styles = {code for sent in re.findall(rb"\x1b\[([\d;]*)m", deck.written) for code in sent.decode().split(";")}
    colours = {code for code in styles if code and int(code) >= 30}
    assert not [code for code in colours if not re.fullmatch(codes, code)]
    assert deck.written.isascii() == ("--ascii" in arguments)


def test_a_paste_presses_no_key_and_no_byte_ends_the_deck(tmp_path: Path) -> None:
    """Escape sequences in what is pasted (a log, coloured output) are none, and a byte that is no UTF-8 is no fault."""
    coloured = "\x1b[200~" + "\x1b[31mq\x1b[0m word " * 4000 + "\x1b[201~"
    with terminal(tmp_path, "past", "replay", str(RECORDING)) as deck:
        deck.until("paused")
        deck.press_slowly(b"\xff\xfe" + coloured.encode())
        deck.press("T")
        deck.until("Show the deck as it was at")
        deck.press_slowly(coloured.encode())
        deck.until("that is not a time")
        deck.press("\r")
        deck.pause(LOOK)
        deck.press("\x1b")
        deck.until("paused")
        for size in ((20, 5), (120, 40)):
            deck.resize(*size)
            deck.pause(LOOK)
        deck.press("T")
        deck.until("Show the deck as it was at")
        deck.press("0902\r")
        deck.until("09:02:00Z")
        deck.press("q")
        assert deck.ended() == 0
        assert b"ended with" not in deck.written


def test_a_fault_of_its_own_leaves_the_terminal_as_it_was_and_shows_no_variable(tmp_path: Path) -> None:
    """interface.md, "Leaving": the crash text has no local variables."""
    with terminal(tmp_path, program=[sys.executable, str(Path(__file__).with_name("crashing.py"))]) as deck:
        deck.until("livedeck ended with RuntimeError")
        deck.ended()
        for on, off in RESTORED:
            assert deck.written.rfind(on) < deck.written.rfind(off)
        assert SECRET.encode() not in deck.written


def test_a_deck_whose_terminal_is_gone_goes_too(tmp_path: Path) -> None:
    """interface.md, "Leaving": no process stays behind a closed window."""
    with terminal(tmp_path, *SMALL, size=(80, 24)) as deck:
        deck.until("Foyer")
        deck.close()
        assert deck.process.wait(TIMEOUT)  # 129; or Python's 120, for streams that nobody takes


def test_a_deck_whose_errors_go_elsewhere_says_why_it_shows_no_screen(tmp_path: Path) -> None:
    """It would draw there, and the terminal would stay empty."""
    errors = tmp_path / "errors"
    with terminal(tmp_path, *SMALL, program=["sh", "-c", 'exec "$@" 2>"$0"', str(errors), *LIVEDECK]) as deck:
        deck.until("Foyer")
        assert deck.ended() == 0
    assert "standard error is not a terminal; printing the status" in errors.read_text("utf-8")


def test_a_terminal_of_one_cell_is_survived(tmp_path: Path) -> None:
    with terminal(tmp_path, *SMALL, size=(1, 1)) as deck:
        deck.until_raw(rb"\x1b\[\?1049h")
        deck.resize(80, 24)
        deck.until("Foyer")
        deck.resize(1, 1)
        deck.press("q")
        assert deck.ended() == 0
        assert b"Traceback" not in deck.written


def test_without_settings_the_first_start_leads_to_the_demo(tmp_path: Path) -> None:
    with terminal(tmp_path, size=(80, 24)) as deck:
        deck.until("No platform is set up yet")
        deck.press("\r")
        deck.until("Morning service")
        deck.press("q")
        assert deck.ended() == 0


def test_a_deck_that_was_suspended_comes_back_whole(tmp_path: Path) -> None:
    """The action "app.suspend", and the way back."""
    with terminal(tmp_path, *SMALL, size=(80, 24)) as deck:
        deck.until(r"(?s)1 Events.*Foyer")  # the line of curl above the deck names it too
        deck.process.send_signal(signal.SIGTSTP)
        deck.until_raw(rb"\x1b\[\?1049l")
        os.waitid(os.P_PID, deck.process.pid, os.WSTOPPED)  # a SIGCONT before it stands still would be lost
        deck.process.send_signal(signal.SIGCONT)
        deck.until(r"(?s)1 Events.*TALLY.*Foyer.*quit")
        deck.press("q")
        assert deck.ended() == 0


def test_a_deck_whose_platform_stops_says_so_answers_keys_and_recovers_by_itself(tmp_path: Path) -> None:
    scenario = ("--scenario", "clean-show")
    with served(tmp_path, *scenario) as (process, service):
        address = service["base_url"]
        port, token = address.rpartition(":")[2], service["token"]
        with terminal(tmp_path, LIVEDECK_BASE_URL=address, LIVEDECK_TOKEN=token) as deck:
            deck.until("Foyer")
            process.kill()
            process.wait(TIMEOUT)
            deck.until(r"NO REPLY since .*data from")
            deck.press("?")
            deck.until("EVENTS AND THEIR STREAMS")
            deck.pause(LOOK)  # a key that is pressed before the help is drawn goes nowhere
            deck.press("\x1b")
            deck.pause(LOOK)
            with served(tmp_path, *scenario, "--port", port):
                deck.press("r")
                deck.until("link ok")
                deck.press("q")
                assert deck.ended() == 0


@pytest.mark.slow
def test_a_demo_with_a_collector_shows_an_attached_deck_and_another_one_attaches_by_what_it_printed(
    tmp_path: Path,
) -> None:
    """The other one knows no platform; what is acknowledged there is so here, by the name of the token."""
    here, there = tmp_path / "here", tmp_path / "there"
    here.mkdir()
    there.mkdir()
    with terminal(here, "demo", "--collector", size=(120, 40)) as demo:
        url, token_file = demo.until(r"LIVEDECK_COLLECTOR_URL=(\S+ LIVEDECK_COLLECTOR_TOKEN_FILE=\S+)").split()
        demo.until("✓ collector")
        demo.press("7")
        demo.until(" NEW ")
        attached = {"LIVEDECK_COLLECTOR_URL": url, "LIVEDECK_COLLECTOR_TOKEN_FILE": token_file.partition("=")[2]}
        with ThreadPoolExecutor() as pool, terminal(there, size=(120, 40), **attached) as deck:
            leaving = pool.submit(demo.ended, 2 * TIMEOUT)  # its terminal is read all the while: else it stands still
            deck.until("RO  ✓ link ok.*✓ collector")
            deck.press("7")
            deck.until(" NEW ")
            deck.press("a")
            deck.until("demo, 0.:.. left")
            demo.process.send_signal(signal.SIGSTOP)
            deck.until("COLLECTOR SILENT since")
            demo.process.send_signal(signal.SIGCONT)
            deck.until("✓ link ok")
            deck.press("q")
            assert deck.ended() == 0
            demo.press("q")
            assert leaving.result() == 0
        assert re.search(rb"demo, 0.:.. left", demo.written)
    assert not Path(attached["LIVEDECK_COLLECTOR_TOKEN_FILE"]).exists()


@pytest.mark.parametrize(("env", "has_mouse"), [({}, True), ({"STY": "4711.tty"}, False)])
def test_gnu_screen_reports_no_mouse_because_it_would_hold_escape_back(
    tmp_path: Path, env: dict[str, str], has_mouse: bool
) -> None:
    with terminal(tmp_path, *SMALL, size=(80, 24), **env) as deck:
        deck.until("link ok")
        assert (b"\x1b[?1000h" in deck.written) is has_mouse
