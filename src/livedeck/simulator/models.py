"""Types and base models of requests and responses, and the documented error for values that do not fit.

Each type has a phrase that completes "must be ...", such as "a number above 0". Errors give it as their reason, and the
control API and the OpenAPI document as the description of a field.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from math import ceil, floor
from typing import Annotated, Any, ClassVar, Generic, Literal, TypeVar
from urllib.parse import unquote, urlsplit

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, RootModel, ValidationError, model_validator
from pydantic.annotated_handlers import GetCoreSchemaHandler, GetJsonSchemaHandler
from pydantic_core import CoreSchema, ErrorDetails, PydanticCustomError, core_schema

from livedeck.simulator.engine.clock import FIRST, LAST, format_timestamp
from livedeck.simulator.errors import invalid

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
Schema = dict[str, Any]
Order = tuple[tuple[str, str], ...]
BYTES: Schema = {"type": "string", "format": "binary"}
UNSET: Any = None
"""Default of an optional field; `given()` leaves the field out if it was not sent."""


@dataclass(frozen=True, eq=False, slots=True)
class Must:
    """Rule for a value. `words`: phrase that completes "must be ...".

    `core`: schema that checks the value; None for that of the annotated type. `schema`: JSON Schema for the OpenAPI
    document; None for that of `core`.
    """

    words: str
    core: CoreSchema | None = None
    schema: Schema | None = None

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        core = self.core or handler(source)
        return core_schema.custom_error_schema(core, "must_be", custom_error_message=f"must be {self.words}")

    def __get_pydantic_json_schema__(self, core: CoreSchema, handler: GetJsonSchemaHandler) -> Schema:
        return {**(self.schema or handler(core)), "description": self.words}


def text(low: int, high: int) -> Must:
    """Accept text of `low` to `high` characters."""
    core = core_schema.str_schema(strict=True, min_length=low, max_length=high)
    return Must(f"text of {low} to {high} characters", core)


def integer(low: int, high: int) -> Must:
    """Accept an integer in a JSON body."""
    return Must(f"an integer from {low} to {high}", core_schema.int_schema(strict=True, ge=low, le=high))


def number(low: float, high: float) -> Must:
    """Accept a number in a JSON body; an integer remains an integer."""
    whole = core_schema.int_schema(strict=True, ge=ceil(low), le=floor(high))
    core = core_schema.union_schema([whole, core_schema.float_schema(strict=True, ge=low, le=high)])
    schema = {"type": "number", "minimum": low, "maximum": high}
    return Must(f"a number from {low:,.15g} to {high:,.15g}", core, schema)


def one_of(*names: str) -> Must:
    """Accept one of `names`."""
    return Must(f"one of {', '.join(names)}", core_schema.literal_schema([*names]))


def digits(low: int, high: int | None = None) -> Must:
    """Accept a whole number in a query."""
    written = core_schema.str_schema(strict=True, pattern="^[0-9]{1,15}$")
    core = core_schema.chain_schema([written, core_schema.int_schema(ge=low, le=high)])
    words = f"a whole number from {low}" + (f" to {high}" if high else "")
    return Must(words, core, {"type": "integer", "minimum": low, "maximum": high or 10**15 - 1})


def parsed(words: str, parse: Callable[[str], object], schema: Schema) -> Must:
    """Accept text and replace it with the result of `parse`, which raises ValueError to refuse it."""
    core = core_schema.no_info_after_validator_function(parse, core_schema.str_schema(strict=True))
    return Must(words, core, {"type": "string"} | schema)


def ordering(*fields: str) -> Must:
    """Accept a sort order in a query, such as `name.asc,created_at.desc`, and return pairs of field and direction."""

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
    """Accept a name or title in a header, in ASCII.

    The value is percent-encoded UTF-8 if it contains an encoded byte of 0x80 or more; otherwise it is taken literally
    (platform-api.md, "Upload headers").
    """

    def decode(value: str) -> str:
        _require(value, value.isascii())
        decoded = unquote(value, errors="strict") if _ENCODED_BYTE.search(value) else value
        return _require(decoded, low <= len(decoded) <= high)

    schema = {"minLength": low, "maxLength": high, "pattern": "^(?!.*%[89A-Fa-f][0-9A-Fa-f])[!-~](?:[ -~]*[!-~])?$"}
    return parsed(f"text of {low} to {high} characters", decode, schema)


_ENCODED_BYTE = re.compile("%[89A-F][0-9A-F]", re.IGNORECASE)
_UUID = re.compile(r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}", re.IGNORECASE)
UUID_PATTERN = "^[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$"


def is_uuid(value: str) -> bool:
    """Return whether `value` is a UUID in its usual form."""
    return _UUID.fullmatch(value) is not None


def _uuid(value: str) -> str:
    return _require(value, is_uuid(value)).lower()


def _time(value: str) -> datetime:
    time = datetime.fromisoformat(value)
    return _require(time, time.tzinfo is not None and FIRST <= time <= LAST)


def _rtmp_address(value: str) -> str:
    """Return the address in its stored form: no spaces, no trailing slashes (platform-api.md, "Relay profile")."""
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
"""Boolean in a query."""
RtmpAddress = Annotated[str, parsed("an rtmp or rtmps address with a host", _rtmp_address, _RTMP)]
WebAddress = Annotated[str, parsed("an http or https address", _web_address, _WEB)]


class ApiObject(BaseModel):
    """Object in the form of a response: exactly these fields, in this order. A stored document has more."""

    model_config = ConfigDict(extra="forbid", defer_build=True)

    @classmethod
    def show(cls, document: Mapping[str, Any]) -> dict[str, Any]:
        """Return the API's form of the document; a field with a default may be absent."""
        fields = cls.model_fields.items()
        return {name: document[name] for name, info in fields if info.is_required() or name in document}


