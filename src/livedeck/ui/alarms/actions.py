"""Actions on alarms. Their target is the alarm that was on the screen when the key was pressed."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from livedeck.monitor import (
    AUDIO_LOST,
    MOST_ON_AIR,
    TAKE_BACK_FOR,
    Alarm,
    AlarmLimits,
    AlarmRefused,
    AlarmState,
    BitrateUnit,
    Content,
    EventState,
    Matcher,
    MatchField,
    MatchOp,
    Severity,
    Silence,
    SilenceDraft,
    Snapshot,
    Verdict,
    covered_alarms,
    is_acknowledged,
    person,
)
from livedeck.operations.operation import Confirmation, Target
from livedeck.operations.schema import Field, FieldKind, FieldValues, FormResult, FormSchema, FormState
from livedeck.presentation import events
from livedeck.presentation.alarm_text import note_done
from livedeck.presentation.silences import moment_text, named
from livedeck.text import values
from livedeck.text.segments import StyleRole
from livedeck.ui.alarms.view import TABS, silent_together
from livedeck.ui.shell.commands import unknown_text
from livedeck.ui.shell.context import Action, Feature, FeatureScreen, HelpGroup, ScreenKind, Tab, needs_collector
from livedeck.ui.shell.keymap import key_of
from livedeck.ui.shell.screen import TAKE_BACK, AlarmFilter, BaseScreen, is_active, is_away, is_waiting, last_given

if TYPE_CHECKING:
    from livedeck.ui.alarms.screen import AlarmsScreen
    from livedeck.ui.shell.context import Context


UNTIL_CLEARED = "until it clears"

TAKE_BACK_MINUTES = round(TAKE_BACK_FOR / timedelta(minutes=1))

REASON = Field("reason", "Reason", required=True, hint="why the alarm needs no attention")
MINUTES = Field(
    "minutes",
    "For",
    FieldKind.CHOICE,
    choices=("15 min", "30 min", "60 min", UNTIL_CLEARED),
    hint=f"on air, at most {AlarmLimits().shelved_most / 60:.0f} min by default",
)

WITH_SYMPTOMS, ONLY_THIS = "it and its symptoms", "only this"
SCOPE = Field("scope", "Hide", FieldKind.CHOICE, choices=(WITH_SYMPTOMS, ONLY_THIS))

SHELVE = FormSchema((MINUTES, SCOPE, REASON), dict)
REMOVE = FormSchema((REASON,), dict)
NOTE = FormSchema((Field("text", "Note", hint="leave empty to remove the note"),), dict)

UNITS = [
    ("1", BitrateUnit.KBIT.value, "kbit/s: an HD picture has 2000 to 8000"),
    ("2", BitrateUnit.BIT.value, "bit/s: an HD picture has 2000000 to 8000000"),
]
"""Units of bit rates: key, value and label."""

UNTIL_EVENT_ENDS = "until the event ends"
LENGTHS = {"30 min": 1800.0, "2 h": 7200.0}
"""Lengths of a silence in seconds."""

EVERY_SEVERITY, NOT_CRITICAL = "every severity", "all but critical"

COMMENT = Field("comment", "Comment", required=True, hint="why nobody needs to hear these alarms")
Change = Callable[[Alarm, FieldValues], Awaitable[str]]
"""Change of an alarm by the entries of a form. Returns the words for what was done, such as `shelved`."""


def acknowledge(ctx: Context, _: str) -> Awaitable[None] | None:
    """Acknowledge the alarm under the cursor; on a screen of events, all alarms of the selected event."""
    return _start_acknowledge(ctx, _target_alarms(ctx, is_waiting) or _target_alarms(ctx))


def acknowledge_event(ctx: Context, _: str) -> Awaitable[None] | None:
    """Acknowledge all alarms of the event whose alarm is under the cursor."""
    row, seen = _target_alarm(ctx), ctx.last_seen()
    alarms = [*seen.alarms] if seen and row else []
    return _start_acknowledge(ctx, tuple(alarm for alarm in alarms if row and alarm.event_id == row.event_id))


def _start_acknowledge(ctx: Context, alarms: tuple[Alarm, ...]) -> Awaitable[None] | None:
    ctx.screen_of(BaseScreen).pin(next(iter(alarms), None))
    waiting = tuple(filter(is_waiting, alarms))
    if waiting:
        return _acknowledge(ctx, waiting)
    if ctx.screen_of(BaseScreen).SHOWS_EVENT and not alarms and ctx.selected_event() is None:
        ctx.announce("no event is selected, so nothing is acknowledged", Severity.INFO)
    else:
        ctx.announce(_already_text(alarms) or f"{_row_name(ctx)}no alarm awaits an acknowledgement", Severity.INFO)
    return None


async def _acknowledge(ctx: Context, alarms: tuple[Alarm, ...]) -> None:
    done, refusals = list[Alarm](), list[str]()
    for alarm in alarms:
        try:
            done += [alarm] if await ctx.monitor.acknowledge(alarm.key, alarm.shown) else []
        except AlarmRefused as error:
            refusals.append(f"{_name(alarm)}: {error}")
    if done:
        key = key_of(TAKE_BACK, ctx.actions)
        ctx.announce(f"{acknowledged_text(done)}; {key} takes it back within {TAKE_BACK_MINUTES} min")
    elif not refusals:
        keys = {alarm.key for alarm in alarms}
        now = [alarm for alarm in ctx.snapshot.alarms if alarm.key in keys] if ctx.snapshot else []
        ctx.announce(
            _already_text(now) or f"{_name(alarms[0])}: already cleared, nothing to acknowledge", Severity.INFO
        )
    for refusal in refusals:
        ctx.announce(refusal, Severity.WARNING)
    for alarm in done:
        await _audit(ctx, alarm, "alarm.acknowledge")


def _already_text(alarms: Sequence[Alarm]) -> str:
    """Return the notice that alarms are already acknowledged, by whom and until when; empty if none is acknowledged."""
    alarms = [alarm for alarm in alarms if alarm.state is AlarmState.ACKNOWLEDGED]
    if not alarms:
        return ""
    name = _name(alarms[0]) if len(alarms) == 1 else values.safe(alarms[0].subject, 40)
    people = ", ".join(dict.fromkeys(values.safe(person(alarm.answered_by), 40) for alarm in alarms))
    until = min((alarm.acknowledged_until for alarm in alarms if alarm.acknowledged_until), default=None)
    return (
        f"{name}: already acknowledged{f' by {people}' if people else ''}{f' until {until:%H:%M:%S}Z' if until else ''}"
    )


def acknowledged_text(alarms: Sequence[Alarm]) -> str:
    """Return the notice about alarms of an event that were just acknowledged. Lists several by kind and target."""
    first = alarms[0]
    if len(alarms) == 1:
        return f"{_name(first)}: acknowledged{_of_events(first)}"
    names = ", ".join(f"{alarm.kind} {values.safe(alarm.target_name, 40)}".rstrip() for alarm in alarms)
    return f"{values.safe(first.subject, 40)}: {len(alarms)} alarms acknowledged: {names}"


def _of_events(alarm: Alarm) -> str:
    return f", for {len(alarm.affects)} events" if alarm.affects else ""


def _row_name(ctx: Context) -> str:
    """Return `Choir: ` for the selected event, to begin a notice with; empty on a screen without a selected event."""
    state = ctx.selected_event() if ctx.screen_of(BaseScreen).SHOWS_EVENT else None
    return f"{events.name(state)}: " if state else ""


def shelve(ctx: Context, _: str) -> Awaitable[None] | None:
    """Hide the alarm for a time that the person enters in a form."""

    async def change(alarm: Alarm, entries: FieldValues) -> str:
        word = str(entries["minutes"])
        minutes = None if word == UNTIL_CLEARED else float(word.split(maxsplit=1)[0])
        only_this = entries["scope"] == ONLY_THIS
        await ctx.monitor.shelve(alarm.key, minutes, str(entries["reason"]), alarm.shown, only_this=only_this)
        return "shelved"

    current = {"minutes": "15 min", "scope": WITH_SYMPTOMS, "reason": ""}
    return _ask_form(ctx, "shelve", SHELVE, current, change)


def out_of_service(ctx: Context, _: str) -> Awaitable[None] | None:
    """Hide the alarm until somebody brings it back."""

    async def change(alarm: Alarm, entries: FieldValues) -> str:
        await ctx.monitor.out_of_service(alarm.key, str(entries["reason"]), alarm.shown)
        return "out of service"

    return _ask_form(ctx, "out of service", REMOVE, {"reason": ""}, change)


def silence(ctx: Context, _: str) -> Awaitable[None] | None:
    """Silence the alarm under the cursor, its event, or its kind; in the list of silences, extend a silence."""
    if found := ctx.screen_of(BaseScreen).silence_at_cursor():
        return _extend_silence(ctx, found)
    seen, alarm = ctx.last_seen(), _target_alarm(ctx)
    state = ctx.selected_event() if ctx.screen_of(BaseScreen).SHOWS_EVENT else None
    if seen is None or (alarm is None and state is None):
        ctx.announce("no alarm to silence", Severity.INFO)
        return None
    if alarm is not None:
        ctx.screen_of(BaseScreen).pin(alarm)
        state = seen.find(alarm.event_id)
    return _silence(ctx, seen, alarm, state)


async def _silence(ctx: Context, seen: Snapshot, alarm: Alarm | None, state: EventState | None) -> None:
    """Ask for a silence in a form and add it. Each choice shows how many alarms it would cover now."""
    choices = _covered(seen, alarm, state)
    is_on_air = state is not None and state.phase.tally.expects_signal
    lengths = (*LENGTHS, *([UNTIL_EVENT_ENDS] if is_on_air else []))
    fields = (
        Field("what", "Silence", FieldKind.CHOICE, choices=tuple(choices)),
        Field("length", "For", FieldKind.CHOICE, choices=lengths),
        Field("passes", "Severity", FieldKind.CHOICE, choices=(EVERY_SEVERITY, NOT_CRITICAL)),
        COMMENT,
    )
    current = {"what": next(iter(choices)), "length": lengths[0], "passes": EVERY_SEVERITY, "comment": ""}
    name = _name(alarm) if alarm else events.name(state) if state else ""
    form = FormState(f"{name}: silence", FormSchema(fields, dict), current, button="Silence")

    async def attempt(result: FormResult) -> Silence:
        entries = result.entries
        is_until_end = entries["length"] == UNTIL_EVENT_ENDS
        draft = SilenceDraft(
            choices[str(entries["what"])],
            MOST_ON_AIR.total_seconds() if is_until_end else LENGTHS[str(entries["length"])],
            str(entries["comment"]),
            passes=Severity.CRITICAL if entries["passes"] == NOT_CRITICAL else None,
            until_end_of=state.id if state and is_until_end else "",
            actor=ctx.monitor.actor,
        )
        return await ctx.monitor.add_silence(draft)

    added = await ctx.confirmer.try_form(form, attempt, AlarmRefused)
    if added is not None:
        await _announce_silence(ctx, added, "silence.add", "silenced")


def _covered(seen: Snapshot, alarm: Alarm | None, state: EventState | None) -> dict[str, tuple[Matcher, ...]]:
    """Return label -> matchers for each possible silence. The label has the number of alarms that it covers now."""
    kind = (Matcher(MatchField.KIND, MatchOp.IS, alarm.kind),) if alarm else ()
    event = (Matcher(MatchField.EVENT, MatchOp.IS, state.id),) if state else ()
    choices: dict[str, tuple[Matcher, ...]] = {}
    if alarm and state:
        choices[f"{alarm.kind} of this event"] = (*kind, *event)
    if state:
        choices["this event"] = event
    if alarm:
        choices[f"{alarm.kind} of every event"] = kind
    return {f"{words} ({_count_covered(seen, matchers)} now)": matchers for words, matchers in choices.items()}


def _count_covered(seen: Snapshot, matchers: tuple[Matcher, ...]) -> str:
    count = len(covered_alarms(matchers, seen))
    return f"{count} alarm{'' if count == 1 else 's'}"


async def _extend_silence(ctx: Context, found: Silence) -> None:
    """Ask in a form how long to extend a silence, and extend it."""
    fields = (Field("length", "By", FieldKind.CHOICE, choices=tuple(LENGTHS)),)
    title, current = f"{values.safe(found.id, 60)}: extend", {"length": "30 min"}
    form = FormState(title, FormSchema(fields, dict), current, button="Extend", allow_unchanged=True)

    async def attempt(result: FormResult) -> Silence:
        return await ctx.monitor.extend_silence(found.id, LENGTHS[str(result.entries["length"])])

    extended = await ctx.confirmer.try_form(form, attempt, AlarmRefused)
    if extended is not None:
        await _announce_silence(ctx, extended, "silence.extend", "silence extended")


async def _end_silence(ctx: Context, found: Silence) -> None:
    try:
        ended = await ctx.monitor.end_silence(found.id)
    except AlarmRefused as error:
        ctx.announce(str(error), Severity.WARNING)
    else:
        await _announce_silence(ctx, ended, "silence.end", "silence ended")


async def _announce_silence(ctx: Context, changed: Silence, action: str, word: str) -> None:
    states = ctx.snapshot.events if ctx.snapshot else ()
    (shown,) = named([changed], {state.id: events.name(state) for state in states})
    until = "" if action == "silence.end" else f" until {moment_text(changed.ends_at, ctx.clock.now())}"
    ctx.announce(f"{values.safe(shown.what, 80)}: {word}{until}, {values.safe(changed.comment, 80)}")
    await ctx.confirmer.audit_local(action, Target("silence", changed.id, shown.what), changed.comment)


def note(ctx: Context, argument: str) -> Awaitable[None] | None:
    """Attach a note to the alarm."""
    alarm = _target_alarm(ctx)

    async def change(alarm: Alarm, entries: FieldValues) -> str:
        await ctx.monitor.note(alarm.key, str(entries["text"]), alarm.shown)
        return note_done(str(entries["text"]))

    current = {"text": alarm.note if alarm else ""}
    return _ask_form(ctx, "note", NOTE, current, change, entered={"text": argument} if argument else None)


VERDICTS = [
    ("1", Verdict.REAL.value, "real: there is, or was, such a fault"),
    ("2", Verdict.FALSE.value, "false: there was no fault"),
    ("3", Verdict.MEANT_SO.value, "meant so: correctly detected, but done on purpose"),
]
"""Verdicts on an alarm: key, value and label."""


def close(ctx: Context, argument: str) -> Awaitable[None] | None:
    """Close the alarm under the cursor with the verdict `argument`, or with one chosen from a list."""
    alarm, words = _target_alarm(ctx), [value for _, value, _ in VERDICTS]
    if alarm is None:
        ctx.announce("no alarm to close", Severity.INFO)
        return None
    if argument and argument not in words:
        ctx.announce(unknown_text("verdict", argument, words), Severity.WARNING)
        return None
    ctx.screen_of(BaseScreen).pin(alarm)
    return _close(ctx, alarm, argument)


async def _close(ctx: Context, alarm: Alarm, verdict: str) -> None:
    if not verdict:
        from livedeck.ui.kit.dialogs.choice import ChoiceScreen

        chosen = await ctx.ask(ChoiceScreen(f"Close {_name(alarm)} as", VERDICTS))
        if chosen is None:
            return
        verdict = chosen
    try:
        has_changed = await ctx.monitor.close_alarm(alarm.key, Verdict(verdict), alarm.shown)
    except AlarmRefused as error:
        ctx.announce(f"{_name(alarm)}: {error}", Severity.WARNING)
        return
    if has_changed:
        await _announce(ctx, alarm, "alarm.close", "closed", verdict)
    else:
        ctx.announce(f"{_name(alarm)}: already closed, {verdict}", Severity.INFO)


def take_back(ctx: Context, _: str) -> Awaitable[None] | None:
    """Take back your last acknowledgement, or bring back a hidden alarm, whichever was more recent.

    In the list of silences, end the silence under the cursor.
    """
    if found := ctx.screen_of(BaseScreen).silence_at_cursor():
        return _end_silence(ctx, found)
    acknowledged, away = _target_alarms(ctx, is_acknowledged), _target_alarm(ctx, is_away)
    screen, seen = ctx.screen_of(BaseScreen), ctx.last_seen()
    own = screen.to_take_back(seen)[0] if seen else ()
    screen.pin(away or next(iter(acknowledged), None))
    if away and is_away(away) and not own:
        return _bring_back(ctx, away)
    if alarms := own or last_given(acknowledged):
        return _unacknowledge(ctx, alarms)
    ctx.announce(f"{_row_name(ctx)}no alarm is acknowledged, shelved or out of service", Severity.INFO)
    return None


async def _unacknowledge(ctx: Context, alarms: Sequence[Alarm]) -> None:
    done, refusals = list[Alarm](), list[str]()
    for alarm in alarms:
        try:
            await ctx.monitor.unacknowledge(alarm.key, alarm.shown)
            done.append(alarm)
        except AlarmRefused as error:
            refusals.append(f"{values.safe(alarm.subject, 40)}: {error}")
    if len(done) == 1:
        ctx.announce(f"{_name(done[0])}: acknowledgement taken back")
    elif done:
        names = ", ".join(f"{alarm.kind} {values.safe(alarm.target_name, 40)}".rstrip() for alarm in done)
        ctx.announce(f"{values.safe(done[0].subject, 40)}: {len(done)} acknowledgements taken back: {names}")
    for refusal in dict.fromkeys(refusals):
        ctx.announce(refusal, Severity.WARNING)
    for alarm in done:
        await _audit(ctx, alarm, "alarm.unacknowledge")


async def _bring_back(ctx: Context, alarm: Alarm) -> None:
    back = ctx.monitor.unshelve if alarm.state is AlarmState.SHELVED else ctx.monitor.in_service
    try:
        await back(alarm.key)
    except AlarmRefused as error:
        ctx.announce(f"{_name(alarm)}: {error}", Severity.WARNING)
    else:
        await _announce(ctx, alarm, "alarm.return", "brought back")


def _ask_form(
    ctx: Context,
    word: str,
    schema: FormSchema[Any],
    current: FieldValues,
    change: Change,
    *,
    entered: FieldValues | None = None,
) -> Awaitable[None] | None:
    alarm = _target_alarm(ctx)
    if alarm is None:
        row = _row_name(ctx)
        ctx.announce(f"{row}no open alarms" if row else "no alarm to act on", Severity.INFO)
        return None
    ctx.screen_of(BaseScreen).pin(alarm)
    state = FormState(f"{_name(alarm)}: {word}", schema, current, entered, button=word.capitalize())
    return _run_form(ctx, alarm, state, word, change)


async def _run_form(ctx: Context, alarm: Alarm, state: FormState, word: str, change: Change) -> None:
    """Show the form. If the monitor refuses the change, show it again with the person's input and the reason."""

    async def attempt(result: FormResult) -> tuple[str, str]:
        done = await change(alarm, result.entries)
        return done, ", ".join(str(entry) for entry in result.entries.values() if entry)

    if outcome := await ctx.confirmer.try_form(state, attempt, AlarmRefused):
        await _announce(ctx, alarm, f"alarm.{word.replace(' ', '_')}", *outcome)


