"""The widgets around every screen."""

from __future__ import annotations

from datetime import tzinfo

from livedeck.monitor import Snapshot
from livedeck.ui.actions import footer
from livedeck.ui.actions.keymap import Keymap
from livedeck.ui.renderables import frame
from livedeck.ui.renderables.lines import Line
from livedeck.ui.renderables.moment import Moment
from livedeck.ui.widgets.inked import Canvas


class Header(Canvas):
    """Who, where, how fresh, what time, how bad; and the tabs."""

    def __init__(
        self, *, profile: str, host: str, read_only: bool, zone: tzinfo | None, current: str, keymap: Keymap
    ) -> None:
        super().__init__()
        self._profile, self._host, self._read_only, self._zone = profile, host, read_only, zone
        self._current, self._keymap = current, keymap
        self._shown: tuple[Snapshot, Moment] | None = None

    def show(self, snapshot: Snapshot, moment: Moment) -> None:
        """Paint for this moment."""
        self._shown = snapshot, moment
        self.repaint()

    def draw(self, width: int, height: int) -> list[Line]:  # noqa: ARG002
        tabs = frame.tabs(self._keymap, self._current, width)
        if self._shown is None:
            return [[], tabs]
        snapshot, moment = self._shown
        top = frame.header(
            snapshot,
            moment,
            width,
            profile=self._profile,
            host=self._host,
            read_only=self._read_only,
            zone=self._zone,
        )
        return [top, tabs]


class Lines(Canvas):
    """Lines that were drawn elsewhere; as high as they are many, gone while there are none."""

    def __init__(self, *, id: str | None = None) -> None:  # noqa: A002
        super().__init__(id=id)
        self._given: list[Line] = []

    def show(self, lines: list[Line]) -> None:
        """Take these lines in place of the former."""
        if len(lines) != len(self._given):
            self.display = bool(lines)
            self.styles.height = max(1, len(lines))
        self._given = lines
        self.repaint()

    def draw(self, width: int, height: int) -> list[Line]:  # noqa: ARG002
        return self._given


class Footer(Canvas):
    """The keys that do something here."""

    def __init__(self, mode: str, keymap: Keymap, *, read_only: bool) -> None:
        super().__init__()
        self._actions, self._keymap, self._read_only = footer(mode), keymap, read_only
        self._meant = ""

    def show(self, meant: str) -> None:
        """Name the alarm that an acknowledgement would go to; empty: the screen's cursor shows it, or there is none."""
        if meant != self._meant:
            self._meant = meant
            self.repaint()

    def draw(self, width: int, height: int) -> list[Line]:  # noqa: ARG002
        return [frame.keys(self._actions, self._keymap, width, read_only=self._read_only, meant=self._meant)]
