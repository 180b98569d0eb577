"""A wheel's cores for different levels of processors answer the same, to the bit. `python -m
tools.release` runs this where the wheel is installed; a checkout has one level."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest
from treemill._system.processor import VARIABLE, installed, levels_of, this_processor

from tests.release.digests import questions

REPOSITORY = Path(__file__).parents[2]
LEVELS = [level for level in levels_of(this_processor()) if level in installed()]


def answers(level, asked):
    """What a process with the core for this level prints, and which level it says that it has."""
    command = [sys.executable, "-m", "tests.release.digests", str(asked)]
    known = os.environ | {VARIABLE: level}
    done = subprocess.run(command, cwd=REPOSITORY, env=known, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr
    assert f"level {level}\n" in done.stderr, "the extension was compiled for what its name says"
    return done.stdout.splitlines()


@pytest.mark.skipif(len(LEVELS) < 2, reason="needs a wheel with several levels: make wheels")
def test_all_levels_give_equal_bits(tmp_path):
    asked = tmp_path / "questions.json"
    asked.write_text(json.dumps(questions()))
    first, *others = LEVELS
    wanted = answers(first, asked)
    assert len(wanted) > 20
    for level in others:
        assert answers(level, asked) == wanted
