"""Preflight of an event as lines: for a pane, in three lines, or check by check. Pure."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from livedeck.monitor import EventState
from livedeck.presentation import events
from livedeck.presentation.preflight import Item, Mark, Preflight
from livedeck.presentation.render_time import RenderTime
from livedeck.text.segments import (
    Line,
    Segment,
    StyleRole,
    abridge,
    clip,
    join,
    labelled,
    plain,
    shorten,
    width,
    wrap,
    wrap_groups,
)
from livedeck.text.values import age, safe
from livedeck.ui.shell.context import ActionRegistry
from livedeck.ui.shell.keymap import action_text, key_of

BADGES = {
    Mark.NO_GO: ("✖", StyleRole.CRITICAL_MARK, "failed"),
    Mark.CHECK: ("▲", StyleRole.WARNING, "to check"),
    Mark.UNKNOWN: ("?", StyleRole.ODD, "unknown"),
    Mark.GO: ("✓", StyleRole.OK, "passed"),
}
"""Mark -> glyph, role, and word for a number of checks (`2 failed`). The most important mark is first."""

UNWELL = (Mark.NO_GO, Mark.CHECK, Mark.UNKNOWN)
"""Marks that need attention."""

NAME_CELLS = 17
"""Number of cells for the name of a check and the blank after it."""

GUTTER = 3 + NAME_CELLS

AGE_CELLS = 8
"""Number of cells for an age and the blank before it."""

KEY = "event.preflight"
"""Name of the action that shows all checks."""


def verdict(found: Preflight, render_time: RenderTime) -> Segment:
    """Return `GO` or `NO-GO` as a chip. With stale data the chip has a dim colour."""
    if render_time.stale:
        return f" ▒ {'GO' if found.is_go else 'NO-GO'} ", StyleRole.STALE
    return (" ✓ GO ", StyleRole.OK) if found.is_go else (" ✖ NO-GO ", StyleRole.CRITICAL)


def counts(found: Preflight, marks: Iterable[Mark] = BADGES) -> Line:
    """Return the number of checks with each of the marks: `  1 failed, 1 unknown, 8 passed`."""
    numbers = [(len(found.marked(mark)), BADGES[mark][2]) for mark in marks]
    return [("  " + ", ".join(f"{number} {word}" for number, word in numbers if number), StyleRole.DIM)]


def pane_lines(
    found: Preflight, render_time: RenderTime, actions: ActionRegistry, cells: int, height: int
) -> list[Line]:
    """Return the verdict, the failed, doubtful and unknown checks, and the number of passed checks.

    A check has one line. If lines are left, the worst checks also have their advice. The last line also has the number
    of omitted checks.
    """
    items = [item for mark in UNWELL for item in found.marked(mark)]
    room = max(0, height - 2)
    shown, free = items[:room], room - len(items)
    lines = [clip([(" PREFLIGHT  ", StyleRole.HEAD), verdict(found, render_time), *counts(found, UNWELL)], cells)]
    for item in shown:
        whole = item_rows(item, render_time, actions, cells)
        is_whole = len(whole) - 1 <= free
        lines += whole if is_whole else [item_line(item, render_time, cells)]
        free -= len(whole) - 1 if is_whole else 0
    rest = f", {len(items) - len(shown)} more: {key_of(KEY, actions)}" if items[room:] else ""
    glyph, role, word = BADGES[Mark.GO]
    passed = f"{len(found.marked(Mark.GO))} {word}{rest}"
    return [*lines, [(f" {glyph} ", StyleRole.STALE if render_time.stale else role), (passed, StyleRole.DIM)]]


def item_line(item: Item, render_time: RenderTime, cells: int) -> Line:
    """Return a check as one line: mark, name and finding, and the age of its data at the end."""
    glyph, role, _ = BADGES[item.mark]
    old = "" if item.as_of is None else age(max(0.0, render_time.seconds_since(item.as_of)))
    head: Line = [(f" {glyph} ", role), (f"{item.name:<{NAME_CELLS}}", StyleRole.TEXT)]
    if render_time.stale:
        head = [(text, StyleRole.STALE) for text, _ in head]
    found = shorten(safe(item.finding), cells - width(head) - len(old) - 2)
    words = StyleRole.STALE if render_time.stale else _words_role(item)
    return join([*head, (found, words)], [(old, StyleRole.DIM)], cells)


def item_rows(item: Item, render_time: RenderTime, actions: ActionRegistry, cells: int) -> list[Line]:
    """Return a check with its whole finding and its advice, in as many lines as necessary."""
    role = StyleRole.STALE if render_time.stale else _words_role(item)
    first, *more = [plain(row) for row in wrap(safe(item.finding), role, max(1, cells - GUTTER - AGE_CELLS))]
    return [
        item_line(replace(item, finding=first), render_time, cells),
        *(labelled("", [(row, role)], GUTTER) for row in more),
        *(labelled("", row, GUTTER) for row in wrap(advice(item, actions), StyleRole.DIM, max(1, cells - GUTTER))),
    ]


def _words_role(item: Item) -> StyleRole:
    return StyleRole.STRONG if item.mark is Mark.NO_GO else StyleRole.TEXT


def advice(item: Item, actions: ActionRegistry) -> str:
    """Return the advice for a check. If the deck has an action that helps, returns its key and label: `e edit`."""
    action = actions.by_name.get(item.operation)
    if action is None:
        return item.advice
    key = action_text(action, actions)
    return key if item.advice.startswith("livedeck ") else f"{key}: {item.advice}"


def short_preflight_lines(
    state: EventState, found: Preflight, render_time: RenderTime, actions: ActionRegistry, cells: int
) -> list[Line]:
    """Return three lines: the verdict, the worst check, and its advice."""
    worst = next(item for mark in BADGES for item in found.marked(mark))
    name = clip([(f" {events.name(state)}", StyleRole.STRONG)], max(events.NAME_CELLS, cells // 3))
    key: Line = [(f"{key_of(KEY, actions)} all checks", StyleRole.DIM)]
    to_do = abridge(advice(worst, actions), cells - GUTTER) or "All well"
    return [
        wrap_groups([(0, name), (0, [verdict(found, render_time)]), (2, counts(found, UNWELL)), (1, key)], cells),
        item_line(worst, render_time, cells),
        labelled("   do", [(to_do, StyleRole.DIM)], GUTTER),
    ]


def list_lines(found: Preflight, render_time: RenderTime, actions: ActionRegistry, cells: int) -> Iterator[Line]:
    """Yield the verdict, then every whole check, in the order of a crew's check."""
    yield [verdict(found, render_time), *counts(found)]
    yield []
    for item in found.items:
        yield from item_rows(item, render_time, actions, cells)
