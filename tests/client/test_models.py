"""Models are built at their first use; a test proves that all can be built."""

from __future__ import annotations

import copy
import pickle
from collections.abc import Iterator

import pytest
from pydantic import BaseModel

from livedeck.client import Draft, FieldFault, Message, Model


def _kinds(kind: type[BaseModel]) -> Iterator[type[BaseModel]]:
    for each in kind.__subclasses__():
        if each.__module__.startswith("livedeck.client."):
            yield each
        yield from _kinds(each)


@pytest.mark.parametrize("kind", [*_kinds(Model), *_kinds(Draft)], ids=lambda kind: kind.__name__)
def test_every_model_can_be_built(kind: type[BaseModel]) -> None:
    kind.model_rebuild()
    assert kind.__pydantic_complete__


def test_the_faults_of_an_object_are_kept_by_its_copies_and_tell_it_from_another() -> None:
    message = Message(id="m1")
    odd = message.with_faults((FieldFault("created_at", "should be a timestamp", "a number"),))
    assert not message.faults
    assert odd != message
    for same in (copy.copy(odd), copy.deepcopy(odd), odd.model_copy(), pickle.loads(pickle.dumps(odd))):
        assert same.faults == odd.faults
        assert same == odd
    assert odd.with_faults(()) == message
    assert odd.model_dump() == message.model_dump()
    assert odd.model_dump_json() == message.model_dump_json()
