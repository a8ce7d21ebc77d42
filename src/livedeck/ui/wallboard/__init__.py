"""The wallboard: a screen that nobody touches, to be read from across a room and believed for weeks.

`model` selects what is on it, `layout` cuts that into pages and draws one: `header`, then `tiles`, or what is `wrong`
over `cells` in their `seats`; all of it is pure.
`app` acts: one canvas, one tick a second.
"""