class Parameters(BaseModel):
    """Named values of a query or of headers; unknown names are ignored."""

    model_config = ConfigDict(defer_build=True)

    @classmethod
    def sent_names(cls) -> list[str]:
        """Return the names of the fields as a request or a table has them: `json`, not `json_`."""
        return [field.alias or name for name, field in cls.model_fields.items()]

    def given(self) -> dict[str, Any]:
        """Return the values that were sent, and in nested objects also only the sent values."""
        fields = type(self).model_fields
        return {name: _given(getattr(self, name)) for name in fields if name in self.model_fields_set}


def _given(value: object) -> object:
    if isinstance(value, list):
        return [_given(item) for item in value]
    return value.given() if isinstance(value, Parameters) else value


MAX_PER_PAGE = 100


class ListQuery(Parameters):
    """Query of every list (platform-api.md, "Lists"). Each list adds its own fields and its default of `order`."""

    page: Annotated[int, digits(1)] = 1
    per_page: Annotated[int, digits(1, MAX_PER_PAGE)] = 20
    order: Order


class RequestBody(Parameters):
    """JSON object or form of a request; an unknown name is an error.

    `of` is the object that the request creates or changes. Fields of that object that the body cannot set are ignored,
    so that a client can send back an object that it read (platform-api.md, "Operations").
    """

    model_config = ConfigDict(extra="forbid", defer_build=True)
    of: ClassVar[type[ApiObject] | None] = None

    @classmethod
    def ignored(cls) -> set[str]:
        """Return the fields of the object that the request cannot set."""
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
    """JSON array of a request: ids in the requested order, each once."""

    root: Annotated[
        list[T],
        Field(min_length=1, max_length=10_000, json_schema_extra={"uniqueItems": True}),
        AfterValidator(lambda ids: _require(ids, len({*ids}) == len(ids))),
        Must("a list of 1 to 10000 ids, each once"),
    ]


class Data(BaseModel, Generic[T]):
    """Envelope of a single object (platform-api.md, "Response envelope")."""

    model_config = ConfigDict(extra="forbid", defer_build=True)
    data: T


class Pagination(ApiObject):
    """Position of a page in its list."""

    page: int
    per_page: int
    total: int


class ListMeta(ApiObject):
    """Page and order of a list."""

    pagination: Pagination
    order: dict[str, Literal["asc", "desc"]]


class Page(Data[list[T]], Generic[T]):
    """Envelope of a list (platform-api.md, "Response envelope")."""

    meta: ListMeta


class Success(ApiObject):
    """Response of operations without an object to show (platform-api.md, "Operations")."""

    success: Literal[True]


class InvalidParameter(ApiObject):
    """Value of a request that is wrong, and the reason."""

    name: str
    reason: str


class ErrorDetail(ApiObject):
    """Reason of a refused request."""

    code: int
    message: str
    invalid_params: list[InvalidParameter] = UNSET


class Error(ApiObject):
    """Error object (platform-api.md, "Error codes")."""

    error: ErrorDetail


def check(model: type[M], given: object) -> M:
    """Return `given` as a `model`. Raises the documented error that lists all faults, unknown names included."""
    try:
        return model.model_validate(given)
    except ValidationError as error:
        found = error.errors(include_url=False, include_input=False)
        raise invalid(*(parameter for each in found for parameter in _invalid_parameters(each))) from None


def inside(problems: Sequence[tuple[str, str]]) -> PydanticCustomError:
    """Return the error of a validator that finds (name, reason) pairs inside a value."""
    return PydanticCustomError("inside", "must be sound", {"problems": [*problems]})


_REASONS = {
    "missing": "must be given",
    "extra_forbidden": "unknown parameter",
    "model_type": "must be an object",
    "list_type": "must be a list",
    "too_short": "must be a list of at least {min_length}",
    "string_unicode": "must be Unicode text",
    "too_long": "must be a list of at most {max_length}",
}


def _invalid_parameters(error: ErrorDetails) -> list[tuple[str, str]]:
    """Return the names and the reasons of a fault."""
    if error["type"] == "inside":
        pairs = error["ctx"]["problems"]
        return [
            _invalid_parameter({**error, "type": "", "loc": (*error["loc"], name), "msg": reason})
            for name, reason in pairs
        ]
    return [_invalid_parameter(error)]


def _invalid_parameter(error: ErrorDetails) -> tuple[str, str]:
    """Return the name and the reason of a fault."""
    name = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in error["loc"])
    reason = _REASONS.get(error["type"])
    return (
        name.removeprefix(".") if name.startswith(".") else f"body{name}",
        reason.format(**error.get("ctx", {})) if reason else error["msg"],
    )