async def _announce(ctx: Context, alarm: Alarm, action: str, word: str, detail: str = "") -> None:
    ctx.announce(f"{_name(alarm)}: {word}" + (f", {values.safe(detail, 80)}" if detail else ""))
    await _audit(ctx, alarm, action, detail)


async def _audit(ctx: Context, alarm: Alarm, action: str, detail: str = "") -> None:
    target = Target("alarm", "/".join(alarm.key), _name(alarm))
    await ctx.confirmer.audit_local(action, target, detail)


def _name(alarm: Alarm) -> str:
    return f"{values.safe(alarm.subject, 40)} {alarm.kind}"


def _target_alarms(ctx: Context, wants: AlarmFilter = is_active) -> tuple[Alarm, ...]:
    """Return the alarms that a key acts on, as last shown on the current screen."""
    seen = ctx.last_seen()
    return ctx.screen_of(BaseScreen).target_alarms(seen, wants) if seen else ()


def _needs_collector(ctx: Context) -> str:
    return needs_collector(ctx, *(alarm.key for alarm in _target_alarms(ctx) or _target_alarms(ctx, is_away)))


def _target_alarm(ctx: Context, wants: AlarmFilter = is_active) -> Alarm | None:
    return next(iter(_target_alarms(ctx, wants)), None)


