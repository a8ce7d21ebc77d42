"""Print the ten test files that take most processor time, children included, at the end of a run."""

from __future__ import annotations

import os
from collections import Counter
from collections.abc import Generator

import pytest

FILES = 10

_BEGAN = pytest.StashKey[float]()
_SPENT = "processor seconds"


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


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    """Print the files, the dearest first, and the time of all tests together."""
    spent: Counter[str] = Counter()
    for report in (report for reports in terminalreporter.stats.values() for report in reports):
        if getattr(report, "when", "") == "teardown":
            spent[report.nodeid.partition("::")[0]] += dict(report.user_properties).get(_SPENT, 0.0)
    if len(spent) > FILES:
        terminalreporter.section(f"processor time: {spent.total() / 60:.1f} min in tests, the dearest files")
        for file, seconds in spent.most_common(FILES):
            terminalreporter.line(f"{seconds:7.1f} s  {file}")


def _processor_time() -> float:
    """Return the processor seconds of this process and of its finished children."""
    times = os.times()
    return times.user + times.system + times.children_user + times.children_system
