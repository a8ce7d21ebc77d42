"""`livedeck notify dead`: messages that were given up (notifications.md, "Commands")."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING, Any

import click

from livedeck.cli.collect.notify import open_storage, read_unsent, unsent_line, unsent_object
from livedeck.cli.exit_codes import DONE, run
from livedeck.cli.formats import schema_name
from livedeck.cli.options import formats, merge_flags, platform
from livedeck.cli.output import echo, echo_json
from livedeck.cli.wiring import make_link
from livedeck.notify import DEAD
from livedeck.settings import Settings, load
from livedeck.text.secrets import masked_line

if TYPE_CHECKING:
    from livedeck.collector.protocol.unsent import Letter, Unsent


@click.command
@formats("table", "json")
@platform
@click.pass_context
def list_command(ctx: click.Context, /, *, output_format: str, **flags: Any) -> None:
    """List the dead letters: messages that livedeck has given up.

    A message becomes a dead letter if its target refuses it, fails it three times but takes another message, or has not
    taken it within 24 h.

    Reads the collector of `collector_url`, the shared spool of `[engine]`, or the spool of this machine.
    """

    async def work() -> int:
        letters = await _dead(load(**merge_flags(ctx, flags)))
        if output_format == "json":
            items = [unsent_object(letter) for letter in letters]
            echo_json({"schema": schema_name("notify dead list"), "items": items, "unreadable": []})
            return DONE
        for letter in letters:
            echo(unsent_line(letter, letter.id[:8]))
        if not letters:
            echo("no dead letters", err=True)
        return DONE

    ctx.exit(run(work))


@click.command
@click.argument("letter_id", metavar="ID")
@formats("table", "json")
@platform
@click.pass_context
def show_command(ctx: click.Context, /, *, letter_id: str, output_format: str, **flags: Any) -> None:
    """Show a dead letter: the reply of its target, its text, and its JSON as a webhook gets it.

    ID: the id of the dead letter, or its beginning.
    """

    async def work() -> int:
        settings = load(**merge_flags(ctx, flags))
        (key,) = _chosen(await _dead(settings), [letter_id])
        letter = await _read(settings, key)
        if output_format == "json":
            echo_json({"schema": schema_name("notify dead show"), **unsent_object(letter)})
            return DONE
        echo(unsent_line(letter, letter.id))
        for line in ("", letter.title, *letter.text.splitlines(), "", letter.payload):
            echo(masked_line(line, len(line)))
        return DONE

    ctx.exit(run(work))


@click.command
@click.argument("letter_ids", metavar="[ID]...", nargs=-1)
@formats("table", "json")
@platform
@click.pass_context
def retry_command(ctx: click.Context, /, *, letter_ids: tuple[str, ...], output_format: str, **flags: Any) -> None:
    """Retry the dead letters with these IDs, or all dead letters if no ID is given.

    The running collector sends them; without one, the next collector that starts.

    With `collector_url` in the settings, that collector retries them, if your token has the right `act`.
    """

    async def work() -> int:
        settings = load(**merge_flags(ctx, flags))
        keys = _chosen(await _dead(settings), letter_ids) if letter_ids else []
        if settings.collector_urls:
            from livedeck.collector.attached.unsent import retry_letters

            async with AsyncExitStack() as stack:
                count = await retry_letters(await make_link(settings, stack), keys)
        else:
            async with open_storage(settings) as spool:
                count = spool.revive(keys)
        return _report("retry", count, f"{count} message{'' if count == 1 else 's'} will be retried", output_format)

    ctx.exit(run(work))


@click.command
@click.argument("letter_ids", metavar="[ID]...", nargs=-1)
@click.option("--all", "is_all", is_flag=True, help="Delete every dead letter.")
@formats("table", "json")
@platform
@click.pass_context
def drop_command(
    ctx: click.Context, /, *, letter_ids: tuple[str, ...], is_all: bool, output_format: str, **flags: Any
) -> None:
    """Delete dead letters, so that they raise no alarm any more. They cannot be retried afterwards.

    Name them by ID or its beginning, or use --all.
    """

    async def work() -> int:
        if bool(letter_ids) is is_all:
            raise click.UsageError("name dead letters by ID, or use --all")
        settings = load(**merge_flags(ctx, flags))
        letters = await _dead(settings)
        keys = [letter.id for letter in letters] if is_all else _chosen(letters, letter_ids)
        if not keys:
            count = 0
        elif settings.collector_urls:
            from livedeck.collector.attached.unsent import drop_letters

            async with AsyncExitStack() as stack:
                count = await drop_letters(await make_link(settings, stack), keys)
        else:
            async with open_storage(settings) as spool:
                count = spool.drop(keys)
        return _report("drop", count, f"{count} dead letter{'' if count == 1 else 's'} dropped", output_format)

    ctx.exit(run(work))


def _report(verb: str, count: int, words: str, output_format: str) -> int:
    if output_format == "json":
        echo_json({"schema": schema_name(f"notify dead {verb}"), "count": count})
    else:
        echo(words)
    return DONE


async def _dead(settings: Settings) -> list[Unsent]:
    return [unsent for unsent in await read_unsent(settings) if unsent.state == DEAD]


def _chosen(letters: Sequence[Unsent], words: Sequence[str]) -> list[str]:
    """Return, for each word, the id that begins with it.

    Raises UsageError unless exactly one dead letter has such an id.
    """
    keys = []
    for word in words:
        found = [letter.id for letter in letters if letter.id.startswith(word.strip().casefold() or "-")]
        if len(found) != 1:
            raise click.UsageError(
                f"{len(found) or 'no'} dead letters have the id {word!r}; `livedeck notify dead list` lists them"
            )
        keys += found
    return keys


async def _read(settings: Settings, key: str) -> Letter:
    """Return a dead letter with its contents. Raises SettingsError, MachineError, CollectorError."""
    if settings.collector_urls:
        from livedeck.collector.attached.unsent import read_letter

        async with AsyncExitStack() as stack:
            return await read_letter(await make_link(settings, stack), key)
    from livedeck.collector.protocol.unsent import Letter

    async with open_storage(settings, reads=True) as spool:
        return next(Letter.of(spooled) for spooled in spool.messages(DEAD) if spooled.message.key == key)
