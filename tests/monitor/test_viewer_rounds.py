"""The history keeps what viewers got: one row for each round of the probe."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

from livedeck.monitor import Delivery, History, HistoryReader, Picture, Snapshot, Sound, ViewerRound, ViewerState
from livedeck.monitor.history.database import Database
from livedeck.monitor.history.recording import export
from livedeck.monitor.history.salvage import salvage
from livedeck.monitor.history.samples import prune
from livedeck.monitor.history.viewers import has_table
from monitor.alarm_stage import WELL, state
from monitor.probing import moment, seen
from monitor.stage import NOW


def snapshots(*states: ViewerState | None, names: tuple[str, ...] = ("one",)) -> Iterable[Snapshot]:
    """Snapshots in which the probe of each event has these states one after another."""
    for seq, viewer in enumerate(states):
        events = tuple(replace(state(name=name), viewer=viewer) for name in names)
        yield Snapshot(seq, moment(seq), WELL, events)


async def recorded(path: Path, *states: ViewerState | None, names: tuple[str, ...] = ("one",)) -> None:
    """Write a history of these states."""
    history = await History.open(path, NOW)
    for snapshot in snapshots(*states, names=names):
        await history.append(snapshot)
    await history.close()


async def rounds_of(path: Path, event_id: str = "one") -> tuple[ViewerRound, ...]:
    """The rounds that another process reads."""
    return await HistoryReader(path).viewer_rounds(event_id, moment(-3600), moment(3600))


TWO = (
    seen(0, rounds=1, listed=5, missed=1, loudness=-21.5, peaks=(-6.25, -7.0), luma=101.5, change=3.25),
    seen(10, rounds=2, listed=10, missed=3, delivery=Delivery.SLOW, picture=Picture.BLACK, sound=Sound.NONE),
)


async def test_each_round_is_kept_once_with_what_it_measured(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    await recorded(path, None, TWO[0], TWO[0], replace(TWO[0], is_stale=True), TWO[1], None)
    first, second = await rounds_of(path)
    assert first == ViewerRound(
        moment(0), "one", Delivery.PLAYS, Picture.MOVES, Sound.HEARD, 8.0, 0.1, 101.5, 3.25, -21.5, -6.25, 5, 1
    )
    assert (second.delivery, second.picture, second.sound) == (Delivery.SLOW, Picture.BLACK, Sound.NONE)
    assert (second.listed, second.missed, second.loudness) == (5, 2, None)
    assert await HistoryReader(path).viewer_rounds("one", moment(1), moment(10)) == ()
    assert await rounds_of(path, "two") == ()


async def test_a_history_without_a_probe_has_no_table_of_it(tmp_path: Path) -> None:
    """An older version shows no file with a table that it does not know."""
    path = tmp_path / "history.sqlite"
    await recorded(path, None, seen(0, is_stale=True), seen(5, delivery=Delivery.UNKNOWN))
    assert not has_table(Database(path, reads=True))
    assert await rounds_of(path) == ()


async def test_odd_numbers_and_words_harm_no_read(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    odd = seen(0, latency=float("inf"), loudness=float("nan"), luma=1e300, ratio=-1e300, listed=10**18)
    await recorded(path, odd, TWO[1])
    db = Database(path)
    db.run("UPDATE viewer_round SET picture = 'in three dimensions' WHERE at > ?", [round(NOW.timestamp() * 1000)])
    db.close()
    (found,) = await rounds_of(path)
    assert (found.latency, found.loudness, found.luma, found.ratio) == (None,) * 4


async def test_rounds_are_pruned_as_samples_are(tmp_path: Path) -> None:
    path = tmp_path / "history.sqlite"
    await recorded(path, *(seen(10.0 * index, rounds=index + 1) for index in range(12)))
    db = Database(path)
    for _ in prune(db, round(moment(60).timestamp() * 1000)):
        pass
    db.close()
    assert [found.at for found in await rounds_of(path)] == [moment(10.0 * index) for index in range(6, 12)]


async def test_a_recording_has_the_rounds_of_its_events_and_its_time(tmp_path: Path) -> None:
    path, target = tmp_path / "history.sqlite", tmp_path / "show.livedeck"
    await recorded(path, *TWO, names=("one", "two"))
    made = export(path, target, event_ids=["two"], since=NOW, until=NOW + timedelta(seconds=5))
    assert made.rows["viewer_round"] == 1
    assert [found.at for found in await rounds_of(target, "two")] == [NOW]
    assert await rounds_of(target, "one") == ()


async def test_a_salvage_saves_the_rounds(tmp_path: Path) -> None:
    path, target = tmp_path / "history.sqlite", tmp_path / "saved.sqlite"
    await recorded(path, *TWO)
    await recorded(target)
    assert salvage(path, target, NOW).saved["viewer_round"] == 2
    assert await rounds_of(target) == await rounds_of(path)