def why(ctx: Context, _: str) -> None:
    """Explain the alarm under the cursor; on a screen of events, all alarms of the selected event."""
    from livedeck.ui.alarms.why import WhyScreen

    screen, state = ctx.screen_of(BaseScreen), ctx.selected_event()
    alarm = next(iter(_target_alarms(ctx) or _target_alarms(ctx, is_away)), None) if screen.MODE == "alarms" else None
    if alarm is not None and not alarm.event_id:
        ctx.announce(f"{alarm.kind} concerns no event: the panel of the alarm shows all that is known", Severity.INFO)
    elif alarm is not None:
        screen.pin(alarm)
        ctx.open(WhyScreen(ctx, alarm.event_id, alarm.kind))
    elif state is not None:
        ctx.open(WhyScreen(ctx, state.id))
    else:
        ctx.announce("no event to explain", Severity.INFO)


def choose_unit(ctx: Context, argument: str) -> Awaitable[None] | None:
    """Set the unit of the platform's bit rates: `argument`, or one chosen from a list."""
    units = [unit.value for unit in BitrateUnit]
    if argument and argument not in units:
        ctx.announce(unknown_text("unit", argument, units), Severity.WARNING)
        return None
    return _choose_unit(ctx, argument)


async def _choose_unit(ctx: Context, name: str) -> None:
    if not name:
        from livedeck.ui.kit.dialogs.choice import ChoiceScreen

        chosen = await ctx.ask(ChoiceScreen("The platform counts bit rates in", UNITS))
        if chosen is None:
            ctx.announce("unit unchanged")
            return
        name = chosen
    effect = "From now on, every deck and wall with this history judges all events by this unit."
    lines = ((f"Bit rates are then read as {name}/s. {effect}", StyleRole.TEXT),)
    if not await ctx.confirmer.ask_confirmation(Confirmation("Set the unit of the bit rates", lines, "Set unit")):
        ctx.announce("unit unchanged")
        return
    if await ctx.monitor.choose_unit(BitrateUnit(name)):
        ctx.announce(f"bit rates taken as {name}/s")
        await ctx.confirmer.audit_local("alarm.unit", Target("platform", "", "platform"), f"{name}/s")
    else:
        ctx.announce("Unit unchanged: already set here, or as bitrate_unit in the settings", Severity.WARNING)


