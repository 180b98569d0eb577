"""The cold measurement: the time that a whole new process takes, from the shell's prompt to its
end, for one histogram of one branch. The file is in the page cache; nothing else is warm.
"""

import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TypeVar

from .protocol import REPOSITORY
from .queries import TREE
from .times import Times

Name = TypeVar("Name", str, tuple[str, str])

_ROOT = """
import sys
import ROOT
df = ROOT.RDataFrame("{tree}", sys.argv[1])
h = df.Histo1D(("h", "", 100, 0, 200), "MET_pt")
print(h.GetEntries())
"""

_UPROOT = """
import sys
import boost_histogram as bh
import uproot
h = bh.Histogram(bh.axis.Regular(100, 0, 200))
h.fill(uproot.open(sys.argv[1])["{tree}"]["MET_pt"].array(library="np"))
print(h.sum(flow=True))
"""


def commands(path: Path) -> dict[str, list[str]]:
    """What is run, by the name in the table."""
    script = shutil.which("treemill", path=str(Path(sys.executable).parent))
    treemill = [script] if script else [sys.executable, "-m", "treemill"]
    python = [sys.executable, "-W", "ignore", "-c"]
    return {
        "treemill draw": [*treemill, "draw", f"{path}:{TREE}", "MET_pt", "--bins", "100,0,200"],
        "RDataFrame script": [*python, _ROOT.format(tree=TREE), str(path)],
        "uproot script": [*python, _UPROOT.format(tree=TREE), str(path)],
    }


def measure(
    wanted: Mapping[Name, list[str]], rounds: int, say: Callable[[str], None]
) -> dict[Name, Times]:
    """Wall time of each command, interleaved; a command that fails is left out, with a word."""
    working = {}
    for name, command in wanted.items():
        done = subprocess.run(command, capture_output=True, text=True, cwd=REPOSITORY)
        if done.returncode:
            say(f"cold: {_words(name)} failed: {done.stderr.strip().splitlines()[-1:]}")
        else:
            working[name] = command
    taken: dict[Name, list[float]] = {name: [] for name in working}
    for _ in range(rounds):
        for name, command in working.items():
            start = time.perf_counter()
            subprocess.run(command, capture_output=True, check=True, cwd=REPOSITORY)
            taken[name].append(time.perf_counter() - start)
    times = {name: Times(tuple(seconds)) for name, seconds in taken.items()}
    for name, measured in times.items():
        say(f"cold: {_words(name)} {measured.median:.2f} s")
    return times


def _words(name: str | tuple[str, ...]) -> str:
    return name if isinstance(name, str) else " ".join(name)
