"""Controls of a form, one for each kind of field.

Text is typed into Textual's Input. The other controls change by space bar, arrows or mouse. They are drawn here,
because Textual's toggles show their state by colour alone (decisions.md, "Controls of a form").
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, ClassVar

from textual import events
from textual.binding import Binding, BindingType
from textual.geometry import Size
from textual.message import Message
from textual.widget import Widget
from textual.widgets import Input

from livedeck.client import Secret
from livedeck.operations.schema import (
    Entry,
    Field,
    FieldKind,
    FormSchema,
    Suggestion,
    label_of,
    row_title,
    schema_of_rows,
    suggested,
)
from livedeck.text import values
from livedeck.text.addresses import holds_secret, show, show_text
from livedeck.text.segments import Role, Segment, Shade, ShadedLine, StyleRole, width
from livedeck.ui.kit.canvas import Canvas
from livedeck.ui.kit.text_field import TextField

CHOSEN = Shade(StyleRole.INFO, filled=True)
"""Role of the chosen option."""


class Edited(Message):
    """Change of a field's entry."""

    def __init__(self, field: str, entry: Entry) -> None:
        super().__init__()
        self.field, self.entry = field, entry


def editor(field: Field, entry: Entry, suggestions: Sequence[Suggestion] = ()) -> Widget:
    """Return a control with an entry, for the kind of the field."""
    match field.kind:
        case FieldKind.CHOICE:
            return SelectInput(field, entry)
        case FieldKind.FLAG:
            return TickInput(field, entry)
        case FieldKind.MULTI_CHOICE:
            return MultiSelectInput(field, entry)
        case FieldKind.ROWS:
            return RowsInput(field, entry)
        case FieldKind.REFERENCE:
            return ReferenceInput(field, entry, suggestions)
    return TextInput(field, entry)


class TextInput(TextField):
    """Text field of a form. Typed secrets are never shown or copied."""

    def __init__(self, field: Field, entry: Entry, text: str | None = None) -> None:
        is_address = isinstance(entry, str) and holds_secret(entry)
        kept = isinstance(entry, Secret) or is_address  # the field never contains the stored secret
        hint = f"unchanged: {show_text(str(entry))}" if is_address else "unchanged"
        super().__init__(
            "" if kept else str(entry or "") if text is None else text,
            placeholder=hint if kept else "",
            password=field.kind is FieldKind.HIDDEN,
            select_on_focus=False,
        )
        self.field = field
        self._kept = entry if kept else None

    def on_input_changed(self, message: Input.Changed) -> None:
        message.stop()
        self.post_message(Edited(self.field.name, self.entry()))

    def entry(self) -> Entry:
        return self.text or self._kept or ""


MAX_SUGGESTIONS = 6
"""Maximum number of suggestions that are visible at once."""


