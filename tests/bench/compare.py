"""Time the benches of two commits against each other, in turns, and tell which figures are slower.

    python tests/bench/compare.py BASE HEAD [NAME ...] [--pairs 7] [--write PAGE]

Each commit gets a worktree and a virtual environment from its own lock, and runs its own script of each name. The turns
alternate (base, head, head, base ...), so a machine whose speed drifts harms both alike. A figure is slower only if the
median of the pairs is more than 5 % above 1 and all but one of seven pairs agree; otherwise the difference is unknown.
Exits 1 if a figure is slower, and 2 if the machine is busy: figures of a busy machine prove nothing.
"""

from __future__ import annotations

import argparse
import os
import platform
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping, Sequence
from contextlib import ExitStack, contextmanager
from datetime import UTC, datetime
from pathlib import Path
from statistics import median
from tempfile import TemporaryDirectory
from typing import NamedTuple

from click import echo

PROJECT = Path(__file__).parents[2]

PAIRS = 7
AGREEING = 6 / 7
"""Share of the pairs that must agree. By chance alone they do in 6 of 100 comparisons."""

LARGER = 1.05
"""Ratio below which a difference is not worth a sentence."""

BUSY = 0.5
"""Load of each core above which no figure is taken."""

LONGEST = 900.0
"""Seconds after which a script is given up."""

BEGIN, END = "<!-- compare -->", "<!-- /compare -->"


class Figure(NamedTuple):
    """A figure that a script prints.

    Attributes:
        name: Its name in the table.
        pattern: Finds the number. A second group is the baseline in the same line: the figure is then their ratio.
        is_speed: Whether more is better; the figure is then inverted.
    """

    name: str
    pattern: str
    is_speed: bool = False

    def read(self, text: str) -> float | None:
        """Return the figure, smaller is better, or None if the script did not print it."""
        found = re.search(self.pattern, text, re.MULTILINE)
        if found is None:
            return None
        values = [float(value.replace(",", "")) for value in found.groups() if value]
        value = values[0] / values[1] if len(values) > 1 else values[0]
        return 1 / value if self.is_speed else value


class Bench(NamedTuple):
    """Arguments and figures of a script; the arguments make it short enough for seven pairs."""

    arguments: tuple[str, ...]
    figures: tuple[Figure, ...]


BENCHES: Mapping[str, Bench] = {
    "frame": Bench(
        ("--rounds", "2", "--seconds", "5"),
        (
            Figure("--help, x python -c pass", r"--help .*?([\d.]+) x"),
            Figure("first frame, x a bare app", r"(?:first|its) frame .*?([\d.]+) x"),
            Figure("whole deck, x a bare app", r"(?:whole|full) deck .*?([\d.]+) x"),
            Figure("on air, % of a core", r"on air .*?([\d.]+)%"),
            Figure("still, % of a core", r"still .*?([\d.]+)%"),
            Figure("a key with 100 rows, ms of processor", r" 100 rows:.*processor time +([\d.]+)"),
            Figure("a key with 10,000 rows, ms of processor", r"10,000 rows:.*processor time +([\d.]+)"),
        ),
    ),
    "history": Bench(
        ("1",),
        (
            Figure("a stored tick of 200 samples, of naive", r"samples stored, ms: ([\d.]+).*naive ([\d.]+)"),
            Figure("bytes a sample", r"bytes a sample, roll-ups included: ([\d.]+)"),
            Figure("last hour, of naive", r"last hour in 200 columns, ms: ([\d.]+).*naive ([\d.]+)"),
        ),
    ),
    "loop_held": Bench(
        (),
        (
            Figure("first round, longest hold, ms", r"first round .*?: longest hold ([\d.]+)"),
            Figure("steady rounds, longest hold, ms", r"steady rounds .*?: longest hold ([\d.]+)"),
        ),
    ),
    "chat_export": Bench(
        ("100",),
        (
            Figure("verbatim export, x curl", r"^verbatim: ([\d.]+) of curl", is_speed=True),
            Figure("CSV, x ijson", r"^csv: ([\d.]+) of ijson", is_speed=True),
            Figure("messages, s of processor", r"^messages +([\d.]+) s"),
        ),
    ),
    "detection": Bench(("0", "1000", "none"), (Figure("a sample judged, us", r"([\d.]+) us a sample"),)),
    "telling": Bench((), (Figure("3,000 alarms notified, x 300", r"telling x ([\d.]+)"),)),
}
"""Each script by its name. Older words of a line stay in the pattern, as an older commit prints them."""


class Verdict(NamedTuple):
    """The pairs of a figure, as (base, head)."""

    name: str
    pairs: Sequence[tuple[float, float]]

    @property
    def ratio(self) -> float:
        """Median of head divided by base."""
        return median(head / base for base, head in self.pairs)

    @property
    def is_slower(self) -> bool:
        """Return whether the head is slower beyond doubt."""
        return self.ratio > LARGER and self._share(self.pairs) >= AGREEING

    @property
    def word(self) -> str:
        """Return the word of the table: slower, faster or unknown."""
        if self.is_slower:
            return "SLOWER"
        is_faster = self.ratio < 1 / LARGER and self._share([(head, base) for base, head in self.pairs]) >= AGREEING
        return "faster" if is_faster else "no difference shown"

    @staticmethod
    def _share(pairs: Sequence[tuple[float, float]]) -> float:
        return sum(second > first for first, second in pairs) / len(pairs)


