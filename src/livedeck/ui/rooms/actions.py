"""Actions on a meeting room and its relay profiles. Their target is fixed when the key is pressed."""

from __future__ import annotations

from collections.abc import Awaitable
from typing import TYPE_CHECKING, Any

from livedeck.client import RelayRunning
from livedeck.monitor import Severity
from livedeck.operations.operation import Confirmation, OperationResult
from livedeck.operations.schema import FieldValues, FormResult, FormState, Referent
from livedeck.presentation.rooms import ACTIVE
from livedeck.text.segments import Segment, StyleRole
from livedeck.ui.rooms.view import REVEALED
from livedeck.ui.shell.context import Action, Feature, FeatureScreen, HelpGroup, ScreenKind, Tab, change
from livedeck.ui.shell.keymap import with_keys

if TYPE_CHECKING:
    from livedeck.operations.rooms import DeferredEdit, RelayTarget
    from livedeck.ui.rooms.screen import RoomsScreen
    from livedeck.ui.shell.context import Context


def _screen_type() -> type[RoomsScreen]:
    from livedeck.ui.rooms.screen import RoomsScreen

    return RoomsScreen


def open_row(ctx: Context, _: str) -> None:
    """Show the profiles of a room, or the form of a profile."""
    ctx.screen_of(_screen_type()).table().open()


def switch_table(ctx: Context, _: str) -> None:
    """Switch between the table of rooms and the table of profiles."""
    screen = ctx.screen_of(_screen_type())
    screen.turn("relays" if screen.pane == "rooms" else "rooms")


def new(ctx: Context, _: str) -> Awaitable[Any]:
    """Create a room and its relay profiles with a form."""
    from livedeck.operations.rooms import ROOM_TYPES, CreateRoom, room_form

    schema = room_form(ctx.confirmer.api.service_of)
    owner = next(iter(ctx.preferences.recent(Referent.USER)), "")
    initial = {**schema.empty(), "type": ROOM_TYPES[0], "owner_id": owner}
    state = FormState("New room", schema, initial, button="Create")
    return ctx.confirmer.run_form(state, CreateRoom, before=schema.empty(), always=("owner_id", "type"))


def delete(ctx: Context, _: str) -> Awaitable[Any] | None:
    """Delete the selected room."""
    from livedeck.operations.rooms import DeleteRoom, RoomTarget

    screen, displayed = ctx.screen_of(_screen_type()), ctx.displayed()
    room = screen.room()
    if room is None or displayed is None:
        ctx.announce(screen.no_room_text(), Severity.WARNING)
        return None
    snapshot = displayed[0]
    return ctx.confirmer.run(DeleteRoom(RoomTarget.of(room, snapshot.rooms.as_of, snapshot.seq)))


LOCKED = (
    "Not changed: the platform locks a profile while its relay runs (409298).",
    "A participant stops the relay inside the room. The platform does not report when that happens.",
    "If you keep the edit, it waits in this deck. The deck asks again when the room is no longer active.",
    "{relay.apply} opens the question at any time. Nothing is sent before you agree.",
)


def edit(ctx: Context, _: str) -> Awaitable[None] | None:
    """Change a profile with a form. The form shows a waiting edit of the profile. Only changed fields are sent."""
    relay = _target(ctx)
    if relay is None:
        return None
    screen = ctx.screen_of(_screen_type())
    waiting = screen.edits.waiting.get(relay.profile.id)
    return _edit(ctx, screen, relay, waiting.result.entries if waiting else None)


async def _edit(
    ctx: Context, screen: RoomsScreen, relay: RelayTarget, entered: FieldValues | None = None, note: str = ""
) -> None:
    from livedeck.operations.rooms import EditRelay, relay_entries, relay_form, service_for

    service_of = ctx.confirmer.api.service_of

    async def retry(result: FormResult, outcome: OperationResult) -> bool:
        return isinstance(outcome.error, RelayRunning) and await _defer(ctx, screen, relay, result)

    schema = relay_form(service_for(relay.profile, service_of))
    state = FormState(f"Edit {relay.target.name}", schema, relay_entries(relay.profile), entered, note=note)
    outcome = await ctx.confirmer.run_form(state, lambda form: EditRelay(relay, form, service_of), retry=retry)
    if outcome and outcome.has_happened:
        screen.edits.drop(relay.profile.id)
        screen.refresh_all()


async def _defer(ctx: Context, screen: RoomsScreen, relay: RelayTarget, result: FormResult) -> bool:
    """Explain that a running relay locks the profile, and offer to keep the edit. Return whether the edit is kept."""
    from livedeck.operations.rooms import DeferredEdit

    lines = tuple((with_keys(text, ctx.actions), StyleRole.TEXT) for text in LOCKED)
    confirmation = Confirmation(
        f'"{relay.target.name}" is broadcasting', lines, "Keep the edit", cancel="Back to the form"
    )
    is_kept = await ctx.confirmer.ask_confirmation(confirmation)
    if is_kept:
        screen.edits.defer(DeferredEdit(relay, result, ctx.clock.now()))
        screen.refresh_all()
        ctx.announce(f"the edit of {relay.target.name} waits for its relay to end", Severity.INFO)
    return is_kept


