"""Where the oracles' files come from: the corpus beside the repository, and real ROOT."""

import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent
CORPUS = HERE.parents[2] / "shared" / "corpus"


@pytest.fixture(scope="session")
def root_program():
    """Runs a program of `root/` in a process of its own, where ROOT keeps its global state."""
    if importlib.util.find_spec("ROOT") is None:
        pytest.skip("ROOT is not installed (dependency group `oracle`)")

    def run(name, *arguments, check=True):
        command = [sys.executable, "-W", "ignore", str(HERE / "root" / name), *map(str, arguments)]
        done = subprocess.run(command, capture_output=True, text=True)
        if check:
            assert done.returncode == 0, f"{name}:\n{done.stdout}\n{done.stderr}"
        return done.returncode

    return run


@pytest.fixture(scope="session")
def root_files(root_program, tmp_path_factory):
    """Folder of files that ROOT wrote, each with a `.dump` of what ROOT reads from it."""
    folder = tmp_path_factory.mktemp("root")
    root_program("write_trees.py", folder)
    root_program("dump.py", folder)
    return folder