@contextmanager
def built(commit: str) -> Iterator[Path]:
    """Check out a commit and install its lock, both in a temporary folder. Yield the checkout."""
    with TemporaryDirectory(prefix="compare-") as folder:
        tree = Path(folder) / "tree"
        _run("git", "-C", str(PROJECT), "worktree", "add", "--detach", "--quiet", str(tree), commit)
        try:
            _run(sys.executable, "-m", "venv", str(tree / ".venv"))
            pip = (str(tree / ".venv/bin/python"), "-m", "pip", "install", "--quiet")
            _run(*pip, "--require-hashes", "-r", str(tree / "requirements.lock"))
            _run(*pip, "--no-deps", "-e", str(tree))
            yield tree
        finally:
            _run("git", "-C", str(PROJECT), "worktree", "remove", "--force", str(tree))


def _run(*command: str) -> None:
    subprocess.run(command, check=True)


def figures(tree: Path, name: str) -> dict[str, float]:
    """Run a script of a checkout and return its figures by name; without those that it does not print."""
    bench = BENCHES[name]
    if not (tree / "tests/bench" / f"{name}.py").exists():
        return {}
    command = [str(tree / ".venv/bin/python"), "-m", f"bench.{name}", *bench.arguments]
    path = os.pathsep.join((str(tree / "src"), str(tree / "tests")))
    done = subprocess.run(
        command,
        check=False,
        cwd=tree,
        env=os.environ | {"PYTHONPATH": path},
        timeout=LONGEST,
        text=True,
        capture_output=True,
    )
    read = {figure.name: figure.read(done.stdout) for figure in bench.figures}
    if None in read.values():
        echo(f"{name} at {tree} printed not every figure:\n{done.stdout[-500:]}{done.stderr[-500:]}", err=True)
    return {figure: value for figure, value in read.items() if value is not None}


def compare(base: Path, head: Path, name: str, pairs: int) -> list[Verdict]:
    """Run a script of both checkouts in turns. Return a verdict for each figure that both print."""
    taken: list[tuple[dict[str, float], dict[str, float]]] = []
    for turn in range(pairs):
        if turn % 2:
            second, first = figures(head, name), figures(base, name)
        else:
            first, second = figures(base, name), figures(head, name)
        taken.append((first, second))
    shared = [
        figure.name for figure in BENCHES[name].figures if all(figure.name in pair for both in taken for pair in both)
    ]
    return [Verdict(figure, [(first[figure], second[figure]) for first, second in taken]) for figure in shared]


def table(verdicts: Sequence[Verdict]) -> str:
    """Return the Markdown table of the verdicts: the best of each side, the median ratio, and the word."""
    rows = ["| Figure | Base | Head | Head / base | Verdict |", "|---|---|---|---|---|"]
    for verdict in verdicts:
        base, head = (min(side) for side in zip(*verdict.pairs, strict=True))
        rows.append(f"| {verdict.name} | {base:.4g} | {head:.4g} | {verdict.ratio:.2f} | {verdict.word} |")
    return "\n".join(rows)


def machine() -> str:
    """Return a line about the machine: cores, processor, Python and load."""
    try:
        models = re.findall(r"model name\s*: (.*)", Path("/proc/cpuinfo").read_text(encoding="utf-8"))
    except OSError:
        models = []
    cores, load = os.cpu_count() or 1, os.getloadavg()[0]
    return f"{cores} cores, {(models or ['unknown processor'])[0]}, Python {platform.python_version()}, load {load:.2f}"


def write(page: Path, text: str) -> None:
    """Replace the part of the page between the marks. Raises ValueError if it has none."""
    before, begin, rest = page.read_text(encoding="utf-8").partition(BEGIN)
    _, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{page} lacks {BEGIN} and {END}")
    page.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{after}", encoding="utf-8")


def main() -> int:
    """Print the table. Return 1 if a figure is slower, 2 if the machine is busy."""
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("base")
    arguments.add_argument("head")
    arguments.add_argument("names", nargs="*", metavar="NAME", help=f"scripts: {', '.join(BENCHES)}; all if empty")
    arguments.add_argument("--pairs", type=int, default=PAIRS)
    arguments.add_argument("--write", type=Path, metavar="PAGE", help="the Markdown page that gets the table")
    chosen = arguments.parse_args()
    if unknown := set(chosen.names) - set(BENCHES):
        arguments.error(f"no such script: {', '.join(sorted(unknown))}; there are {', '.join(BENCHES)}")
    echo(machine())
    if os.getloadavg()[0] > BUSY * (os.cpu_count() or 1):
        echo(f"Not measured: the load is above {BUSY} a core. Wait until the machine is quiet.", err=True)
        return 2
    began = datetime.now(UTC)
    with ExitStack() as trees:
        base, head = trees.enter_context(built(chosen.base)), trees.enter_context(built(chosen.head))
        verdicts = list[Verdict]()
        for name in chosen.names or BENCHES:
            verdicts += compare(base, head, name, chosen.pairs)
            echo(f"{name} is done:\n{table(verdicts)}\n", err=True)  # an hour of figures survives an interrupt
    text = table(verdicts)
    echo(text)
    if chosen.write:
        title = f"`{chosen.head}` against `{chosen.base}`, {began:%d %B %Y}, {chosen.pairs} pairs. {machine()}"
        write(chosen.write, f"{title}\n\n{text}")
    return int(any(verdict.is_slower for verdict in verdicts))


if __name__ == "__main__":
    sys.exit(main())
