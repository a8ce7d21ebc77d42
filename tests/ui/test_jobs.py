"""Jobs of an operator: keys to press, and the sentences that the screen must then show, at three sizes.

The facts are those of the demo's workspace at 21:14:07Z (`livedeck serve --list`); none is read from the deck. During
an incident they are those of the scenario `platform-outage`, whose encoders left 70 s before.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from enum import StrEnum
from pathlib import Path
from typing import NamedTuple

import pytest
from textual.pilot import Pilot

from livedeck.cli.screenshots import EVENING, still_deck
from livedeck.ui.app import Deck
from ui.stage import known, letters_of, look, running
from ui.test_attached import STATES, give
from ui.test_past import go_to, stage_with_past

SIZES = ((80, 24), (120, 40), (200, 60))

_NAMES = {
    " ": "space",
    "!": "exclamation_mark",
    "'": "apostrophe",
    "-": "minus",
    ".": "full_stop",
    "/": "slash",
    ":": "colon",
    "<": "less_than_sign",
    ">": "greater_than_sign",
    "?": "question_mark",
    "[": "left_square_bracket",
    "]": "right_square_bracket",
    "+": "plus",
}


class Scene(StrEnum):
    """Scene of a job: live, in the past, during an incident, or attached to a collector."""

    LIVE = "live"
    PAST = "past"
    INCIDENT = "incident"
    WATCHING = "watching"
    SILENT = "silent"
    ALONE = "alone"


class Job(NamedTuple):
    """A question of an operator, the keys that answer it, and the sentences that do.

    `keys`: separated by blanks; a word after a quotation mark is typed, with `_` for a blank. `missing`: texts that
    would be untrue.
    """

    question: str
    keys: str
    sentences: tuple[str, ...]
    missing: tuple[str, ...] = ()
    is_read_only: bool = False
    scene: Scene = Scene.LIVE


JOBS = (
    # what is on air, and what is wrong
    Job("How many are on air?", "", ("● 6 on air",)),
    Job("How many are bad?", "", ("✖ 4 bad",)),
    Job("Which is worst?", "", ("▌ ◌ RECONN", "Cup final, pitch 2")),
    Job("Is the screen current?", "", ("✓ link ok", "0 s ago", "21:14:07Z")),
    Job("Since when is the cup final gone?", "", ("01:21", "RECONNECTING")),
    Job("What do I do about it?", "", ("Call the encoder's operator; restart",)),
    Job("What is wrong with the town hall?", "j", ("PACKET_LOSS", "packet loss in 33 %")),
    Job("What do I do about the town hall?", "j", ("Switch from Wi-Fi or mobile to a cable",)),
    Job("Is the choir well?", "j j j j j", ("Choir, hall B", "✓ 100 GOOD", "All well")),
    Job("Is there work at a finished event?", "end", ("Rehearsal Tuesday", "■ DONE"), ("All well",)),
    Job("When does the news start?", "", ("Evening news", "T-00:14:20")),
    Job("How late is the lecture?", "", ("▲ LATE", "Lecture 7", "T+00:02:10")),
    # under a filter
    Job("Show the town hall alone", '/ "town enter', ("1 of 12 match", "Town hall, main", "▌ ● ON AIR")),
    Job("Does the filter hide faults?", '/ "town enter', ("✖ 3 with a critical fault hidden", "● 6 on air")),
    Job("What is on air alone?", '/ "tally:air enter', ("5 of 12 match",)),
    Job("What if nothing matches?", '/ "nowhere enter', ("0 of 12 match", "✖ 4 with a critical fault hidden")),
    Job("What if the filter is wrong?", '/ "health<x enter', ("health< needs a number",)),
    Job("Back to all", '/ "town enter escape', ("Cup final, pitch 2", "Evening news"), ("of 12 match",)),
    Job("Open the filtered one", '/ "town enter 3', ("Town hall, main", "✖ 5 LOSS")),
    Job("Ask why under a filter", '/ "choir enter W', ("Choir, hall B", "on air for 01:02:48", "No open alarms")),
    Job("Complete under a filter", '/ "choir enter LOOK C', ('Complete "Choir, hall B"?', "Type the whole name")),
    Job("Edit under a filter", '/ "evening enter LOOK e', ("Edit Evening news",)),
    # views and pins
    Job("Group by project", ': "view_projects enter', ("view projects", "Council", "Sport", "esc leaves it")),
    Job("Which views are there?", "F", ("View of the events", "all: every event", "projects: by project")),
    Job("Back to all events", "F 1 escape", ("Cup final, pitch 2", "Rehearsal Tuesday"), ("view projects",)),
    Job("An unknown view", ': "view_nope enter', ("there is no view nope: all, projects",)),
    Job("Keep the news in sight", '/ "evening enter . escape home', ("▌ ○ SCHED   ★ Evening news",)),
    Job("Is the worst still chosen?", '/ "evening enter . escape', ("★ Evening news",)),
    # changes and handover
    Job("What changed in 5 minutes?", "L", ("In the last 5 min", "21:12:46 ✖ Cup final, pitch 2 RECONNECTING")),
    Job("When did the lecture become late?", "L", ("21:11:57 ✖ Lecture 7          LATE_START",)),
    Job("What did I just do?", "LOOK a L", ("21:14:07 · Cup final, pitch 2 RECONNECTING acknowledged by",)),
    Job("What changed, by its name?", ': "changes enter', ("Changes until 21:14:07Z", "Before")),
    Job("Hand over without a history", "H", ("handover needs a history: set `history` in the settings",)),
    Job(
        "Go back without a history", "T", ("T go to needs a history file: set `history` in the settings",), ("was at",)
    ),
    Job("How do I leave the filter?", '/ "evening enter', ("4 with a critical fault hidden   esc clears it",)),
    Job("Which are late?", '/ "tally:late enter', ("1 of 12 match", "Lecture 7", "T+00:02:10")),
    Job("Which have little video?", '/ "video<3M enter', ("1 of 12 match", "Town hall, main", "2.30M")),
    Job("Which are well?", '/ "health>=90 enter', ("2 of 12 match", "Choir, hall B", "City council")),
    Job("Does a filter hide streams, too?", '2 / "harbour enter', ("1 of 10 match", "Harbour webcam")),
    Job("Which alarms are of the lecture?", '7 / "lecture enter', ("1 of 9 match", "no ingest"), ("packet loss",)),
    # never the wrong event
    Job("Complete the one that I chose", "LOOK j C", ('Complete "Town hall, main"?', "On air for 22:05")),
    Job("What happens then?", "LOOK j C", ("Ingest stops, viewers are cut off, the recording closes.",)),
    Job("Delete a show on air", "LOOK j D", ('Delete "Town hall, main"?', "Viewers are cut off at once.")),
    Job("Delete a draft", '/ "untitled enter LOOK D', ('Delete "Untitled event"?',), ("Viewers are cut off",)),
    Job("Enable the news", '/ "evening enter LOOK E', ('Enable "Evening news"?', "Ingest accepts streams from now on")),
    Job("Complete, before I chose", ': "event.complete enter', ("C complete needs an event that you have chosen",)),
    Job("Change on a read-only deck", "LOOK j C", ("read-only",), ("Type the whole name",), is_read_only=True),
    Job("Am I read-only?", "", ("RO",), ("RW",), is_read_only=True),
    Job(
        "Move the start of the news", '/ "evening enter LOOK S', ("Reschedule the stream of Evening news", "T-00:14:20")
    ),
    Job("Take a new baseline", "LOOK j b", ("Now: video 2.30M", "Baseline so far: video 4.40M")),
    # why
    Job(
        "Why is the cup final bad?",
        "W",
        ("reconnecting, started 41:12 ago", "every kind that samples raise: not judged: no samples come"),
    ),
    Job("Is that since 41 minutes?", "W", (), ("reconnecting for",)),
    Job("Can the lecture start?", "j j j P", ("✖ NO-GO", "should have started 02:10 ago", "start the encoder")),
    Job("Does a check that never ran pass?", "j j j P", ("? token", "write access unknown")),
    # QoS
    Job("Since when are samples missing?", "3", ("RECONNECTING", "01:21 so far", "21:12:46")),
    Job("What do I do, in QoS?", "3", ("Call the encoder's operator;",)),
    Job("How many samples were lost?", "j 3", ("✖ 5 LOSS",), ("✖ 5 LOSS 0 ",)),
    Job("Was the cup final's picture bad before?", "3", ("✖ 5 LOSS 0",)),
    Job("What is missing under the cursor?", "3 left", ("no sample",)),
    # alarms
    Job("What is new?", "7", ("NEW  6", "RECONNECTING")),
    Job("What is hidden, and by what?", "7", ("QUIET  3 hidden", "hidden by KEYFRAME_SEVERE")),
    Job("Acknowledge", "LOOK a", ("Cup final, pitch 2 RECONNECTING: acknowledged",)),
    Job("Until when can I take it back?", "LOOK a", ("u takes it", "u take back until 21:19:07Z")),
    Job("Can I take it back on the board?", "LOOK 7 a", ("u take back until 21:19:07Z",)),
    Job("What do viewers see?", "7", ("A frozen or waiting screen",)),
    Job("Shelve: for how long?", "LOOK 7 z", ("RECONNECTING: shelve", "15 min", "until it clears")),
    Job("Silence: what, how long?", "LOOK 7 M", ("RECONNECTING of this event (1 alarm now)", "until the event ends")),
    Job("Which silences are there?", "7 ] ]", ("No silence runs or is planned. M adds one.",)),
    Job("Why is there no log?", "7 ]", ("No history is kept. Set `history` in the settings to keep one.",)),
    # streams, rooms, videos, help
    Job("How many arrive, at which rate?", "2", ("↓ 5 of 6 arrive", "20.8 Mbit/s in", "✖ 1 lost")),
    Job("Does every destination get it?", "2", ("7 of 8 destinations connected", "▲ National video host disconnected")),
    Job("Is the council's relay ready?", "5 j", ("Council, hybrid session", "✓ 3 complete")),
    Job("Does it run now?", "5 j", ("the platform does not",), ("✓ running",)),
    Job("Whose room has no relay?", "5", ("Sound check", "- no profile")),
    Job("What lacks the recording?", "6", ("missing", "no known material", "● 3", "ja")),
    Job("Which key completes?", "?", ("C      complete",)),
    # in the past
    Job("Is this the past?", "", ("PAST", "◀◀ PAST  Fri 2026-11-20 21:14:07Z  ‖ paused"), scene=Scene.PAST),
    Job("What was on air then?", "", ("● 6 on air", "Cup final, pitch 2"), ("RW",), scene=Scene.PAST),
    Job("What was bad then?", "", ("✖ 4 bad", "✖  -- NO DATA"), scene=Scene.PAST),
    Job("What arrived then?", "2", ("↓ 5 of 6 arrive", "7 of 8 destinations connected"), scene=Scene.PAST),
    Job("Which alarms were open?", "7", ("NEW  6", "no samples"), scene=Scene.PAST),
    Job("What had its encoder sent last?", "3", ("21:12:46  video 4.52 Mbit/s",), scene=Scene.PAST),
    Job(
        "Can I complete in the past?",
        "j C",
        ("You are viewing the past, which cannot be changed",),
        ("Type the whole name",),
        scene=Scene.PAST,
    ),
    Job(
        "Were the rooms recorded?",
        "5",
        ("rooms were not recorded at this time",),
        ("polled every", "waiting for the platform"),
        scene=Scene.PAST,
    ),
    Job(
        "Were the recordings listed?",
        "6",
        ("not recorded at this time",),
        ("waiting for the platform",),
        scene=Scene.PAST,
    ),
    Job("Back to now?", "backspace", ("● 6 on air", "RW"), ("◀◀ PAST",), scene=Scene.PAST),
    # attached to a collector
    Job("Are both links well?", "", ("✓ link ok", "✓ collector"), scene=Scene.WATCHING),
    Job("Since when is the collector silent?", "", ("COLLECTOR SILENT since 21:13:25Z",), scene=Scene.SILENT),
    Job("Is anything current?", "", ("▒ 12 not up to date", "▒  -- STALE"), ("✓ 100 GOOD",), scene=Scene.SILENT),
    Job("Does anything arrive?", "2", ("▒ 6 on air, not up to date",), ("arrive",), scene=Scene.SILENT),
    Job("Which key polls alone?", "", ("@ polls alone",), scene=Scene.SILENT),
    Job("Does this deck poll alone?", "", ("▲ POLLING ALONE since 21:13:55Z", "1 not yet shared"), scene=Scene.ALONE),
    Job("Was my acknowledgement kept?", "7", ("NEW  5", "ACKNOWLEDGED  1"), scene=Scene.ALONE),
    # during an incident
    Job("How many lost their signal?", "", ("● 3 on air", "✖ 3 bad"), scene=Scene.INCIDENT),
    Job("Is it one fault?", "7", ("NEW  1", "3 of 3 events on air: RECONNECTING"), scene=Scene.INCIDENT),
    Job("Which events does it affect?", "7", ("affects   Second stage, Main stage, Small hall",), scene=Scene.INCIDENT),
    Job("Whom do I call?", "7", ("status page; call its support",), scene=Scene.INCIDENT),
    Job("Whom do I call, on Events?", "", ("status page; call its",), ("encoder's operator",), scene=Scene.INCIDENT),
    Job("What does it hide?", "7", ("QUIET  3 hidden", "hidden by PLATFORM"), scene=Scene.INCIDENT),
    Job("Does anything arrive now?", "2", ("↓ 0 of 3 arrive", "✖ 3 lost"), ("Mbit/s in",), scene=Scene.INCIDENT),
    Job("How long may they stay away?", "2", ("lost 01:11", "12% of 10:00", "08:49 left"), scene=Scene.INCIDENT),
    Job("Acknowledge it", "LOOK a", ("PLATFORM: acknowledged",), scene=Scene.INCIDENT),
    # the display itself
    Job("Does a frozen screen say so?", "p", ("FROZEN at 21:14:07Z", "polling and alarms continue")),
    Job("Does a sorted table say so?", ">", ("sorted by tally, not worst first",)),
    Job("Is a change unfinished?", "!", ("every sent change has a verdict",)),
)


@asynccontextmanager
async def staged(job: Job, size: tuple[int, int], folder: Path) -> AsyncIterator[tuple[Deck, Pilot[int]]]:
    """Open the deck of the job's scene."""
    if job.scene is Scene.PAST:
        async with stage_with_past(folder / "history", size) as past:
            await go_to(past, EVENING)
            await past.steady()
            yield past.deck, past.pilot
    elif job.scene is Scene.INCIDENT:
        async with (
            still_deck(scenario="platform-outage", played_seconds=100) as deck,
            deck.run_test(size=size) as pilot,
        ):
            await pilot.pause()
            yield deck, pilot
    else:
        async with running(size, read_only=job.is_read_only) as (deck, pilot):
            if job.scene in STATES:
                await give(deck, pilot, STATES[job.scene](known(deck)))
            yield deck, pilot


@pytest.mark.parametrize("size", SIZES, ids="{0[0]}x{0[1]}".format)
@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.question)
async def test_a_job_is_done_by_its_keys(job: Job, size: tuple[int, int], tmp_path: Path) -> None:
    async with staged(job, size, tmp_path) as (deck, pilot):
        for key in job.keys.split():
            if key == "LOOK":
                look(deck)
                continue
            letters = key[1:].replace("_", " ") if key.startswith('"') else ""
            await pilot.press(*([_NAMES.get(letter, letter) for letter in letters] or [_NAMES.get(key, key)]))
            await pilot.pause()
            await pilot.pause()
        screen = letters_of(deck)
    assert [sentence for sentence in job.sentences if sentence not in screen] == [], screen
    assert [sentence for sentence in job.missing if sentence in screen] == [], screen
