"""Invalid values in one row of a list: the text of the value, and the fault that is reported."""

from __future__ import annotations

from collections.abc import Mapping

BROKEN: Mapping[str, tuple[str, str | None]] = {
    "NaN": ("NaN", "NaN"),
    "Infinity": ("Infinity", "Infinity"),
    "-Infinity": ("-Infinity", "-Infinity"),
    "bad escape": (r'"C:\Videos\x"', "a string with a bad escape"),
    "half escape": (r'"\u12"', "a string with a bad escape"),
    "5,000 digits": ("-" + "9" * 5000, "an integer of 5,000 digits"),
    "nesting of 100,000": ("[" * 100_000 + "]" * 100_000, "a list of 1"),
    "objects in objects": ('{"a":' * 100_000 + "1" + "}" * 100_000, "an object"),
    "undefined": ("undefined", "no JSON value"),
    "leading zero": ("01", "no JSON value"),
    "two values": ("[1 2]", "a list that is not JSON"),
    "no colon": ('{"a" 1}', "an object that is not JSON"),
}
"""Name of a broken value -> its text, and the shape that is reported."""

MEANT: Mapping[str, tuple[str, str]] = {
    "raw tab": ('"Hall\t2"', "Hall\t2"),
    "raw line break": ('"Hall\n2"', "Hall\n2"),
    "raw control": ('"Hall\x012"', "Hall\x012"),
    "comma at the end of a row": ('"Hall 2",', "Hall 2"),
}
"""Name of a value with only one meaning -> its text, and this meaning."""

CUT: Mapping[str, str] = {
    "in a row": '{"data":[{"id":"a","n":NaN},{"id":"b","na',
    "in a string": '{"data":[{"id":"a","n":NaN},{"id":"b","name":"Hall',
    "after a row": '{"data":[{"id":"a","n":NaN},{"id":"b"}',
    "after the list": '{"data":[{"id":"a","n":NaN},{"id":"b"}]',
    "in the nesting": '{"data":[{"id":"a","n":' + "[" * 100_000 + "]" * 90_000,
    "after its end": '{"data":[{"id":"a","n":NaN}]}{"data":[]}',
    "with another bracket": '{"data":[{"id":"a","n":NaN]}}',
    "no document": "<html><body>NaN</body></html>",
}
"""Name of a list that is cut off -> its text. No reader can complete it without a guess."""


def list_with(value: str, field: str = "name") -> bytes:
    """Return the body of a list of three events, the second of which has `value` as the text of a field."""
    rows = f'{{"id":"e1","name":"Hall 1"}},{{"id":"e2","{field}":{value}}},{{"id":"e3","name":"Hall 3"}}'
    return f'{{"meta":{{"pagination":{{"page":1,"per_page":100,"total":3}}}},"data":[{rows}]}}'.encode()
