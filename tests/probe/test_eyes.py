"""Segments of strangers are judged; the worst of them costs no more than the verdict unknown."""

from __future__ import annotations

import asyncio
import os
import random
import re
import subprocess
import sys
from collections.abc import AsyncIterator
from fractions import Fraction
from io import BytesIO
from pathlib import Path

import av
import pytest
from PIL import Image

from livedeck.monitor import Picture, Sound
from livedeck.probe import eye
from livedeck.probe import eyes as eyes_module
from livedeck.probe.eyes import MAX_SEGMENT, Eyes, refusal
from livedeck.probe.sight import HEIGHT, UNDECODABLE, WIDTH, Sight, compared
from probe.media import Paint, clock, flat, moving, ramp, segment

FAILED = "picture unknown: the decoder died"


@pytest.fixture(autouse=True)
def patience(monkeypatch: pytest.MonkeyPatch) -> None:
    """Raise all time limits, so that a slow machine decides no test."""
    monkeypatch.setattr(eyes_module, "DEADLINE", 60.0)
    monkeypatch.setattr(eyes_module, "_START", 300.0)


@pytest.fixture
async def eyes() -> AsyncIterator[Eyes]:
    eyes = Eyes()
    yield eyes
    await eyes.close()


def still(_: int) -> bytes:
    return ramp()


@pytest.mark.parametrize("kind", ["mpegts", "mp4"])
async def test_a_picture_is_judged_by_what_it_shows(eyes: Eyes, kind: str) -> None:
    shown: dict[str, Paint] = {"black": flat(16), "dim": flat(60), "still": still, "moves": moving, "clock": clock}
    found = {name: (await eyes.look(kind, segment(kind, paint, None))).picture for name, paint in shown.items()}
    assert found == {
        "black": Picture.BLACK,
        "dim": Picture.STILL,
        "still": Picture.STILL,
        "moves": Picture.MOVES,
        "clock": Picture.MOVES,
    }


async def test_one_key_frame_is_judged_with_the_segment_before(eyes: Eyes) -> None:
    one, other = [
        await eyes.look("mpegts", segment("mpegts", paint, None, seconds=0.5)) for paint in (still, flat(100))
    ]
    assert one.picture is Picture.UNKNOWN
    assert compared(one, one.cells).picture is Picture.STILL
    assert compared(other, one.cells).picture is Picture.MOVES


@pytest.mark.parametrize("kind", ["mpegts", "mp4", "aac"])
async def test_a_tone_has_the_loudness_of_bs_1770_and_its_peaks(eyes: Eyes, kind: str) -> None:
    sight = await eyes.look(kind, segment(kind, None, (-20.0, -20.0), seconds=1.0))
    assert sight.sound is Sound.HEARD
    assert sight.loudness == pytest.approx(-20.0, abs=0.1)  # a tone of 997 Hz at full scale in both channels has 0 LUFS
    left = await eyes.look(kind, segment(kind, None, (-20.0, -200.0), seconds=1.0))
    assert left.loudness == pytest.approx(-23.0, abs=0.1)
    assert left.peaks[0] > -21
    assert left.peaks[1] < -60


@pytest.mark.parametrize(("level", "state"), [(-50.0, Sound.HEARD), (-70.0, Sound.SILENT), (-200.0, Sound.SILENT)])
async def test_a_quiet_sound_is_heard_and_a_silent_one_is_not(eyes: Eyes, level: float, state: Sound) -> None:
    assert (await eyes.look("aac", segment("aac", None, (level, level), seconds=1.0))).sound is state


async def test_a_segment_without_a_sound_has_none_and_one_that_cannot_be_decoded_is_unknown(eyes: Eyes) -> None:
    assert (await eyes.look("mp4", segment("mp4", moving, None))).sound is Sound.NONE
    broken = await eyes.look("mp4", b"no segment")
    assert (broken.picture, broken.sound) == (Picture.UNKNOWN, Sound.UNKNOWN)
    assert broken.error == UNDECODABLE


async def test_a_picture_of_an_unknown_codec_without_a_sound_has_none_and_private_data_may_be_one(eyes: Eyes) -> None:
    found = []
    for codec in ("mpeg2video", "bin_data"):
        output = BytesIO()
        with av.open(output, "w", format="mpegts") as media:
            if codec == "bin_data":
                packet = av.Packet(bytes(200))
                packet.stream, packet.pts, packet.time_base = media.add_data_stream(codec), 0, Fraction(1, 10)
                media.mux(packet)
            else:
                video = media.add_stream("mpeg2video", rate=25)
                video.width, video.height, video.pix_fmt = 128, 72, "yuv420p"
                media.mux([*video.encode(av.VideoFrame(128, 72, "yuv420p")), *video.encode(None)])
        sight = await eyes.look("mpegts", output.getvalue())
        assert sight.error == "not judged: a codec of the segment is not known"
        found.append(sight.sound)
    assert found == [Sound.NONE, Sound.UNKNOWN]


