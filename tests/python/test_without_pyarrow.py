"""Nothing needs pyarrow but what has to do with Arrow, Parquet and Feather: it is an extra."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

HERE = Path(__file__).parent

# In every process that is started: to import pyarrow fails there, as where it is not installed.
BARRED = """
import sys


class Barred:
    def find_spec(self, name, path=None, target=None):
        if name.partition(".")[0] == "pyarrow":
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)


sys.meta_path.insert(0, Barred())
"""


@pytest.fixture
def run(core, tmp_path):
    """Runs a program where there is no pyarrow; gives what it printed."""
    barred = tmp_path / "barred"
    barred.mkdir()
    (barred / "sitecustomize.py").write_text(BARRED)

    def run(*arguments):
        folders = [str(barred), str(HERE), os.environ.get("PYTHONPATH", "")]
        done = subprocess.run(
            [sys.executable, *map(str, arguments)],
            env=os.environ | {"PYTHONPATH": os.pathsep.join(folders)},
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        assert done.returncode == 0, done.stdout[-1000:] + done.stderr[-3000:]
        return done.stdout

    return run


@pytest.mark.slow
def test_all_that_is_not_arrows(run, tmp_path):
    assert "what_needs_it_says_so" in run(HERE / "without_pyarrow.py", tmp_path)


@pytest.mark.slow
def test_the_demo_and_the_commands(run, tmp_path):
    folder = tmp_path / "demo"
    run("-m", "treemill", "demo", "--events", "2000", "--folder", folder)
    file = next(folder.glob("*.root"))
    assert "MET_pt" in run("-m", "treemill", "show", file)
    run("-m", "treemill", "draw", f"{file}:Events", "MET_pt", "--bins", "10,0,100")
