"""Form. It validates entries while a person types, and returns them when they are saved. It sends no request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from itertools import groupby
from typing import Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.message import Message
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
    label_of,
    schema_of_rows,
)
from livedeck.text import times
from livedeck.text.segments import Line, ShadedLine, StyleRole, justify, wrap
from livedeck.text.times import TimeReference
from livedeck.ui.kit.canvas import Canvas
from livedeck.ui.kit.dialogs.confirm import Confirm
from livedeck.ui.kit.dialogs.dialog import BlockedReason, Button, Dialog, Timer
from livedeck.ui.kit.dialogs.inputs import Edited, ReferenceInput, RowsInput, editor, suggestion_lines
from livedeck.ui.kit.lines import LinesWidget
from livedeck.ui.kit.text_field import TextField

FRAME_LINES = 9
"""Number of lines beside the fields: border, title, hint and buttons of the form, and the deck's header."""

NARROW = 100
"""Minimum width in cells of a terminal with remarks beside their fields. In a narrower one, remarks are under them."""

WIDE = 160
"""Minimum width of a terminal, in cells, for the sections of a form in two columns."""

BOX, WIDE_BOX, FRAME_CELLS = 100, 156, 4
"""Widths in cells: of the form, of one with two columns of sections, and of its border with blanks (dialogs.tcss)."""

LABEL_CELLS = 20

BROAD = {FieldKind.MULTI_CHOICE, FieldKind.ROWS}
"""Kinds of fields that take the whole width."""

OWN_KEYS = {
    FieldKind.ROWS: "enter open  del remove",
    FieldKind.FLAG: "space toggle",
    FieldKind.CHOICE: "←→ choose",
    FieldKind.MULTI_CHOICE: "←→ move  space toggle",
    FieldKind.REFERENCE: "↓ choose, or paste an id",
}
"""Kind of a field -> text about the keys of such a field."""

DISCARD = Confirmation(
    "Leave the form?", (("Your input will be lost.", StyleRole.TEXT),), button="Leave", cancel="Stay"
)


