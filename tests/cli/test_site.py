"""The documentation as a site: its links lead to pages and headings, and the tutorial runs."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from pathlib import Path

from cli.commands import environment
from cli.groups_stage import stage
from livedeck import docs
from livedeck.cli.site import anchor, linked, site_pages

ROOT = Path(__file__).parents[2]
TUTORIAL = "".join(re.findall(r"```bash\n(.+?)```", docs.page("tutorial"), re.DOTALL))


def test_each_link_between_pages_leads_to_a_heading() -> None:
    pages = dict(site_pages(ROOT))
    prose = {name: re.sub(r"^ *```.*?^ *```", "", text, flags=re.MULTILINE | re.DOTALL) for name, text in pages.items()}
    anchors = {
        name: {anchor(head) for head in re.findall(r"^#+ (.+)$", text, re.MULTILINE)} for name, text in prose.items()
    }
    found = [
        (name, target, part)
        for name, text in prose.items()
        for target, part in re.findall(r"\]\(([\w-]*\.md)(?:#([^)]*))?\)", text)
    ]
    assert len(found) > 200
    assert [link for link in found if link[1] not in pages or (link[2] and link[2] not in anchors[link[1]])] == []


def test_a_citation_becomes_a_link_and_code_stays() -> None:
    cited = linked('see `trust.md`, "Secrets" and\n"Files" (`nobody`)\n\n```sh\ncat `trust.md`\n```\n')
    assert cited == (
        'see [Trust](trust.md), ["Secrets"](trust.md#secrets) and\n["Files"](trust.md#files) (`nobody`)\n\n'
        "```sh\ncat `trust.md`\n```\n"
    )


def test_the_tutorial_runs_from_nothing_to_its_report(tmp_path: Path) -> None:
    """Its blocks in one shell, as a reader types them, on a simulator with a port of its own."""
    with stage(tmp_path) as on_stage:
        service, work = on_stage.service, tmp_path / "work"
        work.mkdir()
        typed = re.sub(r"^livedeck serve.*\n^export.*\n", "sleep 0 &\n", TUTORIAL, flags=re.MULTILINE)
        assert typed != TUTORIAL
        typed = typed.replace("$LIVEDECK_BASE_URL/_control", str(service["control_url"]))
        typed = typed.replace("Bearer rehearsal", f"Bearer {service['control_token']}")
        command = tmp_path / "livedeck"
        command.write_text(f'#!/bin/sh\nexec "{sys.executable}" -m livedeck "$@"\n')
        command.chmod(0o700)
        env = environment(on_stage.home, **on_stage.env)
        env["PATH"] = f"{tmp_path}:{env['PATH']}"
        done = subprocess.run(
            ["bash", "-ec", typed.replace("kill %1 %2", "kill $(jobs -p | tail -1)")],
            env=env, cwd=work, capture_output=True, text=True, timeout=240, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, done.stdout + done.stderr
        (show,) = json.loads((work / "report" / "report.json").read_text(encoding="utf-8"))["events"]
        assert (show["name"], show["outages"]) == ("First show", [])
