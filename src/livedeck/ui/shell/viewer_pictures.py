"""Pictures that viewers get, fetched and decoded for the screen in front."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping
from typing import NamedTuple

from livedeck.log import Log
from livedeck.text.segments import Pixels
from livedeck.ui.kit import themes
from livedeck.ui.kit.decoding import Decoder
from livedeck.ui.kit.graphics import Frame, Graphics, faded, iterm2_small, kitty_small, pixel_rows, scaled
from livedeck.ui.kit.viewer_picture import Shot
from livedeck.ui.shell.context import Context

SIZE = (160, 90)
"""Width and height in pixels of the pictures that viewers get."""

MAX_BYTES = 64 * 1024
"""Maximum size of a picture in bytes. A probe makes pictures of about 3 kB."""

IDLE_SECONDS = 30.0
"""Seconds without a new picture after which the decoding process ends."""

MAX_KEPT = 64

log = Log(__name__)


def can_show_pictures(ctx: Context) -> bool:
    """Return whether the terminal can show pictures: it has half blocks, and the theme has colours of its own."""
    return ctx.has_fine_lines and not themes.PALETTES[ctx.theme].ansi


class Wanted(NamedTuple):
    """Picture to show in a place on the screen: hash of the JPEG, size of the place, and id of the place in kitty."""

    image: str
    frame: Frame
    number: int = 0


class ViewerPictures:
    """Newest pictures of the events on the screen. Each is fetched once, and only while it is on the screen."""

    def __init__(self, ctx: Context) -> None:
        self._ctx = ctx
        self._wanted: Mapping[str, Wanted] = {}
        self._shots: dict[tuple[str, Wanted, str], Shot | None] = {}
        self._then: Callable[[], None] = lambda: None
        self._is_running, self._changed = False, asyncio.Event()

    def want(self, wanted: Mapping[str, Wanted], then: Callable[[], None]) -> None:
        """Set the wanted pictures by event. `then`: called after each new picture."""
        self._wanted, self._then = wanted, then
        if self._missing() and not self._is_running:
            self._is_running = True
            self._ctx.start(self._load_all(), "viewer pictures")
        self._changed.set()

    def get(self, event_id: str) -> Shot | None:
        """Return the wanted picture of an event, or its previous picture until the wanted one is decoded, or None."""
        wanted = self._wanted.get(event_id)
        if wanted is None:
            return None
        found = self._shots.get(self._key(event_id, wanted))
        if found is not None:
            return found
        return next(
            (
                shot
                for (id_, old, ground), shot in reversed(self._shots.items())
                if id_ == event_id and old[1:] == wanted[1:] and ground == self._ground and shot
            ),
            None,
        )

    @property
    def _ground(self) -> str:
        return themes.PALETTES[self._ctx.theme].background

    def _key(self, event_id: str, wanted: Wanted) -> tuple[str, Wanted, str]:
        return event_id, wanted, self._ground

    def _missing(self) -> tuple[str, Wanted] | None:
        return next((item for item in self._wanted.items() if self._key(*item) not in self._shots), None)

    async def _load_all(self) -> None:
        """Load the wanted pictures, one after the other. End after `IDLE_SECONDS` without a new one."""
        decoder = Decoder(self._ctx.child_variables)
        try:
            while True:
                while missing := self._missing():
                    shot = await self._load(decoder, *missing)
                    self._keep(self._key(*missing), shot)
                    self._then()
                self._changed.clear()
                try:
                    async with asyncio.timeout(IDLE_SECONDS):
                        await self._changed.wait()
                except TimeoutError:
                    if not self._missing():
                        return
        finally:
            self._is_running = False
            await decoder.close()

    def _keep(self, key: tuple[str, Wanted, str], shot: Shot | None) -> None:
        """Keep a picture, and drop earlier pictures of the same event in the same size."""
        for old in [old for old in self._shots if old[0] == key[0] and old[1].frame == key[1].frame]:
            if shot is not None or self._shots[old] is None:
                del self._shots[old]
        self._shots[key] = shot
        while len(self._shots) > MAX_KEPT:
            del self._shots[next(iter(self._shots))]

    async def _load(self, decoder: Decoder, event_id: str, wanted: Wanted) -> Shot | None:
        try:
            jpeg = await self._ctx.monitor.viewer_picture(event_id)
        except Exception as error:  # noqa: BLE001  no picture is no fault of the deck
            log.info("a picture of viewers is not shown", reason=str(error) or type(error).__name__)
            return None
        if not jpeg or len(jpeg) > MAX_BYTES:
            return None
        graphics = self._ctx.graphics
        has_pixels = graphics in {Graphics.KITTY, Graphics.ITERM2} and bool(wanted.number)
        cells = wanted.frame.columns, wanted.frame.rows * 2
        pixels = await decoder.decode(jpeg, *(SIZE if has_pixels else cells))
        if pixels is None:
            return None
        return await asyncio.to_thread(_draw, pixels, jpeg, wanted, graphics if has_pixels else None, self._ground)


def _draw(pixels: bytes, jpeg: bytes, wanted: Wanted, graphics: Graphics | None, ground: str) -> Shot:
    """Return the picture in the size of its frame. Slow, so call this in a thread."""
    frame, sequence = wanted.frame, ""
    columns, rows = frame.columns, frame.rows
    if graphics is not None:
        is_kitty = graphics is Graphics.KITTY
        sequence = kitty_small(pixels, SIZE, frame, wanted.number) if is_kitty else iterm2_small(jpeg, frame)
        pixels = scaled(pixels, SIZE, (columns, rows * 2))
    behind = int(ground.lstrip("#"), 16) if ground.startswith("#") else 0
    bright, dim = (pixel_rows(data, columns, rows) for data in (pixels, faded(pixels, behind)))
    for role in {role for row in bright for _, role in row if isinstance(role, Pixels)}:
        themes.pixel_style(role)
    return Shot(tuple(bright), tuple(dim), sequence)
