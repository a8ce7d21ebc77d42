"""What can be done anywhere: screens, moving, sorting, filtering, copying, leaving."""

from __future__ import annotations

from collections.abc import Awaitable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from livedeck.client import Event
from livedeck.monitor import Severity
from livedeck.presentation import events, filtering
from livedeck.presentation.filtering import TableView, apply_view
from livedeck.presentation.table import TableSchema
from livedeck.text import values
from livedeck.text.segments import Line, Segment, StyleRole
from livedeck.ui.general.help import ColumnsScreen, HelpScreen
from livedeck.ui.general.palette import CommandScreen, Picked
from livedeck.ui.kit.dialogs.choice import ChoiceScreen, PromptScreen
from livedeck.ui.kit.dialogs.confirm import Confirm, Confirmation
from livedeck.ui.kit.dialogs.dialog import Timer
from livedeck.ui.kit.table import Table
from livedeck.ui.kit.themes import PALETTES
from livedeck.ui.shell.screen import DeckScreen

if TYPE_CHECKING:
    from livedeck.ui.app import Deck
    from livedeck.ui.chat.jobs import ExportJob


class Leaving(Confirm):
    """Whether to leave although changes are undecided, or a chat is being exported, or both."""

    def __init__(self, undecided: Sequence[str], job: ExportJob | None, timer: Timer) -> None:
        title, body = "", list[Segment]()
        if job is not None:
            title = f"Leave before the export of {job.name} is done?"
            body += [
                (f"Its chat is being exported to {values.safe(str(job.to), 200)}.", StyleRole.TEXT),
                ("Leaving stops that, and nothing of it is left.", StyleRole.TEXT),
            ]
        if undecided:
            title = f"Leave before it is known what became of {', '.join(undecided)}?"
            told = "It was sent, and its answer is not there. Left now, it may happen or not; the audit says UNKNOWN."
            body.insert(0, (told, StyleRole.WARNING))
        super().__init__(Confirmation(title, tuple(body), "Leave", keep="Stay"), timer)


def ask(deck: Deck, _: str) -> None:
    """Ask the platform now."""
    deck.library.expire()
    deck.monitor.refresh()
    deck.news.publish(None)


def leave(deck: Deck, _: str) -> Awaitable[None] | None:
    """The terminal is left as it was found; a change or an export that is under way is asked about."""
    undecided, running = deck.desk.undecided, deck.exports.running
    if undecided or running:
        return _leave(deck, Leaving(undecided, running, deck.clock.monotonic))
    deck.exit(0)
    return None


async def _leave(deck: Deck, leaving: Leaving) -> None:
    if await deck.push_screen_wait(leaving):
        await deck.exports.stop()
        deck.exit(0)


def interrupt(deck: Deck, _: str) -> Awaitable[None] | None:
    """Leave, whatever is open; where that is being asked already, this is the answer."""
    if isinstance(deck.screen, Leaving):
        deck.exit(0)
        return None
    return leave(deck, "")


def suspend(deck: Deck, _: str) -> None:
    """Hand the terminal back to the shell until `fg`."""
    deck.action_suspend_process()


def open_events(deck: Deck, _: str) -> None:
    """Screen 1."""
    deck.switch_mode("events")


def open_streams(deck: Deck, _: str) -> None:
    """Screen 2."""
    deck.switch_mode("streams")


def open_chat(deck: Deck, _: str) -> None:
    """Screen 4."""
    deck.switch_mode("chat")


def open_rooms(deck: Deck, _: str) -> None:
    """Screen 5."""
    deck.switch_mode("rooms")


def open_alarms(deck: Deck, _: str) -> None:
    """Screen 7."""
    deck.switch_mode("alarms")


def open_videos(deck: Deck, _: str) -> None:
    """Screen 6, at the part that was left."""
    deck.switch_mode(deck.library.part)


def open_qos(deck: Deck, _: str) -> None:
    """Screen 3."""
    deck.switch_mode("qos")


def open_help(deck: Deck, _: str) -> None:
    """The keys and the signs."""
    deck.push_screen(HelpScreen(deck.keymap))


def open_command(deck: Deck, argument: str) -> None:
    """The command line."""
    _open(deck, argument, search=False)


def open_palette(deck: Deck, argument: str) -> None:
    """The same list, searched by what the actions do."""
    _open(deck, argument, search=True)