def choose_silent(ctx: Context, _: str) -> Awaitable[None] | None:
    """Ask whether the event under the cursor is silent on purpose, or ask once for all events without sound so far."""
    alarm = _target_alarm(ctx)
    if alarm is None or alarm.kind != AUDIO_LOST:
        ctx.announce("no alarm of missing sound is under the cursor", Severity.WARNING)
        return None
    seen = ctx.last_seen()
    return _choose_silent(ctx, alarm, silent_together(alarm, seen.alarms if seen else ()))


async def _choose_silent(ctx: Context, alarm: Alarm, silent: Sequence[Alarm]) -> None:
    from livedeck.ui.kit.dialogs.choice import ChoiceScreen

    name = values.safe(alarm.subject, 40)
    options = [("2", "this", f"yes, {name}: set its content to silent"), ("0", "none", f"no: show the QoS of {name}")]
    if silent:
        options.insert(0, ("1", "all", f"yes, all: {', '.join(values.safe(other.subject, 20) for other in silent)}"))
    together = f"{values.counted(len(silent), 'event')} without sound since livedeck first saw them"
    title = together if silent else f"{name} has no sound"
    chosen = await ctx.ask(ChoiceScreen(f"{title}. Is this intended?", options))
    if chosen == "none":
        ctx.select_event(alarm.event_id)
        ctx.go_to("qos")
    elif chosen is not None:
        changed = [other for other in (silent if chosen == "all" else (alarm,)) if await _make_silent(ctx, other)]
        ctx.announce(f"content silent: {values.counted(len(changed), 'event')}")


