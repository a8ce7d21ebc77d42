"""Every number by which alarms claim a person's attention, with its unit and its reason (monitoring.md, "Alarms")."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, kw_only=True)
class Attention:
    """Seconds, counts and shares."""

    acknowledged_critical: float = 300.0  # s; an acknowledgement is a promise to act, and promises are forgotten
    acknowledged_warning: float = 1800.0  # s; a warning may wait for a pause in the programme
    shelved_most: float = 3600.0  # s on air: who shelves one show's alarm must not deafen the next
    cleared_listed: float = 300.0  # s; long enough to read what that was
    listed_most: int = 500  # alarms; a deck that nobody answers for weeks must not grow

    flap_window: float = 120.0  # s; in which a fault that keeps coming back is one fault
    flap_count: int = 3  # the third time in two minutes tells nothing that the second did not
    habit_window: float = 600.0  # s; in which episodes are counted
    habit_count: int = 4  # a warning that comes back four times in ten minutes is what viewers complain of
    flood_window: float = 600.0  # s; in which alarms are counted
    flood_count: int = 10  # a person follows one alarm a minute, not more (ISA-18.2)

    shared_window: float = 60.0  # s; faults that begin this close together have one cause
    shared_events: int = 3  # two may be chance
    shared_part: float = 0.5  # of those on air
