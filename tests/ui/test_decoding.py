"""A hostile picture costs a bounded process, and the deck continues."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest

from livedeck.simulator.api import cdn, images
from livedeck.ui.kit import decoding
from livedeck.ui.kit.decoding import decode
from livedeck.ui.kit.decoding_child import MAX_MEMORY, MAX_SECONDS
from livedeck.ui.videos.thumbnail import Thumbnail
from ui.cinema import asked, opened
from ui.deck_stage import deck_stage
from ui.hostile_pictures import BOMBS, ODD, SLOW, many_scans, png, written

MIB = 2**20
RUN = Path(__file__).with_name("decoding_run.py")
GROWTH = 24.0
"""Maximum growth of the deck in MiB: five files of the largest size that is fetched."""

SHORT = (
    "a tower one pixel wide",
    "more pixels than are allowed, each side within",
    "a profile that inflates to 64 MiB",
    "200 texts of a MiB each, deflated",
    "a TIFF in its clothes",
    "a moving GIF",
    "a JPEG of 65,500 x 65,500",
    "a WebP canvas of 16384 x 16384",
    "nothing",
)
"""Names of `BOMBS` that each change tries."""


def decoded(folder: Path, files: dict[str, Callable[[], bytes]]) -> dict[str, object]:
    """Return the output of `decoding_run.py` for these files."""
    for name, make in files.items():
        (folder / name.replace("/", " ")).write_bytes(make())
    done = subprocess.run([sys.executable, str(RUN), str(folder)], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    found: dict[str, object] = json.loads(done.stdout.splitlines()[-1])
    return found


def is_bounded(found: dict[str, object]) -> bool:
    peak, growth = found["peak"], found["growth"]
    assert isinstance(peak, float)
    assert isinstance(growth, float)
    return peak * MIB < MAX_MEMORY and growth < GROWTH


def test_a_bomb_is_no_picture_and_takes_the_memory_of_a_picture(tmp_path: Path) -> None:
    found = decoded(tmp_path, {name: BOMBS[name] for name in SHORT} | {"fine": lambda: written("PNG")})
    assert found["shown"] == ["fine"]
    assert is_bounded(found), found


@pytest.mark.slow
@pytest.mark.parametrize("kind", [BOMBS, ODD, SLOW], ids=["bombs", "odd", "slow"])
def test_every_hostile_picture_takes_the_memory_of_a_picture(
    tmp_path: Path, kind: dict[str, Callable[[], bytes]]
) -> None:
    found = decoded(tmp_path, kind)
    assert kind is ODD or found["shown"] == []
    assert is_bounded(found), found


async def test_the_largest_picture_is_shown_and_one_column_more_is_not() -> None:
    assert await decode(png(4096, 2304, colour=0), 4, 2, {}) == bytes(24)
    assert await decode(png(4097, 1), 4, 2, {}) is None
    assert await decode(png(4096, 2305, colour=0), 4, 2, {}) is None


async def served(monkeypatch: pytest.MonkeyPatch, files: Iterable[bytes]) -> None:
    """Let a deck show posters that are these files, and then a good one."""
    contents = dict[str, bytes]()
    make_png = images.png
    monkeypatch.setattr(
        cdn,
        "png",
        lambda poster_id, *size: contents[poster_id] if poster_id in contents else make_png(poster_id, *size),
    )
    async with deck_stage((100, 40)) as stage:
        video = await opened(stage, "subtitles")
        for number, content in enumerate(files):
            poster = await stage.api.posters.create(video, number + 1.0)
            contents[str(poster and poster.id)] = content
        stage.deck.dispatch("part.next", "posters")
        await stage.settle()
        await stage.act("app.ask")
        await asked(stage)
        count = len((await stage.api.posters.list(video, per_page=100)).items)
        thumbnail = stage.deck.screen.query_one(Thumbnail)
        seen = 0
        await stage.press("home")
        for _ in range(count):
            await stage.until(lambda: thumbnail._loading is None)
            seen += thumbnail.picture is not None
            await stage.press("down")
        assert len(contents) < count, "the platform's own are among them"
        assert seen == count - len(contents)
        await stage.act("part.next")
        assert stage.deck.current_mode == "subtitles", "the deck answers"


async def test_the_deck_goes_through_bombs_and_shows_the_posters_between_them(monkeypatch: pytest.MonkeyPatch) -> None:
    await served(monkeypatch, [BOMBS[name]() for name in SHORT[:4]])


@pytest.mark.slow
async def test_the_deck_goes_through_every_bomb(monkeypatch: pytest.MonkeyPatch) -> None:
    await served(monkeypatch, [make() for make in BOMBS.values()])


WATCHING = """
import asyncio, os, sys
from pathlib import Path
from livedeck.ui.kit.decoding import decode

async def main():
    work = asyncio.create_task(decode(sys.stdin.buffer.read(), 24, 14, {"LANG": "C.UTF-8"}))
    children = Path("/proc/self/task") / str(os.getpid()) / "children"
    while True:
        for child in children.read_text().split():
            file = Path("/proc") / child
            if b"decoding_child" in (file / "cmdline").read_bytes() and b"_imaging" in (file / "maps").read_bytes():
                print((file / "environ").read_text().strip(chr(0)))
                print((file / "limits").read_text())
                work.cancel()
                return await asyncio.wait([work])
        await asyncio.sleep(0)

