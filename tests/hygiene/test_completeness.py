"""A registry is a table, and these tests walk each table: a half-finished change fails here.

A failure names the place to fill. `GUARDED_ELSEWHERE` lists the tables that other tests walk.
"""

from __future__ import annotations

import ast
import asyncio
import csv
import importlib
import io
import json
import re
import tomllib
from collections.abc import AsyncIterator, Callable, Iterator, Mapping
from contextlib import asynccontextmanager
from dataclasses import fields
from functools import cache
from pathlib import Path
from typing import Any, cast, get_args

import click
import pytest
from openpyxl import load_workbook
from openpyxl.utils.escape import unescape
from pydantic import BaseModel

from client.answers import api_of, saying
from client.chats import chat
from livedeck import cli
from livedeck.cli.agents.tools import make_tools
from livedeck.cli.collect.receivers import make_targets, notify_faults
from livedeck.cli.command_tree import describe
from livedeck.cli.description import description_file
from livedeck.cli.docs import renew_tables
from livedeck.cli.show.file import KINDS, SPEC
from livedeck.client import CHAT_FORMATS, ChatExport, ChatFormat, Draft, Outgoing
from livedeck.client.chat_export import formats
from livedeck.client.chat_export.formats import RowFormatter
from livedeck.client.resources.annotations import AnnotationDraft
from livedeck.client.resources.events import EventDraft, EventRestreamDraft
from livedeck.client.resources.rooms import RelayDraft, RoomDraft
from livedeck.client.resources.subtitles import SubtitleDraft
from livedeck.collector.protocol.commands import VERBS
from livedeck.collector.serving.openapi import endpoints
from livedeck.drill.grade import Grade, Incident
from livedeck.egress import Egress
from livedeck.monitor import AlarmLimits, Thresholds, limits_of, with_overrides
from livedeck.monitor.evidence.claims import CLAIMS
from livedeck.monitor.kinds import ALARM_KINDS
from livedeck.monitor.kinds.kind import SampleDetector
from livedeck.monitor.kinds.viewer import VIEWER_KINDS, VIEWER_RULES
from livedeck.notify import TARGETS
from livedeck.operations import annotations as notes
from livedeck.operations import events, rooms, subtitles
from livedeck.operations.commands import COMMANDS
from livedeck.operations.nouns import NOUNS
from livedeck.operations.schema import FormSchema
from livedeck.report.facts import EventFacts, facts_of
from livedeck.report.formats import REPORT_FORMATS
from livedeck.report.sections import FIGURES, SECTIONS, Section
from livedeck.settings import ADDRESS_SOURCES, Settings, TargetSettings, settings_table, template
from livedeck.simulator.engine.faults.matching import HLS_KINDS
from livedeck.text.segments import StyleRole
from livedeck.text.themes import THEME_NAMES
from livedeck.ui.chat.form import FORMATS as FORM_FORMATS
from livedeck.ui.kit.palette import COLOURS
from livedeck.ui.kit.themes import AUTO, PALETTES
from monitor.limit_effects import NOT_SHOWN, ROWS, STAGES, limits
from notify.sinks import Sink, http_sink
from notify.test_services import MAKES
from notify.test_targets import message
from report.readers import Page, markdown_tables
from report.test_sections import full, recorded, report

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "livedeck"
DOCS = SOURCE / "docs"
PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]

GUARDED_ELSEWHERE = {
    "livedeck.operations.catalogue.OPERATIONS": "cli/test_groups.py",
    "livedeck.operations.commands.COMMANDS": "cli/test_groups.py",
    "livedeck.monitor.kinds.ALARM_KINDS": "monitor/test_kinds.py",
    "livedeck.ui.shell.context.ActionRegistry": "ui/test_registry.py",
    "livedeck.ui.features.FEATURES": "ui/test_registry.py",
    "livedeck.collector.protocol.questions.QUESTIONS": "collector/test_questions.py",
    "livedeck.simulator.scenario_names": "golden/test_golden.py",
}
"""Tables that another test walks: each with that file below `tests`."""


@pytest.mark.parametrize("table", GUARDED_ELSEWHERE)
def test_a_table_that_is_guarded_elsewhere_is_walked_there(table: str) -> None:
    module, _, name = table.rpartition(".")
    assert hasattr(importlib.import_module(module), name)
    file = ROOT / "tests" / GUARDED_ELSEWHERE[table]
    assert name in file.read_text(encoding="utf-8"), f"{file} walks {name} no more: name the test that does"