async def _make_silent(ctx: Context, alarm: Alarm) -> bool:
    if not await ctx.monitor.choose_content(alarm.event_id, Content.SILENT):
        return False
    await ctx.confirmer.audit_local("event.content", Target("event", alarm.event_id, alarm.subject), "content silent")
    return True


def _screen_type() -> type[AlarmsScreen]:
    from livedeck.ui.alarms.screen import AlarmsScreen

    return AlarmsScreen


def show_board(ctx: Context, _: str) -> None:
    """Show the board, even if a log was shown last."""
    ctx.go_to("alarms")
    if isinstance(ctx.screen, _screen_type()):
        ctx.screen.show_board()


def next_log(ctx: Context, argument: str) -> None:
    """Show the next log, or the log that the user named."""
    if not ctx.screen_of(_screen_type()).show_tab(1, argument):
        ctx.announce(unknown_text("log", argument, TABS), Severity.WARNING)


def previous_log(ctx: Context, _: str) -> None:
    """Show the previous log."""
    ctx.screen_of(_screen_type()).show_tab(-1)


ALARMS = (
    Action(
        "alarm.ack",
        ("a",),
        "acknowledge",
        "Acknowledge this alarm, or all alarms of the selected event (silences them until they clear, get "
        "worse or the acknowledgement expires)",
        acknowledge,
        rank=20,
        home="alarms",
        alarm_label="ack",
        blocked=_needs_collector,
        is_for_now=True,
    ),
    Action(
        "alarm.ack_event",
        ("A",),
        "all of event",
        "Acknowledge all alarms of this row's event",
        acknowledge_event,
        ("alarms",),
        rank=21,
        blocked=_needs_collector,
        is_for_now=True,
    ),
    Action(
        "alarm.shelve",
        ("z",),
        "shelve",
        "Shelve this alarm: hide it, with or without its symptoms, for some minutes or until it clears; needs a reason",
        shelve,
        home="alarms",
        blocked=_needs_collector,
        is_for_now=True,
    ),
    Action(
        "alarm.out_of_service",
        ("Z",),
        "out of service",
        "Take this alarm out of service: hide it until somebody brings it back; needs a reason",
        out_of_service,
        blocked=_needs_collector,
        is_for_now=True,
    ),
    Action(
        "alarm.note",
        ("w",),
        "note",
        "Attach a note to this alarm",
        note,
        takes="TEXT",
        home="alarms",
        blocked=_needs_collector,
        is_for_now=True,
    ),
    Action(
        "alarm.undo",
        ("u",),
        "take back",
        f"Take back your last acknowledgement for the event (within {TAKE_BACK_MINUTES} min), or bring back a shelved "
        "or out-of-service alarm; in the list of silences, end the silence",
        take_back,
        home="alarms",
        blocked=_needs_collector,
        is_for_now=True,
    ),
    Action(
        "alarm.silence",
        ("M",),
        "silence",
        "Silence this alarm, its event or its kind for a time: no bell, no notification; in the list of silences, "
        "extend the silence",
        silence,
        home="alarms",
        blocked=needs_collector,
        is_for_now=True,
    ),
)