asyncio.run(main())
"""


@pytest.mark.skipif(not Path("/proc/self/environ").exists(), reason="asks /proc for a process, as Linux has it")
def test_the_process_that_decodes_is_limited_and_knows_the_variables_that_it_was_given() -> None:
    environment = os.environ | {"LIVEDECK_TOKEN": "a-token-that-nobody-knows"}
    command, picture = [sys.executable, "-c", WATCHING], many_scans(4096, 2304, 7000)
    done = subprocess.run(command, input=picture, env=environment, capture_output=True, check=True)
    variables, _, *limits = done.stdout.decode().split("\n")
    assert variables == "LANG=C.UTF-8"
    limited = {line[:26].strip(): line[26:47].strip() for line in limits}
    assert {name: limited[name] for name in ("Max address space", "Max cpu time", "Max file size")} == {
        "Max address space": str(MAX_MEMORY),
        "Max cpu time": str(MAX_SECONDS),
        "Max file size": "0",
    }


async def test_who_leaves_while_a_picture_is_decoded_leaves_no_process_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    child, pipe = tmp_path / "child.py", tmp_path / "pid"
    os.mkfifo(pipe)
    child.write_text(f"import os, time\nopen({str(pipe)!r}, 'w').write(str(os.getpid()))\ntime.sleep(9999)")
    monkeypatch.setattr(decoding, "_CHILD", child)
    work = asyncio.create_task(decode(written("PNG"), 4, 2, {}))
    process = int(await asyncio.to_thread(pipe.read_text))
    work.cancel()
    await asyncio.wait([work], timeout=60)
    assert work.cancelled()
    with pytest.raises(ProcessLookupError):
        os.kill(process, 0)


LEAVING = """
import asyncio, sys, threading
from pathlib import Path
from livedeck.ui.kit import decoding

async def main(child):
    decoding._CHILD, sign = child, child.with_name("sign")
    work = asyncio.create_task(decoding.decode(bytes(4 * 2**20), 4, 2, {}))  # more than a pipe takes
    while not sign.exists():
        await asyncio.sleep(0)
    for _ in range(3):
        work.cancel()
        await asyncio.sleep(0)
    await asyncio.wait([work])
    assert work.cancelled()

asyncio.run(main(Path(sys.argv[1])))
for thread in threading.enumerate():
    if thread is not threading.main_thread():
        thread.join()  # asyncio waits for the process in a thread, which holds its pipes
"""


def test_a_deck_that_cancels_again_while_a_picture_is_decoded_leaves_nothing_open(tmp_path: Path) -> None:
    """A worker is cancelled once its picture is unwanted, and again when the deck ends; `-X dev` reports leaks."""
    child = tmp_path / "child.py"
    slow_to_die = "import time\nheld = b'x' * 2**28"
    child.write_text(f"{slow_to_die}\nopen({str(tmp_path / 'sign')!r}, 'w').close()\ntime.sleep(9999)")
    command = [sys.executable, "-X", "dev", "-c", LEAVING, str(child)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    assert done.stderr == ""


@pytest.mark.parametrize(
    ("program", "reason"),
    [
        ("import sys\nwhile True: sys.stdout.buffer.write(bytes(9999))", "more than was asked for"),
        ("import sys\nsys.stdin.buffer.read()\nsys.stdout.buffer.write(bytes(23))", "less"),
        ("import sys\nsys.stdin.buffer.read()\nsys.stdout.buffer.write(bytes(24)); sys.exit(1)", "a fault at the end"),
        ("raise SystemExit", "it does not even listen"),
        ("import os, signal\nos.kill(os.getpid(), signal.SIGSEGV)", "a fault of the decoder"),
        ("import time\nwhile True: time.sleep(1)", "it does nothing at all"),
    ],
)
async def test_of_the_process_nothing_is_taken_but_so_many_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, program: str, reason: str
) -> None:
    child = tmp_path / "child.py"
    child.write_text(program)
    monkeypatch.setattr(decoding, "_CHILD", child)
    monkeypatch.setattr(decoding, "_DEADLINE", 1.0 if "time" in program else 60.0)
    assert await decode(bytes(4 * MIB), 4, 2, {}) is None, reason


async def test_a_process_that_cannot_be_started_is_no_picture(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "/no/such/program")
    assert await decode(written("PNG"), 4, 2, {}) is None


async def test_whoever_moves_on_has_the_picture_of_the_newest_poster_only(monkeypatch: pytest.MonkeyPatch) -> None:
    """One decodes at a time: that of the poster before is killed."""
    most = running = 0

    async def counting(*_: object) -> None:
        nonlocal most, running
        running += 1
        most = max(most, running)
        try:
            await asyncio.Event().wait()
        finally:
            running -= 1

    monkeypatch.setattr("livedeck.ui.videos.thumbnail.decode", counting)
    async with deck_stage((100, 40)) as stage:
        video = await opened(stage, "subtitles")
        for number in range(5):
            await stage.api.posters.create(video, number + 1.0)
        stage.deck.dispatch("part.next", "posters")
        await stage.settle()
        await stage.act("app.ask")
        await asked(stage)
        for _ in range(6):
            await stage.until(lambda: running == 1)
            await stage.press("down")
    assert (most, running) == (1, 0)


def test_one_process_decodes_many_pictures_and_another_one_those_after_a_fault() -> None:
    async def run() -> None:
        decoder = decoding.Decoder({})
        try:
            picture = png(16, 9)
            first = await decoder.decode(picture, 4, 2)
            process = decoder._process
            assert process
            assert first == await decoder.decode(picture, 4, 2)
            assert decoder._process is process
            assert len(await decoder.decode(picture, 32, 18) or b"") == 32 * 18 * 3
            assert await decoder.decode(b"no picture", 4, 2) is None
            assert await decoder.decode(picture, 4, 2) == first
            assert decoder._process is not process
            decoder._left = 0
            assert await decoder.decode(picture, 4, 2) == first
        finally:
            await decoder.close()
        assert decoder._process is None

    asyncio.run(run())