def page(name: str) -> str:
    """Return a page of the documentation."""
    return (DOCS / f"{name}.md").read_text(encoding="utf-8")


# Targets of notifications

SINK_ADDRESSES: Mapping[str, Callable[[Sink], str]] = {
    "webhook": lambda sink: sink.address,
    "alertmanager": lambda sink: sink.address,
    "pagerduty": lambda _: "integration-key",
    "slack": lambda sink: sink.address,
    "teams": lambda sink: sink.address,
    "apprise": lambda sink: sink.address.replace("http://", "json://"),
}
"""The address of a sink for each kind of target."""

SINK_OPTIONS: Mapping[str, Callable[[Sink], Mapping[str, str]]] = {"pagerduty": lambda sink: {"api": sink.address}}
"""Further settings of a target that reaches a sink."""

SERVICE_HANGS = "notify/test_services.py::test_a_service_that_hangs_is_given_up_and_tried_again"

HANGS = {
    "webhook": "notify/test_strangers.py::test_a_try_ends_soon_and_a_status_counts_whatever_comes_after_it",
    **dict.fromkeys(("alertmanager", "pagerduty", "slack", "teams"), SERVICE_HANGS),
    "apprise": "notify/test_mail.py::test_a_mail_that_hangs_is_given_up_at_its_limit_and_nothing_is_left_of_it",
}
"""The test of each kind with a receiver that never ends its response."""


