"""The editors of a form, one a field: text is typed, everything else is turned with the space bar and the arrows."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input

from livedeck.client import Secret
from livedeck.operations.schema import Entry, Field, FieldKind, FormSchema, row_title, schema_of_rows
from livedeck.text import values
from livedeck.text.addresses import holds_secret, show
from livedeck.text.segments import Line, Segment, StyleRole
from livedeck.ui.kit.canvas import Canvas
from livedeck.ui.kit.text_field import TextField


class Edited(Message):
    """Something else stands in the field now."""

    def __init__(self, field: str, entry: Entry) -> None:
        super().__init__()
        self.field, self.entry = field, entry


def editor(field: Field, entry: Entry) -> Widget:
    """The editor for that kind of field, with this entry in it."""
    match field.kind:
        case FieldKind.CHOICE | FieldKind.FLAG:
            return SelectInput(field, entry)
        case FieldKind.MULTI_CHOICE:
            return MultiSelectInput(field, entry)
        case FieldKind.ROWS:
            return RowsInput(field, entry)
    return TextInput(field, entry)


class TextInput(TextField):
    """Text. What is typed into a secret field is never shown, nor copied out of it."""

    def __init__(self, field: Field, entry: Entry) -> None:
        is_address = isinstance(entry, str) and holds_secret(entry)
        kept = isinstance(entry, Secret) or is_address  # what is there is not even in the field
        hint = f"unchanged: {show(str(entry))}" if is_address else "unchanged"
        super().__init__(
            "" if kept else str(entry or ""),
            placeholder=hint if kept else "____",
            password=field.kind is FieldKind.HIDDEN,
            select_on_focus=False,
        )
        self.field = field
        self._kept = entry if kept else None

    def on_input_changed(self, message: Input.Changed) -> None:
        message.stop()
        self.post_message(Edited(self.field.name, self.text or self._kept or ""))


class ToggleInput(Canvas, can_focus=True):
    """A field of one line that is drawn, not typed."""

    def __init__(self, field: Field, entry: Entry) -> None:
        super().__init__()
        self.field, self.entry = field, entry

    def set_entry(self, entry: Entry) -> None:
        """Put that into it."""
        self.entry = entry
        self.repaint()
        self.post_message(Edited(self.field.name, entry))

    def watch_has_focus(self, has_focus: bool) -> None:
        """Where the keys go is drawn."""
        super().watch_has_focus(has_focus)
        self.repaint()


class SelectInput(ToggleInput):
    """One of a few words, or yes and no; a word that the document does not name stays as it came until it is turned."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,right", "step(1)", show=False),
        Binding("left", "step(-1)", show=False),
    ]

    @property
    def _choices(self) -> tuple[Entry, ...]:
        return (True, False) if self.field.kind is FieldKind.FLAG else self.field.choices

    def action_step(self, by: int) -> None:
        """The next or the previous one."""
        choices = self._choices
        index = choices.index(self.entry) + by if self.entry in choices else 0
        self.set_entry(choices[index % len(choices)])

    def draw(self, width: int, height: int) -> list[Line]:  # noqa: ARG002
        word = {True: "yes", False: "no", None: f"{values.UNKNOWN} not said by the platform"}
        text = word[self.entry] if self.field.kind is FieldKind.FLAG else values.safe(str(self.entry), 40)  # type: ignore[index]
        if not self.has_focus:
            return [[(f"  {text}", StyleRole.TEXT)]]
        return [[("‹ ", StyleRole.HEAD), (text, StyleRole.STRONG), (" ›", StyleRole.HEAD)]]

    def on_click(self) -> None:
        self.action_step(1)


