"""`livedeck collector token`: access tokens of the collector, as digests in the settings (collector.md, "Access")."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Iterator, Mapping
from datetime import UTC, datetime, timedelta
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import TYPE_CHECKING, Any, get_args

import click
from click.core import ParameterSource
from tomlkit import TOMLDocument, table

from livedeck.cli.collect.links import make_links
from livedeck.cli.exit_codes import DONE, run
from livedeck.cli.formats import schema_name
from livedeck.cli.options import formats
from livedeck.cli.output import echo, echo_json
from livedeck.cli.settings_file import edit_settings
from livedeck.collector.serving.ledger import Use, UsesError, read_uses, uses_path
from livedeck.environment import PREFIX, config_path, variables
from livedeck.settings import CollectorTokenSettings, Settings, SettingsError, load
from livedeck.settings.model import May
from livedeck.text.outside import escaped
from livedeck.text.times import TimeReference, isoformat_utc, parse
from livedeck.text.values import safe

if TYPE_CHECKING:
    from livedeck.presentation.documents import CollectorToken

_BYTES = 32
"""Random bytes in a token."""

MAX_GRACE = timedelta(days=30)
"""Maximum time that an old token stays valid beside its replacement."""

CALENDAR_RIGHTS = ("read", "act")
"""Rights of a token, each of which allows the calendar."""

_LENGTH, _DAY = re.compile(r"\d+ *[a-z]+.*"), re.compile(r"\d{4}-\d\d-\d\d")


def _parse_expiry(_ctx: click.Context, _option: click.Parameter, value: str | None) -> datetime | None:
    """Return the expiry in UTC, or None for `never`. A date means the beginning of that day. Raises BadParameter."""
    text, now = (value or "never").strip().casefold(), datetime.now(UTC).replace(microsecond=0)
    if text == "never":
        return None
    try:
        if _DAY.fullmatch(text):
            text = f"{text} 00:00"
        at = parse(f"in {text}" if _LENGTH.fullmatch(text) else text, TimeReference(now))
    except ValueError:
        raise click.BadParameter(f"{value}: type 30d, 12h, 2027-01-31, 2027-01-31 18:00, or never") from None
    if at <= now:
        raise click.BadParameter(f"{value}: that time has passed")
    return at


def _parse_grace(_ctx: click.Context, _option: click.Parameter, value: str) -> timedelta:
    """Return the duration. Raises BadParameter if it exceeds `MAX_GRACE` or is no duration."""
    text, now = value.strip().casefold(), datetime.now(UTC)
    if text == "0":
        return timedelta()
    try:
        grace = parse(f"in {text}", TimeReference(now)) - now
    except ValueError:
        raise click.BadParameter(f"{value}: type 1d, 12h, 30m, or 0") from None
    if grace > MAX_GRACE:
        raise click.BadParameter(f"{value}: at most {MAX_GRACE.days}d")
    return grace


@click.command
@click.argument("name", metavar="NAME")
@click.option("--may", type=click.Choice(get_args(May)), default="read", show_default=True, help="Rights of the token.")
@click.option(
    "--expires", callback=_parse_expiry, metavar="TIME", help="Expiry of the new token: 30d, 2027-01-31, or never."
)
@click.pass_context
def create_command(ctx: click.Context, /, *, name: str, may: May, expires: datetime | None) -> None:
    """Create a token for NAME and print it once. The settings keep its SHA-256.

    A running collector accepts it at once.
    """

    async def work() -> int:
        made = token_hex(_BYTES)

        def add(document: TOMLDocument) -> None:
            tokens = document.setdefault("collector", table()).setdefault("tokens", table(is_super_table=True))
            if name in tokens:
                raise SettingsError(f"{name} already has a token; run `livedeck collector token delete {name}` first")
            tokens[name] = {"sha256": sha256(made.encode()).hexdigest(), "may": may, **_expiry(expires)}

        path = await _edit(add)
        if expires:
            echo(f"The token of {name} expires {_time(expires)}.", err=True)
        echo(f"Digest saved to {path}. The token of {name}, shown only now:", err=True)
        echo(made)
        return DONE

    ctx.exit(run(work))


@click.command
@click.argument("name", metavar="NAME")
@click.option(
    "--grace",
    callback=_parse_grace,
    default="1d",
    show_default=True,
    metavar="TIME",
    help="Keep the old token valid this long, up to 30d.",
)
@click.option(
    "--expires", callback=_parse_expiry, metavar="TIME", help="Expiry of the new token: 30d, 2027-01-31, or never."
)
@click.pass_context
def rotate_command(ctx: click.Context, /, *, name: str, grace: timedelta, expires: datetime | None) -> None:
    """Create a new token for NAME and print it once. The old token stays valid for a while.

    Put the new token on every deck of NAME meanwhile. `livedeck collector token list` shows the last use of the old
    token. --grace 0 refuses the old token at once: use this option if the token has leaked.

    An expiry of the old token still applies. An even older token of NAME is refused at once.
    """

    async def work() -> int:
        made, now, said = token_hex(_BYTES), datetime.now(UTC).replace(microsecond=0), list[str]()

        def rotate(document: TOMLDocument) -> None:
            tokens = document.get("collector", {}).get("tokens", {})
            _check_known(name, tokens)
            old = CollectorTokenSettings.model_validate(tokens[name].unwrap())
            if old.expires and ctx.get_parameter_source("expires") is ParameterSource.DEFAULT:
                raise SettingsError(
                    f"the token of {name} expires {_time(old.expires)}: give the new token an expiry, such as "
                    "--expires 30d or --expires never"
                )
            until = min(now + grace, old.expires or now + grace)
            for key in ("expires", "previous_sha256", "previous_until"):
                tokens[name].pop(key, None)
            tokens[name].update({"sha256": sha256(made.encode()).hexdigest(), **_expiry(expires)})
            if until > now:
                tokens[name].update({"previous_sha256": old.sha256, "previous_until": until})
            validity = f"valid until {_time(until)}" if until > now else "refused now"
            said.append(f"The old token is {validity}.")
            if old.previous_until and old.previous_until > now:
                said.append("The token that the old one had replaced is refused now.")

        path = await _edit(rotate)
        if expires:
            said.append(f"The new token expires {_time(expires)}.")
        echo(" ".join(said), err=True)
        echo(f"Digest saved to {path}. The new token of {name}, shown only now:", err=True)
        echo(made)
        return DONE

    ctx.exit(run(work))


@click.command
@formats("table", "json")
@click.pass_context
def list_command(ctx: click.Context, /, *, output_format: str) -> None:
    """List the tokens: rights, expiry, and time and address of the last use.

    A running collector records uses beside its history, at most once a minute.
    """

    async def work() -> int:
        settings = load()
        tokens = settings.collector.tokens
        uses, fault = await asyncio.to_thread(_read_uses, settings)
        if output_format == "json":
            items = [item for name, token in tokens.items() for item in _items(name, token, uses)]
            head = {"schema": schema_name("collector token list"), "uses_known": uses is not None}
            echo_json({**head, "items": items, "unreadable": []})
            return DONE
        rows = [row for name, token in tokens.items() for row in _rows(name, token, uses)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row in rows:
            echo("  ".join(f"{cell:<{width}}" for cell, width in zip(row, widths, strict=True)).rstrip())
        if not tokens:
            echo("no tokens yet; create one: `livedeck collector token create NAME`", err=True)
        elif fault:
            echo(fault, err=True)
        return DONE

    ctx.exit(run(work))


def _read_uses(settings: Settings) -> tuple[Mapping[str, Use] | None, str]:
    """Return the last use of each token by its digest, and an empty text; or None, and why the uses are unknown."""
    history = settings.history_file()
    if history is None:
        return None, "last uses unknown: they are stored beside the history, and no history is kept"
    path = uses_path(history)
    try:
        return read_uses(path), ""
    except FileNotFoundError:
        return None, f"last uses unknown: {path} does not exist; a collector writes it beside its `history`"
    except UsesError as error:
        return None, f"last uses unknown: {error}"


def _rows(name: str, token: CollectorTokenSettings, uses: Mapping[str, Use] | None) -> Iterator[tuple[str, ...]]:
    now = datetime.now(UTC)
    yield name, token.may, _validity(token.expires, now), _last_use(token.sha256, uses)
    if token.previous_until:
        until = f"old token {_validity(token.previous_until, now)}"
        yield name, token.may, until, _last_use(token.previous_sha256, uses)


def _items(name: str, token: CollectorTokenSettings, uses: Mapping[str, Use] | None) -> Iterator[CollectorToken]:
    yield _item(name, token, (token.expires, token.sha256), uses, is_old=False)
    if token.previous_until:
        yield _item(name, token, (token.previous_until, token.previous_sha256), uses, is_old=True)


def _item(
    name: str,
    token: CollectorTokenSettings,
    key: tuple[datetime | None, str],
    uses: Mapping[str, Use] | None,
    *,
    is_old: bool,
) -> CollectorToken:
    expires, digest = key
    use = (uses or {}).get(digest)
    return {
        "name": name,
        "may": token.may,
        "is_old": is_old,
        "expires": isoformat_utc(expires),
        "last_use": isoformat_utc(use.at) if use else None,
        "last_address": safe(use.peer, 60) if use else None,
    }


def _validity(expires: datetime | None, now: datetime) -> str:
    if expires is None:
        return "never expires"
    return f"{'expires' if expires > now else 'EXPIRED'} {_time(expires)}"


def _last_use(digest: str, uses: Mapping[str, Use] | None) -> str:
    if uses is None:
        return "last use unknown"
    use = uses.get(digest)
    return f"last used {_time(use.at)} from {safe(use.peer, 60)}" if use else "no recorded use"


def _expiry(expires: datetime | None) -> dict[str, datetime]:
    return {"expires": expires} if expires else {}


def _time(at: datetime) -> str:
    return f"{at.astimezone(UTC):%Y-%m-%d %H:%M}Z"


@click.command
@click.argument("name", metavar="NAME")
@click.pass_context
def delete_command(ctx: click.Context, /, *, name: str) -> None:
    """Delete the token of NAME. A running collector closes the connections that use it."""

    async def work() -> int:
        def remove(document: TOMLDocument) -> None:
            tokens = document.get("collector", {}).get("tokens", {})
            _check_known(name, tokens)
            del tokens[name]

        path = await _edit(remove)
        echo(f"{path}: the token of {name} is deleted", err=True)
        return DONE

    ctx.exit(run(work))


@click.command
@click.argument("name", metavar="NAME")
@click.pass_context
def calendar_command(ctx: click.Context, /, *, name: str) -> None:
    """Print the address of the calendar of planned events, for the token of NAME.

    A calendar program subscribes to this address. Whoever has it can read the calendar and nothing else, as long as the
    token is valid: delete or rotate the token to end the address. Needs link_url of [collector], and the settings and
    variables of the collector.
    """

    async def work() -> int:
        settings = load()
        tokens = settings.collector.tokens
        _check_known(name, tokens)
        if tokens[name].may not in CALENDAR_RIGHTS:
            raise SettingsError(f"the token of {name} has the right {tokens[name].may}; the calendar needs read")
        links = await asyncio.to_thread(make_links, settings)
        if links is None:
            raise SettingsError("no address for the calendar: set link_url of [collector], and keep a history")
        echo(links.calendar_link(name, tokens[name].sha256))
        return DONE

    ctx.exit(run(work))


def _check_known(name: str, tokens: Mapping[str, Any]) -> None:
    if name not in tokens:
        raise SettingsError(f"{escaped(name)} has no token; tokens of: {', '.join(tokens) or 'nobody'}")


async def _edit(change: Callable[[TOMLDocument], None]) -> Path:
    if f"{PREFIX}COLLECTOR" in variables():
        raise SettingsError(f"{config_path()} has no effect while {PREFIX}COLLECTOR is set: change or unset it")
    return await asyncio.to_thread(edit_settings, change)