@pytest.fixture
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A home without settings."""
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    monkeypatch.setenv("HOME", str(tmp_path))
    return tmp_path


@asynccontextmanager
async def way(*allowed: str) -> AsyncIterator[Outgoing]:
    """A way out that may reach these private hosts."""
    async with Outgoing(egress=Egress.of(allowed)) as outgoing:
        yield outgoing


def target_settings(kind: str, sink: Sink, home: Path, *allowed: str) -> Settings:
    """Settings with one target of that kind, which reaches the sink."""
    address = SINK_ADDRESSES[kind](sink)
    options = SINK_OPTIONS[kind](sink) if kind in SINK_OPTIONS else {}
    assert {f"{kind}_command", f"{kind}_file"} <= {*ADDRESS_SOURCES} & {*TargetSettings.model_fields}
    file = home / "address"
    file.write_text(address)
    file.chmod(0o600)
    target = {"type": kind, f"{kind}_file": str(file), **options}
    notify: Any = {"targets": {"ops": target}, "allow_private": allowed}
    return Settings(base_url="https://api.example", history=str(home / "history.sqlite"), notify=notify)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # apprise imports modules that warn
@pytest.mark.parametrize("kind", TARGETS)
async def test_a_kind_of_target_is_complete(kind: str, home: Path) -> None:
    assert kind in SINK_ADDRESSES, f"say how {kind} reaches a sink: SINK_ADDRESSES in {__file__}"
    assert kind in HANGS, f"test {kind} with a receiver that hangs, and name that test: HANGS in {__file__}"
    file, _, test = HANGS[kind].partition("::")
    assert f"def {test}(" in (ROOT / "tests" / file).read_text(encoding="utf-8"), f"{HANGS[kind]} is gone: HANGS"
    assert HANGS[kind] != SERVICE_HANGS or kind in MAKES, (
        f"the test does not try {kind}: MAKES in tests/notify/test_services.py"
    )
    with http_sink() as sink:
        settings = target_settings(kind, sink, home, "127.0.0.1")
        async with way("127.0.0.1") as outgoing:
            (target,) = (await make_targets(settings, outgoing)).values()
            assert (await target.send(message())).is_taken, f"{kind}: no message arrives at a sink"
            assert sink.received
            sink.status = 500
            refused = await target.send(message())
            assert not refused.is_taken, f"{kind}: a failure of the receiver counts as taken"
            assert refused.answer
        unreachable = target_settings(kind, sink, home)
        faults = await notify_faults(unreachable)
        assert any("allow_private" in fault for fault in faults), f"{kind}: doctor sees no refusal: find_refusal"
    for setting in (f"{kind}_command", f"{kind}_file", *TARGETS[kind].options):
        assert f"`{setting}`" in page("notifications"), f'notifications.md, "Targets": a row of `{setting}`'
        assert f"`{setting}`" in page("settings"), "settings.md: livedeck docs --write src/livedeck/docs"
        assert setting in template(), f"config init: {setting} is missing in settings/template.py"
    if extra := TARGETS[kind].extra:
        assert f"'.[{extra}]'" in page("notifications"), f"notifications.md: {kind} needs '.[{extra}]'"


# Kinds of alarms

ALARM_ROWS = (ROOT / "tests" / "monitor" / "test_detect.py").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ALARM_KINDS)
def test_a_kind_of_alarm_is_complete(name: str) -> None:
    """`monitor/test_kinds.py` compares the tables, and `golden` plays a scenario for each kind."""
    table = page("monitoring").partition("\n## Alarm kinds\n")[2].partition("\n## ")[0]
    assert re.search(rf"\| {name} \|", table), f'monitoring.md, "Alarm kinds": a row of {name}'
    assert name in CLAIMS, f"monitor/evidence/claims.py: CLAIMS lacks {name}, so nothing says what proves it"
    if isinstance(ALARM_KINDS[name].detector, SampleDetector):
        is_tried = re.search(rf"\b{name}\b", ALARM_ROWS)
        assert is_tried, f"tests/monitor/test_detect.py: a sample that raises {name}, and one just within its limit"


def test_every_rule_of_the_probe_is_that_of_a_kind() -> None:
    alone = {*VIEWER_RULES} ^ {kind.name for kind in VIEWER_KINDS}
    assert not alone, f"monitor/kinds/viewer.py: only one of VIEWER_KINDS and VIEWER_RULES has {', '.join(alone)}"


# Limits


def limit_fields() -> Iterator[Any]:
    """Yield every field of the two tables of limits."""
    yield from fields(Thresholds)
    yield from fields(AlarmLimits)


@cache
def names_read() -> frozenset[str]:
    """Return every attribute that code reads, and every word in quotes, because kinds name their hold that way."""
    code = "\n".join(path.read_text(encoding="utf-8") for path in SOURCE.rglob("*.py"))
    return frozenset(re.findall(r"\.(\w+)", code)) | frozenset(re.findall(r"""["'](\w+)["']""", code))


@pytest.mark.parametrize("field", [*limit_fields()], ids=lambda field: field.name)
def test_a_limit_is_complete(field: Any) -> None:
    limit = (limits_of(AlarmLimits) | limits_of(Thresholds)).get(field.name)
    assert limit, f"thresholds.py: {field.name} has no Limit(unit, reason)"
    assert all(limit), f"thresholds.py: the Limit of {field.name} lacks its unit or its reason"
    assert field.name in names_read(), f"nothing reads {field.name}: use it, or delete it"
    is_inner = field.name in {inner.name for inner in fields(AlarmLimits)}
    path = f"attention.{field.name}" if is_inner else field.name
    if field.name == "attention":
        return
    row = rf"\| `{path}` \|"
    assert re.search(row, page("monitoring")), 'monitoring.md, "All limits": livedeck docs --write src/livedeck/docs'
    table = template().partition("\n[thresholds]\n")[2]
    lines = [line for line in table.splitlines() if line.startswith(f"# {field.name} = ")]
    assert lines, f"config init lacks {field.name}"
    value = tomllib.loads(lines[0].removeprefix("# "))[field.name]
    overrides = {"attention": {field.name: value}} if is_inner else {field.name: value}
    assert with_overrides(Thresholds(), overrides) == Thresholds(), f"TOML cannot say the default of {field.name}"
    nonsense = {"attention": {field.name: "nonsense"}} if is_inner else {field.name: "nonsense"}
    with pytest.raises(ValueError, match=rf"^{path}"):
        with_overrides(Thresholds(), nonsense)


MOST_NOT_SHOWN = 336
"""Number of halves and doubles of limits without a stage. It only falls."""


@pytest.mark.parametrize("path", [*limits()])
def test_a_limit_has_stages_that_show_half_and_double_of_it(path: str) -> None:
    """`monitor/test_limit_effects.py` plays them."""
    place = f"a stage, or the reason in brackets: tests/monitor/limit_effects.toml, {path}"
    for word, stage in zip(("half", "double"), ROWS.get(path, ("", "")), strict=True):
        assert stage, f"nothing shows {word} of {path}; {place}"
        is_stage = stage.startswith("(") or stage.partition(" ")[0] in STAGES
        assert is_stage, f"{stage} is no stage; {place}"


def test_no_stage_is_named_for_a_limit_that_is_gone() -> None:
    assert {*ROWS} <= {*limits()}


def test_ever_fewer_values_of_limits_lack_a_stage() -> None:
    """A new limit has its stages from the start."""
    assert sum(stage == NOT_SHOWN for stages in ROWS.values() for stage in stages) <= MOST_NOT_SHOWN


# Formats of a chat export


def _read_json(path: Path) -> list[str]:
    return [row["message"] for row in json.loads(path.read_text(encoding="utf-8"))["data"]]


def _read_csv(path: Path) -> list[str]:
    with path.open(newline="", encoding="utf-8") as file:
        return [row["message"] for row in csv.DictReader(file)]


def _read_text(path: Path) -> list[str]:
    return [line.partition(": ")[2] for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def _read_lines(path: Path) -> list[str]:
    return [json.loads(line)["message"] for line in path.read_text(encoding="utf-8").split("\n")[:-1]]


def _read_workbook(path: Path) -> list[str]:
    rows = load_workbook(path).active.iter_rows(min_row=2, values_only=True)
    return [unescape(str(row[4] or "")) for row in rows]


READERS: Mapping[str, Callable[[Path], list[str]]] = {
    "json": _read_json,
    "csv": _read_csv,
    "txt": _read_text,
    "ndjson": _read_lines,
    "xlsx": _read_workbook,
}
"""The reader of each format, from another library if there is one."""


def test_the_formats_of_a_chat_are_those_of_their_table() -> None:
    assert {*CHAT_FORMATS} == {*get_args(ChatFormat)}, "client/chat_export/format_table.py: ChatFormat and CHAT_FORMATS"


def test_every_formatter_of_a_chat_is_in_the_table_of_formats() -> None:
    classes = {each.__name__ for each in vars(formats).values() if isinstance(each, type) and hasattr(each, "rows")}
    used = {type(kind.writer(False)).__name__ for kind in CHAT_FORMATS.values() if not kind.extra}
    unused = classes - used - {RowFormatter.__name__}
    assert not unused, f"client/chat_export/format_table.py: no format uses {', '.join(unused)}"


@pytest.mark.parametrize("name", CHAT_FORMATS)
async def test_a_format_of_a_chat_is_complete(name: ChatFormat, tmp_path: Path) -> None:
    assert name in READERS, f"say how {name} is read back: READERS in {__file__}"
    hostile = [
        f"{words}"
        for words in ('=1+1, "two"; three', "a|b|", "a\tb", "\u202eback\u200b", "<b>&amp;", "üñí 🎥", " end ")
    ]
    log = [{**row, "message": words} for row, words in zip(chat(len(hostile)), hostile, strict=True)]
    for count in (len(log), 0):
        path = tmp_path / f"{count}.{name}"
        async with api_of(saying({"meta": {}, "data": log[:count]})) as api:
            kind = CHAT_FORMATS[name]
            export = ChatExport("e", "s", name)
            assert export.is_verbatim == kind.is_verbatim
            if kind.is_verbatim:  # the platform writes it: have it written anew
                from zoneinfo import ZoneInfo

                export = ChatExport("e", "s", name, zone=ZoneInfo("UTC"))
            await api.chat.export(export, path)
        assert READERS[name](path) == hostile[:count], f"{name} does not read back as it was written"
    assert name in FORM_FORMATS, f"the form of the Chat screen lacks {name}: ui/chat/form.py"
    assert name in _choices("--format", "chat"), f"--format of the chat's command lacks {name}"
    assert f"`{name}`" in page("chat-export"), f'chat-export.md, "Export formats": a row of `{name}`'
    if extra := CHAT_FORMATS[name].extra:
        assert f"'.[{extra}]'" in page("chat-export"), f"chat-export.md: {name} needs '.[{extra}]'"


def _choices(option: str, word: str) -> set[str]:
    """The choices of an option of the commands whose path has that word."""
    found = set[str]()
    for path, command in _commands(cli.main, ()):
        for param in command.params:
            if word in path and option in param.opts and isinstance(param.type, click.Choice):
                found |= {str(choice) for choice in param.type.choices}
    return found


def _commands(command: click.Command, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], click.Command]]:
    yield path, command
    if isinstance(command, click.Group):
        context = click.Context(command)
        for name in command.list_commands(context):
            if inner := command.get_command(context, name):
                yield from _commands(inner, (*path, name))


