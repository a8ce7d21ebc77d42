"""Print the ten test files that take most processor time, children included, at the end of a run (breadth.py)."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator

import pytest

from breadth import ALWAYS, DEAR, LIST

FILES = 10

_BEGAN = pytest.StashKey[float]()
_SPENT = "processor seconds"


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes the list of dear tests."""
    parser.addoption("--write-rotated", action="store_true", help=f"write the tests above {DEAR:g} s into {LIST.name}")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """Remember the processor time at which a test begins."""
    item.stash[_BEGAN] = _processor_time()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    """Attach the processor time of a test to the report of its teardown, which comes last."""
    if call.when == "teardown" and _BEGAN in item.stash:
        item.user_properties.append((_SPENT, _processor_time() - item.stash[_BEGAN]))
    return (yield)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print the files, the dearest first, and the time of all tests together. Write the dear tests if asked to."""
    files, tests = Counter[str](), Counter[str]()
    for report in (report for reports in terminalreporter.stats.values() for report in reports):
        if getattr(report, "when", "") == "teardown":
            spent = dict(report.user_properties).get(_SPENT, 0.0)
            files[report.nodeid.partition("::")[0]] += spent
            tests[report.nodeid.partition("[")[0]] += spent
    if len(files) > FILES:
        terminalreporter.section(f"processor time: {files.total() / 60:.1f} min in tests, the dearest files")
        for file, seconds in files.most_common(FILES):
            terminalreporter.line(f"{seconds:7.1f} s  {file}")
    if config.getoption("write_rotated"):
        dear = sorted(test for test in tests if tests[test] > DEAR and not test.startswith(ALWAYS))
        LIST.write_text("".join(f"{test}\n" for test in dear), encoding="utf-8")


def _processor_time() -> float:
    """Return the processor seconds of this process and of its finished children."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
