"""`livedeck docs`: every page ships and is shown, and its generated tables match the code."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from cli.commands import TIMEOUT, called, environment
from cli.starts import LIVEDECK, run
from cli.terminals import terminal
from livedeck import docs

PAGES = Path(docs.__file__).parent


def test_every_page_is_listed_with_what_it_holds(tmp_path: Path) -> None:
    listed = called(tmp_path, "docs")
    assert (listed.returncode, listed.stderr) == (0, "")
    assert {page.stem for page in PAGES.glob("*.md")} == {*docs.topics()}
    first_words = [line.split()[0] for line in listed.stdout.splitlines() if not line.startswith(" ")]
    assert first_words == [*docs.topics()]
    assert "Token sources" in listed.stdout


@pytest.mark.parametrize("topic", docs.topics())
def test_a_pipe_gets_the_page_as_it_is_written_but_for_the_markers_of_tables(tmp_path: Path, topic: str) -> None:
    done = called(tmp_path, "docs", topic)
    written = (PAGES / f"{topic}.md").read_text(encoding="utf-8").splitlines()
    assert done.stdout.splitlines() == [line for line in written if not line.startswith("<!--")]


@pytest.mark.parametrize(
    ("word", "topic"), [("drills", "simulator"), ("Rehearse", "simulator"), ("webhook", "notifications")]
)
def test_a_word_that_is_no_topic_leads_to_the_page_that_has_it(tmp_path: Path, word: str, topic: str) -> None:
    assert f"there is no page '{word}', but look in {topic}," in " ".join(called(tmp_path, "docs", word).stderr.split())


def test_a_terminal_gets_the_page_laid_out(tmp_path: Path) -> None:
    with terminal(tmp_path, "docs", "settings", size=(100, 40)) as shown:
        assert shown.ended() == 0
    text = shown.written.decode()
    assert "LIVEDECK_BASE_URL" in text
    assert "##" not in text
    assert "<!--" not in text


def test_a_reader_who_leaves_ends_it_quietly(tmp_path: Path) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    command = [*LIVEDECK, "docs", "settings"]
    done = run(command, env=environment(tmp_path), stdout=writing, stderr=subprocess.PIPE, timeout=TIMEOUT)
    os.close(writing)
    assert (done.returncode, done.stderr) == (141, b"")


@pytest.mark.parametrize("topic", ["nothing", "../docs/keys", "keys.md", ""])
def test_a_topic_that_is_none_is_refused_and_the_topics_are_named(tmp_path: Path, topic: str) -> None:
    done = called(tmp_path, "docs", topic)
    assert (done.returncode, done.stdout) == (2, "")
    assert all(name in done.stderr for name in docs.topics())
    with pytest.raises(LookupError):
        docs.page(topic)


def test_generated_tables_say_what_registry_and_settings_say(tmp_path: Path) -> None:
    """`livedeck docs --write src/livedeck/docs` renews them."""
    copy = tmp_path / "docs"
    shutil.copytree(PAGES, copy)
    done = called(tmp_path, "docs", "--write", str(copy))
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert "| `q` | `:app.quit` |" in docs.page("keys")
    assert "| `theme` | `LIVEDECK_THEME` | `--theme` |" in docs.page("settings")