# Reports

REPORT_READERS: Mapping[str, Callable[[str], object]] = {
    "markdown": markdown_tables,
    "json": json.loads,
    "csv": lambda text: [*csv.DictReader(io.StringIO(text))],
    "html": Page,
}
"""The reader of each format; none of them is the writer."""


@pytest.mark.parametrize("section", SECTIONS, ids=lambda section: section.key)
def test_a_section_of_a_report_is_complete(section: Section[Any]) -> None:
    """`report/test_sections.py` compares the columns."""
    assert [*section.items(full())], f"{section.key}: add records to `recorded` in tests/report/test_sections.py"
    (event,) = json.loads(REPORT_FORMATS["json"].write(report()))["events"]
    assert section.key in event, f"report/document.py: the JSON lacks {section.key}"
    rows = csv.DictReader(io.StringIO(REPORT_FORMATS["csv"].write(report())))
    types = {"", *(row["type"] for row in rows)}
    assert section.type in types, f"report/sections.py: the CSV has no row of {section.key}; give it `facts`"
    if section.title:
        tables = markdown_tables(REPORT_FORMATS["markdown"].write(report()))
        assert section.title in tables, f"report/markdown.py: no table {section.title}"
    if section.title and section.on_page:
        html = REPORT_FORMATS["html"].write(report())
        assert f"<h3>{section.title}</h3>" in html, f"report/page.py: no table {section.title}; or on_page=False"


