"""Each refusal of the platform becomes the matching error (platform-api.md, "Error codes" and "Error body")."""

from datetime import UTC, datetime

import pytest

from client.answers import TOKEN, api_of, saying
from livedeck.client import (
    STAND_IN,
    Conflict,
    Forbidden,
    NotFound,
    PaymentRequired,
    RateLimited,
    Rejected,
    RelayDraft,
    RelayRunning,
    RoomDraft,
    Secret,
    ServerFault,
    TooManyProfiles,
    Unauthorized,
    Unreadable,
    Validation,
)


def error(code: int, message: str = "no", **more: object) -> dict[str, object]:
    return {"error": {"code": code, "message": message, **more}}


async def refused(status: int, body: object, headers: dict[str, str] | None = None) -> Rejected:
    now = datetime(2026, 11, 21, 12, tzinfo=UTC)
    async with api_of(saying(body, status, headers), now=lambda: now) as api:
        with pytest.raises(Rejected) as caught:
            await api.events.list()
    return caught.value


@pytest.mark.parametrize(
    ("status", "body", "kind"),
    [
        (400, error(400404), NotFound),
        (404, error(404404), NotFound),
        (404, b"<html>", NotFound),
        (400, error(400289), TooManyProfiles),
        (400, error(400400), Validation),
        (400, error(400301), Validation),
        (413, error(413413), Validation),
        (401, error(401401), Unauthorized),
        (401, b"", Unauthorized),
        (402, error(402402), PaymentRequired),
        (402, b"<html>", PaymentRequired),
        (402, error(100101, "trial is over"), PaymentRequired),
        (400, error(100102), Validation),
        (403, error(100103), Forbidden),
        (200, error(402402), PaymentRequired),
        (403, error(403403), Forbidden),
        (409, error(409298), RelayRunning),
        (409, error(409409), Conflict),
        (429, error(429429), RateLimited),
        (500, error(500500), ServerFault),
        (502, b"<html>bad gateway</html>", ServerFault),
        (503, {"error": "down"}, ServerFault),
        (418, error(418418), Rejected),
        (200, error(404404), NotFound),
    ],
)
async def test_status_and_code_choose_the_error(status: int, body: object, kind: type[Rejected]) -> None:
    caught = await refused(status, body)
    assert type(caught) is kind
    assert caught.status == status


@pytest.mark.parametrize("status", [400, 402, 403, 404, 409, 418, 429, 500, 502, 503])
@pytest.mark.parametrize("body", [b"<html>no</html>", {"error": "no"}, {"message": "no"}, b""])
async def test_only_the_documented_error_body_is_the_platforms_word(status: int, body: object) -> None:
    caught = await refused(status, body)
    assert not caught.is_documented
    assert str(caught).startswith(f"list events: {STAND_IN} answers {status}, not in the platform's error format")
    theirs = await refused(status, error(status * 1000, "no"))
    assert theirs.is_documented
    assert STAND_IN not in str(theirs)


async def test_a_refusal_says_what_was_tried_what_happened_and_what_to_do() -> None:
    caught = await refused(401, error(401401, "token is wrong"))
    expected = "list events: the platform refused the token (token is wrong; code 401401); check the token"
    assert str(caught) == expected
    assert (caught.code, caught.message) == (401401, "token is wrong")


async def test_a_request_that_is_not_accepted_comes_with_advice() -> None:
    caught = await refused(400, error(400400, "no"))
    expected = (
        "list events: the platform does not accept the request (no; code 400400); check the values that were sent"
    )
    assert str(caught) == expected
    named = await refused(400, error(400400, "no", invalid_params=["per_page: at most 100"]))
    assert str(named).endswith("(no; code 400400); per_page: at most 100")


async def test_a_code_that_the_document_does_not_name_is_told_by_its_status_and_its_message() -> None:
    caught = await refused(402, error(100101, "the trial is over"))
    assert (caught.status, caught.code, caught.message) == (402, 100101, "the trial is over")
    assert str(caught) == (
        "list events: the platform asks for a payment first (the trial is over; status 402, code 100101); "
        "check the plan and the balance of the workspace"
    )


