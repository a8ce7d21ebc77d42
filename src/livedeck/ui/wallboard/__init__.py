"""Wallboard: an unattended screen that stays readable from across a room and runs for weeks.

`model` selects the events. `layout` splits them into pages and draws one page, with the `header` at the top. A few
events have `tiles`. Many events have `cells` in their `seats`, below the list of problems (`wrong`). All these modules
are pure. `app` has one canvas and repaints it once a second.
"""