def _open(deck: Deck, typed: str, *, search: bool) -> None:
    def run(picked: Picked | None) -> None:
        if picked is not None:
            deck.do(*picked)

    screen = CommandScreen(deck.current_mode, keymap=deck.keymap, read_only=deck.read_only, typed=typed, search=search)
    deck.push_screen(screen, run)


def _table(deck: Deck) -> Table[Any]:
    return deck.screen_of(DeckScreen).table()


def up(deck: Deck, _: str) -> None:
    """The row above."""
    _table(deck).move(-1)


def down(deck: Deck, _: str) -> None:
    """The row below."""
    _table(deck).move(1)


def page_up(deck: Deck, _: str) -> None:
    """A screenful up."""
    _table(deck).page(-1)


def page_down(deck: Deck, _: str) -> None:
    """A screenful down."""
    _table(deck).page(1)


def first(deck: Deck, _: str) -> None:
    """The first row."""
    _table(deck).jump(0)


def last(deck: Deck, _: str) -> None:
    """The last row."""
    _table(deck).jump(-1)


def open_(deck: Deck, _: str) -> None:
    """The QoS of the event under the cursor."""
    _table(deck).open()


FORMS = {"id": "id", "link": "link to watch", "json": "JSON", "curl": "curl"}

"""What is offered, by the word of the command."""


def forms(event: Event, address: str) -> Mapping[str, str]:
    """The event as each of FORMS; secrets are masked, and `curl` takes the token from a variable. Some may be empty."""
    return {
        "id": event.id,
        "link": event.play_link or "",
        "json": event.model_dump_json(indent=2, exclude_none=True),
        "curl": f"curl -H \"Authorization: Bearer $LIVEDECK_TOKEN\" '{address}'" if address else "",
    }


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
        terms = filtering.parse(text, sheet.filter_fields())
    except filtering.FilterError as error:
        return [(f" ▲ {error}", StyleRole.WARNING)], False
    if not terms:
        return [(" no filter", StyleRole.DIM)], True
    known = apply_view(sheet, rows, TableView(filter=text), moment)
    return [(f" {len(known.rows)} of {known.total} match", StyleRole.TEXT if known.rows else StyleRole.WARNING)], True


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
    names = listed[1].sortable_columns() if listed else []
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
    names = ["", *sheet.sortable_columns()]
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

    heads = [(column.name, column.title.strip()) for column in sheet.columns]
    deck.push_screen(ColumnsScreen(heads, deck.arrangement.view(name).hidden), take)


def _rearrange(deck: Deck, name: str, **changes: Any) -> None:
    deck.arrangement.arrange(name, **changes)
    deck.news.publish(None)


def copy(deck: Deck, argument: str) -> None:
    """Copy the selected event as one of the forms there are."""
    state = deck.chosen()
    if state is None:
        return
    known = forms(state.event, deck.api.events.address(state.id) if deck.api else "")
    if argument and argument not in known:
        deck.tell(f"there is no form {argument}: {', '.join(known)}", Severity.WARNING)
        return

    def take(form: str | None) -> None:
        if form is not None and known[form]:
            deck.copy(known[form], f"{FORMS[form]} of {events.name(state)}")
        elif form is not None:
            deck.tell(f"{events.name(state)} has no {FORMS[form]}", Severity.WARNING)

    if argument:
        take(argument)
    else:
        options = [(form[0], form, words) for form, words in FORMS.items()]
        deck.push_screen(ChoiceScreen(f"Copy of {events.name(state)}", options), take)


def freeze(deck: Deck, _: str) -> None:
    """Hold the display still, or let it go on; polling and alarms go on either way."""
    moment = deck.moment()
    if deck.arrangement.frozen:
        deck.arrangement.frozen = None
    elif deck.snapshot is not None and moment is not None:
        deck.arrangement.frozen = deck.snapshot, moment
    deck.news.publish(None)


def _listed(deck: Deck) -> tuple[str, TableSchema[Any], Sequence[Any]] | None:
    """The table of the screen behind whatever is open: the name of its view, its columns, all its rows."""
    shown = deck.shown()
    screen = next((one for one in deck.screen_stack if isinstance(one, DeckScreen)), None)
    return screen.listed(shown[0]) if screen and shown else None