class Form(Dialog[FormResult | None]):
    """Form with its fields. Returns None if the person cancels.

    `time_reference`: returns the current reference for typed times. `blocked_reason`: returns the reason why the form
    cannot be saved now; empty if it can.
    """

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
        )  # the argument of a command is not validated yet
        self._errors: dict[str, str] = {**errors, **state.errors.by_field}
        self._remarks: dict[str, Remark] = {}
        self._editors: dict[str, Widget] = {}

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog-box form-box"):
            yield LinesWidget(id="title")
            with VerticalScroll(can_focus=False, classes="fields"):
                for section, fields in groupby(self._state.schema.fields, lambda field: field.section):
                    with Vertical(classes="section"):
                        if section:
                            yield Section(section)
                        for field in fields:
                            yield from self._compose_field(field)
            yield LinesWidget(id="hint")
            with Horizontal(classes="dialog-keys"):
                yield LinesWidget(id="verdict")
                yield Button("Cancel", key="esc", id="cancel")
                yield Button(self._state.button, key="^S", id="save")

    def _compose_field(self, field: Field) -> ComposeResult:
        suggestions = self._state.suggestions.get(field.name, ())
        widget = self._editors[field.name] = editor(field, self._entries[field.name], suggestions)
        if isinstance(widget, RowsInput):
            widget.errors = dict(self._state.errors.by_row.get(field.name, {}))
        self._remarks[field.name] = Remark(field.name)
        shape = " -broad" if _is_broad(field) else " -short" if field.kind is FieldKind.NUMBER else ""
        with Horizontal(classes=f"field{shape}"):
            yield Label(field.label, is_required=field.required)
            yield widget
            yield self._remarks[field.name]

    def on_mount(self) -> None:
        self._show_fields()
        self._arrange()  # before the first picture, so that it is the whole form
        self._show_remarks()
        first = next(iter(self._errors), self._state.schema.fields[0].name)
        self._editors[first].focus()
        self._show_verdict()

    def on_resize(self) -> None:
        self._arrange()
        self.call_after_refresh(self._show_remarks)

    def _arrange(self) -> None:
        """Arrange the fields for the size of the terminal, and show the title."""
        width, sections = self.app.size.width, len(self.query(".section"))
        self.set_class(width < NARROW, "-narrow")
        self.set_class(width >= WIDE and sections > 1, "-wide")
        self._show_title()

    def _show_fields(self) -> None:
        """Show the fields that the entries ask for, and forget the errors of the others."""
        shown = {field.name for field in self._state.schema.shown(self._entries)}
        for name, remark in self._remarks.items():
            assert remark.parent is not None
            remark.parent.display = name in shown
        self._errors = {name: error for name, error in self._errors.items() if name in shown}

    @property
    def _cells(self) -> int:
        """Width of a line of the form in cells (dialogs.tcss)."""
        return min(WIDE_BOX if self.has_class("-wide") else BOX, self.app.size.width) - FRAME_CELLS

    def _show_remarks(self) -> None:
        """Show the remark of each field, and under all fields the hint for the focused field."""
        for field in self._state.schema.fields:
            self._show_remark(field)
        self._show_hint()

    def _show_title(self) -> None:
        """Show title, number of filled fields and errors of the whole form. The fields get the other lines."""
        cells = self._cells
        fields = self._state.schema.shown(self._entries)
        filled = sum(
            self._entries[field.name] is not None and self._entries[field.name] != field.empty for field in fields
        )
        count = f"{filled} of {len(fields)} filled"
        lines: list[ShadedLine] = [
            justify([(0, [(self._state.title, StyleRole.STRONG)])], [(1, [(count, StyleRole.DIM)])], cells)
        ]
        texts = (self._state.note, *self._state.errors.rest)
        lines += [line for text in texts if text for line in wrap(f"✖ {text}", StyleRole.CRITICAL_MARK, cells)]
        self.query_one("#title", LinesWidget).show([*lines, []])
        self.query_one(".fields").styles.max_height = max(3, self.app.size.height - FRAME_LINES - len(lines) + 1)

    def on_edited(self, message: Edited) -> None:
        """Validate the entry as it is edited."""
        field = self._state.schema.field(message.field)
        if self._entries[field.name] == message.entry:
            return
        self._entries[field.name] = message.entry
        error = self._state.schema.check_field(field, message.entry, self._time_reference())
        self._errors.pop(field.name, None)
        if error:
            self._errors[field.name] = error
        if field.kind is FieldKind.CHOICE:
            self._show_fields()
        self._show_remark(field)
        self._show_title()
        self._show_verdict()
        self._show_hint()

    def on_text_field_refused(self, message: TextField.Refused) -> None:
        """Show why a paste was refused."""
        self._show_verdict(message.reason)

    def on_reference_input_listed(self, message: ReferenceInput.Listed) -> None:
        """Show the open list of a reference field in place of the field's remark."""
        self._show_remark(self._state.schema.field(message.field))
        self._show_hint()
        self.call_after_refresh(self._remarks[message.field].scroll_visible, animate=False)

    def on_remark_pressed(self, message: Remark.Pressed) -> None:
        widget = self._editors[message.field]
        if isinstance(widget, ReferenceInput):
            widget.take(message.row)
            widget.focus()

    def _show_remark(self, field: Field) -> None:
        """Show a field's error, the meaning of its entry, its unit, or the list to choose from."""
        error = self._errors.get(field.name)
        widget, remark = self._editors[field.name], self._remarks[field.name]
        widget.set_class(bool(error), "-wrong")
        lines: list[ShadedLine] = []
        if isinstance(widget, ReferenceInput) and widget.open_list:
            lines = suggestion_lines(widget.open_list, widget.index, max(30, widget.outer_size.width - 1))
        elif error and not (isinstance(widget, RowsInput) and widget.errors):  # rows show their own errors
            lines = [[(f"✖ {error}", StyleRole.CRITICAL_MARK)]]
        elif text := self._description(field):
            lines = [[(text, StyleRole.DIM)]]
        remark.show(lines)
        remark.display = bool(lines)

    def _description(self, field: Field) -> str:
        entry = self._entries[field.name]
        is_valid = bool(entry) and field.name not in self._errors
        if field.kind is FieldKind.DATETIME and is_valid:
            reference = self._time_reference()
            return times.describe(times.parse(str(entry), reference), reference)
        if field.kind is FieldKind.REFERENCE and is_valid:
            suggestions = self._state.suggestions.get(field.name, ())
            has_name = label_of(str(entry), suggestions) != entry
            return "" if has_name else "sent unchanged, as an id"
        if field.describe and is_valid:
            return field.describe(str(entry))
        is_beside = self.app.size.width >= NARROW and not self.has_class("-wide") and not _is_broad(field)
        return field.hint if is_beside else ""

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:  # noqa: ARG002
        self._show_hint()

    def _show_verdict(self, objection: str = "") -> None:
        """Show beside the buttons the reason why the form is not saved, or else which fields are wrong."""
        wrong = [field for field in self._state.schema.fields if field.name in self._errors]
        labels = [field.label or f"{schema_of_rows(field).noun}s" for field in wrong]
        count = f"{len(labels)} field{'s' if len(labels) > 1 else ''}: {', '.join(labels)}" if labels else ""
        text = objection or count
        self.query_one("#verdict", LinesWidget).show([[(f"✖ {text}", StyleRole.CRITICAL_MARK)] if text else []])

    def _show_hint(self) -> None:
        """Show the focused field's error in full. Without an error, show the field's hint and keys."""
        focused = self.focused
        name = next((name for name, widget in self._editors.items() if widget is focused), "")
        for label in self.query(Label):
            label.set_current(name != "" and label.parent is self._editors[name].parent)
        error = self._errors.get(name, "")
        cells = self._cells
        lines: list[Line] = (
            list(wrap(f"✖ {error}", StyleRole.CRITICAL_MARK, cells)) if error else [self._hint_line(name)]
        )
        self.query_one("#hint", LinesWidget).show([[], *lines[:2]])

    def _hint_line(self, name: str) -> Line:
        field = self._state.schema.field(name) if name else None
        widget = self._editors.get(name)
        if isinstance(widget, ReferenceInput) and widget.open_list:
            return [("enter choose  ↑↓ move  esc close the list", StyleRole.DIM)]
        hint = field.hint if field and self._description(field) != field.hint else ""
        own = OWN_KEYS.get(field.kind, "") if field else ""
        keys = "  ".join(part for part in (own, "tab next") if part)
        return [(f"{hint}   " if hint else "", StyleRole.TEXT), (keys, StyleRole.DIM)]

    def decides(self, key: str) -> bool:
        """Return whether a key can save or cancel.

        Keys that type or move the focus may come early, because text after a tab belongs to the next field. Escape may
        come early, too, until a field is changed.
        """
        return isinstance(self.focused, Button) or key == "ctrl+s" or (key == "escape" and self._is_changed)

    def on_input_submitted(self, message: Input.Submitted) -> None:
        """Move the focus to the next field, and from the last field to Save. Enter in a field never saves."""
        message.stop()
        if message.input is self._editors[self._state.schema.shown(self._entries)[-1].name]:
            self.query_one("#save").focus()
        else:
            self.focus_next()

    def on_button_pressed(self, message: Button.Pressed) -> None:
        if message.button == "save":
            self.action_save()
        else:
            self.action_leave()

    def action_save(self) -> None:
        """Close the form and return the entries. If they cannot be saved, show the reason instead."""
        names = changed_names(self._entries, self._state.initial)
        required = {field.name for field in self._state.schema.fields if field.required}
        self._errors = self._state.schema.check(self._entries, self._time_reference(), {*names, *required})
        self._show_remarks()
        self._show_verdict()
        if self._errors:
            self._editors[next(iter(self._errors))].focus()
            self._show_hint()
        elif objection := self._blocked_reason() or (
            "" if names or self._state.allow_unchanged else "no field was changed"
        ):
            self._show_verdict(objection)
        else:
            self.dismiss(FormResult(dict(self._entries), names))

    def action_leave(self) -> None:
        """Cancel. If a field was changed, ask the person first."""
        if self._is_changed:
            self.open_over(Confirm(DISCARD, self._timer), self._discard)
        else:
            self.dismiss(None)

    @property
    def _is_changed(self) -> bool:
        return bool(changed_names(self._entries, self._state.saved))

    def _discard(self, agreed: bool | None) -> None:
        if agreed:
            self.dismiss(None)

    def on_rows_input_opened(self, message: RowsInput.Opened) -> None:
        """Open a form for a row of the field."""
        rows, index = message.rows, message.index
        schema, is_new = rows.schema, index == len(rows.rows)
        initial: Mapping[str, Any] = {**schema.empty(), "enabled": True} if is_new else rows.rows[index]
        errors = FieldErrors(rows.errors.get(index, {}))
        title = f"{'New' if is_new else 'Edit'} {schema.noun}"
        state = FormState(title, schema, initial, errors=errors, button="Apply", allow_unchanged=True)

        def take(result: FormResult | None) -> None:
            if result is not None:
                rows.put(index, {**initial, **_with_secrets(schema, result.entries)})

        self.open_over(Form(state, self._timer, self._time_reference), take)


