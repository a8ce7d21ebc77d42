"""Judge of pictures and sounds of strangers, in one process that can do nothing else (`eye.py`).

A decoder that a stranger takes over has no file, no socket, no other process, and little memory. livedeck kills it
when it is late. Its answers are numbers and pixels at fixed places, so livedeck parses nothing.
"""

from __future__ import annotations

import asyncio
import os
import sys
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from importlib.util import find_spec
from io import BytesIO
from math import isfinite, isnan
from pathlib import Path
from signal import SIGKILL
from time import monotonic

from livedeck.log import Log
from livedeck.monitor import Sound
from livedeck.probe import eye
from livedeck.probe.sight import COLUMNS, HEIGHT, QUIETEST, ROWS, UNDECODABLE, WIDTH, Sight, judge_picture, judge_sound

MAX_SEGMENT, MAX_INIT = 8 * 2**20, 2**20
"""Maximum size of a segment and of its head (EXT-X-MAP), in bytes."""

DEADLINE = 5.0
"""Maximum seconds for a segment. Then the process is killed."""

_START = 20.0
"""Maximum seconds for the start of the process, which loads 100 MB of libraries. Then it is killed."""

_DEATHS, _WITHIN, _PAUSE = 3, 60.0, 300.0
"""Number of deaths within a time (s) after which no process starts for a pause (s)."""

_DIED = "picture unknown: the decoder died"

_PROGRAM = Path(eye.__file__)
_WARM_UP = _PROGRAM.with_name("warm_up.ts")

log = Log(__name__)


def refusal() -> str:
    """Return why pictures and sounds cannot be judged on this machine; empty if they can."""
    if sys.platform == "win32":
        return "pictures and sounds are not judged on Windows, which cannot confine a decoder"
    if not find_spec("av"):
        return "pictures and sounds are not judged without the package av: pip install '.[media]' in the checkout"
    return ""


class Eyes:
    """Judge of pictures and sounds, for all events.

    `deaths`: number of processes that died or timed out so far. `program`: the program to run.
    """

    def __init__(self, *, clock: Callable[[], float] = monotonic, program: Path = _PROGRAM) -> None:
        self.deaths = 0
        self._clock, self._program = clock, program
        self._process: Process | None = None
        self._killed: Process | None = None
        self._times: deque[float] = deque(maxlen=_DEATHS)
        self._turn = asyncio.Lock()

    @property
    def blindness(self) -> str:
        """Reason why no segment is judged now; empty if segments are judged."""
        if len(self._times) < _DEATHS or self._times[-1] - self._times[0] > _WITHIN:
            return ""
        rests = self._clock() < self._times[-1] + _PAUSE
        return f"{_DIED} {_DEATHS} times in {_WITHIN:.0f} s, and rests for {_PAUSE / 60:.0f} min" if rests else ""

    async def look(self, kind: str, segment: bytes, init: bytes = b"") -> Sight:
        """Return the findings in a segment. A segment that cannot be judged gives unknown values and the reason.

        Args:
            kind: format of the segment, one of `eye.KINDS`.
            segment: bytes of the segment.
            init: bytes of its initialization (EXT-X-MAP).
        """
        if len(segment) > MAX_SEGMENT or len(init) > MAX_INIT:
            return Sight(error=f"picture unknown: the segment is larger than {MAX_SEGMENT // 2**20} MiB")
        request = eye.REQUEST.pack(eye.KINDS.index(kind), len(init) + len(segment)) + init + segment
        async with self._turn:
            if reason := self.blindness:
                return Sight(error=reason)
            try:
                answer = await self._ask(request)
                sight = await asyncio.to_thread(_sight, answer)  # the first call imports Pillow
            except (OSError, EOFError, ValueError) as error:  # TimeoutError is an OSError
                self._kill()
                self.deaths += 1
                self._times.append(self._clock())
                log.info("a picture is not judged", reason="the decoder died", error=type(error).__name__)
                return Sight(error=_DIED)
            except BaseException:
                self._kill()
                raise
            if answer[0] == eye.TOO_LARGE:
                self._kill()
            return sight

    async def close(self) -> None:
        """End the process."""
        async with self._turn:
            self._kill()
            await self._bury()

    async def _ask(self, request: bytes) -> bytes:
        """Send a request and return the answer. Starts the process if none runs."""
        process = self._process or await self._start()
        async with asyncio.timeout(DEADLINE):
            return await _exchange(process, request)

    async def _start(self) -> Process:
        await self._bury()
        av = find_spec("av")
        folder = Path(av.origin).parents[1] if av and av.origin else Path()
        process = self._process = await asyncio.create_subprocess_exec(
            *(sys.executable, "-I", "-S", "-B", str(self._program), str(folder), str(_WARM_UP)),
            stdin=PIPE,
            stdout=PIPE,
            stderr=DEVNULL,
            env={},
            start_new_session=True,
        )
        async with asyncio.timeout(_START):
            if (await _exchange(process))[0] != eye.SEEN:
                raise ValueError("the decoder does not work within its limits")
        return process

    def _kill(self) -> None:
        """Kill the process."""
        if not self._process:
            return
        self._killed, self._process = self._process, None
        if self._killed.returncode is None:
            with suppress(ProcessLookupError):
                # `Process.kill` may reap the process, which asyncio's watcher must do
                os.kill(self._killed.pid, SIGKILL)

    async def _bury(self) -> None:
        """Wait until a killed process has ended. Without the wait, the loop may leak the process."""
        if self._killed:
            with suppress(OSError):
                await self._killed.communicate()
            self._killed = None


