"""`livedeck collect token`: who may ask the collector (collector.md, "Access"). The settings file keeps digests."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from secrets import token_hex
from typing import get_args

import click
from tomlkit import TOMLDocument, table

from livedeck.cli.exit_codes import DONE, run
from livedeck.cli.options import CommandGroup
from livedeck.cli.output import echo
from livedeck.cli.settings_file import edit_settings
from livedeck.environment import PREFIX, config_path, variables
from livedeck.settings import CollectTokenSettings, SettingsError, load
from livedeck.settings.model import May
from livedeck.text.outside import escaped

_BYTES = 32
"""Of a token, at random."""


@click.group(cls=CommandGroup)
def token() -> None:
    """Say who may ask the collector, and what."""


@token.command("add")
@click.argument("name")
@click.option("--may", type=click.Choice(get_args(May)), default="read", show_default=True, help="What it opens.")
@click.pass_context
def add_command(ctx: click.Context, /, *, name: str, may: May) -> None:
    """Make a token for NAME, who acts with it, and print it: this once. The settings keep its SHA-256.

    A collector that runs knows it at once.
    """

    async def work() -> int:
        made = token_hex(_BYTES)

        def add(document: TOMLDocument) -> None:
            tokens = document.setdefault("collect", table()).setdefault("tokens", table(is_super_table=True))
            if name in tokens:
                raise SettingsError(f"there is a token of {name} already; `livedeck collect token remove {name}` first")
            tokens[name] = {"sha256": sha256(made.encode()).hexdigest(), "may": may}

        path = await _edit(add)
        echo(f"{path} keeps its digest. The token of {name}, which is shown this once:", err=True)
        echo(made)
        return DONE

    ctx.exit(run(work))


@token.command("list")
@click.pass_context
def list_command(ctx: click.Context, /) -> None:
    """Print who may ask, and what."""

    async def work() -> int:
        tokens = _tokens()
        width = max(map(len, tokens), default=0)
        for name, known in tokens.items():
            echo(f"{name:<{width}}  {known.may}")
        if not tokens:
            echo("nobody may ask yet; `livedeck collect token add NAME` makes a token", err=True)
        return DONE

    ctx.exit(run(work))


@token.command("remove")
@click.argument("name")
@click.pass_context
def remove_command(ctx: click.Context, /, *, name: str) -> None:
    """Take the token of NAME away. A collector that runs ends what it is used for."""

    async def work() -> int:
        def remove(document: TOMLDocument) -> None:
            tokens = document.get("collect", {}).get("tokens", {})
            if name not in tokens:
                known = ", ".join(tokens) or "there is none"
                raise SettingsError(f"there is no token of {escaped(name)}; known: {known}")
            del tokens[name]

        path = await _edit(remove)
        echo(f"{path}: the token of {name} opens nothing any more", err=True)
        return DONE

    ctx.exit(run(work))


async def _edit(change: Callable[[TOMLDocument], None]) -> Path:
    if f"{PREFIX}COLLECT" in variables():
        raise SettingsError(f"{PREFIX}COLLECT is set, and goes before {config_path()}; change or unset it")
    return await asyncio.to_thread(edit_settings, change)


def _tokens() -> dict[str, CollectTokenSettings]:
    return load().collect.tokens
