"""Tries a wheel as a user has it: in a fresh environment of a Python, without this repository's
package and without Rust. Afterwards, if wanted, runs tests against what was installed.
"""

from __future__ import annotations

import os
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

__all__ = ["QUICK_TESTS", "try_out"]

_FIRST_QUERY = """
import sys, awkward as ak, treemill as tm
from treemill import _core
assert tm.__file__.startswith(sys.prefix), tm.__file__
events = tm.dataset("demo/*.root", tree="Events")
good = events.filter("nMuon >= 2").define("ht", "sum(Jet_pt[Jet_pt > 30])")
met, two = good.hist("MET_pt", bins=(100, 0, 200)), good.hist("ht", bins=(50, 0, 1000))
met, two, count = tm.run(met, two, good.count())
assert events.num_entries == 4000 and 0 < count == met.sum(flow=True), (count, met)
class Twos(tm.Selector):
    def begin_worker(self, inputs):
        self.output["n"] = 0
    def process(self, chunk):
        self.output["n"] += int(ak.sum(chunk.nMuon >= 2))
if __name__ == "__main__":
    with tm.connect(workers=2, mode="processes") as session:
        assert session.run(Twos(), events)["n"] == count
    print(f"Python {sys.version.split()[0]}, level {_core.CPU_LEVEL}: {count} of 4000 events")
"""
QUICK_TESTS = [
    "tests/python/data/test_columns.py",
    "tests/python/data/test_dataset.py",
    "tests/python/test_docstrings.py",
    "tests/python/test_errors.py",
    "tests/python/language/test_expression.py",
    "tests/python/backends/test_processes.py",
    "tests/python/system/test_processor.py",
    "tests/python/query/test_query.py",
    "tests/python/workers/test_selector.py",
    "tests/python/results/test_snapshots.py",
    "tests/release/test_levels_agree.py",
    "tests/release/test_wheels.py",
]
"""What depends on the version of Python: syntax trees, processes, types, numbers."""
_FOR_TESTS = ["pytest", "hypothesis", "vector", "tblib"]


def try_out(
    wheel: Path, python: str, repository: Path, levels: Sequence[str] = (), tests: bool = True
) -> None:
    """Installs the wheel for `python`, and runs a first query at each level; then the tests.

    Raises subprocess.CalledProcessError if one of these fails.
    """
    with tempfile.TemporaryDirectory(prefix="treemill-try-") as folder:
        home = Path(folder)
        _run([python, "-m", "venv", str(home / "venv")])
        inside = str(home / "venv" / "bin" / "python")
        # Not with the variables of this process's environment, nor with compilers.
        clean = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
        clean |= {"PATH": f"{home / 'venv' / 'bin'}:/usr/bin:/bin", "MPLBACKEND": "agg"}
        _install(inside, [str(wheel)], clean)
        (home / "first.py").write_text(_FIRST_QUERY)
        generate = [str(home / "venv/bin/treemill"), "demo", "--folder", "demo", "--files", "2"]
        _run([*generate, "--events", "2000"], cwd=home, env=clean)
        for level in levels or [""]:
            chosen = clean | {"TREEMILL_CPU_LEVEL": level}
            _run([inside, "first.py"], cwd=home, env=chosen)
        if tests:
            _install(inside, [f"{wheel}[plot,arrow,kernels]", *_FOR_TESTS], clean)
            words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-m", "not slow", *QUICK_TESTS]
            _run([inside, *words], cwd=repository, env=clean)


def _install(python: str, what: list[str], environment: dict[str, str]) -> None:
    words = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    _run([python, *words, "--only-binary=:all:", *what], env=environment)


def _run(command: list[str], cwd: Path | None = None, env: dict[str, str] | None = None) -> None:
    subprocess.run(command, cwd=cwd, env=env, check=True)