class ReferenceInput(TextInput):
    """Field for a reference to an object. The field shows the object's name.

    Typed text searches a list under the field; a pasted id is taken unchanged. `open_list`: suggestions while the list
    is open, else empty. `index`: index of the marked suggestion.
    """

    BINDINGS: ClassVar[list[BindingType]] = [Binding("down", "go(1)", show=False), Binding("up", "go(-1)", show=False)]

    class Listed(Message):
        """Change of the list or of the marked suggestion."""

        def __init__(self, field: str) -> None:
            super().__init__()
            self.field = field

    def __init__(self, field: Field, entry: Entry, suggestions: Sequence[Suggestion]) -> None:
        super().__init__(field, entry, label_of(str(entry or ""), suggestions))
        self.placeholder = "↓ to choose" if suggestions else ""
        self._suggestions = tuple(suggestions)
        self.open_list: tuple[Suggestion, ...] = ()
        self.index = 0

    def entry(self) -> Entry:
        return suggested(self.text, self._suggestions)

    def on_input_changed(self, message: Input.Changed) -> None:
        """Search the suggestions for the typed text, unless the text is the name of a suggestion."""
        super().on_input_changed(message)
        is_label = any(suggestion.label == self.text for suggestion in self._suggestions)
        if self.has_focus and self.text and not is_label:
            typed = self.text.strip()
            matches = [suggestion for suggestion in self._suggestions if suggestion.matches(typed)]
            self._list(sorted(matches, key=lambda suggestion: typed.casefold() not in suggestion.name.casefold()))
        else:
            self.close()

    def _list(self, suggestions: Iterable[Suggestion]) -> None:
        self.open_list, self.index = tuple(suggestions), 0
        self.post_message(self.Listed(self.field.name))

    def close(self) -> None:
        if self.open_list:
            self._list(())

    def action_go(self, by: int) -> None:
        """Open the list or move in the list. At an end of the list, move to the next or previous field."""
        if not self.open_list and by > 0 and self._suggestions:
            self._list(self._suggestions)
        elif self.open_list and 0 <= self.index + by < len(self.open_list):
            self.index += by
            self.post_message(self.Listed(self.field.name))
        elif by > 0:
            self.screen.focus_next()
        else:
            self.screen.focus_previous()

    def take(self, index: int) -> None:
        """Put a suggestion of the open list into the field."""
        if index < len(self.open_list):
            self.value = self.open_list[index].label
            self.cursor_position = len(self.value)
            self.close()

    async def action_submit(self) -> None:
        """Take the marked suggestion; without a list, submit the field."""
        if self.open_list:
            self.take(self.index)
        else:
            await super().action_submit()

    def on_key(self, event: events.Key) -> None:
        """Close an open list on escape."""
        if event.key == "escape" and self.open_list:
            event.stop()
            event.prevent_default()
            self.close()

    def on_blur(self) -> None:
        self.close()

    def on_click(self) -> None:
        if not self.open_list and self._suggestions:
            self._list(self._suggestions)


def suggestion_lines(open_list: Sequence[Suggestion], index: int, cells: int) -> list[ShadedLine]:
    """Return lines with the suggestions around the marked one.

    If some do not fit, the last line has the range: `1 to 5 of 20`.
    """
    first = max(0, min(index - MAX_SUGGESTIONS + 2, len(open_list) - MAX_SUGGESTIONS))
    shown = open_list[first : first + MAX_SUGGESTIONS]
    name_cells = min(max((len(suggestion.label) for suggestion in shown), default=0), max(16, cells - 20))
    lines: list[ShadedLine] = []
    for number, suggestion in enumerate(shown, first):
        role = StyleRole.TAB if number == index else StyleRole.OFF
        name = values.safe(suggestion.label, name_cells)
        note = values.safe(suggestion.note, max(0, cells - name_cells - 6))
        row = f" {name:{name_cells}}  {note}"
        lines.append([("▸ " if number == index else "  ", StyleRole.INFO), (f"{row:{cells - 2}}", role)])
    if len(open_list) > len(shown):
        lines.append([(f"  {first + 1} to {first + len(shown)} of {len(open_list)}", StyleRole.DIM)])
    return lines


class ToggleInput(Canvas, can_focus=True):
    """Field whose entry is chosen, not typed. A bar at its left marks the focus."""

    def __init__(self, field: Field, entry: Entry) -> None:
        super().__init__()
        self.field, self.entry = field, entry

    def set_entry(self, entry: Entry) -> None:
        """Set the entry and post `Edited`."""
        self.entry = entry
        self.repaint()
        self.post_message(Edited(self.field.name, entry))

    def watch_has_focus(self, has_focus: bool) -> None:
        super().watch_has_focus(has_focus)
        self.repaint()

    def edge(self) -> tuple[str, Role]:
        """Return the bar, or a blank without the focus."""
        return ("▌" if self.has_focus else " ", StyleRole.INFO)


