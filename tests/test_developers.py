"""The pages for developers: the sources have what their diffs add, and their code runs."""

import re
import subprocess
import sys
from pathlib import Path

import pytest
from treemill.facility.generate import Recipe, write_dataset

REPOSITORY = Path(__file__).parents[1]
PAGES = REPOSITORY / "docs" / "developers"
PRINTED = {
    "function": "0\n",
    "booking": "(1, None)\n",
    "codec": "True\n",
    "protocol": None,  # the operating system's words
}


def blocks(page, language):
    text = (PAGES / f"{page}.md").read_text()
    return re.findall(rf"^```{language}\n(.*?)^```", text, re.DOTALL | re.MULTILINE)


def test_all_pages_are_tested():
    assert set(PRINTED) == {path.stem for path in PAGES.glob("*.md")}


@pytest.mark.parametrize("page", PRINTED)
def test_the_diff_can_be_taken_back(page):
    (diff,) = blocks(page, "diff")
    words = ["git", "apply", "--reverse", "--check", "-"]
    checked = subprocess.run(
        words, cwd=REPOSITORY, input=diff, capture_output=True, text=True, check=False
    )
    assert checked.returncode == 0, checked.stderr
    assert len(re.findall(r"^\+\+\+ ", diff, re.MULTILINE)) >= 5


@pytest.mark.parametrize("page", PRINTED)
def test_the_code_runs(page, tmp_path):
    (code,) = blocks(page, "python")
    list(write_dataset(tmp_path / "demo-data", Recipe(files=2, events_per_file=2000)))
    ran = subprocess.run(
        [sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert ran.returncode == 0, ran.stderr
    assert ran.stdout == PRINTED[page] if PRINTED[page] else "127.0.0.1:1" in ran.stdout


@pytest.mark.parametrize("page", PRINTED)
def test_the_files_that_commands_name_exist(page):
    named = re.findall(r"\btests/[\w/.]+", "".join(blocks(page, "sh")))
    assert named
    assert not [path for path in named if not (REPOSITORY / path).exists()]
