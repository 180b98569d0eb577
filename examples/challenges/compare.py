"""An integration challenge in treemill and in coffea, in turn: `python
examples/challenges/compare.py atlas FOLDER`, or `cms`.

Runs both programs on the files of its `generate.py`, compares all histograms bin by bin, and prints
lines of code, time and memory, with medians of `--rounds`. Each program has one thread or process
of this machine; with `--dask 4` a Dask cluster of four workers of this machine, a new one for each
run, and the memory is that of a worker. The exit status is 1 if a bin differs.
"""

import argparse
import functools
import sys
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
from side_by_side import measured, run, run_on_dask  # noqa: E402

PROGRAMS = {
    "treemill": ("treemill.root", ["analysis.py"]),
    "coffea": ("coffea.root", ["coffea_analysis.py"]),
}
"""What they write, and their sources."""


def on_one_core(program, folder):
    """As `run` does, with one worker."""
    return run(program, folder, "--workers", 1)


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("challenge", choices=["atlas", "cms"])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--dask", type=int, metavar="WORKERS", help="on a cluster of so many")
    chosen = parser.parse_args()
    runner = on_one_core
    if chosen.dask:
        runner = functools.partial(run_on_dask, workers=chosen.dask)
    agree = measured(chosen.folder, PROGRAMS, HERE / chosen.challenge, chosen.rounds, runner)
    sys.exit(0 if agree else 1)
