"""A form: validates as one types, keeps what was typed, and returns it. It sends nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widget import Widget
from textual.widgets import Input

from livedeck.client import Secret
from livedeck.operations.operation import Confirmation
from livedeck.operations.schema import (
    Entry,
    Field,
    FieldErrors,
    FieldKind,
    FieldValues,
    FormResult,
    FormSchema,
    FormState,
    changed_names,
)
from livedeck.text import times
from livedeck.text.segments import Line, StyleRole, wrap
from livedeck.text.times import TimeReference
from livedeck.ui.kit.dialogs.confirm import Confirm, heading
from livedeck.ui.kit.dialogs.dialog import BlockedReason, Button, Dialog, Timer
from livedeck.ui.kit.dialogs.inputs import Edited, RowsInput, editor
from livedeck.ui.kit.lines import LinesWidget

FRAME_LINES = 8
"""What the form is but for its fields: border, title, hint and keys."""

NARROW = 100
"""Under so many cells the hint of a field stands below the form alone."""

DISCARD = Confirmation("Leave the form?", (("What you typed is lost.", StyleRole.TEXT),), button="Leave", cancel="Stay")


class Form(Dialog[FormResult | None]):
    """Fields of one line each; None where it was left. `time_reference`: what typed times are read against, now."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", show=False),
        Binding("down", "app.focus_next", show=False),
        Binding("up", "app.focus_previous", show=False),
    ]

    TAKES_TYPED_AHEAD = True

    def __init__(
        self,
        state: FormState,
        timer: Timer,
        time_reference: Callable[[], TimeReference],
        blocked_reason: BlockedReason = lambda: "",
    ) -> None:
        super().__init__(timer)
        self._state, self._time_reference, self._blocked_reason = state, time_reference, blocked_reason
        self._entries: dict[str, Entry] = {**state.initial, **(state.entered or {})}
        errors = state.schema.check(
            self._entries, time_reference(), state.entered or ()
        )  # a command may bring anything
        self._errors: dict[str, str] = {**errors, **state.errors.by_field}
        self._remarks: dict[str, LinesWidget] = {}
        self._editors: dict[str, Widget] = {}

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog-box form-box"):
            yield LinesWidget(id="title")
            with VerticalScroll(can_focus=False, classes="fields"):
                section = ""
                for field in self._state.schema.fields:
                    if field.section != section:
                        section = field.section
                        yield Section(section)
                    yield from self._line(field)
            yield LinesWidget(id="hint")
            with Horizontal(classes="dialog-keys"):
                yield Button(self._state.button, id="save")
                yield Button("Cancel", id="cancel")

    def _line(self, field: Field) -> ComposeResult:
        widget = self._editors[field.name] = editor(field, self._entries[field.name])
        if isinstance(widget, RowsInput):
            widget.errors = dict(self._state.errors.by_row.get(field.name, {}))
        self._remarks[field.name] = LinesWidget()
        with Horizontal(classes="field"):
            yield Label(f"{field.label} *" if field.required else field.label)
            yield widget
            yield self._remarks[field.name]

    def on_mount(self) -> None:
        for field in self._state.schema.fields:
            self._remark(field)
        first = next(iter(self._errors), self._state.schema.fields[0].name)
        self._editors[first].focus()

    def on_resize(self) -> None:
        self._head()
        self.query_one(".fields").styles.max_height = max(3, self.size.height - FRAME_LINES)
        for field in self._state.schema.fields:
            self._remark(field)
        self.call_after_refresh(self._hint)

    def _head(self) -> None:
        cells = self.query_one("#title").size.width or self.size.width - 4
        lines = heading(self._state.title, cells)[:1]
        texts = (self._state.note, *self._state.errors.rest)
        lines += [line for text in texts if text for line in wrap(f"✖ {text}", StyleRole.CRITICAL_MARK, cells)]
        self.query_one("#title", LinesWidget).show([*lines, []])

    def on_edited(self, message: Edited) -> None:
        """Judge what was typed, at once."""
        field = self._state.schema.field(message.field)
        if self._entries[field.name] == message.entry:
            return
        self._entries[field.name] = message.entry
        error = self._state.schema.check_field(field, message.entry, self._time_reference())
        self._errors.pop(field.name, None)
        if error:
            self._errors[field.name] = error
        self._remark(field)
        self._hint()

    def _remark(self, field: Field) -> None:
        """What is wrong with a field, what its entry amounts to, or its unit: in its own line."""
        error = self._errors.get(field.name)
        widget = self._editors[field.name]
        if isinstance(widget, RowsInput) and widget.errors:
            error = ""  # each stands at its own row
        text, role = (f"✖ {error}", StyleRole.CRITICAL_MARK) if error else (self._description(field), StyleRole.DIM)
        self._remarks[field.name].show([[(f" {text}", role)]])
        self._remarks[field.name].display = bool(text)

    def _description(self, field: Field) -> str:
        entry = self._entries[field.name]
        if field.kind is FieldKind.DATETIME and entry and field.name not in self._errors:
            reference = self._time_reference()
            return times.describe(times.parse(str(entry), reference), reference)
        if field.describe and entry and field.name not in self._errors:
            return field.describe(str(entry))
        return "" if self.size.width < NARROW or field.kind in {FieldKind.MULTI_CHOICE, FieldKind.ROWS} else field.hint

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:  # noqa: ARG002
        self._hint()

    def _hint(self) -> None:
        """The whole of what the line has no room for, and the keys."""
        focused = self.focused
        name = next((name for name, widget in self._editors.items() if widget is focused), "")
        error = self._errors.get(name, "")
        cells = max(20, self.query_one("#hint").size.width)
        lines: list[Line] = list(wrap(f"✖ {error}", StyleRole.CRITICAL_MARK, cells)) if error else [self._keys(name)]
        self.query_one("#hint", LinesWidget).show([[], *lines])

    def _keys(self, name: str) -> Line:
        kind = self._state.schema.field(name).kind if name else None
        hint = self._state.schema.field(name).hint if name and self.size.width < NARROW else ""
        own = {
            FieldKind.ROWS: "enter open  del remove  ",
            FieldKind.FLAG: "space turn  ",
            FieldKind.CHOICE: "space turn  ",
            FieldKind.MULTI_CHOICE: "←→ go  space take  ",
        }
        keys = f"{own.get(kind, '') if kind else ''}tab next  ctrl-s {self._state.button.casefold()}  esc leave"
        return [(f"{hint}   " if hint else "", StyleRole.TEXT), (keys, StyleRole.DIM)]

    def decides(self, key: str) -> bool:
        """What moves and types does not: what is typed behind a tab belongs into the next field."""
        return isinstance(self.focused, Button) or key in {"ctrl+s", "escape"}

    def on_input_submitted(self, message: Input.Submitted) -> None:
        """Enter in a field goes to the next one; only Save saves."""
        message.stop()
        self.focus_next()

    def on_button_pressed(self, message: Button.Pressed) -> None:
        if message.button == "save":
            self.action_save()
        else:
            self.action_leave()

    def action_save(self) -> None:
        """Return what was typed, where all of it is valid and something differs."""
        names = changed_names(self._entries, self._state.initial)
        required = {field.name for field in self._state.schema.fields if field.required}
        self._errors = self._state.schema.check(self._entries, self._time_reference(), {*names, *required})
        for field in self._state.schema.fields:
            self._remark(field)
        if self._errors:
            self._editors[next(iter(self._errors))].focus()
            self._hint()
        elif objection := self._blocked_reason() or (
            "" if names or self._state.allow_unchanged else "nothing was changed"
        ):
            self.query_one("#hint", LinesWidget).show([[], [(f"✖ {objection}", StyleRole.CRITICAL_MARK)]])
        else:
            self.dismiss(FormResult(dict(self._entries), names))

    def action_leave(self) -> None:
        """Leave; ask where something was typed."""
        if changed_names(self._entries, self._state.saved):
            self.open_over(Confirm(DISCARD, self._timer), self._discard)
        else:
            self.dismiss(None)

    def _discard(self, agreed: bool | None) -> None:
        if agreed:
            self.dismiss(None)

    def on_rows_input_opened(self, message: RowsInput.Opened) -> None:
        """A row is a form of its own."""
        rows, index = message.rows, message.index
        schema, is_new = rows.schema, index == len(rows.rows)
        initial: Mapping[str, Any] = {**schema.empty(), "enabled": True} if is_new else rows.rows[index]
        errors = FieldErrors(rows.errors.get(index, {}))
        title = f"{'New' if is_new else 'Edit'} {schema.noun}"
        state = FormState(title, schema, initial, errors=errors, button="Take", allow_unchanged=True)

        def take(result: FormResult | None) -> None:
            if result is not None:
                rows.put(index, {**initial, **_with_secrets(schema, result.entries)})

        self.open_over(Form(state, self._timer, self._time_reference), take)


def _with_secrets(schema: FormSchema[Any], entries: FieldValues) -> FieldValues:
    """The entries of a row; a key leaves the form that it was typed in as a Secret."""
    hidden = {field.name for field in schema.fields if field.kind is FieldKind.HIDDEN}
    secrets = {
        name: Secret(entry) for name, entry in entries.items() if name in hidden and isinstance(entry, str) and entry
    }
    return {**entries, **secrets}


class Label(LinesWidget):
    """The name of a field, in its own column."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._content = [[(text, StyleRole.HEAD)]]


class Section(LinesWidget):
    """The head of some fields."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._content = [[(text.upper(), StyleRole.INFO)]]
