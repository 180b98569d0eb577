"""Runs the program that reads and decompresses one branch and does nothing else
(crates/treemill-read/examples/unpack.rs): what no reader can do in less that takes whole baskets.
treemill need not, of several branches of one counter or where a query's filters leave nothing.
Judges nothing.
"""

import json
import resource
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path

from .protocol import EXAMPLES
from .times import Times

_PROGRAM = EXAMPLES / "unpack"


def built() -> bool:
    """Whether there is one to run; `make bench` builds it."""
    return _PROGRAM.exists()


def unpack(path: Path, tree: str, branch: str, repeat: int) -> tuple[list[float], float]:
    """Wall seconds of each of `repeat` runs, and all the program's seconds of CPU."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    command = [str(_PROGRAM), str(path), tree, branch, str(repeat)]
    done = subprocess.run(command, capture_output=True, text=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    used = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return [float(s) for s in json.loads(done.stdout)["seconds"]], used


def together(paths: Iterable[Path], tree: str, branches: Sequence[str], repeat: int) -> Times:
    """Wall seconds for all of the branches of all files, one after the other."""
    runs = (unpack(path, tree, branch, repeat)[0] for path in paths for branch in branches)
    return Times(tuple(map(sum, zip(*runs, strict=True))))
