"""Types and base models of what requests take and answers hold, and the documented error for what does not fit.

The words of a type complete "must be ...": they are the reason of an error, and they describe a field to the readers of
the control API and of the OpenAPI document.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime
from math import ceil, floor
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar
from urllib.parse import unquote, urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, RootModel, ValidationError, model_validator
from pydantic.annotated_handlers import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, ErrorDetails, core_schema

from livedeck.simulator.engine.clock import FIRST, LAST, format_timestamp
from livedeck.simulator.errors import invalid

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
Schema = dict[str, Any]
Order = tuple[tuple[str, str], ...]
BYTES: Schema = {"type": "string", "format": "binary"}
UNSET: Any = None
"""The default of a field that may be left out: `given()` leaves it out too."""


@dataclass(frozen=True, eq=False, slots=True)
class Must:
    """What a value must be. `core` checks it (None: the annotated type does), `schema` describes it (None: `core`)."""

    words: str
    core: CoreSchema | None = None
    schema: Schema | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        core = self.core or handler(source)
        return core_schema.custom_error_schema(core, "must_be", custom_error_message=f"must be {self.words}")

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> Schema:
        return {**(self.schema or handler(core)), "description": self.words}


def text(low: int, high: int) -> Must:
    """Text of so many characters."""
    core = core_schema.str_schema(strict=True, min_length=low, max_length=high)
    return Must(f"text of {low} to {high} characters", core)


def integer(low: int, high: int) -> Must:
    """An integer in a JSON body."""
    return Must(f"an integer from {low} to {high}", core_schema.int_schema(strict=True, ge=low, le=high))


def number(low: float, high: float) -> Must:
    """A number in a JSON body; an integer stays one."""
    whole = core_schema.int_schema(strict=True, ge=ceil(low), le=floor(high))
    core = core_schema.union_schema([whole, core_schema.float_schema(strict=True, ge=low, le=high)])
    schema = {"type": "number", "minimum": low, "maximum": high}
    return Must(f"a number from {low:,.15g} to {high:,.15g}", core, schema)


def one_of(*names: str) -> Must:
    """One of a few words."""
    return Must(f"one of {', '.join(names)}", core_schema.literal_schema([*names]))


def digits(low: int, high: int | None = None) -> Must:
    """A whole number in a query."""
    written = core_schema.str_schema(strict=True, pattern="^[0-9]{1,15}$")
    core = core_schema.chain_schema([written, core_schema.int_schema(ge=low, le=high)])
    words = f"a whole number from {low}" + (f" to {high}" if high else "")
    return Must(words, core, {"type": "integer", "minimum": low, "maximum": high or 10**15 - 1})


def parsed(words: str, parse: Callable[[str], object], schema: Schema) -> Must:
    """Text that becomes what `parse` makes of it; a ValueError refuses it."""
    core = core_schema.no_info_after_validator_function(parse, core_schema.str_schema(strict=True))
    return Must(words, core, {"type": "string"} | schema)


def ordering(*fields: str) -> Must:
    """An order in a query: pairs of field and direction."""

    def parse(value: str) -> Order:
        pairs = tuple((name, direction) for name, _, direction in (term.partition(".") for term in value.split(",")))
        if not all(name in fields and direction in {"asc", "desc"} for name, direction in pairs):
            raise ValueError
        return _require(pairs, len(dict(pairs)) == len(pairs))

    term = rf"(?:{'|'.join(fields)})\.(?:asc|desc)"
    once = "".join(rf"(?!.*\b{name}\..*\b{name}\.)" for name in fields)
    words = f"a comma list of field.asc or field.desc, each field once, out of {', '.join(fields)}"
    return parsed(words, parse, {"pattern": f"^{once}{term}(?:,{term})*$"})


def header_text(low: int, high: int) -> Must:
    """A name or title in a header: percent-encoded UTF-8 where it holds an encoded byte of 0x80 or more, else as it
    came (platform-api.md, "Upload headers")."""

    def decode(value: str) -> str:
        decoded = unquote(value, errors="strict") if _ENCODED_BYTE.search(value) else value
        return _require(decoded, low <= len(decoded) <= high)

    schema = {"minLength": low, "maxLength": high, "pattern": "^(?:[!-$&-~]|%[2-7][0-9A-F])+$"}
    return parsed(f"text of {low} to {high} characters", decode, schema)


_ENCODED_BYTE = re.compile("%[89A-F][0-9A-F]", re.IGNORECASE)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)


def is_uuid(value: str) -> bool:
    """Whether it is a UUID in its usual form."""
    return _UUID.fullmatch(value) is not None


def _uuid(value: str) -> str:
    return _require(value, is_uuid(value)).lower()


def _time(value: str) -> datetime:
    time = datetime.fromisoformat(value)
    return _require(time, time.tzinfo is not None and FIRST <= time <= LAST)


def _rtmp_address(value: str) -> str:
    """The address as it is kept: without spaces and trailing slashes (platform-api.md, "Relay profile")."""
    address = value.replace(" ", "").strip().rstrip("/")
    _require(address, len(address) <= 2048 and address.isprintable())
    parts = urlsplit(address)
    return _require(address, parts.scheme in {"rtmp", "rtmps"} and parts.hostname and parts.port != 0)


def _web_address(value: str) -> str:
    return _require(value, value.startswith(("http://", "https://")) and value.isprintable() and len(value) <= 2048)


def _require(value: T, sound: object) -> T:
    if not sound:
        raise ValueError
    return value


_TIMESTAMP = {"format": "date-time", "pattern": "^(?:19[7-9]|20[0-9]|21[0-9])[0-9]-"}
_TIME_WORDS = "an ISO 8601 timestamp with its offset, from 1970 to 2200"
_RTMP = {"maxLength": 2048, "pattern": "^rtmps?://[a-z0-9]([a-z0-9.-]*[a-z0-9])?(:[1-9][0-9]{0,3})?(/[!-~]*)?$"}
_WEB = {"maxLength": 2048, "pattern": "^https?://[!-~]+$"}
Uuid = Annotated[str, parsed("a UUID", _uuid, {"format": "uuid"})]
OptionalUuid = Annotated[Uuid | None, Must("a UUID, or null")]
Timestamp = Annotated[str, parsed(_TIME_WORDS, lambda value: format_timestamp(_time(value)), _TIMESTAMP)]
OptionalTimestamp = Annotated[Timestamp | None, Must(f"{_TIME_WORDS}, or null")]
Time = Annotated[datetime, parsed(_TIME_WORDS, _time, _TIMESTAMP)]
Boolean = Annotated[bool, Must("true or false", core_schema.bool_schema(strict=True))]
Flag = Annotated[
    bool, parsed("true or false", lambda value: {"true": True, "false": False}[value], {"type": "boolean"})
]
"""A boolean in a query."""
RtmpAddress = Annotated[str, parsed("an rtmp or rtmps address with a host", _rtmp_address, _RTMP)]
WebAddress = Annotated[str, parsed("an http or https address", _web_address, _WEB)]


class ApiObject(BaseModel):
    """An object as an answer shows it: exactly these fields, in this order. A stored document holds more."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    @classmethod
    def show(cls, document: Mapping[str, Any]) -> dict[str, Any]:
        """The document as the API shows it; a field with a default may be absent."""
        fields = cls.model_fields.items()
        return {name: document[name] for name, info in fields if info.is_required() or name in document}


