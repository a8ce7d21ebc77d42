"""A form: validates as one types, keeps what was typed, and returns it. It sends nothing."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

from textual import events
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Horizontal, Vertical, VerticalScroll
from textual.widget import Widget
from textual.widgets import Input

from livedeck.client import Secret
from livedeck.operations.schema import Entry, Field, FieldErrors, FieldValues, FormSchema, Kind, changed
from livedeck.text import times
from livedeck.text.segments import Line, StyleRole, wrap
from livedeck.text.times import TimeReference
from livedeck.ui.kit.dialogs.confirm import Confirm, Confirmation, heading
from livedeck.ui.kit.dialogs.dialog import Button, Dialog, Hindrance, Timer
from livedeck.ui.kit.dialogs.inputs import Edited, RowsInput, editor
from livedeck.ui.kit.lines import LinesWidget

FRAME_LINES = 8

"""What the form is but for its fields: border, title, hint and keys."""


NARROW = 100

"""Under so many cells the hint of a field stands below the form alone."""


DISCARD = Confirmation("Leave the form?", (("What you typed is lost.", StyleRole.TEXT),), consent="Leave", keep="Stay")


@dataclass(frozen=True, slots=True)
class FormResult:
    """A form as somebody leaves it to be saved: everything that stands in it, and the fields that differ."""

    entries: FieldValues
    changed: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FormState:
    """A form before it is filled in. `initial`: what is so now; `entered`: what was typed before, where it is back.

    `said`: what the platform said of that. `fresh`: whether it may be saved though nothing differs.
    """

    title: str
    sheet: FormSchema
    initial: FieldValues
    entered: FieldValues | None = None
    said: FieldErrors = FieldErrors()  # noqa: RUF009  frozen
    save: str = "Save"
    note: str = ""
    fresh: bool = False

    @property
    def held(self) -> FieldValues:
        """What is kept elsewhere too; of what was sent and not taken nothing is, but what is so on the platform."""
        refused = self.note or self.said != FieldErrors()
        return self.initial if refused else self.entered or self.initial


class Form(Dialog[FormResult | None]):
    """Fields of one line each; None where it was left. `present`: what typed moments are read against, asked anew."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("ctrl+s", "save", show=False),
        Binding("down", "app.focus_next", show=False),
        Binding("up", "app.focus_previous", show=False),
    ]

    def __init__(
        self, blank: FormState, timer: Timer, present: Callable[[], TimeReference], hindrance: Hindrance = lambda: ""
    ) -> None:
        super().__init__(timer)
        self._blank, self._present, self._hindrance = blank, present, hindrance
        self._entries: dict[str, Entry] = {**blank.initial, **(blank.entered or {})}
        typed = blank.sheet.faults(self._entries, present(), blank.entered or ())  # a command may have brought anything
        self._faults: dict[str, str] = {**typed, **blank.said.by_field}
        self._remarks: dict[str, LinesWidget] = {}
        self._editors: dict[str, Widget] = {}

    def compose(self) -> ComposeResult:
        with Vertical(classes="dialog-box form-box"):
            yield LinesWidget(id="title")
            with VerticalScroll(can_focus=False, classes="fields"):
                section = ""
                for field in self._blank.sheet.fields:
                    if field.section != section:
                        section = field.section
                        yield Section(section)
                    yield from self._line(field)
            yield LinesWidget(id="hint")
            with Horizontal(classes="dialog-keys"):
                yield Button(self._blank.save, id="save")
                yield Button("Cancel", id="cancel")

    def _line(self, field: Field) -> ComposeResult:
        made = self._editors[field.name] = editor(field, self._entries[field.name])
        if isinstance(made, RowsInput):
            made.said = dict(self._blank.said.by_row.get(field.name, {}))
        self._remarks[field.name] = LinesWidget()
        with Horizontal(classes="field"):
            yield Label(f"{field.label} *" if field.required else field.label)
            yield self._editors[field.name]
            yield self._remarks[field.name]

    def on_mount(self) -> None:
        for field in self._blank.sheet.fields:
            self._remark(field)
        first = next(iter(self._faults), self._blank.sheet.fields[0].name)
        self._editors[first].focus()

    def on_resize(self) -> None:
        self._head()
        self.query_one(".fields").styles.max_height = max(3, self.size.height - FRAME_LINES)
        for field in self._blank.sheet.fields:
            self._remark(field)
        self.call_after_refresh(self._hint)

    def _head(self) -> None:
        cells = self.query_one("#title").size.width or self.size.width - 4
        lines = heading(self._blank.title, cells)[:1]
        said = (self._blank.note, *self._blank.said.rest)
        lines += [line for text in said if text for line in wrap(f"✖ {text}", StyleRole.CRITICAL, cells)]
        self.query_one("#title", LinesWidget).show([*lines, []])

    def on_edited(self, message: Edited) -> None:
        """Judge what was typed, at once."""
        field = self._blank.sheet.field(message.field)
        if self._entries[field.name] == message.entry:
            return
        self._entries[field.name] = message.entry
        fault = self._blank.sheet.fault(field, message.entry, self._present())
        self._faults.pop(field.name, None)
        if fault:
            self._faults[field.name] = fault
        self._remark(field)
        self._hint()

    def _remark(self, field: Field) -> None:
        """What is wrong with a field, what its moment means, or its unit: in its own line."""
        fault = self._faults.get(field.name)
        editor_ = self._editors[field.name]
        if isinstance(editor_, RowsInput) and editor_.said:
            fault = ""  # each stands at its own row
        text, ink = (f"✖ {fault}", StyleRole.CRITICAL) if fault else (self._meaning(field), StyleRole.DIM)
        self._remarks[field.name].show([[(f" {text}", ink)]])
        self._remarks[field.name].display = bool(text)

    def _meaning(self, field: Field) -> str:
        entry = self._entries[field.name]
        if field.kind is Kind.MOMENT and entry and field.name not in self._faults:
            present = self._present()
            return times.describe(times.parse(str(entry), present), present)
        if field.means and entry and field.name not in self._faults:
            return field.means(str(entry))
        return "" if self.size.width < NARROW or field.kind in {Kind.WORDS, Kind.ROWS} else field.hint

    def on_descendant_focus(self, event: events.DescendantFocus) -> None:  # noqa: ARG002
        self._hint()

    def _hint(self) -> None:
        """The whole of what the line has no room for, and the keys."""
        focused = self.focused
        name = next((name for name, one in self._editors.items() if one is focused), "")
        fault = self._faults.get(name, "")
        cells = max(20, self.query_one("#hint").size.width)
        said: list[Line] = list(wrap(f"✖ {fault}", StyleRole.CRITICAL, cells)) if fault else [self._keys(name)]
        self.query_one("#hint", LinesWidget).show([[], *said])

    def _keys(self, name: str) -> Line:
        kind = self._blank.sheet.field(name).kind if name else None
        hint = self._blank.sheet.field(name).hint if name and self.size.width < NARROW else ""
        own = {
            Kind.ROWS: "enter open  del remove  ",
            Kind.FLAG: "space turn  ",
            Kind.CHOICE: "space turn  ",
            Kind.WORDS: "←→ go  space take  ",
        }
        keys = f"{own.get(kind, '') if kind else ''}tab next  ctrl-s {self._blank.save.casefold()}  esc leave"
        return [(f"{hint}   " if hint else "", StyleRole.TEXT), (keys, StyleRole.DIM)]

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
        """Return what was typed, where all of it can be meant and something differs."""
        names = changed(self._entries, self._blank.initial)
        required = {field.name for field in self._blank.sheet.fields if field.required}
        self._faults = self._blank.sheet.faults(self._entries, self._present(), {*names, *required})
        for field in self._blank.sheet.fields:
            self._remark(field)
        if self._faults:
            self._editors[next(iter(self._faults))].focus()
            self._hint()
        elif objection := self._hindrance() or ("" if names or self._blank.fresh else "nothing was changed"):
            self.query_one("#hint", LinesWidget).show([[], [(f"✖ {objection}", StyleRole.CRITICAL)]])
        else:
            self.dismiss(FormResult(dict(self._entries), names))

    def action_leave(self) -> None:
        """Leave; ask where something was typed."""
        if changed(self._entries, self._blank.held):
            self.app.push_screen(Confirm(DISCARD, self._timer), self._discard)
        else:
            self.dismiss(None)

    def _discard(self, agreed: bool | None) -> None:
        if agreed:
            self.dismiss(None)

    def on_rows_input_opened(self, message: RowsInput.Opened) -> None:
        """A row is a form of its own."""
        rows, at = message.rows, message.at
        sheet, new = rows.sheet, at == len(rows.rows)
        initial: Mapping[str, Any] = {**sheet.blank(), "enabled": True} if new else rows.rows[at]
        said = FieldErrors(rows.said.get(at, {}))
        blank = FormState(
            f"{'New' if new else 'Edit'} {sheet.noun}", sheet, initial, said=said, save="Take", fresh=True
        )

        def take(filled: FormResult | None) -> None:
            if filled is not None:
                rows.put(at, {**initial, **_kept(sheet, filled.entries)})

        self.app.push_screen(Form(blank, self._timer, self._present), take)


def _kept(sheet: FormSchema, entries: FieldValues) -> FieldValues:
    """The entries of a row; a key leaves the form that it was typed in as a Secret."""
    hidden = {field.name for field in sheet.fields if field.kind is Kind.HIDDEN}
    typed = {
        name: Secret(entry) for name, entry in entries.items() if name in hidden and isinstance(entry, str) and entry
    }
    return {**entries, **typed}


class Label(LinesWidget):
    """The name of a field, in its own column."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._content = [[(text, StyleRole.HEAD)]]


class Section(LinesWidget):
    """The head of some fields."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self._content = [[(text.upper(), StyleRole.RULE)]]
