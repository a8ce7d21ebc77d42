"""Missing sound of a stream is more severe if an earlier stream of its event had sound, by the history."""

from __future__ import annotations

import json
from datetime import timedelta
from pathlib import Path

import pytest

from livedeck.collector.protocol.questions import QUESTIONS
from livedeck.monitor import History, Reading, Readings, Thresholds
from livedeck.monitor.detection.delivery import Delivery
from livedeck.monitor.detection.detect import StreamRules, detect
from livedeck.monitor.detection.learnt import Learnt
from livedeck.monitor.history.reads import Recorded
from livedeck.monitor.history.samples import StreamKey
from livedeck.monitor.signal.analysis import SignalAnalysis
from livedeck.monitor.signal.series import merge
from monitor.stage import NOW, samples


def learnt(audio: float) -> Learnt:
    """Return the learnt baseline of a stream of ten minutes with that sound."""
    rows = [Reading(NOW.timestamp() + 2.0 * index, 4.5e6, audio, 30.0, 0) for index in range(300)]
    rules = StreamRules(Thresholds())
    return Learnt.of(detect(SignalAnalysis(), merge(Readings(), samples(rows)), rules), rules, Delivery())


@pytest.mark.parametrize(("earlier", "had_sound"), [(128e3, True), (0.0, False), (None, False)])
async def test_the_history_knows_whether_an_earlier_stream_had_sound(
    tmp_path: Path, earlier: float | None, had_sound: bool
) -> None:
    history = await History.open(tmp_path / "deck.sqlite", NOW)
    news = {StreamKey("one", "new"): learnt(128e3), StreamKey("another", "old"): learnt(128e3)}
    history.record_learnt(news if earlier is None else {**news, StreamKey("one", "old"): learnt(earlier)})
    await history.flush()
    until = (NOW + timedelta(hours=1)).timestamp()
    found = await history.recorded({"one": "new"}, until, newest=3600)
    assert found["one"].had_sound is had_sound
    await history.close()


def test_what_came_before_a_stream_is_told_and_a_collector_of_an_older_version_does_not_tell_it() -> None:
    question = QUESTIONS["recorded"]
    found = {"e": Recorded(Readings(), None, Learnt(delivery=Delivery(peaks=(12.25,))), had_sound=True)}
    told = json.loads(json.dumps(question.dump(found)))
    assert question.load(told)["e"][1:] == found["e"][1:]
    del told["e"]["before"], told["e"]["had_sound"]
    assert question.load(told)["e"][1:] == (None, None, False)
