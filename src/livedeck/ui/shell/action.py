"""What an action is: one value that keys, footer, help, palette, commands and the README are made from."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Target(StrEnum):
    """What an action is done to. Where none is selected it is refused in words."""

    NONE = ""
    EVENT = "event"
    ALARM = "alarm"
    ROOM = "room"
    RELAY = "relay profile"
    VIDEO = "video"


class ConfirmLevel(StrEnum):
    """How far a mistake would reach, and so how it is confirmed (interface.md, Behaviour).

    FORM: its form is the confirmation. CONFIRM: asked, Cancel has the focus. AIR: asked, and where the event is on air
    its short name is typed.
    """

    NONE = ""
    FORM = "form"
    CONFIRM = "confirm"
    AIR = "on air"


BEHIND_THE_WAYS_OUT = 3

"""The rank after quit and help."""


@dataclass(frozen=True, slots=True)
class Action:
    """One thing that a person can have done.

    `name`: `group.verb`, also its command (`:event.complete`, `:complete`). `keys`: by Textual's names, the first one
    is shown; none: palette and command only. `label`: a word for the footer. `help`: a sentence without its full stop.
    `handler`: `module.function` in `livedeck.ui.handlers`. `screens`: where it works, () everywhere. `takes`: what may
    stand after its command, empty: nothing. `rank`: its place in the footer, 0 not there. `home`: the screen where it
    is what one does, and stands right behind the ways out. `fixed`: it cannot be remapped, and works whatever is open.
    """

    name: str
    keys: tuple[str, ...]
    label: str
    help: str
    handler: str
    screens: tuple[str, ...] = ()
    target: Target = Target.NONE
    writes: bool = False
    blast: ConfirmLevel = ConfirmLevel.NONE
    takes: str = ""
    rank: int = 0
    home: str = ""
    fixed: bool = False

    @property
    def group(self) -> str:
        """The part of the name before the dot."""
        return self.name.partition(".")[0]

    @property
    def verb(self) -> str:
        """The part of the name after the dot: the short form of its command."""
        return self.name.partition(".")[2]

    def place(self, screen: str) -> int:
        """Where it stands in the footer of that screen; 0: not there."""
        return BEHIND_THE_WAYS_OUT if self.home == screen else self.rank

    def works_on(self, screen: str) -> bool:
        """Whether its key does something on that screen."""
        return not self.screens or screen in self.screens

    def meets(self, other: Action) -> bool:
        """Whether there is a screen on which both work: there they may share no key."""
        return not self.screens or not other.screens or bool(set(self.screens) & set(other.screens))