class MultiSelectInput(ToggleInput):
    """Any of a few words: the arrows go along them, space takes one in or out."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("right", "go(1)", show=False),
        Binding("left", "go(-1)", show=False),
        Binding("space", "take", show=False),
    ]

    def __init__(self, field: Field, entry: Entry) -> None:
        super().__init__(field, entry)
        self._index = 0

    def _chosen(self) -> tuple[str, ...]:
        return self.entry if isinstance(self.entry, tuple) else ()

    def action_go(self, by: int) -> None:
        """To the next or the previous word."""
        self._index = (self._index + by) % len(self.field.choices)
        self.repaint()

    def action_take(self) -> None:
        """Take this word in, or out; they keep the order of the document, and a word it does not name stays."""
        chosen_before, word = self._chosen(), self.field.choices[self._index]
        chosen = {*chosen_before} ^ {word}
        others = tuple(choice for choice in chosen_before if choice not in self.field.choices)
        self.set_entry((*(choice for choice in self.field.choices if choice in chosen), *others))

    def draw(self, width: int, height: int) -> list[Line]:  # noqa: ARG002
        line: Line = []
        for index, word in enumerate(self.field.choices):
            is_here, is_chosen = self.has_focus and index == self._index, word in self._chosen()
            role = StyleRole.STRONG if is_chosen else StyleRole.DIM
            line += [
                ("‹" if is_here else " ", StyleRole.HEAD),
                (f"{'✓' if is_chosen else '·'}{word.removesuffix('p')}", role),
                ("›" if is_here else " ", StyleRole.HEAD),
            ]
        return [line]


class RowsInput(ToggleInput):
    """A list of rows: one line each, and one to add another. Opening one is the form's business.

    `errors`: what is wrong with which row, by its own fields.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "go(-1)", show=False),
        Binding("down", "go(1)", show=False),
        Binding("enter,space", "open", show=False),
        Binding("delete", "remove", show=False),
    ]

    class Opened(Message):
        """A row is to be filled in: its number; one past the last for a new one."""

        def __init__(self, rows: RowsInput, index: int) -> None:
            super().__init__()
            self.rows, self.index = rows, index

    def __init__(self, field: Field, entry: Entry) -> None:
        super().__init__(field, entry)
        self._index = 0
        self.errors: dict[int, Mapping[str, str]] = {}

    @property
    def schema(self) -> FormSchema[Any]:
        """Of each row."""
        return schema_of_rows(self.field)

    @property
    def rows(self) -> tuple[Mapping[str, Any], ...]:
        """The rows as they are now."""
        return self.entry if isinstance(self.entry, tuple) else ()

    def put(self, index: int, row: Mapping[str, Any]) -> None:
        """Put this row in the place of that number, or behind the last."""
        self.errors.pop(index, None)
        self.set_entry((*self.rows[:index], row, *self.rows[index + 1 :]))
        self.refresh(layout=True)

    def action_go(self, by: int) -> None:
        """To the next or the previous line; over the ends to the next or the previous field."""
        index = self._index + by
        if 0 <= index <= len(self.rows):
            self._index = index
            self.repaint()
        elif by < 0:
            self.screen.focus_previous()
        else:
            self.screen.focus_next()

    def action_open(self) -> None:
        """Fill in this row, or a new one."""
        if self._index < len(self.rows) or not self._is_full():
            self.post_message(self.Opened(self, self._index))

    def action_remove(self) -> None:
        """Take this row out; nothing is sent before the whole form is."""
        if self._index < len(self.rows):
            removed = self._index
            self.errors = {row - (row > removed): errors for row, errors in self.errors.items() if row != removed}
            self.set_entry((*self.rows[: self._index], *self.rows[self._index + 1 :]))
            self.refresh(layout=True)

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """A line for each row, and one to add another."""
        return len(self.rows) + 1

    def _is_full(self) -> bool:
        return 0 < self.field.max_rows <= len(self.rows)

    def draw(self, width: int, height: int) -> list[Line]:  # noqa: ARG002
        lines = [self._line(index, self._row(index, row)) for index, row in enumerate(self.rows)]
        more = f"+ add a {self.schema.noun}"
        if self._is_full():
            more = f"{len(self.rows)} of {self.field.max_rows}: no more"
        return [*lines, self._line(len(self.rows), [(more, StyleRole.DIM)])]

    def _line(self, index: int, segments: list[Segment]) -> Line:
        cursor = ">" if self.has_focus and index == self._index else " "
        return [(cursor, StyleRole.STRONG), (" ", StyleRole.TEXT), *segments]

    def _row(self, index: int, row: Mapping[str, Any]) -> list[Segment]:
        if index in self.errors:
            errors = ", ".join(f"{name} {reason}" for name, reason in self.errors[index].items())
            return [
                (f"✖ {row_title(self.field, row)}", StyleRole.CRITICAL_MARK),
                (f"  {values.safe(errors, 80)}", StyleRole.CRITICAL_MARK),
            ]
        off = "" if row.get("enabled") is not False else "  off"
        return [
            (row_title(self.field, row), StyleRole.TEXT),
            (off, StyleRole.WARNING),
            (f"  {show(str(row.get('url') or ''), '')}", StyleRole.DIM),
        ]
