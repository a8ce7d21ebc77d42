"""Decode untrusted segments in a process with few rights. `eyes.Eyes` runs this program for all events.

`python -I -S eye.py FOLDER WARM_UP` reads requests from standard input, and writes an answer of `ANSWER.size` bytes to
each. FOLDER is the install folder of av (PyAV). The program imports no module of livedeck, and of the site packages
only av. WARM_UP is a segment from livedeck. The program decodes it before it gives up its rights, so that every module
is loaded, and once more afterwards as its first answer.

Without its rights, the process can open no file and no socket and start no process or thread, whatever a decoder does.
On Linux it can do nothing but read, write, take memory and end. So it cannot signal or trace the deck, which runs as
the same user.
"""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Collection, Sequence
from contextlib import suppress
from errno import EPERM
from io import BytesIO
from math import inf
from pathlib import Path
from struct import Struct
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from av import AudioFrame, CodecContext, Packet, VideoFrame
    from av.audio.stream import AudioStream
    from av.filter import Graph
    from av.video.stream import VideoStream

KINDS = ("mpegts", "mp4", "aac")
"""Kinds of segments, as formats of FFmpeg."""

REQUEST = Struct("!BI")
"""Layout of a request: index of the kind, and number of bytes that follow."""

ANSWER = Struct("!BBBBBBf8f18432s43200s")
"""Layout of an answer; unused places are zero.

Fault, number of key frames, width and height of the picture, whether there may be sound, number of channels, loudness,
peaks, cells of each key frame, pixels of the last key frame (RGB).
"""

SEEN, UNDECODABLE, TOO_LARGE, UNFAMILIAR, PICTURELESS, KEYLESS = range(6)
"""Faults. UNDECODABLE: neither picture nor sound. TOO_LARGE: the segment needs more memory than allowed, and the
process must not be used again. With the other faults only the picture is unknown, not the sound. UNFAMILIAR: unknown
codec of the picture. PICTURELESS: no picture. KEYLESS: no key frame can be decoded alone, as with a gradual refresh.
"""

FRAMES = 8
"""Maximum number of key frames that are decoded of a segment."""

CHANNELS = 8
"""Maximum number of channels of a sound."""

COLUMNS, ROWS, WIDTH, HEIGHT = 64, 36, 160, 90

MAX_BYTES = 9 * 2**20
"""Maximum size of a request: 8 MiB of media and 1 MiB of its head."""

MAX_PIXELS = 4096 * 2304
"""Maximum number of pixels of a picture."""

MAX_MEMORY = 512 * 2**20
"""Maximum address space of the process, in bytes."""

MAX_SECONDS = 10
"""Seconds after which the process ends by itself, if nobody else is left to kill it."""

_NOBODY = 65534
"""User and group that replace root. They need no name."""

_VIDEO = ("h264", "hevc", "av1", "libdav1d", "vp9")
_AUDIO = ("aac", "aac_latm", "mp3", "mp3float", "ac3", "eac3", "opus", "flac")

_CODEC_OPTIONS = {"codec_whitelist": ",".join(_VIDEO + _AUDIO), "max_pixels": str(MAX_PIXELS)}
_OPTIONS = _CODEC_OPTIONS | {"format_whitelist": "mpegts,mov,mp4,m4a,3gp,3g2,mj2,aac", "protocol_whitelist": "none"}


def main() -> None:
    """Load everything that decoding needs, give up all rights, then answer requests until standard input ends."""
    folder, warm_up = sys.argv[1:]
    sys.path.append(folder)
    content = Path(warm_up).read_bytes()
    answer(KINDS[0], content)
    shut_doors()
    reply = answer(KINDS[0], content)
    while True:
        signal.alarm(0)
        _write(reply)
        kind, size = REQUEST.unpack(_read(REQUEST.size))
        if size > MAX_BYTES:
            os._exit(1)
        content = _read(size)
        signal.alarm(MAX_SECONDS)
        reply = answer(KINDS[kind], content)


def shut_doors() -> None:
    """Give up the rights of root, then the right to new files, processes, and much memory."""
    import ctypes  # noqa: F401  `_refuse_calls` can load no module any more
    import resource

    if os.geteuid() == 0:  # root is exempt from the limit of processes
        os.setgroups([])
        os.setgid(_NOBODY)
        os.setuid(_NOBODY)
    for limit, most in (
        (resource.RLIMIT_CORE, 0),
        (resource.RLIMIT_FSIZE, 0),
        (resource.RLIMIT_NPROC, 0),
        (resource.RLIMIT_NOFILE, 3),
    ):
        resource.setrlimit(limit, (most, most))
    with suppress(OSError, ValueError):  # macOS has none, and a system may have set a lower one
        resource.setrlimit(resource.RLIMIT_AS, (MAX_MEMORY, MAX_MEMORY))
    _refuse_calls()