@pytest.mark.parametrize(
    "invalid", [[{"name": "per_page", "reason": "at most 100"}], ["per_page: at most 100"], {"per_page": "at most 100"}]
)
async def test_invalid_params_of_any_shape_are_told(invalid: object) -> None:
    caught = await refused(400, error(400400, "validation", detail="see below", invalid_params=invalid))
    assert "per_page: at most 100" in str(caught)
    assert caught.invalid_params == invalid
    assert caught.detail == "see below"


@pytest.mark.parametrize("code", ["400404", 400404.0, True, -1, 10**4000, None])
async def test_a_code_that_is_no_code_leaves_the_status_to_decide(code: object) -> None:
    caught = await refused(400, {"error": {"code": code, "message": "no"}})
    assert type(caught) is Validation
    assert caught.code is None
    assert len(str(caught)) < 200


@pytest.mark.parametrize("invalid", [7, "no", [[1]], [{"name": 5}], {"a": []}, None])
async def test_invalid_params_that_make_no_sense_do_no_harm(invalid: object) -> None:
    assert type(await refused(400, error(400400, invalid_params=invalid))) is Validation


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "7"}, 7.0),
        ({"Retry-After": "Sat, 21 Nov 2026 12:00:30 GMT"}, 30.0),
        ({"Retry-After": "Sat, 21 Nov 2026 12:00:30 GMT", "Date": "Sat, 21 Nov 2026 12:00:10 GMT"}, 20.0),
        ({"Retry-After": "Sat, 21 Nov 2026 11:00:00 GMT"}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "-5"}, None),
        ({"Retry-After": "inf"}, None),
        ({}, None),
    ],
)
async def test_retry_after_is_seconds_whether_it_came_as_seconds_or_as_a_date(
    headers: dict[str, str], seconds: float | None
) -> None:
    """A date counts from the platform's own clock where it tells the time."""
    caught = await refused(429, error(429429), headers)
    assert isinstance(caught, RateLimited)
    assert caught.retry_after == seconds


async def test_text_of_the_platform_is_harmless_in_a_message() -> None:
    caught = await refused(500, error(500500, "\x1b[2Jgone\u202e\nagain" + "x" * 5000))
    assert str(caught).isprintable()
    assert len(str(caught)) < 500


@pytest.mark.parametrize(
    ("location", "place"),
    [
        ("https://user:word@login.example.com:444/in?sign=abc", "https://login.example.com:444,"),
        ("/v3/live/events", "another path,"),
        ("http://[broken", "another path,"),
        ("", "another path,"),
    ],
)
async def test_a_redirect_names_where_it_points_and_nothing_that_may_sign_it(location: str, place: str) -> None:
    assert f"a redirect to {place}" in str(await refused(302, b"", {"Location": location}))


async def test_a_token_that_the_platform_repeats_is_masked() -> None:
    caught = await refused(401, error(401401, f"unknown token {TOKEN}", detail=TOKEN, invalid_params=[TOKEN]))
    assert TOKEN not in f"{caught} {caught!r} {caught.message} {caught.detail} {caught.invalid_params}"
    assert "unknown token ••••5a1e" in caught.message


def relay(key: str) -> RelayDraft:
    """A profile with that key."""
    return RelayDraft(name="A", url="rtmp://a.example/x", stream_key=Secret(key))


async def test_a_key_that_was_sent_is_masked_wherever_the_platform_repeats_it() -> None:
    """Whole, though another key is its beginning; in `invalid_params` too, which a form shows at its fields."""
    short, long = "live-key-of-a-9c1d", "live-key-of-a-9c1d-and-more-of-it-77aa"
    drafts = map(relay, (short, long))
    invalid = [{"name": "restreams[1].stream_key", "reason": f"{long} is taken"}, long, {long: [[long]]}]
    draft = RoomDraft(owner_id="o", name="Studio", restreams=tuple(drafts))
    async with api_of(saying(error(400400, f"taken: {long}", invalid_params=invalid), 400)) as api:
        with pytest.raises(Validation) as caught:
            await api.rooms.create(draft)
    assert "live-key" not in f"{caught.value} {caught.value.message} {caught.value.invalid_params}"
    assert "more-of-it" not in f"{caught.value} {caught.value.message} {caught.value.invalid_params}"
    assert "restreams[1].stream_key: ••••77aa is taken" in str(caught.value)