def _with_secrets(schema: FormSchema[Any], entries: FieldValues) -> FieldValues:
    """Return the entries of a row. The texts of hidden fields become Secrets."""
    hidden = {field.name for field in schema.fields if field.kind is FieldKind.HIDDEN}
    secrets = {
        name: Secret(entry) for name, entry in entries.items() if name in hidden and isinstance(entry, str) and entry
    }
    return {**entries, **secrets}


def _is_broad(field: Field) -> bool:
    """Return whether the field takes the whole width, with its remark under it."""
    return field.kind in BROAD or field.is_long or (field.kind is FieldKind.TEXT and not field.hint)


class Remark(LinesWidget):
    """Remark on a field, or the list of its possible entries."""

    class Pressed(Message):
        """Click on line `row` of the remark of a field."""

        def __init__(self, field: str, row: int) -> None:
            super().__init__()
            self.field, self.row = field, row

    def __init__(self, field: str) -> None:
        super().__init__()
        self._field = field

    def on_click(self, event: events.Click) -> None:
        self.post_message(self.Pressed(self._field, event.y))


class Label(Canvas):
    """Label of a field. It has a star if the field is required, and is bold while the field has the focus."""

    def __init__(self, text: str, *, is_required: bool) -> None:
        super().__init__()
        self._text, self._mark, self._is_current = text, "*" if is_required else "", False

    def set_current(self, is_current: bool) -> None:
        """Set whether the label's field has the focus."""
        if is_current is not self._is_current:
            self._is_current = is_current
            self.repaint()

    def draw(self, width: int, height: int) -> list[ShadedLine]:  # noqa: ARG002
        role = StyleRole.STRONG if self._is_current else StyleRole.HEAD
        return [justify([(0, [(self._text, role)])], [(0, [(f"{self._mark} ", StyleRole.INFO)])], width)]


class Section(Canvas):
    """Head of a section of fields: a word and a horizontal rule."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._text = text

    def draw(self, width: int, height: int) -> list[ShadedLine]:  # noqa: ARG002
        head = self._text.upper()
        return [[(f"{head} ", StyleRole.INFO), ("─" * max(0, width - len(head) - 1), StyleRole.RULE)]]