CLOSE = (
    Action(
        "alarm.close",
        ("c",),
        "close",
        "Close this alarm with a verdict: real, false, or meant so; this also acknowledges it",
        close,
        ("alarms",),
        takes="[VERDICT]",
        blocked=_needs_collector,
        is_for_now=True,
    ),
)

WHY = (
    Action(
        "alarm.why",
        ("W",),
        "why",
        "Explain this alarm, or the selected event: what is judged, what would alarm next, what is silent and why",
        why,
        ("events", "streams", "qos", "alarms"),
    ),
)

UNIT = (
    Action(
        "alarm.unit",
        (),
        "unit",
        "Set the unit of the platform's bit rates (bit or kbit) if the values do not show their unit",
        choose_unit,
        takes="[UNIT]",
        blocked=needs_collector,
        is_for_now=True,
    ),
)

SILENT = (
    Action(
        "alarm.silent",
        (),
        "silent",
        "Set the content of an event without sound to silent; asks once if three or more had no sound so far",
        choose_silent,
        ("alarms",),
        blocked=needs_collector,
        is_for_now=True,
    ),
)

LOGS = (
    Action(
        "log.next",
        ("right_square_bracket", "right"),
        "next log",
        "Show the next log (board, incidents, silences, actions, notices, kpi, connection), or the log that you name",
        next_log,
        ("alarms",),
        takes="[NAME]",
        rank=22,
    ),
    Action(
        "log.previous",
        ("left_square_bracket", "left"),
        "previous log",
        "Show the previous log",
        previous_log,
        ("alarms",),
    ),
)

FEATURE = Feature(
    tab=Tab("Alarms", "7", "alarms", "Show Alarms: the board of open alarms", run=show_board),
    screens={"alarms": FeatureScreen(_screen_type, ScreenKind.EVENTS)},
    actions=(*ALARMS, *CLOSE, *WHY, *UNIT, *SILENT, *LOGS),
    help=(HelpGroup("alarm", "Alarms", 50), HelpGroup("log", "Logs", 80)),
)
