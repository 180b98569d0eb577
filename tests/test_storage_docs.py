"""docs/storage.md: its commands run as they are written, where they need nothing but this machine;
the others have options that there are."""

import re
import shlex
from pathlib import Path

import pytest
from click.testing import CliRunner
from treemill.cli.main import cli

from tests.test_readme import REPOSITORY, blocks

PAGE = (REPOSITORY / "docs/storage.md").read_text()
COMMANDS = [
    shlex.split(line)[1:]
    for block in blocks("sh", PAGE)
    for line in block.splitlines()
    if line.startswith("treemill ")
]
HERE = {"demo-data", "demo-data/dataset.json", "here.json", "endurance.json"}


@pytest.mark.slow
def test_the_commands_work_as_pasted(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (told,) = blocks("toml", PAGE)
    Path("jobs.toml").write_text(told)
    ran = [words for words in COMMANDS if HERE & set(words)]
    assert len(ran) == 5
    said = []
    for words in ran:
        done = CliRunner().invoke(cli, words)
        assert done.exit_code == 0, (words, done.output, done.exception)
        said.append(done.output)
    assert "no errors in 8 measurements with up to 4 readers" in said[1]
    assert "no job failed" in said[3]
    assert "8 done" in said[3]
    assert Path("here.csv").read_text().count("\n") == 9
    assert len([*Path("pictures").glob("*.png")]) == 6
    assert "Endurance run" in Path("endurance.html").read_text()


@pytest.mark.parametrize("words", COMMANDS, ids=" ".join)
def test_the_options_exist(words):
    group, name = words[:2]
    help_text = CliRunner().invoke(cli, [group, name, "--help"]).output
    for option in [word for word in words if re.match(r"--\w", word)]:
        assert option in help_text