class Parameters(BaseModel):
    """Named values of a query or of headers; others are none of ours."""

    model_config = ConfigDict(defer_build=True)

    def given(self) -> dict[str, Any]:
        """The values that were sent; of objects inside likewise."""
        fields = type(self).model_fields
        return {name: _given(getattr(self, name)) for name in fields if name in self.model_fields_set}


def _given(value: object) -> object:
    if isinstance(value, list):
        return [_given(item) for item in value]
    return value.given() if isinstance(value, Parameters) else value


class ListQuery(Parameters):
    """The query of every list (platform-api.md, "Lists"); each list has its own fields and default of `order`."""

    page: Annotated[int, digits(1)] = 1
    per_page: Annotated[int, digits(1, 100)] = 20
    order: Order


class RequestBody(Parameters):
    """The JSON object or form of a request; a name that it does not know is an error.

    `of` names the object that it makes or changes. Fields of that object which the body cannot set are ignored, so that
    what was read can be sent back (platform-api.md, "Operations").
    """

    model_config = ConfigDict(extra="forbid", defer_build=True)
    of: ClassVar[type[ApiObject] | None] = None

    @classmethod
    def ignored(cls) -> set[str]:
        """The fields of its object that it cannot set."""
        return {*cls.of.model_fields} - {*cls.model_fields} if cls.of else set()

    @model_validator(mode="before")
    @classmethod
    def _drop_ignored(cls, given: Any) -> Any:
        if not isinstance(given, dict):
            return given
        ignored = cls.ignored()
        return {name: value for name, value in given.items() if name not in ignored}

    @classmethod
    def __get_pydantic_json_schema__(cls, core: CoreSchema, handler: GetJsonSchemaHandler) -> Schema:
        schema = handler(core)
        handler.resolve_ref_schema(schema).setdefault("properties", {}).update(
            {name: {"description": "ignored", "readOnly": True} for name in sorted(cls.ignored())}
        )
        return schema


