"""Report as one page of HTML for any width, for print, and in light and dark. Pure.

The page has no scripts and no external content.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from html import escape
from math import isfinite
from typing import TypeVar

from livedeck.monitor import Severity
from livedeck.report import svg
from livedeck.report.facts import EventFacts, Report, gaps_text, longest_step
from livedeck.report.samples import STEPS
from livedeck.report.sections import (
    LIMITS_TITLE,
    NO_EVENTS_TEXT,
    OVERVIEW,
    SECTIONS,
    SPAN_COLUMNS,
    UNWATCHED_TEXT,
    WATCHED_TEXT,
    WATCHING_TITLE,
    Cell,
    Column,
    Periods,
    budget,
    cell_text,
    figures,
    percent,
    table_rows,
)
from livedeck.report.spans import Span, common, seconds_of
from livedeck.report.text import stretch_text
from livedeck.text.values import bits, counted, duration, frames, safe, short_duration

T = TypeVar("T")

_CHARTS = (("video", "Video", bits, "bit/s"), ("audio", "Audio", bits, "bit/s"), ("fps", "Frames", frames, "frames/s"))

_STYLE = """
:root{color-scheme:light dark;--ground:#fbfaf6;--panel:#f0f2f3;--raised:#e3e8ec;--text:#22292e;--strong:#000;
--dim:#4d5862;--frame:#d3dadf;--crit:#8c0812;--warn:#826010;--ok:#004e34;--info:#0e58a8;--key:#8c2388;
--video:#00687a;--audio:#5743ad;--fps:#3a6600;--ink:#fff}
@media (prefers-color-scheme:dark){:root{--ground:#0d1117;--panel:#141b23;--raised:#1c2631;--text:#d6dee6;
--strong:#fff;--dim:#93a1af;--frame:#26313c;--crit:#ff6558;--warn:#ffdd55;--ok:#66dcc0;--info:#6496f5;--key:#e0a0ff;
--video:#4fd1e0;--audio:#b9a3ff;--fps:#8fd460;--ink:#0d1117}}
*{box-sizing:border-box}
body{margin:0;background:var(--ground);color:var(--text);font:15px/1.5 system-ui,-apple-system,"Segoe UI",Roboto,
"Helvetica Neue",Arial,sans-serif;font-variant-numeric:tabular-nums}
main{max-width:1080px;margin:0 auto;padding:28px 20px 48px}
h1{font-size:27px;line-height:1.2;margin:0 0 4px;color:var(--strong);overflow-wrap:anywhere}
h2{font-size:21px;line-height:1.25;margin:44px 0 12px;padding-top:14px;border-top:2px solid var(--frame);
color:var(--strong);overflow-wrap:anywhere}
h3{font-size:15px;margin:28px 0 8px;color:var(--strong)}
p{margin:0 0 10px}.dim{color:var(--dim)}
.tiles{display:grid;grid-template-columns:repeat(auto-fit,minmax(210px,1fr));gap:10px;margin:14px 0 18px}
.tile{background:var(--panel);border:1px solid var(--frame);border-radius:8px;padding:10px 13px}
.tile b{display:block;font-size:21px;line-height:1.25;color:var(--strong);font-weight:600}
.tile span{display:block;font-size:12.5px;color:var(--dim)}
.tile.crit b{color:var(--crit)}.tile.warn b{color:var(--warn)}.tile.ok b{color:var(--ok)}
figure{margin:0 0 12px;break-inside:avoid}
figcaption{display:flex;justify-content:space-between;gap:12px;font-size:12.5px;color:var(--dim);margin:0 0 3px}
figcaption b{color:var(--text);font-weight:600}
.plot{background:var(--panel);border:1px solid var(--frame);border-radius:4px;overflow:hidden}
.plot svg{display:block;width:100%;height:88px}
.lane svg{height:16px}.air svg{height:26px}.chat svg{height:56px}
.axis{position:relative;height:20px;font-size:12px;color:var(--dim);margin:-6px 0 10px}
.axis span{position:absolute;transform:translateX(-50%);white-space:nowrap}
.axis span.first{transform:none}.axis span.last{transform:translateX(-100%)}
path,rect{vector-effect:non-scaling-stroke}
.line{fill:none;stroke-width:1.6;stroke-linejoin:round}.band{opacity:.22}
.line.video{stroke:var(--video)}.band.video{fill:var(--video)}.line.audio{stroke:var(--audio)}
.band.audio{fill:var(--audio)}.line.fps{stroke:var(--fps)}.band.fps{fill:var(--fps)}
.up{fill:var(--ok)}.down,.critical{fill:var(--crit)}.warning{fill:var(--warn)}.info{fill:var(--info)}
.wash{fill:var(--crit);opacity:.16}.unknown{fill:url(#unknown)}.hatch{stroke:var(--dim);stroke-width:2}
.status-loss{fill:var(--crit)}.status-key20{fill:var(--warn)}.status-key50,.status-unknown{fill:var(--key)}
.marker{stroke:var(--strong);stroke-width:1.4;stroke-dasharray:3 3;fill:none}.count{fill:var(--info)}
.legend{display:flex;flex-wrap:wrap;gap:4px 16px;font-size:12.5px;color:var(--dim);margin:2px 0 14px}
.legend i{display:inline-block;width:11px;height:11px;border-radius:2px;margin-right:6px;vertical-align:-1px}
.legend .i-up{background:var(--ok)}.legend .i-down{background:var(--crit)}
.legend .i-unknown{background:repeating-linear-gradient(45deg,var(--dim) 0 2px,transparent 2px 5px);
border:1px solid var(--frame)}
.legend .i-marker{width:0;border-left:2px dashed var(--strong);border-radius:0;margin-right:8px}
.scroll{overflow-x:auto;margin:0 0 10px}
table{border-collapse:collapse;width:100%;font-size:13.5px}
th{text-align:left;font-weight:600;color:var(--dim);font-size:12.5px;border-bottom:1px solid var(--frame);
padding:4px 14px 4px 0;white-space:nowrap}
td{padding:5px 14px 5px 0;border-bottom:1px solid var(--frame);vertical-align:top}
td.wide{overflow-wrap:anywhere;min-width:15ch}td.tight{white-space:nowrap}tr{break-inside:avoid}
.sev-critical{color:var(--crit);font-weight:600}.sev-warning{color:var(--warn);font-weight:600}.sev-info{color:var(--dim)}
ul{margin:0;padding-left:20px}li{margin:0 0 3px}
@media (max-width:560px){main{padding:18px 14px 32px}h1{font-size:22px}h2{font-size:18px;margin-top:34px}
.tiles{grid-template-columns:1fr 1fr;gap:8px}.tile b{font-size:18px}table{font-size:12.5px}td,th{padding-right:9px}
.word{display:none}td.wide{min-width:9ch}}
@media print{:root{color-scheme:light;--ground:#fff;--panel:#fff;--raised:#eee;--text:#000;--strong:#000;--dim:#444;
--frame:#bbb;--crit:#8c0812;--warn:#826010;--ok:#004e34;--info:#0e58a8;--key:#8c2388;--video:#00687a;
--audio:#5743ad;--fps:#3a6600;--ink:#fff}
*{print-color-adjust:exact;-webkit-print-color-adjust:exact}body{font-size:11.5px}main{max-width:none;padding:0}
h2,h3,h2+p{break-after:avoid}h2.event~h2.event{break-before:page;margin-top:0;padding-top:0;border-top:0}
.tiles{grid-template-columns:repeat(4,1fr);break-inside:avoid}.charts{break-inside:avoid}.scroll{overflow:visible}
table{font-size:10.5px}h3{margin:18px 0 6px}figure{margin-bottom:8px}.plot svg{height:56px}.lane svg{height:14px}
.air svg{height:22px}}
@page{margin:14mm}
"""


def page(report: Report, more: str = "") -> str:
    """Return the whole report as a page of HTML. `more`: part of the page that follows the events."""
    title = escape(safe(report.title))
    body = [f"<h1>{title}</h1>", f'<p class="dim">{_stretch(report)}</p>']
    if not report.events:
        body.append(f"<p>{NO_EVENTS_TEXT}</p>")
    if len(report.events) > 1:
        body.append(_table(OVERVIEW, report.events))
    for facts in report.events:
        body += _event(facts, has_title=len(report.events) > 1)
    body += [more, *_watching(report)]
    return (
        '<!doctype html><html lang="en"><head><meta charset="utf-8">'
        '<meta name="viewport" content="width=device-width,initial-scale=1">'
        "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'unsafe-inline'\">"
        f"<title>{title}</title><style>{_STYLE}</style></head><body>{_PATTERNS}<main>{''.join(body)}</main></body></html>\n"
    )


_PATTERNS = (
    '<svg width="0" height="0" style="position:absolute" aria-hidden="true"><defs><pattern id="unknown" width="7" '
    'height="7" patternUnits="userSpaceOnUse" patternTransform="rotate(45)"><path class="hatch" d="M0 0V7"/></pattern>'
    "</defs></svg>"
)


def _stretch(report: Report) -> str:
    return f"{stretch_text(report.span)} UTC · written {report.made:%Y-%m-%d %H:%M:%S}Z by livedeck"


def _event(facts: EventFacts, *, has_title: bool) -> Iterator[str]:
    if has_title:
        yield f'<h2 class="event">{escape(facts.name)}</h2>'
    yield _tiles(facts)
    within = facts.charted
    if within:
        yield f'<div class="charts">{"".join(_charts(facts, within))}</div>'
    yield from _sections(facts)
    yield f"<h3>{LIMITS_TITLE}</h3>"
    yield f"<ul>{''.join(f'<li>{escape(sentence)}</li>' for sentence in gaps_text(facts))}</ul>"


def _tiles(facts: EventFacts) -> str:
    used = facts.spent / facts.budget if facts.budget else 0.0
    down = short_duration(seconds_of(facts.outages))
    planned = facts.planned
    count, _, rest = figures(facts)["Acknowledged"].partition(" alarms")
    bad = "crit" if facts.outages else ""
    tiles = [
        (percent(facts.uptime), "uptime: signal in the known time on air", bad or ("ok" if facts.up else "")),
        (duration(seconds_of(facts.on_air)), f"on air, {cell_text(Periods(facts.on_air))}", ""),
        (down if facts.outages else "none", _outages(facts), bad),
        (_share(used, facts), f"of the error budget used ({budget(facts).partition(';')[0]})", _loudness(used)),
        (_worst(facts), f"bad in the worst five minutes{_worst_when(facts)}", ""),
        (count if facts.acknowledgements else "-", f"alarms acknowledged{rest}", ""),
        (f"{planned:%H:%M:%S}Z", f"planned start, {planned:%Y-%m-%d}", "")
        if planned
        else ("-", "no planned start", ""),
        (short_duration(seconds_of(facts.unknown)), "on air without data", "warn" if facts.unknown else ""),
    ]
    cells = (
        f'<div class="tile {role}"><b>{escape(value)}</b><span>{escape(words)}</span></div>'
        for value, words, role in tiles
    )
    return f'<div class="tiles">{"".join(cells)}</div>'


def _share(used: float, facts: EventFacts) -> str:
    if not facts.budget:
        return "-"
    return f"{used:.0f} x" if used >= 10 else f"{100 * used:.0f} %"


def _loudness(used: float) -> str:
    return "crit" if used > 1 else "warn" if used > 0.5 else ""


def _worst(facts: EventFacts) -> str:
    return short_duration(seconds_of(common(facts.bad, [facts.worst]))) if facts.worst else "-"


def _worst_when(facts: EventFacts) -> str:
    return f", from {facts.worst.since:%H:%M:%S}Z" if facts.worst else ": no faults"


def _charts(facts: EventFacts, within: Span) -> Iterator[str]:
    marks = svg.lines((marker.at.timestamp() for marker in facts.markers), within, "marker")
    wash = svg.bars(facts.outages, within, "wash") + svg.bars(facts.unknown, within, "unknown")
    air = svg.bars(facts.up, within, "up") + svg.bars(facts.outages, within, "down")
    air += svg.bars(facts.unknown, within, "unknown") + marks
    yield _figure("On air", _outages(facts), svg.picture("Signal over time", [air]), "air")
    yield (
        '<div class="legend"><span><i class="i-up"></i>signal</span><span><i class="i-down"></i>outage</span>'
        '<span><i class="i-unknown"></i>no data</span><span><i class="i-marker"></i>marker</span></div>'
    )
    spacing = longest_step(facts.cadence)
    for name, title, text, unit in _CHARTS:
        buckets = svg.columns_of(facts.samples, within, name, spacing)
        values = [value for value in getattr(facts.samples, name) if isfinite(value)]
        if values:
            words = f"{text(min(values))} to {text(max(values))} {unit}"
            parts = [wash, svg.curve(buckets, svg.top_of(buckets), name), marks]
            yield _figure(title, words, svg.picture(f"{title}, {words}", parts), "")
    status = svg.status_bars(facts.samples, within, spacing)
    if status:
        yield _figure("Status", "loss, key frames", svg.picture("Samples with an abnormal status", [status]), "lane")
    for kind, (severity, count, seconds) in facts.minutes_by_kind.items():
        spans = [fault.span(within.until) for fault in facts.faults if fault.kind == kind]
        words = f"{count} x, {short_duration(seconds)}"
        if common(spans, [within]):
            yield _figure(
                kind, words, svg.picture(f"{kind}, {words}", [svg.bars(spans, within, severity.value)]), "lane"
            )
    if facts.chat:
        yield _figure("Chat", f"at most {max(facts.chat.values())} messages a minute", _chat(facts, within), "chat")
    yield _axis(within)


def _outages(facts: EventFacts) -> str:
    count = len(facts.outages)
    return counted(count, "outage") if count else "no outages"


def _chat(facts: EventFacts, within: Span) -> str:
    chat = facts.chat or {}
    most = max(chat.values())
    parts = []
    for at, count in chat.items():
        left, right = svg.place(at.timestamp(), within), svg.place(at.timestamp() + 60, within)
        high = svg.HEIGHT * count / most
        parts.append(
            f'<rect class="count" x="{left:.2f}" y="{svg.HEIGHT - high:.1f}" width="{max(0.0, right - left):.2f}" '
            f'height="{high:.1f}"/>'
        )
    return svg.picture("Chat messages a minute", parts)


def _figure(title: str, words: str, picture: str, name: str) -> str:
    return (
        f"<figure><figcaption><b>{escape(title)}</b><span>{escape(words)}</span></figcaption>"
        f'<div class="plot {name}">{picture}</div></figure>'
    )


def _axis(within: Span) -> str:
    """Return the time labels below the charts: the first time, the last time, and some round times between them."""
    step = next((step for step in STEPS if within.seconds / step <= 4), STEPS[-1])
    first, last = within.since.timestamp(), within.until.timestamp()
    labels = [f'<span class="first" style="left:0">{within.since:%H:%M:%S}</span>']
    at = (first // step + 1) * step
    while at < last:
        share = 100 * (at - first) / (last - first)
        if 20 < share < 76:
            text = f"{datetime.fromtimestamp(at, UTC):{'%H:%M' if step % 60 == 0 else '%H:%M:%S'}}"
            labels.append(f'<span style="left:{share:.2f}%">{text}</span>')
        at += step
    labels.append(f'<span class="last" style="left:100%">{within.until:%H:%M:%S}Z</span>')
    return f'<div class="axis">{"".join(labels)}</div>'


def _sections(facts: EventFacts) -> Iterator[str]:
    for section in SECTIONS:
        items = [*section.items(facts)] if section.title and section.on_page else []
        if items:
            yield f"<h3>{section.title}</h3>"
            yield _table(section.columns, items)


def _watching(report: Report) -> Iterator[str]:
    yield f"<h2>{WATCHING_TITLE}</h2>"
    if report.unwatched:
        yield f"<p>{UNWATCHED_TEXT}</p>"
        yield _table(SPAN_COLUMNS, report.unwatched)
    else:
        yield f"<p>{WATCHED_TEXT}</p>"


_SHORT = {"Severity": '<span class="word">Severity</span>'}
"""Head of a column -> HTML that a narrow page can hide."""


def _table(columns: Sequence[Column[T]], items: Iterable[T]) -> str:
    head = "".join(f"<th>{_SHORT.get(column.head, escape(column.head))}</th>" for column in columns)
    lines = (
        f"<tr>{''.join(_cell(cell, is_wide=column.is_wide) for column, cell in zip(columns, row, strict=True))}</tr>"
        for row in table_rows(columns, items)
    )
    return f'<div class="scroll"><table><thead><tr>{head}</tr></thead><tbody>{"".join(lines)}</tbody></table></div>'


def _cell(cell: Cell, *, is_wide: bool) -> str:
    text = cell_text(cell)
    if isinstance(cell, Severity):
        glyph, _, word = text.partition(" ")
        return f'<td class="tight sev-{cell.value}" title="{word}">{glyph}<span class="word"> {word}</span></td>'
    return f'<td class="{"wide" if is_wide else "tight"}">{escape(text).replace("_", "_<wbr>")}</td>'