@pytest.mark.parametrize("key", ["k9x4", "k9x4z", "k9x4z7"])
async def test_a_short_key_is_masked_too(key: str) -> None:
    """From four characters on: what is shorter occurs in any text."""
    draft = RoomDraft(owner_id="o", name="A", restreams=(relay(key),))
    async with api_of(saying(error(400400, f"the key {key} is taken", detail=key, invalid_params=[key]), 400)) as api:
        with pytest.raises(Validation) as caught:
            await api.rooms.create(draft)
    assert key not in f"{caught.value} {caught.value.message} {caught.value.detail} {caught.value.invalid_params}"
    assert "the key •••• is taken" in caught.value.message


async def test_a_signature_that_the_platform_repeats_is_masked() -> None:
    link = "https://cdn.example.com/p.png?expires=1&sign=signature-of-the-url"
    async with api_of(saying(error(400400, f"cannot fetch {link}", invalid_params=[link]), 400)) as api:
        with pytest.raises(Validation) as caught:
            await api.posters.upload_for_video("v", link)
    assert "signature" not in f"{caught.value} {caught.value.message} {caught.value.invalid_params}"
    assert "cannot fetch https://cdn.example.com/••••?••••" in caught.value.message


async def test_invalid_params_of_any_depth_do_no_harm() -> None:
    deep = b'{"error": {"code": 400400, "invalid_params": ' + b"[" * 900 + b"]" * 900 + b"}}"
    assert type(await refused(400, deep)) is Validation


@pytest.mark.parametrize("body", [b"<html>Sign in</html>", b"{", b"NaN", b"[" * 100_000])
async def test_what_is_no_json_is_unreadable(body: bytes) -> None:
    async with api_of(saying(body, headers={"Content-Type": "text/html; charset=utf-8"})) as api:
        with pytest.raises(Unreadable, match=r"list events: the response \(text/html\) is not JSON; check the address"):
            await api.events.list()


@pytest.mark.parametrize(
    ("body", "media_type", "is_foreign"),
    [
        (b"<html>Sign in</html>", "text/html", True),
        (b'{"data": [{"id": ', "application/json", False),
        (b'{"items": []}', "application/json", False),
        (b"", "text/html", False),
    ],
)
async def test_only_a_reply_that_does_not_claim_to_be_json_is_foreign(
    body: bytes, media_type: str, *, is_foreign: bool
) -> None:
    async with api_of(saying(body, headers={"Content-Type": media_type})) as api:
        with pytest.raises(Unreadable) as caught:
            await api.events.list()
    assert caught.value.is_foreign is is_foreign


@pytest.mark.parametrize("value", ["Infinity", "[1 2]", "[" * 5000 + "]" * 5000, '"\\x"'])
async def test_data_that_cannot_be_read_is_no_list(value: str) -> None:
    async with api_of(saying(f'{{"data": {value}}}'.encode())) as api:
        with pytest.raises(Unreadable, match="list events: the response is not as documented"):
            await api.events.list()


async def test_what_is_invalid_is_told_wherever_the_platform_puts_it() -> None:
    """platform-api.md, "Error codes": errors "also carry a list"; whether inside the error or beside it is not
    shown."""
    beside = error(400400) | {"invalid_params": [{"name": "url", "reason": "too long"}]}
    caught = await refused(400, beside)
    assert caught.invalid_params == [{"name": "url", "reason": "too long"}]
    assert "url: too long" in str(caught)


@pytest.mark.parametrize("none", [None, False])
async def test_an_error_that_is_none_is_none(none: object) -> None:
    async with api_of(saying({"success": True, "error": none})) as api:
        await api.events.enable("e")
        with pytest.raises(Unreadable, match="without data"):
            await api.events.list()