@pytest.mark.parametrize("field", fields(EventFacts), ids=lambda field: field.name)
def test_a_field_of_a_shows_facts_is_filled_from_the_records(field: Any) -> None:
    """Whatever the sections are tested with, a report has only what `facts_of` finds in the history."""
    known = recorded()
    found = getattr(facts_of(known, known.events[0], 99.0, {known.span.since: 3}), field.name)
    place = "report/facts.py, facts_of; or the records in `recorded` of tests/report/test_sections.py"
    is_filled = bool(found) and found != field.default
    assert is_filled, f"nothing fills EventFacts.{field.name}: {place}"
    is_shown = re.search(rf"\.{field.name}\b", (SOURCE / "report" / "document.py").read_text(encoding="utf-8"))
    assert is_shown or field.name in ONLY_READ, f"report/document.py: the JSON lacks EventFacts.{field.name}"


class Read:
    """Facts that note which of their attributes are read."""

    def __init__(self, facts: EventFacts) -> None:
        self._facts, self.names = facts, set[str]()

    def __getattr__(self, name: str) -> Any:
        self.names.add(name)
        return getattr(self._facts, name)


@pytest.mark.parametrize("name", FIGURES)
def test_the_json_has_what_a_figure_of_a_report_shows(name: str) -> None:
    read = Read(full())
    assert FIGURES[name](cast("EventFacts", read))
    json_source = (SOURCE / "report" / "document.py").read_text(encoding="utf-8")
    absent = [each for each in read.names if not re.search(rf"\bfacts\.{each}\b", json_source)]
    assert not absent, f"report/document.py: the JSON lacks EventFacts.{', '.join(absent)}, which {name!r} shows"


ONLY_READ = frozenset({"samples", "unrecorded"})
"""Facts from which sections are computed, and which a report does not show themselves."""


@pytest.mark.parametrize("name", REPORT_FORMATS)
def test_a_format_of_a_report_is_complete(name: str) -> None:
    assert name in REPORT_READERS, f"say how {name} is read back: REPORT_READERS in {__file__}"
    assert REPORT_READERS[name](REPORT_FORMATS[name].write(report()))
    is_default = name == next(iter(REPORT_FORMATS))
    has_flag = name in _choices("--format", "report")
    assert is_default or has_flag, f"cli, the command `past report`: no --format {name}"
    words = REPORT_FORMATS[name].title.split()[-1]
    assert words in page("commands"), f'commands.md, "Reports": the format {words}'


# Themes


