"""`livedeck config`: the settings file, the settings in force, and the keys."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from livedeck.cli.exit_codes import DONE, FAULT, run
from livedeck.cli.options import FORCE, formats, merge_flags, platform
from livedeck.cli.output import echo, echo_json
from livedeck.environment import SettingsError, config_path

if TYPE_CHECKING:
    from livedeck.settings import LoadedSettings, Settings


@click.command
def path_command() -> None:
    """Print the path of the settings file."""
    echo(config_path())


@click.command
@FORCE
@click.pass_context
def init_command(ctx: click.Context, /, *, force: bool) -> None:
    """Write a settings file with the settings, commented out, and print its path.

    Only you can read it. An existing file stays, unless you add --force.
    """

    async def work() -> int:
        import asyncio

        from livedeck.atomic_file import write_private
        from livedeck.settings import template

        target = config_path()
        try:
            await asyncio.to_thread(write_private, target, template(), replace=force)
        except FileExistsError:
            raise SettingsError(f"{target} exists already; add --force to replace it") from None
        except OSError as error:
            echo(f"livedeck config init: {target}: {error.strerror}", err=True)
            return FAULT
        echo(target)
        return DONE

    ctx.exit(run(work))


@click.command
@click.option("--origin", is_flag=True, help="Print the origin of each setting.")
@formats("toml", "json", default="toml")
@platform
@click.pass_context
def show_command(ctx: click.Context, /, *, origin: bool, output_format: str, **flags: Any) -> None:
    """Print the settings in force, as TOML or JSON. Secrets are masked; JSON has the origins too."""

    async def work() -> int:
        import tomllib

        from livedeck.cli.formats import schema_name
        from livedeck.settings import Settings, load_with_origins

        loaded = load_with_origins(**merge_flags(ctx, flags))
        if output_format == "json":
            shown = {
                name: tomllib.loads(f"it = {masked_toml(loaded.settings, name)}")["it"]
                for name in Settings.model_fields
            }
            origins = {name: _origin(loaded, name) for name in Settings.model_fields}
            echo_json({"schema": schema_name("config show"), "settings": shown, "origins": origins})
            return DONE
        rows = [(f"{name} = {masked_toml(loaded.settings, name)}", name) for name in Settings.model_fields]
        width = max(len(text) for text, _ in rows) if origin else 0
        for text, name in rows:
            echo(f"{text:<{min(width, 60)}}  # {_origin(loaded, name)}" if origin else text)
        return DONE

    ctx.exit(run(work))


@click.command
@platform
@click.pass_context
def check_command(ctx: click.Context, /, **flags: Any) -> None:
    """Check the settings in force, the keys, every profile of the file, and the notification targets.

    Contacts neither the platform nor a target. Reads the secrets of notifications, OTLP and webhooks, and runs the
    programs that print them, but not `token_command`. Exit code 2 if a setting is wrong: the error names file, line and
    key, and the allowed values.
    """

    async def work() -> int:
        from livedeck.cli.collect.outputs import output_faults
        from livedeck.cli.collect.receivers import notify_faults
        from livedeck.cli.wiring import make_keymap, make_probe_plan, make_views
        from livedeck.settings import load, load_with_origins, unknown_variables

        given = merge_flags(ctx, flags)
        loaded = load_with_origins(**given)
        make_keymap(loaded.settings)
        make_views(loaded.settings)
        for profile in loaded.settings.profiles:
            load(**{**given, "profile": profile})
        if faults := [*await notify_faults(loaded.settings), *await output_faults(loaded.settings)]:
            raise SettingsError("\n".join(faults))
        for name in unknown_variables():
            echo(f"livedeck config: {name} is set, but is not a setting of livedeck", err=True)
        if loaded.settings.probe.enabled:
            make_probe_plan(loaded.settings)
            budget = loaded.settings.probe.budget_kbit
            echo(f"probe: at most {budget:g} kbit/s; `livedeck probe --plan` shows the traffic of each event")
        path = loaded.document.path
        echo(f"{path}: valid" if path.exists() else f"{path}: does not exist; all settings are valid")
        return DONE

    ctx.exit(run(work))


def masked_toml(settings: Settings, name: str) -> str:
    """Return a setting as TOML without secrets: no token, no arguments of a command that prints one."""
    from pydantic import BaseModel

    from livedeck.settings import toml
    from livedeck.text.addresses import show
    from livedeck.text.secrets import mask_secrets
    from livedeck.text.values import safe

    value = getattr(settings, name)
    if name == "token":
        return toml("••••" if value else "")
    if name in {"notify", "engine"}:
        value = value.model_dump(mode="json", exclude_unset=True)
    if name == "collector_url":
        value = [show(address, keeps_path=True) for address in settings.collector_urls]
    if name in {"notify", "engine", "token_command", "collector_token_command"}:
        return toml(_without_arguments({name: value})[name])
    if name == "profiles":
        return toml({key: dict.fromkeys(sorted(profile.model_fields_set), "…") for key, profile in value.items()})
    if isinstance(value, str):
        return toml(show(value, keeps_path=True) if "://" in value else mask_secrets(safe(value)))
    if isinstance(value, BaseModel):
        return toml(value.model_dump(exclude_none=True))
    return toml("" if value is None else value)


def _without_arguments(table: dict[str, Any]) -> dict[str, Any]:
    """Return the table without the arguments of commands that print secrets, in nested tables too."""
    shown: dict[str, Any] = {}
    for name, value in table.items():
        if isinstance(value, dict):
            shown[name] = _without_arguments(value)
        else:
            shown[name] = [value[0], "…"] if name.endswith("_command") and len(value) > 1 else value
    return shown


def _origin(loaded: LoadedSettings, name: str) -> str:
    from livedeck.settings import TOKEN_SOURCES

    return loaded.origins.get(name, "not set" if name in TOKEN_SOURCES else "default")


@click.command
@click.pass_context
def keys_command(ctx: click.Context) -> None:
    """Print the keys in force: every action with its keys and its command, as a table."""

    async def work() -> int:
        from livedeck.cli.wiring import make_keymap
        from livedeck.settings import load_display
        from livedeck.ui.features import FEATURES
        from livedeck.ui.shell.commands import markdown
        from livedeck.ui.shell.context import ActionRegistry

        echo(markdown(ActionRegistry(FEATURES, make_keymap(load_display()))))
        return DONE

    ctx.exit(run(work))
