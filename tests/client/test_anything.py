"""Any JSON, status or bytes from the platform give a model or an ApiError, and never a harmful text."""

import json
from pathlib import Path
from tempfile import TemporaryDirectory

from hypothesis import given
from hypothesis import strategies as st

from client.answers import api_of, saying
from client.calls import bound, names, result
from client.documented import TABLES
from client.test_events import DOCUMENTED
from livedeck.client import ApiError, ExportResult, Model, Page, QosSamples, SignedLink
from livedeck.text import values
from trials import trials

scalars = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20)
anything = st.recursive(
    scalars, lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=9), inner, max_size=3)
)


def changed(whole: dict[str, object]) -> st.SearchStrategy[dict[str, object]]:
    """Generate the object with other values in some fields."""
    return st.dictionaries(st.sampled_from(sorted(whole)), anything, max_size=4).map(lambda some: whole | some)


objects = st.sampled_from([DOCUMENTED, *TABLES.values()]).flatmap(changed)
samples = st.lists(
    st.dictionaries(
        st.sampled_from(["time", "bitrate_video", "bitrate_audio", "frame_rate", "status", "more"]),
        anything | st.just("2026-11-21T12:00:00Z"),
    ),
    max_size=4,
)
errors = st.fixed_dictionaries(
    {}, optional={"code": anything, "message": anything, "detail": anything, "invalid_params": anything}
)
bodies = st.one_of(
    anything,
    st.fixed_dictionaries({"data": anything}),
    st.fixed_dictionaries({"data": objects}),
    st.fixed_dictionaries({"data": st.lists(objects, max_size=2), "meta": anything}),
    st.fixed_dictionaries({"data": samples}),
    st.fixed_dictionaries({"error": errors}),
)
statuses = st.sampled_from([200, 200, 200, 201, 204, 302, 400, 401, 404, 409, 429, 500, 599])
SECRETS = ("key-of-the", "signature-of-the", "live-key", "9c1d-link")
VERBATIM = {"api.chat.selected"}
"""Methods that return the text of the log unchanged; in all other replies secrets are masked."""


async def at_once(_seconds: float) -> None:
    """Return at once: the sleep of a client that waits for nothing."""


async def tell(body: bytes, status: int, name: str) -> None:
    """Check that a call returns what its signature says, or raises an ApiError of one harmless line."""
    with TemporaryDirectory() as folder:
        async with api_of(saying(body, status), sleep=at_once) as api:
            try:
                answer = await result(bound(api, name, Path(folder)))
            except ApiError as error:
                shown = f"{error}"
                assert values.safe(shown) == shown
            else:
                assert isinstance(
                    answer, Model | Page | QosSamples | SignedLink | ExportResult | list | tuple | int | None
                )
                shown = "" if name in VERBATIM else f"{answer!r}"
    assert not [secret for secret in SECRETS if secret in shown]


@trials(400)
@given(bodies, statuses, st.sampled_from(names()))
async def test_any_json_makes_a_model_or_an_api_error(body: object, status: int, name: str) -> None:
    await tell(json.dumps(body).encode(), status, name)


@trials(100)
@given(st.binary(max_size=60), statuses, st.sampled_from(names()))
async def test_any_bytes_make_a_model_or_an_api_error(body: bytes, status: int, name: str) -> None:
    await tell(body, status, name)
