"""`livedeck docs --site`: the documentation as static files, made of the pages that the package ships."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from livedeck import docs
from livedeck.atomic_file import replace_file
from livedeck.cli.exit_codes import DONE, FAULT
from livedeck.cli.output import echo
from livedeck.docs.parts import PARTS

_CODE = re.compile(r"(^ *```.*?^ *```\n)", re.MULTILINE | re.DOTALL)
_CITATION = re.compile(r"(?<![\w./\\`-])(`?)([a-z][a-z-]*)\.md\1(?![\w`])((?:(?:,| and)?\s+\(?\"[^\"]+\")*)")
_HEADING = re.compile(r"\"([^\"]+)\"")

_STYLE = """[data-md-color-scheme] .md-nav__link--active,
[data-md-color-scheme] .md-nav__link--active * { color: var(--md-typeset-color); }
.md-typeset a { text-decoration: underline; }
"""
"""Style that gives active links the colour of the text, and underlines links: colour alone must not mark them."""

_SCRIPT = """addEventListener("load", () => setTimeout(() => {
  for (const box of document.querySelectorAll(".md-typeset__scrollwrap, .md-typeset pre > code")) box.tabIndex = 0;
}, 0));
"""
"""Script that lets the keyboard reach and scroll wide tables and code."""

_OPENAPI = 'Output of `livedeck docs openapi`. `collector.md`, "Routes" explains the requests.'

_CONFIGURATION = """[project]
site_name = "livedeck"
site_description = "A terminal deck for live events on a video platform"
docs_dir = "pages"
site_dir = "html"
use_directory_urls = false
extra_css = ["site.css"]
extra_javascript = ["site.js"]
nav = {nav}

[project.theme]
features = ["navigation.sections", "navigation.top", "search.highlight"]
font = false

[[project.theme.palette]]
media = "(prefers-color-scheme: light)"
scheme = "default"
toggle.icon = "lucide/sun"
toggle.name = "Switch to dark"

[[project.theme.palette]]
media = "(prefers-color-scheme: dark)"
scheme = "slate"
toggle.icon = "lucide/moon"
toggle.name = "Switch to light"

[project.plugins.search]

[project.markdown_extensions]
tables = {{}}
"pymdownx.superfences" = {{}}
"pymdownx.highlight" = {{}}
toc = {{ permalink = true }}
"""


def title(topic: str) -> str:
    """Return the title of a page."""
    return docs.page(topic).partition("\n")[0].removeprefix("# ")


def anchor(heading: str) -> str:
    """Return the anchor of a heading on the site."""
    return re.sub(r"[-\s]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower())


def linked(text: str) -> str:
    """Return the Markdown with each citation of a page (`trust.md`, "Secrets") as a link. Code stays as it is."""

    def link(found: re.Match[str]) -> str:
        _, topic, rest = found.groups()
        if topic not in docs.topics():
            return found[0]
        rest = _HEADING.sub(lambda cited: f'["{cited[1]}"]({topic}.md#{anchor(cited[1])})', rest)
        return f"[{title(topic)}]({topic}.md){rest}"

    return "".join(piece if index % 2 else _CITATION.sub(link, piece) for index, piece in enumerate(_CODE.split(text)))


def site_pages(checkout: Path) -> Iterator[tuple[str, str]]:
    """Yield the name and the Markdown of each page of the site. Raises OSError without README or changelog."""
    from livedeck.collector.serving.openapi import openapi_text

    readme = (checkout / "README.md").read_text(encoding="utf-8")
    yield "index.md", readme.replace("](src/livedeck/docs/", "](")
    yield "CHANGELOG.md", (checkout / "CHANGELOG.md").read_text(encoding="utf-8")
    for topic in docs.topics():
        yield f"{topic}.md", linked(docs.page(topic))
    yield "schemas.md", _schemas_page()
    yield "openapi.md", f"# HTTP of the collector\n\n{linked(_OPENAPI)}\n\n```json\n{openapi_text()}\n```\n"


def make_site(folder: Path, checkout: Path) -> int:
    """Build the site into `folder/html`, with the README and the pictures of a checkout. Returns the exit code."""
    try:
        shutil.copytree(checkout / "screenshots", folder / "pages" / "screenshots", dirs_exist_ok=True)
        for name, text in site_pages(checkout):
            replace_file(folder / "pages" / name, text.encode())
        replace_file(folder / "pages" / "site.css", _STYLE.encode())
        replace_file(folder / "pages" / "site.js", _SCRIPT.encode())
    except OSError as error:
        echo(f"livedeck docs: {error.filename}: {error.strerror}; the site is built from a checkout", err=True)
        return FAULT
    more = {"Reference": ("schemas.md", "openapi.md"), "Project": ("CHANGELOG.md",)}
    nav = [{part: [*(f"{topic}.md" for topic in topics), *more.get(part, ())]} for part, topics in PARTS.items()]
    replace_file(folder / "zensical.toml", _CONFIGURATION.format(nav=_toml([{"livedeck": "index.md"}, *nav])).encode())
    line = [sys.executable, "-m", "zensical", "build", "--clean", "--strict"]
    done = subprocess.run(line, cwd=folder, check=False)  # noqa: S603  fixed words
    if done.returncode == 0:
        echo(folder / "html" / "index.html")
        return DONE
    echo("livedeck docs: the site was not built; `pip install '.[docs]'` installs its builder", err=True)
    return FAULT


def _toml(nav: list[dict[str, Any]]) -> str:
    return json.dumps(nav).replace('": ', '" = ')


def _schemas_page() -> str:
    """Return the page of the JSON schemas of all commands."""
    from livedeck.cli.schema import command_schemas, schema_text

    sections = [f"## {path}\n\n```json\n{schema_text(path)}\n```\n" for path in sorted(command_schemas())]
    head = "# JSON schemas\n\nJSON Schema of the output of each command with `--json`, as `--schema` prints it.\n\n"
    return head + "\n".join(sections)
