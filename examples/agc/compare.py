"""The same analysis in treemill, coffea and RDataFrame: `python examples/agc/compare.py FOLDER`.

Runs the programs on the files of `generate.py`, compares the histograms of all processes and
variations bin by bin, and prints lines of code, time and memory. The exit status is 1 if a bin
differs and single precision does not explain it.
"""

import ast
import os
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import uproot

HERE = Path(__file__).parent
PROGRAMS = {
    "treemill": ("treemill.root", ["treemill_ttbar.py"]),
    "coffea, as its reference": ("coffea.root", ["coffea_ttbar.py"]),
    "coffea, for speed": ("coffea_fast.root", ["coffea_fast.py", "coffea_ttbar.py"]),
    "RDataFrame, C++": ("rdataframe.root", ["rdataframe_ttbar.py", "rdataframe_ttbar.cpp"]),
}
"""What they write, and their sources, of which the first is run."""
TREES = {
    "treemill": ("treemill_bdt.root", ["treemill_bdt.py", "treemill_ttbar.py"]),
    "coffea, XGBoost, as its reference": (
        "coffea_bdt_reference.root",
        ["coffea_bdt_reference.py", "coffea_bdt.py", "coffea_fast.py", "coffea_ttbar.py"],
    ),
    "coffea, XGBoost, for speed": (
        "coffea_bdt.root",
        ["coffea_bdt.py", "coffea_fast.py", "coffea_ttbar.py"],
    ),
    "RDataFrame, C++": (
        "rdataframe_bdt.root",
        ["rdataframe_bdt.py", "rdataframe_bdt.cpp", "rdataframe_ttbar.py", "rdataframe_ttbar.cpp"],
    ),
}
"""The version with boosted trees, once `treemill_bdt.py FOLDER train` has made the models."""
ROUNDING = 1e-9
"""Sums of weights are added in any order."""


def differences(ours, theirs):
    """The numbers of bins that differ, and of those among them that are in order: what is missing
    in a bin is in the next one. Values within single precision of an edge do that."""
    ours, theirs = np.asarray(ours, float), np.asarray(theirs, float)
    scale = ROUNDING * np.maximum(np.abs(ours).max(initial=0), 1e-300)
    lacks = np.where(np.abs(ours - theirs) > scale, ours - theirs, 0.0)
    left = lacks.copy()
    for i in range(len(left) - 1):
        # What has gone over the edge between bins i and i + 1.
        if left[i] != 0 and lacks[i + 1] != 0 and np.sign(lacks[i]) != np.sign(lacks[i + 1]):
            left[i + 1] += left[i]
            left[i] = 0.0
    unexplained = int(np.count_nonzero(np.abs(left) > 2 * scale))
    found = int(np.count_nonzero(lacks))
    return found, found - unexplained


def compared(ours, theirs):
    """A line of text about two mappings of names to contents of bins, and whether they agree."""
    missing = sorted(ours.keys() ^ theirs.keys())
    if missing:
        return f"only one has {', '.join(missing[:3])}", False
    found = {name: differences(ours[name], theirs[name]) for name in ours}
    bins = sum(len(values) for values in ours.values())
    differ = {name: counts for name, counts in found.items() if counts[0]}
    text = f"{len(ours)} histograms, {bins} bins"
    if not differ:
        return f"{text}: all equal", True
    words = (f"{name}: {n} bins" + ("" if n == ok else f", {n - ok} unexplained")
             for name, (n, ok) in differ.items())  # fmt: skip
    return f"{text}: differ in {'; '.join(words)}", all(n == ok for n, ok in differ.values())


def contents(path):
    """Bins by the histogram's name, with those below and above the axis."""
    with uproot.open(path) as file:
        return {name: file[name].values(flow=True) for name in file.keys(cycle=False)}


def lines_of_code(path):
    """Lines that are not empty, and no comment or docstring."""
    text = path.read_text()
    if path.suffix != ".py":
        return sum(1 for line in text.splitlines() if line.strip()[:2] not in ("", "//"))
    words = set()
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            words |= set(range(node.lineno, node.end_lineno + 1))
    lines = enumerate(text.splitlines(), 1)
    return sum(1 for n, line in lines if n not in words and line.strip()[:1] not in ("", "#"))


def run(program, folder):
    """Seconds of a process, from its start to its end, and its greatest memory in MB."""
    began = time.perf_counter()
    command = [sys.executable, "-W", "ignore", str(HERE / program), str(folder)]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{program} failed: run it by itself")
    return time.perf_counter() - began, usage.ru_maxrss / 1024


def measured(folder, programs):
    """Prints a line for each program, and what the others' histograms are beside the first's;
    gives whether they agree."""
    print(f"{'':34}{'lines':>7}{'s':>8}{'MB':>8}")
    for title, (_, sources) in programs.items():
        run(sources[0], folder)  # compilers and the page cache
        seconds, memory = run(sources[0], folder)
        lines = sum(lines_of_code(HERE / name) for name in sources)
        print(f"{title:34}{lines:7}{seconds:8.1f}{memory:8.0f}")
    (_, ours), *others = ((title, contents(folder / of)) for title, (of, _) in programs.items())
    verdicts = {title: compared(ours, theirs) for title, theirs in others}
    for title, (text, _) in verdicts.items():
        print(f"{title}: {text}")
    return all(agrees for _, agrees in verdicts.values())


def main(folder):
    """The exit status."""
    agree = measured(folder, PROGRAMS)
    if (folder / "bdt_even.json").exists():
        print("\nwith boosted trees")
        agree &= measured(folder, TREES)
    return 0 if agree else 1


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