@pytest.mark.parametrize("levels", [None, (-20.0, -20.0)])
async def test_a_segment_without_a_key_frame_is_whole(eyes: Eyes, levels: tuple[float, float] | None) -> None:
    whole = segment("mp4", moving, levels, seconds=1.0, fragments="frag_every_frame")
    starts = [found.start() - 4 for found in re.finditer(b"moof", whole)]
    sight = await eyes.look("mp4", whole[starts[len(starts) // 2] :], whole[: starts[0]])
    assert (sight.picture, sight.error) == (
        Picture.UNKNOWN,
        "picture unknown: no key frame of the segment can be decoded alone",
    )
    assert sight.sound is (Sound.HEARD if levels else Sound.NONE)


async def test_a_wide_picture_of_narrow_lines_is_wide(eyes: Eyes) -> None:
    """As standard definition has it: 720 x 576 pixels that are 64 / 45 as wide as high."""
    sight = await eyes.look("mpegts", segment("mpegts", flat(180), None, aspect=2))
    with Image.open(BytesIO(sight.jpeg)) as image:
        top, bottom = (image.getpixel((WIDTH // 2, place * HEIGHT // 8)) for place in (1, 7))
        middle = image.getpixel((1, HEIGHT // 2))
    assert (top, bottom) == ((0, 0, 0), (0, 0, 0))
    assert middle == pytest.approx((191, 191, 191), abs=3)


async def test_the_head_of_a_segment_may_come_apart(eyes: Eyes) -> None:
    whole = segment("mp4")
    cut = whole.index(b"moof") - 4
    assert await eyes.look("mp4", whole[cut:], whole[:cut]) == await eyes.look("mp4", whole)


async def test_the_picture_is_a_small_jpeg_of_the_last_key_frame(eyes: Eyes) -> None:
    sight = await eyes.look("mpegts", segment("mpegts", flat(180), None))
    with Image.open(BytesIO(sight.jpeg)) as image:
        assert (image.format, image.size) == ("JPEG", (WIDTH, HEIGHT))
        shades = image.convert("L").getextrema()
    assert shades == pytest.approx((191, 191), abs=3)  # 180 of the range 16 to 235
    assert sight.luma == pytest.approx(191, abs=3)


def mutated(chance: random.Random, content: bytes) -> bytes:
    """Return a damaged segment: cut, with changed bytes, or with a part that is left out or repeated."""
    damaged = bytearray(content)
    place, length = chance.randrange(len(damaged)), chance.randrange(1, 2000)
    match chance.randrange(5):
        case 0:
            del damaged[place:]
        case 1:
            del damaged[place : place + length]
        case 2:
            damaged[place:place] = damaged[:length]
        case 3:
            for _ in range(chance.randrange(1, 400)):
                damaged[chance.randrange(len(damaged))] = chance.randrange(256)
        case _:
            for _ in range(chance.randrange(1, 30)):
                damaged[chance.randrange(min(len(damaged), 1500))] = chance.randrange(256)
    return bytes(damaged)


async def test_damaged_segments_leave_the_judge_as_it_was() -> None:
    # each reading of this clock is an hour later, so no pause hides a segment
    eyes, chance = Eyes(clock=iter(range(0, 10**9, 3600)).__next__), random.Random(36)
    whole = {kind: segment(kind, None if kind == "aac" else moving, seconds=0.5) for kind in eye.KINDS}
    before = {kind: await eyes.look(kind, content) for kind, content in whole.items()}
    for _ in range(70):
        for kind, content in whole.items():
            sight = await eyes.look(kind, mutated(chance, content))
            assert sight.error != FAILED or sight == Sight(error=FAILED)
    assert {kind: await eyes.look(kind, content) for kind, content in whole.items()} == before
    await eyes.close()


async def test_a_segment_that_is_too_large_is_not_sent(eyes: Eyes) -> None:
    assert (
        await eyes.look("mpegts", bytes(MAX_SEGMENT + 1))
    ).error == "picture unknown: the segment is larger than 8 MiB"
    assert eyes._process is None


TRIES = """
import os, resource, socket, sys, threading
from livedeck.probe import eye

def is_refused(act):
    try:
        act()
    except (OSError, RuntimeError, MemoryError, ValueError):
        return True
    return False

shut = {
    "read": lambda: open("/etc/passwd"),
    "socket": socket.socket,
    "pipe": os.pipe,
    "copy": lambda: os.dup(0),
    "fork": lambda: os.fork() or os._exit(0),
    "thread": lambda: threading.Thread(target=int).start(),
    "memory": lambda: bytes(eye.MAX_MEMORY),
    "limits": lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (100, 100)),
    "signal": lambda: os.kill(os.getppid(), 0),
}
eye.shut_doors()
print("open:", *(name for name, act in shut.items() if not is_refused(act)), flush=True)
os._exit(0)
"""


@pytest.mark.skipif(sys.platform != "linux", reason="the limits of other systems are weaker")
def test_no_door_is_open_to_a_decoder() -> None:
    command = [sys.executable, "-c", TRIES]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.stdout, done.stderr) == ("open:\n", "")


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="asks /proc for a process, as Linux has it")
async def test_the_process_has_an_empty_environment_three_files_and_one_thread(eyes: Eyes) -> None:
    await eyes.look("mpegts", segment("mpegts", seconds=0.5))
    assert eyes._process
    process = Path("/proc") / str(eyes._process.pid)
    limits = {line[:26].strip(): line[26:].split()[:2] for line in (process / "limits").read_text().splitlines()}
    assert [limits[name] for name in ("Max open files", "Max processes", "Max file size", "Max core file size")] == [
        ["3", "3"],
        ["0", "0"],
        ["0", "0"],
        ["0", "0"],
    ]
    assert limits["Max address space"] == [str(eye.MAX_MEMORY)] * 2
    assert "\nThreads:\t1\n" in (process / "status").read_text()
    if os.access(process / "environ", os.R_OK):
        assert (process / "environ").read_bytes() == b""
    if os.access(process / "fd", os.R_OK):
        assert sorted(file.name for file in (process / "fd").iterdir()) == ["0", "1", "2"]


HELLO = "import os, sys\nfrom struct import Struct\nos.write(1, bytes({size}))\nos.read(0, 5)\n{then}\n"
DIES = "os.kill(os.getpid(), 11)"
HANGS = "os.read(0, 10**6)\nwhile os.read(0, 1): pass"
LIES = "os.write(1, b'\\0\\xff' + bytes({size} - 2))"
BABBLES = "os.write(1, b'\\xff' * 10**6)"


def program(folder: Path, then: str) -> Path:
    path = folder / "child.py"
    path.write_text(HELLO.format(size=eye.ANSWER.size, then=then.format(size=eye.ANSWER.size)))
    return path


@pytest.mark.parametrize("then", [DIES, HANGS, LIES, BABBLES, "sys.exit()"])
async def test_a_process_that_fails_is_an_unknown_and_after_three_of_them_none_is_started_for_a_while(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, then: str
) -> None:
    if then is HANGS:
        monkeypatch.setattr(eyes_module, "DEADLINE", 0.05)
    now = 1000.0
    eyes = Eyes(clock=lambda: now, program=program(tmp_path, then))
    for _ in range(3):
        assert eyes.blindness == ""
        assert await eyes.look("mpegts", b"segment") == Sight(error=FAILED)
        now += 1
    assert eyes.deaths == 3
    assert eyes.blindness == f"{FAILED} 3 times in 60 s, and rests for 5 min"
    assert (await eyes.look("mpegts", b"segment")).error == eyes.blindness
    assert eyes.deaths == 3
    now += 299
    assert await eyes.look("mpegts", b"segment") == Sight(error=FAILED)
    now += 60
    eyes._program = Path(eye.__file__)
    monkeypatch.setattr(eyes_module, "DEADLINE", 60.0)
    assert (await eyes.look("mpegts", segment("mpegts", seconds=0.5))).error == ""
    await eyes.close()


async def test_deaths_that_are_rare_stop_nothing(tmp_path: Path) -> None:
    now = 1000.0
    eyes = Eyes(clock=lambda: now, program=program(tmp_path, DIES))
    for _ in range(5):
        assert await eyes.look("aac", b"segment") == Sight(error=FAILED)
        now += 31
    assert eyes.deaths == 5
    await eyes.close()


async def test_a_look_that_is_given_up_does_not_disturb_the_next(eyes: Eyes) -> None:
    content = segment("mpegts", seconds=0.5)
    expected = await eyes.look("mpegts", content)
    for turns in range(4):
        look = asyncio.create_task(eyes.look("mpegts", segment("mpegts", flat(16), seconds=0.5)))
        for _ in range(turns):
            await asyncio.sleep(0)
        look.cancel()
        await asyncio.wait([look])
        assert await eyes.look("mpegts", content) == expected
    assert eyes.deaths == 0


async def test_looks_at_one_time_are_answered_each_with_its_own(eyes: Eyes) -> None:
    lumas = (60, 100, 140, 180)
    contents = [segment("mpegts", flat(luma), None, seconds=0.5) for luma in lumas]
    found = await asyncio.gather(*(eyes.look("mpegts", content) for content in contents))
    assert [sight.luma for sight in found] == pytest.approx([(luma - 16) * 255 / 219 for luma in lumas], abs=3)


def test_a_deck_without_av_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    assert refusal() == ""
    monkeypatch.setattr(eyes_module, "find_spec", lambda _: None)
    assert refusal().endswith("without the package av: pip install '.[media]' in the checkout")


def test_the_deck_itself_never_loads_a_decoder() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import sys, livedeck.probe.eyes; print('av' in sys.modules, 'PIL' in sys.modules)"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "False False\n"
