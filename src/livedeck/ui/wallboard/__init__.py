"""Wallboard: an unattended screen that stays readable from across a room and runs for weeks.

`model` selects the events. `layout` splits them into pages and draws one page: `header`, and below it either `tiles`,
or the problems (`wrong`) above `cells` in their `seats`. All these modules are pure. `app` has one canvas and repaints
it once a second.
"""