async def _exchange(process: Process, request: bytes = b"") -> bytes:
    """Send a request, and return the next answer."""
    assert process.stdin
    assert process.stdout
    process.stdin.write(request)
    await process.stdin.drain()
    return await process.stdout.readexactly(eye.ANSWER.size)


def _sight(answer: bytes) -> Sight:
    """Return the findings of an answer. Raises ValueError for values that an undamaged process never gives."""
    fault, frames, width, height, has_sound, channels, loudness, *peaks, cells, pixels = eye.ANSWER.unpack(answer)
    if fault in _FAULTS:
        return Sight(error=_FAULTS[fault])
    if fault not in _UNSEEN or frames > eye.FRAMES or width > WIDTH or height > HEIGHT or channels > eye.CHANNELS:
        raise ValueError("a number is out of range")
    if any(map(isnan, (loudness, *peaks))):
        raise ValueError("a level is no number")
    size = COLUMNS * ROWS
    key_frames = [cells[start : start + size] for start in range(0, frames * size, size)]
    last = key_frames[-1] if key_frames else b""
    picture, change = judge_picture(key_frames)
    levels = tuple(max(peak, QUIETEST) for peak in peaks[:channels])
    return Sight(
        picture=picture,
        sound=judge_sound(levels) if has_sound else Sound.NONE,
        luma=sum(last) / size if last else None,
        change=change,
        cells=last,
        loudness=max(loudness, QUIETEST) if levels and isfinite(loudness) else None,
        peaks=levels,
        jpeg=_jpeg(width, height, pixels) if width and height else b"",
        error=_UNSEEN[fault],
    )


_FAULTS = {
    eye.UNDECODABLE: UNDECODABLE,
    eye.TOO_LARGE: "picture unknown: the segment needs more memory than the decoder may have",
}
"""Faults after which nothing of a segment is known, in words."""

_UNSEEN = {
    eye.SEEN: "",
    eye.UNFAMILIAR: "not judged: a codec of the segment is not known",
    eye.PICTURELESS: "picture unknown: the segment has no picture",
    eye.KEYLESS: "picture unknown: no key frame of the segment can be decoded alone",
}
"""Reasons why the picture of a segment is not known, in words."""


def _jpeg(width: int, height: int, pixels: bytes) -> bytes:
    """Return a picture as JPEG, in the middle of 160 x 90 black pixels."""
    from PIL import Image

    image = Image.new("RGB", (WIDTH, HEIGHT))
    content = Image.frombytes("RGB", (width, height), pixels[: width * height * 3])
    image.paste(content, ((WIDTH - width) // 2, (HEIGHT - height) // 2))
    output = BytesIO()
    image.save(output, "JPEG", quality=75)
    return output.getvalue()