@pytest.mark.parametrize("name", sorted({*THEME_NAMES, *PALETTES, *COLOURS}))
def test_a_theme_is_complete(name: str) -> None:
    """`ui/test_themes.py` measures the contrast of each."""
    assert name in THEME_NAMES, f"text/themes.py: Theme lacks {name}"
    assert name in PALETTES, f"ui/kit/themes.py: PALETTES lacks {name}"
    assert set(PALETTES[name].styles) == set(StyleRole), f"ui/kit/themes.py: {name} has no style of some role"
    if not PALETTES[name].ansi:
        assert name in COLOURS, f"ui/kit/palette.py: COLOURS lacks {name}, which the browser's wall needs"
        assert f"`{name}`" in page("wallboard"), f"wallboard.md, `?theme=`: `{name}`"
    assert f"`{name}`" in settings_table(frozenset()), "settings/model.py: theme"
    assert f"`{name}`" in page("interface"), f'interface.md, "Themes": `{name}`'
    options = {choice for param in _appearance() for choice in param}
    assert options == {AUTO, *THEME_NAMES}, "cli/options.py: --theme"


def _appearance() -> Iterator[set[str]]:
    for _, command in _commands(cli.main, ()):
        for param in command.params:
            if "--theme" in param.opts and isinstance(param.type, click.Choice):
                yield {str(choice) for choice in param.type.choices}


# Fields of drafts

FORMS: Mapping[type[Draft], FormSchema[Any]] = {
    EventDraft: events.CREATE_FORM,
    EventRestreamDraft: events.RESTREAM_FORM,
    RoomDraft: rooms.room_form(str),
    RelayDraft: rooms.relay_form(str),
    AnnotationDraft: notes.CREATE_FORM,
    SubtitleDraft: subtitles.EDIT_FORM,
}

NOT_IN_FORM = {"AnnotationDraft.video_id": "an annotation is made on the video that the screen or the command names"}
"""Fields of drafts that no form asks for, with the reason."""


def _drafts(kind: type[Draft] = Draft) -> Iterator[type[Draft]]:
    for draft in kind.__subclasses__():
        if draft.__module__.startswith("livedeck."):
            yield draft
        yield from _drafts(draft)


def _parts(annotation: Any) -> Iterator[type[Draft]]:
    """The drafts inside an annotation: `ScheduleDraft | None`."""
    if isinstance(annotation, type):
        if issubclass(annotation, Draft):
            yield annotation
        return
    for inner in get_args(annotation):
        yield from _parts(inner)