class ChipsInput(ToggleInput):
    """Field with options side by side, in several lines if necessary. A click presses an option."""

    def chips(self) -> Sequence[ShadedLine]:
        """Return the options, each as a line to draw."""
        return ()

    def press(self, index: int) -> None:
        """Handle a press of an option."""

    def _rows(self, cells: int) -> list[list[int]]:
        """Return the lines of the field, each as the indexes of the options in it."""
        rows: list[list[int]] = [[]]
        free = cells - 1
        for index, chip in enumerate(self.chips()):
            if rows[-1] and width(chip) > free:
                rows.append([])
                free = cells - 1
            rows[-1].append(index)
            free -= width(chip) + 1
        return rows

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """Return the number of lines that the options need."""
        return len(self._rows(width))

    def draw(self, width: int, height: int) -> list[ShadedLine]:  # noqa: ARG002
        chips = self.chips()
        return [
            [self.edge(), *(segment for index in row for segment in (*chips[index], (" ", StyleRole.TEXT)))]
            for row in self._rows(width)
        ]

    def on_click(self, event: events.Click) -> None:
        rows, chips, left = self._rows(self.size.width), self.chips(), 1
        for index in rows[event.y] if event.y < len(rows) else ():
            if left <= event.x < left + width(chips[index]):
                self.press(index)
            left += width(chips[index]) + 1


class SelectInput(ChipsInput):
    """Choice of one of a few words. An undocumented word from the platform stays until another word is chosen."""

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("space,right", "step(1)", show=False),
        Binding("left", "step(-1)", show=False),
    ]

    @property
    def _words(self) -> tuple[str, ...]:
        choices, entry = self.field.choices, str(self.entry or "")
        return choices if entry in choices or not entry else (*choices, entry)

    def action_step(self, by: int) -> None:
        """Choose the next or previous word."""
        choices = self.field.choices
        index = choices.index(self.entry) + by if self.entry in choices else 0
        self.set_entry(choices[index % len(choices)])

    def chips(self) -> Sequence[ShadedLine]:
        return [
            [(f" ● {values.safe(word, 40)} ", CHOSEN)] if word == self.entry else [(f" ○ {word} ", StyleRole.OFF)]
            for word in self._words
        ]

    def press(self, index: int) -> None:
        if self._words[index] in self.field.choices:
            self.set_entry(self._words[index])


def _tick(word: str, role: StyleRole | None = None, *, is_on: bool) -> ShadedLine:
    mark = ("[✓]", StyleRole.OK) if is_on else ("[ ]", StyleRole.DIM)
    return [mark, (" ", StyleRole.TEXT), (word, role or (StyleRole.STRONG if is_on else StyleRole.TEXT))]


class TickInput(ChipsInput):
    """Choice of yes or no. Shows `[?]` while the platform has sent neither."""

    BINDINGS: ClassVar[list[BindingType]] = [Binding("space,right,left", "press", show=False)]

    def action_press(self) -> None:
        self.set_entry(self.entry is not True)

    def chips(self) -> Sequence[ShadedLine]:
        if self.entry is None:
            return [[("[?]", StyleRole.ODD), (" unknown to the platform", StyleRole.DIM)]]
        return [_tick("yes" if self.entry else "no", is_on=self.entry is True)]

    def press(self, index: int) -> None:  # noqa: ARG002  there is only one
        self.action_press()


class MultiSelectInput(ChipsInput):
    """Choice of any number of a few words. Arrows move between the words, space toggles a word."""

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
        """Move to the next or previous word."""
        self._index = (self._index + by) % len(self.field.choices)
        self.repaint()

    def action_take(self) -> None:
        """Toggle the word under the cursor.

        The chosen words keep their documented order. Undocumented words stay chosen.
        """
        chosen_before, word = self._chosen(), self.field.choices[self._index]
        chosen = {*chosen_before} ^ {word}
        others = tuple(choice for choice in chosen_before if choice not in self.field.choices)
        self.set_entry((*(choice for choice in self.field.choices if choice in chosen), *others))

    def chips(self) -> Sequence[ShadedLine]:
        chosen, here = self._chosen(), self._index if self.has_focus else None
        return [
            _tick(word.removesuffix("p"), StyleRole.TAB if index == here else None, is_on=word in chosen)
            for index, word in enumerate(self.field.choices)
        ]

    def press(self, index: int) -> None:
        self._index = index
        self.action_take()


