"""The README keeps its promises."""

import re
from pathlib import Path

import pytest

from livedeck.cli.screenshots import PICTURES, TROUBLES, picture, trouble
from livedeck.ui.actions.table import markdown

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")


def test_every_picture_is_there() -> None:
    named = re.findall(r"\]\((screenshots/[^)]+)\)", README)
    assert named
    assert not [name for name in named if not (ROOT / name).exists()]


@pytest.mark.parametrize("name", PICTURES)
async def test_a_picture_is_what_its_command_makes(name: str) -> None:
    """`livedeck screenshots` renews them; look at what changed."""
    size, keys = PICTURES[name]
    assert await picture(size, keys) == (ROOT / "screenshots" / f"{name}.svg").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", TROUBLES)
async def test_a_picture_of_trouble_is_what_its_command_makes(name: str) -> None:
    assert await trouble(name) == (ROOT / "screenshots" / f"{name}.svg").read_text(encoding="utf-8")


def test_the_key_table_is_what_its_command_prints() -> None:
    """`livedeck keys`."""
    assert f"## Keys\n\n{markdown()}\n\n" in README


def test_ci_runs_exactly_the_test_command() -> None:
    (command,) = re.findall(r"\*\*Test it:\*\*\s+```sh\n(.+?)\n```", README)
    assert command in (ROOT / ".ci" / "run").read_text(encoding="utf-8").splitlines()


def test_every_command_is_in_the_readme_and_answers_for_itself() -> None:
    from livedeck.cli import COMMANDS, main

    for name in COMMANDS:
        assert f"`livedeck {name}" in README
        with pytest.raises(SystemExit) as end:
            main([name, "--help"])
        assert end.value.code == 0