class IdOrder(RootModel[list[T]], Generic[T]):
    """The JSON array of a request: ids in the order that is wanted, each once."""

    root: Annotated[
        list[T],
        Field(min_length=1, max_length=10_000, json_schema_extra={"uniqueItems": True}),
        AfterValidator(lambda ids: _require(ids, len({*ids}) == len(ids))),
        Must("a list of 1 to 10000 ids, each once"),
    ]


class Data(BaseModel, Generic[T]):
    """The envelope of a single object (platform-api.md, "Response envelope")."""

    model_config = ConfigDict(extra="forbid", defer_build=True)
    data: T


class Pagination(ApiObject):
    """Where a page stands."""

    page: int
    per_page: int
    total: int


class ListMeta(ApiObject):
    """What a list says of itself."""

    pagination: Pagination
    order: dict[str, Literal["asc", "desc"]]


class Page(Data[list[T]], Generic[T]):
    """The envelope of a list (platform-api.md, "Response envelope")."""

    meta: ListMeta


class Success(ApiObject):
    """What answers where there is no object to show (platform-api.md, "Operations")."""

    success: Literal[True]


class InvalidParameter(ApiObject):
    """What is wrong with one value of a request."""

    name: str
    reason: str


class ErrorDetail(ApiObject):
    """Why a request was refused."""

    code: int
    message: str
    invalid_params: list[InvalidParameter] = UNSET


class Error(ApiObject):
    """The error object (platform-api.md, "Error codes")."""

    error: ErrorDetail


def check(model: type[M], given: object) -> M:
    """What was sent as that model. Raises the documented error that names all that is wrong, unknown names too."""
    try:
        return model.model_validate(given)
    except ValidationError as error:
        raise invalid(*map(_invalid_parameter, error.errors(include_url=False, include_input=False))) from None


_REASONS = {
    "missing": "must be given",
    "extra_forbidden": "unknown parameter",
    "model_type": "must be an object",
    "list_type": "must be a list",
    "too_short": "must be a list of at least {min_length}",
    "string_unicode": "must be Unicode text",
    "too_long": "must be a list of at most {max_length}",
}


def _invalid_parameter(error: ErrorDetails) -> tuple[str, str]:
    """The place and the reason of an error."""
    name = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error["loc"])
    reason = _REASONS.get(error["type"])
    return (
        name.removeprefix(".") if name.startswith(".") else f"body{name}",
        reason.format(**error.get("ctx", {})) if reason else error["msg"],
    )
