"""Run livedeck with the lowest versions that it declares.

`python tests/hygiene/lowest_versions.py [FOLDER]`: a command of its own, not a test of the suite, because it fetches
every dependency. It makes an environment with the lowest version of each, builds and installs livedeck there, and runs
every command of it. A second environment has only the packages of the client (library.md, "Install").
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import tomllib
from collections.abc import Iterable
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]
TIMEOUT = 600


LEARNT = """
from livedeck.monitor.detection.learnt import Learnt, parse_learnt
from livedeck.monitor.signal.analysis import SignalAnalysis
assert parse_learnt(Learnt(SignalAnalysis().checkpoints[-1]).to_json())
"""
"""Program that stores the learnt values of a stream and reads them again, as the history does."""


def declared() -> dict[str, str]:
    """Return the lowest version of each dependency. Raises ValueError if one declares none."""
    project = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
    return dict(lowest(requirement) for requirement in project["dependencies"])


def lowest(requirement: str) -> tuple[str, str]:
    """Return name and lowest version of `click>=8.2,<9`. Raises ValueError if it has none."""
    found = re.match(r"([A-Za-z0-9_.-]+)(?:\[[^\]]*\])?\s*>=\s*([0-9.]+)", requirement)
    if found is None:
        raise ValueError(f"{requirement}: declares no lowest version")
    return found[1], found[2]


def run(program: Path, *arguments: str, home: Path) -> None:
    """Run a program to its end. Raises SystemExit if it fails."""
    env = {"PATH": os.environ["PATH"], "HOME": str(home), "TERM": "xterm-256color"}
    done = subprocess.run(
        [str(program), *arguments], env=env, capture_output=True, text=True, timeout=TIMEOUT, check=False
    )
    if done.returncode:
        sys.exit(f"{program.name} {' '.join(arguments)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")


def commands(python: Path, home: Path) -> Iterable[list[str]]:
    """Yield every command and subcommand of the installed package."""
    code = (
        "import click\nfrom livedeck.cli import main\nctx = click.Context(main)\n"
        "for name in main.list_commands(ctx):\n"
        "    command = main.get_command(ctx, name)\n    print(name)\n"
        "    for inner in command.list_commands(ctx) if isinstance(command, click.Group) else ():\n"
        "        print(name, inner)\n"
    )
    env = {"PATH": os.environ["PATH"], "HOME": str(home)}
    done = subprocess.run([str(python), "-c", code], env=env, capture_output=True, text=True, timeout=60, check=True)
    return [line.split() for line in done.stdout.splitlines()]


def check_client(folder: Path) -> None:
    """Make an environment of the client alone in that folder, and import the client there."""
    exact = [f"{name}=={version}" for name, version in declared().items() if name in {"httpx", "msgspec", "pydantic"}]
    subprocess.run([sys.executable, "-m", "venv", str(folder / "client")], check=True, timeout=TIMEOUT)
    program, home = folder / "client" / "bin", folder / "home"
    home.mkdir(exist_ok=True)
    for packages in (exact, ["--no-deps", str(ROOT)]):
        subprocess.run([str(program / "pip"), "install", "-q", *packages], check=True, timeout=TIMEOUT)
    code = "from livedeck.client import Api, Event\nApi(base_url='https://a.example', token='t')\nEvent(id='e')"
    run(program / "python", "-c", code, home=home)
    sys.stdout.write(f"the client can be imported with {', '.join(exact)} alone\n")


def main(folder: Path) -> None:
    """Make the environment in that folder and run everything in it."""
    exact = [f"{name}=={version}" for name, version in declared().items()]
    subprocess.run([sys.executable, "-m", "venv", str(folder / "venv")], check=True, timeout=TIMEOUT)
    program, home = folder / "venv" / "bin", folder / "home"
    home.mkdir(exist_ok=True)
    install = [str(program / "pip"), "install", "-q", str(ROOT), *exact]
    subprocess.run(install, check=True, timeout=TIMEOUT)
    every = list(commands(program / "python", home))
    for words in every:
        run(program / "livedeck", *words, "--help", home=home)
    for words in (["demo"], ["docs", "commands"], ["event", "list", "--schema"], ["config", "keys"]):
        run(program / "livedeck", *words, home=home)
    run(program / "livedeck", "docs", "--screenshots", str(folder / "screenshots"), home=home)
    run(program / "python", "-c", LEARNT, home=home)
    sys.stdout.write(f"{len(every)} commands answer, and demo, deck and history run, with {', '.join(exact)}\n")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        main(Path(sys.argv[1]))
        check_client(Path(sys.argv[1]))
    else:
        with TemporaryDirectory(prefix="livedeck-lowest-") as made:
            main(Path(made))
            check_client(Path(made))
