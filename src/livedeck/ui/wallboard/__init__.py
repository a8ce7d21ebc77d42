"""The wallboard: a screen that nobody touches, to be read from across a room and believed for weeks.

`shown` picks what has a place on it, `plan` cuts that into pages, `turning` says which page is up, `board` draws it
from `top`, `tile` and `band`; all of it is pure. `app` acts: one canvas, one tick a second.
"""