def apply(ctx: Context, argument: str) -> Awaitable[None] | None:
    """Send a waiting edit after a confirmation.

    Takes the edit of the profile `argument`, or else of the selected profile, or else the oldest one.
    """
    screen = ctx.screen_of(_screen_type())
    selected = screen.relay()
    profile_id = argument or (selected.id if selected else "")
    waiting = screen.edits.waiting.get(profile_id) or (
        None if argument else next(iter(screen.edits.waiting.values()), None)
    )
    if waiting is None:
        ctx.announce("no edit waits for a relay to end", Severity.INFO)
        return None
    return _apply(ctx, screen, waiting)


async def _apply(ctx: Context, screen: RoomsScreen, waiting: DeferredEdit) -> None:
    """Send a waiting edit after a confirmation.

    If a relay still locks the profile, offer to keep the edit. After another error, show the form with the reason.
    """
    from livedeck.operations.diff import parse_form
    from livedeck.operations.rooms import EditRelay, relay_entries, relay_form, service_for

    relay, service_of = waiting.relay, ctx.confirmer.api.service_of
    room = ctx.snapshot.rooms.find(relay.room.id) if ctx.snapshot else None
    state = "may still be broadcasting" if room is None or room.status == ACTIVE else "is no longer active"
    reason: tuple[Segment, ...] = (
        (f"This edit has been waiting since {waiting.since:%H:%M:%S}Z. Its room {state}.", StyleRole.WARNING),
    )
    schema = relay_form(service_for(relay.profile, service_of))
    form = parse_form(schema, relay_entries(relay.profile), waiting.result, ctx.confirmer.time_reference())
    outcome = await ctx.confirmer.run(EditRelay(relay, form, service_of, reason))
    if outcome.has_happened or outcome.is_gone:
        screen.edits.drop(relay.profile.id)
        screen.refresh_all()
    elif isinstance(outcome.error, RelayRunning):
        if not await _defer(ctx, screen, relay, waiting.result):
            await _edit(ctx, screen, relay, waiting.result.entries)
    elif outcome.error is not None:
        await _edit(ctx, screen, relay, waiting.result.entries, outcome.text)


def reveal(ctx: Context, _: str) -> Awaitable[None] | None:
    """Show the profile's stream key for ten seconds. Refuse if the history cannot record this.

    See trust.md, "Secrets".
    """
    relay = _target(ctx)
    if relay is None:
        return None
    if relay.profile.stream_key is None:
        attachment = ctx.snapshot.attachment if ctx.snapshot else None
        is_withheld = attachment is not None and not attachment.is_alone
        reason = "a collector sends no stream keys" if is_withheld else "the platform did not send it"
        ctx.announce(f"stream key of {relay.target.name} not shown: {reason}", Severity.WARNING)
        return None
    return _reveal(ctx, ctx.screen_of(_screen_type()), relay)


async def _reveal(ctx: Context, screen: RoomsScreen, relay: RelayTarget) -> None:
    """Record that the stream key is shown, then show the key."""
    reason = await ctx.confirmer.audit_local("relay.reveal", relay.target, f"shown for {REVEALED:g} s")
    if reason:
        ctx.announce(f"key not shown, because that cannot be recorded: {reason}", Severity.WARNING)
        return
    ctx.announce(f"stream key of {relay.target.name} shown for {REVEALED:g} s")
    screen.reveal(relay.profile)


def _target(ctx: Context) -> RelayTarget | None:
    """Return the selected profile as shown now. If no profile is selected, announce this and return None."""
    from livedeck.operations.rooms import RelayTarget

    screen, displayed = ctx.screen_of(_screen_type()), ctx.displayed()
    room, profile = screen.room(), screen.relay()
    if room is None or profile is None or displayed is None:
        ctx.announce(screen.no_relay_text(), Severity.WARNING)
        return None
    snapshot = displayed[0]
    return RelayTarget.of(room, profile, snapshot.rooms.as_of, snapshot.seq)


HERE = ("rooms",)

ROOMS = (
    Action(
        "room.open",
        ("enter",),
        "open",
        "Open the relay profiles of a room, or the form of a profile",
        open_row,
        HERE,
        rank=10,
    ),
    Action("room.pane", ("tab",), "profiles", "Switch between rooms and relay profiles", switch_table, HERE),
    change("room.create", ("n",), "new room", new, HERE, rank=12),
    change("room.delete", ("D",), "delete room", delete, HERE, rank=14),
    change("relay.edit", ("e",), "edit profile", edit, HERE, rank=11),
    Action(
        "relay.apply",
        ("g",),
        "apply edit",
        "Send the edit that waits for the end of its relay, after a confirmation",
        apply,
        HERE,
        writes=True,
        takes="[PROFILE]",
    ),
    Action(
        "relay.reveal",
        ("v",),
        "show key",
        "Show the stream key of the relay profile for 10 s; this is recorded",
        reveal,
        HERE,
        rank=13,
        is_for_now=True,
    ),
)

FEATURE = Feature(
    tab=Tab("Rooms", "5", "rooms", "Show Rooms: meeting rooms and their relay profiles"),
    screens={"rooms": FeatureScreen(_screen_type, ScreenKind.TABLE)},
    actions=ROOMS,
    help=(HelpGroup("room", "Rooms", 30), HelpGroup("relay", "Relay profiles", 40)),
)