def _refuse_calls() -> None:
    """Let the kernel refuse all system calls but those of `_CALLS`, from now on (Linux: seccomp).

    On a kernel without such filters only the limits apply.
    """
    import ctypes

    architecture, calls = _CALLS.get(os.uname().machine, (0, ()))
    if sys.platform != "linux" or not calls:
        return
    load, jump_if_equal, give = 0x20, 0x15, 0x06
    rules = [(load, 0, 0, 4), (jump_if_equal, 0, len(calls) + 1, architecture), (load, 0, 0, 0)]
    rules += [(jump_if_equal, len(calls) - number, 0, call) for number, call in enumerate(calls)]
    rules += [(give, 0, 0, 0x50000 | EPERM), (give, 0, 0, 0x7FFF0000)]
    content = ctypes.create_string_buffer(b"".join(Struct("HBBI").pack(*rule) for rule in rules))
    program = ctypes.create_string_buffer(Struct("HP").pack(len(rules), ctypes.addressof(content)))
    no_new_rights, set_filter = (38, 1, 0, 0, 0), (22, 2, ctypes.addressof(program), 0, 0)
    for arguments in (no_new_rights, set_filter):
        ctypes.CDLL(None).prctl(*map(ctypes.c_ulong, arguments))


_CALLS = {
    "x86_64": (0xC000003E, (0, 1, 9, 11, 12, 13, 14, 15, 25, 28, 37, 60, 202, 228, 231)),
    "aarch64": (0xC00000B7, (63, 64, 222, 215, 214, 134, 135, 139, 216, 233, 103, 93, 98, 113, 94)),
}
"""Machine -> its number in filters, and the numbers of the allowed system calls: read, write, mmap, munmap, brk,
rt_sigaction, rt_sigprocmask, rt_sigreturn, mremap, madvise, alarm (aarch64: setitimer), exit, futex, clock_gettime,
exit_group."""


def answer(kind: str, content: bytes) -> bytes:
    """Return the answer to a segment. No error of a decoder leaves this function."""
    try:
        return look(kind, content)
    except MemoryError:
        return _failed(TOO_LARGE)
    except Exception:  # noqa: BLE001  PyAV raises errors of many kinds, and each is one of the segment
        return _failed(UNDECODABLE)


def _failed(fault: int, *, has_sound: bool = False) -> bytes:
    return ANSWER.pack(fault, 0, 0, 0, has_sound, *[0] * 10, b"", b"")


def look(kind: str, content: bytes) -> bytes:
    """Decode a segment and return its brightness cells, last picture, and loudness. Raises any error of PyAV.

    Only key frames are decoded. Each decoder, scaler and filter is told to use one thread, because the process may not
    start threads.
    """
    import av

    with av.open(BytesIO(content), "r", format=kind, options=_OPTIONS) as media:
        video = next((stream for stream in media.streams.video if _is_allowed(stream, _VIDEO)), None)
        audio = next((stream for stream in media.streams.audio if _is_allowed(stream, _AUDIO)), None)
        if not (video or audio):
            # without a known picture, a stream of private data may be the sound
            return _failed(UNFAMILIAR, has_sound=bool(media.streams.audio or not media.streams.video))
        eye, ear = Eye(), Ear()
        key_frames: list[Packet[Any] | None] = []
        has_packets = False
        for packet in media.demux([stream for stream in (video, audio) if stream]):
            if packet.stream is not video:
                for frame in _decoded(audio, packet) or ():
                    ear.hear(frame)
            elif packet.size:
                has_packets = True
                if packet.is_keyframe:
                    key_frames.append(packet)
        step = len(key_frames) // FRAMES + 1
        for chosen in (*key_frames[::-1][::step][::-1], None):
            eye.see(_decoded(video, chosen))
        ear.end()
        fault = SEEN
        if not eye.cells:
            if not ear.peaks and (not has_packets or eye.is_broken):
                return _failed(UNDECODABLE)
            fault = KEYLESS if video else UNFAMILIAR if media.streams.video else PICTURELESS
        width, height, pixels = eye.picture(float((video and video.sample_aspect_ratio) or 1))
        return ANSWER.pack(
            *(fault, len(eye.cells), width, height, bool(media.streams.audio), len(ear.peaks), ear.loudness),
            *(*ear.peaks, *[0.0] * (CHANNELS - len(ear.peaks))),
            *(b"".join(eye.cells), pixels),
        )


