"""Frozen records that are fast to define and work with `dataclasses` and pydantic."""

from __future__ import annotations

import dataclasses
from functools import cache
from typing import TYPE_CHECKING, Any, dataclass_transform

from msgspec import NODEFAULT, Struct, field

if TYPE_CHECKING:
    from pydantic import GetCoreSchemaHandler, ValidatorFunctionWrapHandler
    from pydantic_core import CoreSchema


class _DataclassFields:
    """Fields of a record in the form of `dataclasses`, for `replace`, `fields` and `asdict`."""

    def __get__(self, _: object, owner: type[Record]) -> dict[str, dataclasses.Field[Any]]:
        described: dict[str, dataclasses.Field[Any]] = _dataclass_like(owner).__dataclass_fields__
        return described


@dataclass_transform(frozen_default=True, field_specifiers=(field,))
class Record(Struct, frozen=True):
    """Base class of frozen records. Subclasses are written like dataclasses, with `field` of msgspec.

    A frozen dataclass compiles six methods when its module is imported, 0.7 ms for each class. A record compiles none.
    """

    if not TYPE_CHECKING:  # mypy takes the fields from the transform
        __dataclass_fields__ = _DataclassFields()

    @classmethod
    def __get_pydantic_core_schema__(cls, _source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """Return the schema of a dataclass with the same fields. Pydantic reads and writes records with it."""
        from pydantic_core import core_schema

        like = _dataclass_like(cls)
        schema = handler(like)

        def made(found: Any) -> Record:
            return cls(**vars(found))

        def kept_or_made(value: Any, read: ValidatorFunctionWrapHandler) -> Record:
            return value if isinstance(value, cls) else made(read(value))

        def written(record: Record) -> Any:
            return like(**{name: getattr(record, name) for name in cls.__struct_fields__})

        return core_schema.json_or_python_schema(  # JSON has no dates, so a strict reader must know the type
            core_schema.no_info_after_validator_function(made, schema),
            core_schema.no_info_wrap_validator_function(kept_or_made, schema),
            serialization=core_schema.plain_serializer_function_ser_schema(written, return_schema=schema),
        )


@cache
def _dataclass_like(owner: type[Record]) -> Any:
    """Return a dataclass with the fields of a record."""
    hints: dict[str, Any] = {}
    for base in reversed(owner.__mro__):
        hints |= vars(base).get("__annotations__", {})
    names, defaults = owner.__struct_fields__, owner.__struct_defaults__
    required = (NODEFAULT,) * (len(names) - len(defaults))
    rows = [(name, hints[name], _field(default)) for name, default in zip(names, required + defaults, strict=True)]
    like = dataclasses.make_dataclass(owner.__name__, rows, kw_only=True, repr=False, eq=False)
    like.__module__ = owner.__module__  # pydantic looks for the names of types in this module
    return like


def _field(default: Any) -> Any:
    if default is NODEFAULT:
        return dataclasses.field()
    if factory := getattr(default, "factory", None):  # of a type of msgspec that has no public name
        return dataclasses.field(default_factory=factory)
    return dataclasses.field(default=default)
