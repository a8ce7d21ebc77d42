"""How the screens show what they show."""

from livedeck.ui.actions.action import Action, Target
from livedeck.ui.actions.rows import TABLES

VIEW = (
    Action(
        "view.filter",
        ("slash",),
        "filter",
        "Show only the rows that match",
        "view.filter_",
        TABLES,
        takes="[FILTER]",
        rank=30,
    ),
    Action(
        "view.clear",
        ("escape",),
        "show all",
        "Take the filter off; without one, back to where one came from",
        "view.clear",
        TABLES,
    ),
    Action(
        "view.sort",
        ("greater_than_sign",),
        "sort",
        "Sort by the next column, or by the one named",
        "view.sort_next",
        TABLES,
        takes="[COLUMN]",
        rank=55,
    ),
    Action(
        "view.sort_back",
        ("less_than_sign",),
        "sort back",
        "Sort by the column before; before the first: worst first",
        "view.sort_previous",
        TABLES,
    ),
    Action("view.invert", ("o",), "invert", "Turn the order round", "view.invert", TABLES),
    Action(
        "view.columns",
        ("f",),
        "columns",
        "Choose the columns, or name those to be shown",
        "view.columns",
        TABLES,
        takes="[COLUMN ...]",
    ),
    Action(
        "view.freeze",
        ("p",),
        "freeze",
        "Hold the display still, or let it go on; polling and alarms go on",
        "view.freeze",
        rank=45,
    ),
    Action(
        "view.copy",
        ("y",),
        "copy",
        "Copy the selected event: id, link, JSON or curl",
        "view.copy",
        ("events", "qos"),
        target=Target.EVENT,
        takes="[id|link|json|curl]",
        rank=52,
    ),
    Action("view.theme", ("t",), "theme", "The next theme, or the one named", "view.theme", takes="[NAME]"),
)