class Eye:
    """Key frames of a segment: cells of each, and pixels of the last one. `is_broken`: a key frame is damaged."""

    def __init__(self) -> None:
        self.cells: list[bytes] = []
        self.is_broken = False
        self._last: VideoFrame | None = None

    def see(self, frames: Sequence[VideoFrame] | None) -> None:
        """Add the key frames of a packet except damaged ones. `frames`: None if the packet is broken."""
        self.is_broken |= frames is None
        for frame in frames or ():
            if frame.is_corrupt:
                self.is_broken = True
            else:
                self.cells.append(_scaled(frame, COLUMNS, ROWS, "gray"))
                self._last = frame

    def picture(self, aspect: float) -> tuple[int, int, bytes]:
        """Return width, height and pixels (RGB) of the last key frame, scaled to fit 160 x 90; zeros without a frame.

        `aspect`: width of a pixel of the segment by its height, such as 64 / 45 for a wide picture of 720 x 576.
        """
        frame = self._last
        if not frame:
            return 0, 0, b""
        sides = frame.width * aspect, frame.height
        scale = min(WIDTH / sides[0], HEIGHT / sides[1])
        width, height = (max(1, round(side * scale)) for side in sides)
        return width, height, _scaled(frame, width, height, "rgb24")


class Ear:
    """Sound of a segment: loudest momentary loudness (LUFS, -inf if unknown), and peak of each channel (dBFS).

    FFmpeg's filter `ebur128` measures loudness, and `astats` measures peaks, because `ebur128` rounds peaks to steps of
    0.001 of full scale (-60 dBFS).
    """

    def __init__(self) -> None:
        self.loudness = -inf
        self.peaks: list[float] = []
        self._graph: Graph | None = None
        self._frames = 0

    def hear(self, frame: AudioFrame) -> None:
        """Add a frame."""
        self._graph = self._graph or _meters(frame)
        self._graph.push(frame)
        self._frames += 1
        if self._frames % 64 == 0:  # each pull that finds nothing costs as much as a frame
            self._measure(self._graph)

    def end(self) -> None:
        """Measure the samples that the filters still hold."""
        if self._graph:
            self._graph.push(None)
            self._measure(self._graph)

    def _measure(self, graph: Graph) -> None:
        with suppress(BlockingIOError, EOFError):
            while True:
                values = graph.pull().metadata
                if (loudness := values.get("lavfi.r128.M")) is not None:
                    self.loudness = max(self.loudness, float(loudness))
                peaks = (values.get(f"lavfi.astats.{channel}.Peak_level") for channel in range(1, CHANNELS + 1))
                self.peaks = [float(peak) for peak in peaks if peak is not None] or self.peaks


def _meters(frame: AudioFrame) -> Graph:
    """Return the filters for sound of the form of `frame`."""
    from av.filter import Graph

    graph = Graph()
    graph.threads = 1
    nodes = (
        graph.add_abuffer(
            sample_rate=frame.sample_rate, format=frame.format, layout=frame.layout, time_base=frame.time_base
        ),
        graph.add("ebur128", "metadata=1"),
        graph.add("astats", "metadata=1:measure_perchannel=Peak_level:measure_overall=none"),
        graph.add("abuffersink"),
    )
    graph.link_nodes(*nodes)
    graph.configure()
    return graph


def _is_allowed(stream: VideoStream | AudioStream, codecs: Collection[str]) -> bool:
    """Return whether a stream may be decoded. If so, set the limits of its decoder."""
    decoder: CodecContext | None = stream.codec_context  # None: FFmpeg has no such decoder
    if not decoder or decoder.name not in codecs:
        return False
    decoder.thread_count = 1
    decoder.options = _CODEC_OPTIONS
    return True


def _decoded(stream: VideoStream | AudioStream | None, packet: Packet[Any] | None) -> list[Any] | None:
    """Return the frames of a packet; None if the packet is broken. `packet`: None for the decoder's last frames.

    Even the first packet of a complete segment may be broken.
    """
    try:
        return stream.decode(packet) if stream else []
    except MemoryError:
        raise
    except Exception:  # noqa: BLE001  PyAV raises errors of many kinds
        return None


def _scaled(frame: VideoFrame, width: int, height: int, pixel: str) -> bytes:
    """Return the pixels of a frame, row by row."""
    # players take these colours too, if a stream of HD does not name its own
    colours = "ITU709" if frame.colorspace == 2 and frame.height >= 720 else None
    scaled = frame.reformat(width, height, pixel, src_colorspace=colours, interpolation="AREA", threads=1)
    plane = scaled.planes[0]
    content, row = bytes(plane), width * (3 if pixel == "rgb24" else 1)
    return b"".join(content[start : start + row] for start in range(0, plane.line_size * height, plane.line_size))


def _read(size: int) -> bytes:
    """Read exactly `size` bytes from standard input. Ends the program at its end."""
    content = bytearray()
    while len(content) < size:
        if not (piece := os.read(0, size - len(content))):
            os._exit(0)
        content += piece
    return bytes(content)


def _write(content: bytes) -> None:
    """Write bytes to standard output."""
    while content:
        content = content[os.write(1, content) :]


if __name__ == "__main__":
    main()
