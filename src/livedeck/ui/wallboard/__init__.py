"""The wallboard: an unattended screen that stays readable from across a room and runs for weeks.

`model` selects the events, `layout` splits them into pages and draws one page: `header` above either `tiles`, or the
problems (`wrong`) above `cells` in their `seats`. All of that is pure. `app` holds one canvas and ticks once a second.
"""
