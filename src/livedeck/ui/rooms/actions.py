"""What is done with a meeting room and its relay profiles. The target is frozen as the key is pressed."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

from livedeck.client import RelayDraft, RelayProfile, RelayRunning, RoomDraft
from livedeck.monitor import Severity
from livedeck.operations import rooms
from livedeck.operations import rooms as acts
from livedeck.operations.diff import edits
from livedeck.operations.operation import Operation, OperationResult
from livedeck.operations.rooms import DeferredEdit, RelaySubject
from livedeck.operations.schema import FieldValues
from livedeck.presentation.rooms import ACTIVE
from livedeck.text.segments import Segment, StyleRole
from livedeck.ui.kit.dialogs.confirm import Confirm, Confirmation
from livedeck.ui.kit.dialogs.form import FormResult, FormState
from livedeck.ui.rooms.view import REVEALED
from livedeck.ui.shell.action import Action, ConfirmLevel, Feature, FeatureScreen, HelpGroup, ScreenKind, Tab
from livedeck.ui.shell.confirmer import run_form
from livedeck.ui.shell.keymap import worded

if TYPE_CHECKING:
    from livedeck.ui.rooms.screen import RoomsScreen
    from livedeck.ui.shell.context import Context


def _screen_type() -> type[RoomsScreen]:
    from livedeck.ui.rooms.screen import RoomsScreen

    return RoomsScreen


def open_screen(ctx: Context, _: str) -> None:
    """Show the screen."""
    ctx.go_to("rooms")


def open_(ctx: Context, _: str) -> None:
    """From a room to its profiles, from a profile to its form."""
    ctx.screen_of(_screen_type()).table().open()


def pane(ctx: Context, _: str) -> None:
    """To the other table."""
    screen = ctx.screen_of(_screen_type())
    screen.turn("relays" if screen.pane == "rooms" else "rooms")


def new(ctx: Context, _: str) -> Awaitable[None]:
    """A form of a room and all its profiles."""
    sheet, screen = rooms.room(ctx.desk.api.service_of), ctx.screen_of(_screen_type())
    initial = {**sheet.blank(), "type": rooms.TYPES[0], "owner_id": screen.owner}

    def act(filled: FormResult) -> Operation[acts.Newest]:
        screen.owner = str(filled.entries["owner_id"])
        names = {*filled.changed, "owner_id", "type"}
        draft = sheet.draft(sheet.values(filled.entries, names, ctx.desk.present()))
        assert isinstance(draft, RoomDraft)
        return acts.create(ctx.desk.api, draft, edits(sheet, sheet.blank(), filled.entries, names, ctx.desk.present()))

    return _fill(ctx, FormState("New room", sheet, initial, save="Create"), act)


async def _fill(ctx: Context, blank: FormState, act: Any) -> None:
    await run_form(ctx, blank, act)


def delete(ctx: Context, _: str) -> Awaitable[None] | None:
    """End it."""
    room, shown = ctx.screen_of(_screen_type()).room(), ctx.displayed()
    if room is None or shown is None:
        ctx.announce("no room is selected", Severity.WARNING)
        return None
    snapshot = shown[0]
    return _perform(ctx, acts.delete(acts.RoomSubject.of(ctx.desk.api, room, snapshot.rooms.as_of, snapshot.seq)))


async def _perform(ctx: Context, act: Operation[Any]) -> None:
    await ctx.desk.perform(act)


LOCKED = (
    "The platform locks a profile while its relay runs (409298). Nothing was changed.",
    "A participant stops the relay inside the room. The platform does not tell when that happened.",
    "Kept, the edit waits in this deck: you are asked again when the room is seen not to be active any more.",
    "{relay.apply} asks at any time. Nothing is sent before you agree.",
)


def edit(ctx: Context, _: str) -> Awaitable[None] | None:
    """A form of its fields, or of the edit that waits; what was changed is sent and nothing else."""
    one = _subject(ctx)
    if one is None:
        return None
    screen = ctx.screen_of(_screen_type())
    waiting = screen.edits.waiting.get(one.profile.id)
    return _edit(ctx, screen, one, waiting.filled.entries if waiting else None)


async def _edit(
    ctx: Context, screen: RoomsScreen, one: RelaySubject, entered: FieldValues | None = None, note: str = ""
) -> None:
    sheet = rooms.relay(one.service_of)

    async def settle(filled: FormResult, outcome: OperationResult) -> bool:
        return isinstance(outcome.error, RelayRunning) and await _locked(ctx, screen, one, filled)

    blank = FormState(f"Edit {one.target.name}", sheet, rooms.entries_of(one.profile), entered, note=note)
    outcome = await run_form(ctx, blank, lambda filled: _act(ctx, one, filled), settle)
    if outcome and outcome.done:
        screen.edits.drop(one.profile.id)
        screen.refresh_all()


def _act(ctx: Context, one: RelaySubject, filled: FormResult, why: tuple[Segment, ...] = ()) -> Operation[RelayProfile]:
    sheet = rooms.relay(one.service_of)
    present = ctx.desk.present()
    draft = sheet.draft(sheet.values(filled.entries, filled.changed, present))
    assert isinstance(draft, RelayDraft)
    changes = edits(sheet, rooms.entries_of(one.profile), filled.entries, filled.changed, present)
    return acts.update(one, draft, changes, why)


async def _locked(ctx: Context, screen: RoomsScreen, one: RelaySubject, filled: FormResult) -> bool:
    """Say what holds the profile, and let the edit wait where that is wanted."""
    body = tuple((worded(text, ctx.actions), StyleRole.TEXT) for text in LOCKED)
    question = Confirmation(f'"{one.target.name}" is broadcasting', body, "Keep the edit", keep="Back to the form")
    wanted = await ctx.desk.ask(Confirm(question, ctx.clock.monotonic))
    if wanted:
        screen.edits.keep(one, filled, ctx.clock.now())
        screen.refresh_all()
        ctx.announce(f"the edit of {one.target.name} waits for its relay to end", Severity.INFO)
    return wanted


def apply(ctx: Context, argument: str) -> Awaitable[None] | None:
    """Ask whether to send an edit that waits: of the profile that is named, or selected, or of the only one."""
    screen = ctx.screen_of(_screen_type())
    selected = screen.relay()
    wanted = argument or (selected.id if selected else "")
    waiting = screen.edits.waiting.get(wanted) or (
        None if argument else next(iter(screen.edits.waiting.values()), None)
    )
    if waiting is None:
        ctx.announce("no edit waits for a relay to end", Severity.INFO)
        return None
    return _apply(ctx, screen, waiting)


async def _apply(ctx: Context, screen: RoomsScreen, waiting: DeferredEdit) -> None:
    """Send it after the question; where it is refused again it waits on, or goes back to its form."""
    one = waiting.one
    room = ctx.snapshot.rooms.find(one.room.id) if ctx.snapshot else None
    state = "may still be broadcasting" if room is None or room.status == ACTIVE else "is no longer active"
    why: tuple[Segment, ...] = (
        (f"This edit waits since {waiting.since:%H:%M:%S}Z. Its room {state}.", StyleRole.WARNING),
    )
    outcome = await ctx.desk.perform(_act(ctx, one, waiting.filled, why))
    if outcome.done:
        screen.edits.drop(one.profile.id)
        screen.refresh_all()
    elif isinstance(outcome.error, RelayRunning):
        if not await _locked(ctx, screen, one, waiting.filled):
            await _edit(ctx, screen, one, waiting.filled.entries)
    elif outcome.error is not None:
        await _edit(ctx, screen, one, waiting.filled.entries, outcome.text)


def reveal(ctx: Context, _: str) -> Awaitable[None] | None:
    """Its stream key, for ten seconds; never where that cannot be recorded (trust.md, "Secrets")."""
    one = _subject(ctx)
    if one is None:
        return None
    if one.profile.stream_key is None:
        ctx.announce(f"the platform did not say the stream key of {one.target.name}", Severity.WARNING)
        return None
    if ctx.history is None:
        ctx.announce("no key is shown: that is recorded, and this deck keeps no history", Severity.WARNING)
        return None
    return _reveal(ctx, ctx.screen_of(_screen_type()), one)


async def _reveal(ctx: Context, screen: RoomsScreen, one: RelaySubject) -> None:
    """Recorded before it is shown."""
    await ctx.desk.did("relay.reveal", one.target, f"shown for {REVEALED:g} s")
    ctx.announce(f"stream key of {one.target.name} shown for {REVEALED:g} s")
    screen.reveal(one.profile)


def _subject(ctx: Context) -> RelaySubject | None:
    """The selected profile as it is shown now, frozen; None, and said, where there is none."""
    screen, shown = ctx.screen_of(_screen_type()), ctx.displayed()
    room, profile = screen.room(), screen.relay()
    if room is None or profile is None or shown is None:
        ctx.announce("no relay profile is selected", Severity.WARNING)
        return None
    assert ctx.api is not None
    snapshot = shown[0]
    return RelaySubject.of(ctx.api, room, profile, snapshot.rooms.as_of, snapshot.seq)


HERE = ("rooms",)


ROOMS = (
    Action(
        "room.open",
        ("enter",),
        "open",
        "From a room to its relay profiles, from a profile to its form",
        open_,
        HERE,
        rank=10,
    ),
    Action("room.pane", ("tab",), "profiles", "From the rooms to the relay profiles, and back", pane, HERE),
    Action(
        "room.new",
        ("n",),
        "new room",
        "Make a room with up to 15 relay profiles, all or nothing",
        new,
        HERE,
        confirm=ConfirmLevel.FORM,
        rank=12,
    ),
    Action(
        "room.delete",
        ("D",),
        "delete room",
        "End the room: everybody is out, relays stop, its profiles are gone",
        delete,
        HERE,
        confirm=ConfirmLevel.AIR,
        rank=14,
    ),
    Action(
        "relay.edit",
        ("e",),
        "edit profile",
        "Change a relay profile; it applies when the relay is next started",
        edit,
        HERE,
        confirm=ConfirmLevel.FORM,
        rank=11,
    ),
    Action(
        "relay.apply",
        ("g",),
        "apply edit",
        "Apply the edit that waits for its relay to end, after a question",
        apply,
        HERE,
        confirm=ConfirmLevel.CONFIRM,
        takes="[PROFILE]",
    ),
    Action(
        "relay.reveal",
        ("v",),
        "show key",
        "Show the stream key of the relay profile for 10 s; it is recorded who asked when",
        reveal,
        HERE,
        rank=13,
    ),
)


FEATURE = Feature(
    tab=Tab(
        "Rooms", Action("screen.rooms", ("5",), "rooms", "Rooms: meeting rooms and their relay profiles", open_screen)
    ),
    screens={"rooms": FeatureScreen(_screen_type, ScreenKind.TABLE)},
    actions=ROOMS,
    help=(HelpGroup("room", "Rooms", 30), HelpGroup("relay", "Relay profiles", 40)),
)