def _leaves(draft: type[Draft], prefix: str = "") -> Iterator[str]:
    """The dotted names of the fields of a draft; rows have a form of their own."""
    for name, field in draft.model_fields.items():
        parts = [part for part in _parts(field.annotation) if part not in FORMS]
        if parts:
            for part in parts:
                yield from _leaves(part, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def test_every_draft_has_a_form() -> None:
    inner = {part for draft in FORMS for field in draft.model_fields.values() for part in _parts(field.annotation)}
    missing = {draft.__name__ for draft in _drafts()} - {draft.__name__ for draft in {*FORMS, *inner}}
    assert not missing, f"name the form of {', '.join(missing)}: FORMS in {__file__}"


@pytest.mark.parametrize("draft", FORMS, ids=lambda draft: draft.__name__)
def test_every_field_of_a_draft_is_in_its_form(draft: type[Draft]) -> None:
    asked = {field.name for field in FORMS[draft].fields}
    left = {name for name in _leaves(draft) if f"{draft.__name__}.{name}" not in NOT_IN_FORM}
    place = f"add a Field in operations, or a reason to NOT_IN_FORM in {__file__}"
    assert left <= asked, f"{draft.__name__}: no form asks for {', '.join(left - asked)}; {place}"
    assert asked <= left, f"{draft.__name__} has no {', '.join(asked - left)}: the form asks for it in vain"


def test_every_field_of_an_event_is_compared_after_a_lost_response() -> None:
    from livedeck.client import Event

    values = {*events.platform_values(Event(id="one"))}
    asked = {field.name for field in events.EDIT_FORM.fields}
    assert asked <= values, f"operations/events.py, platform_values: {', '.join(asked - values)}"


# Routes of the collector

WITHOUT_RIGHT = {"/healthz": "a supervisor has no token", "/readyz": "a supervisor has no token"} | {
    "/v1/link/{ticket}": "the link itself is the permission",
    "/v1/calendar/{name}/{signature}.ics": "the signed address is the permission",
    "/v1/hooks/pagerduty": "the signature of the body is the permission",
}
"""Routes that anybody may ask, with the reason."""

NO_CLIENT = {"/healthz": "for a supervisor", "/readyz": "for a supervisor", "/metrics": "for Prometheus"} | {
    "/v1/link/{ticket}": "for the browser of whoever got the link",
    "/v1/calendar/{name}/{signature}.ics": "for calendar programs",
    "/v1/hooks/alarm": "for pagers and chats",
    "/v1/hooks/pagerduty": "for PagerDuty",
    "/v1/events/{id:path}/viewer": "for scripts; a deck asks the history",
}
"""Routes that nothing of ours asks, with the reason."""


def _routes() -> Mapping[str, set[str]]:
    """The path of each request to the collector, and the rights that its methods need. Verbs are one path."""
    found = dict[str, set[str]]()
    for each in endpoints():
        path = re.sub(
            rf"/({'|'.join(VERBS)})$", "/{verb}", re.sub("^/v1/history/.*", "/v1/history/{question}", each.path)
        )
        found.setdefault(path, set()).add(each.needs or "-")
    return found


ROUTES = _routes()


def _pattern(path: str) -> str:
    """A path as a regular expression: `/v1/events/{id:path}/samples` is one segment between two words."""
    return re.sub(r"\\\{[^}]*\\\}", r"[^/`\\s]+", re.escape(path))


class _Paths(ast.NodeVisitor):
    """Collects the texts of a module, with `X` for what is filled in, and leaves out those that declare a route."""

    def __init__(self) -> None:
        self.found = set[str]()

    def visit_Call(self, node: ast.Call) -> None:
        if not (isinstance(node.func, ast.Name) and node.func.id == "Endpoint"):
            self.generic_visit(node)

    def visit_JoinedStr(self, node: ast.JoinedStr) -> None:
        self.found.add("".join(str(part.value) if isinstance(part, ast.Constant) else "X" for part in node.values))

    def visit_Constant(self, node: ast.Constant) -> None:
        if isinstance(node.value, str):
            self.found.add(node.value)


@cache
def paths_asked() -> set[str]:
    """The paths that the clients of the collector ask for."""
    paths = _Paths()
    for folder in ("collector", "cli"):
        for file in (SOURCE / folder).rglob("*.py"):
            paths.visit(ast.parse(file.read_text(encoding="utf-8")))
    return paths.found


@pytest.mark.parametrize("path", ROUTES)
def test_a_route_of_the_collector_is_complete(path: str) -> None:
    assert path in WITHOUT_RIGHT or "-" not in ROUTES[path], f"{path}: a right, or WITHOUT_RIGHT here"
    if path not in NO_CLIENT:
        has_client = any(re.fullmatch(_pattern(path), asked) for asked in paths_asked())
        assert has_client, f"nothing asks for {path}: a call in collector/attached, or a reason in NO_CLIENT here"
    rights = ROUTES[path]
    rows = re.findall(rf"^\| [^|]*{_pattern(path)}[`?][^|]*\| (\w+|-) \|", page("collector"), re.MULTILINE)
    assert rows or path == "/v1/history/{question}", f'collector.md, "Routes": a row of {path}'
    assert {*rows} <= rights, f'collector.md, "Routes": {path} needs {", ".join(rights)}'


def test_there_are_routes() -> None:
    assert len(ROUTES) >= 14


# Tools of agents

READS = make_tools()


@pytest.mark.parametrize("name", READS)
def test_a_tool_of_agents_is_complete(name: str) -> None:
    """`cli/test_agents.py` walks the changes, which are those of the commands."""
    of_nouns = {f"{noun.path} {verb}".replace(" ", "_") for noun in NOUNS.values() for verb in ("list", "get")}
    is_told = name in of_nouns or f"`{name}`" in page("agents")
    assert is_told, f'agents.md, "Tools": `{name}` is no list or get of a noun, so name it'
    assert asyncio.iscoroutinefunction(READS[name].work), f"cli/agents/tools.py: {name} does nothing"


# Show files


@pytest.mark.parametrize("key", [key for key, spec in SPEC.items() if isinstance(spec, list)])
def test_a_list_of_a_show_file_is_complete(key: str) -> None:
    """`cli/test_show_files.py` applies a file with each."""
    assert key in KINDS, f"cli/show/file.py: KINDS lacks {key}, so its objects are read and forgotten"
    assert re.search(rf"^{key}:", page("shows"), re.MULTILINE), f'shows.md, "Example": {key}'
    applied = (ROOT / "tests" / "cli" / "test_show_files.py").read_text(encoding="utf-8")
    assert re.search(rf"\b{key}:", applied), f"tests/cli/test_show_files.py: no test applies {key}"
    form = COMMANDS[f"{KINDS[key]}.create"].schema if f"{KINDS[key]}.create" in COMMANDS else None
    own = {*SPEC[key][0]} - {field.name.partition(".")[0] for field in (form.fields if form else ())}
    table = page("shows").partition("\n## Fields\n")[2].partition("\n## ")[0]
    for field in own:
        assert re.search(rf"`{field}\b", table), f'shows.md, "Fields": {field} of {key}'


# Grades of drills


@pytest.mark.parametrize(
    ("table", "field", "file"),
    [
        *((Grade, field.name, "drill/report.py") for field in fields(Grade)),
        *((Incident, field.name, "cli/drill/scores.py") for field in fields(Incident)),
    ],
)
def test_a_field_of_a_grade_is_shown(table: type, field: str, file: str) -> None:
    is_shown = re.search(rf"\.{field}\b", (SOURCE / file).read_text(encoding="utf-8"))
    assert is_shown, f"{file}: the report of a drill lacks {table.__name__}.{field}"


# Faults of HLS


@pytest.mark.parametrize("kind", HLS_KINDS)
def test_a_fault_of_hls_is_complete(kind: str) -> None:
    """`simulator/test_hls.py` has a test and a set of each."""
    scenario = (SOURCE / "simulator" / "data" / "scenarios" / "viewer-faults.toml").read_text(encoding="utf-8")
    assert f'kind = "{kind}"' in scenario, f"viewer-faults.toml: no minute of {kind}"
    players = page("simulator").partition("\n## HLS\n")[2].partition("\n## ")[0]
    assert re.search(rf"^\| [^|]*`{kind}`", players, re.MULTILINE), f'simulator.md, "HLS": what players do at {kind}'


# Extras

EXTRAS: Mapping[str, list[str]] = PROJECT["optional-dependencies"]
NOT_TRIED = {
    "docs": "builds the site, which releases.md does by hand",
    "http2": "a further way of httpx; the tests have HTTP/1.1 servers",
    "keyring": "no test has the keyring of a desktop",
}
"""Extras that the tests do not install, with the reason."""


@pytest.mark.parametrize("extra", [extra for extra in EXTRAS if extra != "test"])
def test_an_extra_is_complete(extra: str) -> None:
    pages = "\n".join(path.read_text(encoding="utf-8") for path in (*DOCS.glob("*.md"), ROOT / "README.md"))
    is_told = re.search(rf"'\.\[(?:\w+,)*{extra}(?:,\w+)*\]'", pages)
    assert is_told, f"no page says what needs pip install '.[{extra}]'"
    if extra in NOT_TRIED:
        return
    assert {*EXTRAS[extra]} <= {*EXTRAS["test"]}, f"pyproject.toml: the extra `test` lacks the packages of {extra}"
    lock = (ROOT / "requirements.lock").read_text(encoding="utf-8")
    for requirement in EXTRAS[extra]:
        name = re.split(r"[\[><=!~ ;]", requirement)[0]
        assert re.search(rf"^{name}==", lock, re.MULTILINE | re.IGNORECASE), f"requirements.lock lacks {name}: renew it"


# Settings


def _settings() -> Iterator[tuple[str, str]]:
    """The name of each setting, with that of its table."""
    for name, field in Settings.model_fields.items():
        yield "", name
        if isinstance(field.default, BaseModel):
            yield from ((name, inner) for inner in type(field.default).model_fields)


@pytest.mark.parametrize("name", sorted({name for _, name in _settings()}))
def test_a_setting_is_read(name: str) -> None:
    """`settings/test_every_fault.py` and `cli/test_docs.py` walk the settings for the rest."""
    assert name in names_read(), f"nothing reads {name}: pass it on in cli"


def test_generated_tables_are_renewed(tmp_path: Path) -> None:
    """`livedeck docs --write src/livedeck/docs` renews them."""
    for path in DOCS.glob("*.md"):
        (tmp_path / path.name).write_bytes(path.read_bytes())
    assert describe(cli.main.tree, cli.main) == description_file().read_text(), (
        "commands.json: livedeck docs --write src/livedeck/docs"
    )
    flags = frozenset(str(param.name) for param in cli.main.params)
    renew_tables(tmp_path, flags, cli.main)
    changed = [path.name for path in DOCS.glob("*.md") if path.read_bytes() != (tmp_path / path.name).read_bytes()]
    assert not changed, f"{', '.join(changed)}: livedeck docs --write src/livedeck/docs"
