"""How the screens show what they show."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from livedeck.monitor import Severity
from livedeck.ui import copying, filtering
from livedeck.ui.arranging import View, arranged
from livedeck.ui.renderables import cells
from livedeck.ui.renderables.columns import Sheet
from livedeck.ui.renderables.ink import Ink
from livedeck.ui.renderables.lines import Line
from livedeck.ui.screens.base import DeckScreen
from livedeck.ui.screens.choice import ChoiceScreen
from livedeck.ui.screens.columns import ColumnsScreen
from livedeck.ui.screens.prompt import PromptScreen
from livedeck.ui.themes import PALETTES

if TYPE_CHECKING:
    from livedeck.ui.app import Deck


def theme(deck: Deck, argument: str) -> None:
    """The next theme, or the one that is named."""
    names = list(PALETTES)
    if argument and argument not in names:
        deck.tell(f"there is no theme {argument}: {', '.join(names)}", Severity.WARNING)
    elif deck.no_color:
        deck.tell("NO_COLOR is set: the theme stays mono", Severity.WARNING)
    else:
        deck.theme = argument or names[(names.index(deck.theme) + 1) % len(names)]
        deck.arrangement.choose_theme(deck.theme)
        deck.tell(f"theme {deck.theme}")


def filter_(deck: Deck, argument: str) -> None:
    """Show only the rows that match; a filter that is none leaves the one in force as it is."""
    listed = _listed(deck)
    if listed is None:
        return
    if argument:
        said, good = _judged(deck, argument)
        if good:
            _rearrange(deck, listed[0], filter=argument)
        else:
            deck.tell("".join(text for text, _ in said).strip(" ▲"), Severity.WARNING)
        return

    def take(text: str | None) -> None:
        if text is not None:
            _rearrange(deck, listed[0], filter=text)

    title = "filter: words, tally:air, health<70, alarm:crit, ! turns round"
    deck.push_screen(
        PromptScreen(title, lambda text: _judged(deck, text), deck.arrangement.view(listed[0]).filter), take
    )


def _judged(deck: Deck, text: str) -> tuple[Line, bool]:
    """How many rows that filter would leave, or why it is none."""
    listed, moment = _listed(deck), deck.moment()
    if listed is None or moment is None:
        return [], False
    _, sheet, rows = listed
    try:
        terms = filtering.parse(text, sheet.said())
    except filtering.FilterError as error:
        return [(f" ▲ {error}", Ink.WARNING)], False
    if not terms:
        return [(" no filter", Ink.DIM)], True
    known = arranged(sheet, rows, View(filter=text), moment)
    return [(f" {len(known.rows)} of {known.total} match", Ink.TEXT if known.rows else Ink.WARNING)], True


def clear(deck: Deck, _: str) -> None:
    """Show all rows again; where all are shown, back to where one came from."""
    listed = _listed(deck)
    if listed is not None and deck.arrangement.view(listed[0]).filter:
        _rearrange(deck, listed[0], filter="")
    elif isinstance(deck.screen, DeckScreen):
        deck.screen.back()


def sort_next(deck: Deck, argument: str) -> None:
    """Sort by the next column, or by the one that is named."""
    listed = _listed(deck)
    names = listed[1].sortable() if listed else []
    if argument and argument not in names:
        deck.tell(f"there is no column {argument} to sort by: {', '.join(names)}", Severity.WARNING)
    elif argument and listed:
        _rearrange(deck, listed[0], sort=argument)
    else:
        _step(deck, 1)


def sort_previous(deck: Deck, _: str) -> None:
    """Sort by the column before; before the first comes the order of the monitor."""
    _step(deck, -1)


def _step(deck: Deck, step: int) -> None:
    listed = _listed(deck)
    if listed is None:
        return
    name, sheet, _ = listed
    names = ["", *sheet.sortable()]
    sort = deck.arrangement.view(name).sort
    at = names.index(sort) if sort in names else 0
    _rearrange(deck, name, sort=names[(at + step) % len(names)])


def invert(deck: Deck, _: str) -> None:
    """Turn the order round."""
    listed = _listed(deck)
    if listed is not None:
        _rearrange(deck, listed[0], down=not deck.arrangement.view(listed[0]).down)


def columns(deck: Deck, argument: str) -> None:
    """Choose the columns; or name those to be shown."""
    listed = _listed(deck)
    if listed is None:
        return
    name, sheet, _ = listed
    names = [column.name for column in sheet.columns]
    wanted = argument.replace(",", " ").split()
    unknown = [each for each in wanted if each not in names]
    if unknown:
        deck.tell(f"there is no column {unknown[0]}: {', '.join(names)}", Severity.WARNING)
        return
    if wanted:
        _rearrange(deck, name, hidden=tuple(each for each in names if each not in wanted))
        return

    def take(hidden: tuple[str, ...] | None) -> None:
        if hidden is not None:
            _rearrange(deck, name, hidden=hidden)

    heads = [(column.name, column.head.strip()) for column in sheet.columns]
    deck.push_screen(ColumnsScreen(heads, deck.arrangement.view(name).hidden), take)


def _rearrange(deck: Deck, name: str, **changes: Any) -> None:
    deck.arrangement.arrange(name, **changes)
    deck.news.publish(None)


def copy(deck: Deck, argument: str) -> None:
    """Copy the selected event as one of the forms there are."""
    state = deck.chosen()
    if state is None:
        return
    known = copying.forms(state.event, deck.api.events.address(state.id) if deck.api else "")
    if argument and argument not in known:
        deck.tell(f"there is no form {argument}: {', '.join(known)}", Severity.WARNING)
        return

    def take(form: str | None) -> None:
        if form is not None and known[form]:
            deck.copy(known[form], f"{copying.FORMS[form]} of {cells.name(state)}")
        elif form is not None:
            deck.tell(f"{cells.name(state)} has no {copying.FORMS[form]}", Severity.WARNING)

    if argument:
        take(argument)
    else:
        options = [(form[0], form, words) for form, words in copying.FORMS.items()]
        deck.push_screen(ChoiceScreen(f"Copy of {cells.name(state)}", options), take)


def freeze(deck: Deck, _: str) -> None:
    """Hold the display still, or let it go on; polling and alarms go on either way."""
    moment = deck.moment()
    if deck.arrangement.frozen:
        deck.arrangement.frozen = None
    elif deck.snapshot is not None and moment is not None:
        deck.arrangement.frozen = deck.snapshot, moment
    deck.news.publish(None)


def _listed(deck: Deck) -> tuple[str, Sheet[Any], Sequence[Any]] | None:
    """The table of the screen behind whatever is open: the name of its view, its columns, all its rows."""
    shown = deck.shown()
    screen = next((one for one in deck.screen_stack if isinstance(one, DeckScreen)), None)
    return screen.listed(shown[0]) if screen and shown else None
