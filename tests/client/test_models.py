"""Models are built when they are first used; that they can be is known before."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from pydantic import BaseModel

from livedeck.client import Draft, Model


def _kinds(kind: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for each in kind.__subclasses__():
        if each.__module__.startswith("livedeck.client."):
            yield each
        yield from _kinds(each)


@pytest.mark.parametrize("kind", [*_kinds(Model), *_kinds(Draft)], ids=lambda kind: kind.__name__)
def test_every_model_can_be_built(kind: type[BaseModel]) -> None:
    kind.model_rebuild()
    assert kind.__pydantic_complete__