class RowsInput(ToggleInput):
    """List of rows, each in a line, and a line to add a row. To edit a row, the form opens another form.

    `errors`: index of a row -> field -> error.
    """

    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("up", "go(-1)", show=False),
        Binding("down", "go(1)", show=False),
        Binding("enter,space", "open", show=False),
        Binding("delete", "remove", show=False),
    ]

    class Opened(Message):
        """Request to open a row. `index`: index of the row; for a new row, one past the last."""

        def __init__(self, rows: RowsInput, index: int) -> None:
            super().__init__()
            self.rows, self.index = rows, index

    def __init__(self, field: Field, entry: Entry) -> None:
        super().__init__(field, entry)
        self._index = 0
        self.errors: dict[int, Mapping[str, str]] = {}

    @property
    def schema(self) -> FormSchema[Any]:
        """Schema of a row."""
        return schema_of_rows(self.field)

    @property
    def rows(self) -> tuple[Mapping[str, Any], ...]:
        return self.entry if isinstance(self.entry, tuple) else ()

    def put(self, index: int, row: Mapping[str, Any]) -> None:
        """Replace the row with an index, or append a row if the index is one past the last."""
        self.errors.pop(index, None)
        self.set_entry((*self.rows[:index], row, *self.rows[index + 1 :]))
        self.refresh(layout=True)

    def action_go(self, by: int) -> None:
        """Move to the next or previous line. At the first and last line, move to the previous or next field."""
        index = self._index + by
        if 0 <= index <= len(self.rows):
            self._index = index
            self.repaint()
        elif by < 0:
            self.screen.focus_previous()
        else:
            self.screen.focus_next()

    def action_open(self) -> None:
        """Open the row under the cursor, or a new row."""
        if self._index < len(self.rows) or not self._is_full():
            self.post_message(self.Opened(self, self._index))

    def action_remove(self) -> None:
        """Remove the row under the cursor. The change is sent only with the whole form."""
        if self._index < len(self.rows):
            removed = self._index
            self.errors = {row - (row > removed): errors for row, errors in self.errors.items() if row != removed}
            self.set_entry((*self.rows[: self._index], *self.rows[self._index + 1 :]))
            self.refresh(layout=True)

    def on_click(self, event: events.Click) -> None:
        """Move to the clicked line.

        A double click opens a row. One click on the line that adds a row opens a new row.
        """
        if event.y <= len(self.rows):
            self._index = event.y
            self.repaint()
            if event.chain == 2 or event.y == len(self.rows):
                self.action_open()

    def get_content_height(self, container: Size, viewport: Size, width: int) -> int:  # noqa: ARG002
        """Return the number of lines: one for each row, and one to add a row."""
        return len(self.rows) + 1

    def _is_full(self) -> bool:
        return 0 < self.field.max_rows <= len(self.rows)

    def draw(self, width: int, height: int) -> list[ShadedLine]:  # noqa: ARG002
        lines = [self._line(index, self._row(index, row)) for index, row in enumerate(self.rows)]
        is_here = self.has_focus and self._index == len(self.rows)
        if self._is_full():
            more = (f"{len(self.rows)} of {self.field.max_rows}: full", StyleRole.DIM)
        else:
            more = (f" + add a {self.schema.noun} ", StyleRole.TAB if is_here else StyleRole.OFF)
        return [*lines, self._line(len(self.rows), [more])]

    def _line(self, index: int, segments: list[Segment]) -> ShadedLine:
        cursor = "▌" if self.has_focus and index == self._index else " "
        return [(cursor, StyleRole.INFO), (" ", StyleRole.TEXT), *segments]

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
