"""Programs that fill the same histograms, side by side: are their bins equal, and what does each
take? The compare.py of each example says which programs these are.
"""

import ast
import os
import resource
import statistics
import subprocess
import sys
import time

import numpy as np
import uproot

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


def run(program, *arguments):
    """Seconds of a process from its start to its end, those of its processor, and its peak memory
    in MB."""
    began = time.perf_counter()
    command = [sys.executable, "-W", "ignore", *map(str, (program, *arguments))]
    process = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} failed: run it by itself")
    return time.perf_counter() - began, *used(usage)


def used(usage):
    """Seconds of the processor, and the peak memory in MB."""
    return usage.ru_utime + usage.ru_stime, usage.ru_maxrss / 1024


def run_on_dask(program, folder, workers):
    """The same on a new Dask cluster of this machine, of so many processes with a thread each: the
    processor's seconds are those of all, the memory is that of the largest worker."""
    from distributed import Client, LocalCluster

    def now():
        return used(resource.getrusage(resource.RUSAGE_SELF))

    cluster = LocalCluster(
        workers, threads_per_worker=1, dashboard_address=":0", silence_logs="ERROR"
    )
    with cluster, Client(cluster) as client:
        before = client.run(now).values()
        seconds, processor, _ = run(program, folder, "--on", cluster.scheduler_address)
        after = client.run(now).values()
        processor += sum(cpu for cpu, _ in after) - sum(cpu for cpu, _ in before)
        return seconds, processor, max(memory for _, memory in after)


def measured(folder, programs, sources_in, rounds=1, runner=run):
    """Prints a line for each program, with medians of rounds in which each has its turn, and what
    the others' histograms are beside the first's; gives whether they agree.

    `programs` has, by title, the file that a program writes in the folder, and its sources, in
    `sources_in`, of which the first is run. A first run of each, for compilers and the page cache,
    does not count.
    """
    found = {title: [] for title in programs}
    for _ in range(1 + rounds):
        for title, (_, sources) in programs.items():
            found[title].append(runner(sources_in / sources[0], folder))
            print(f"{title}: {found[title][-1][0]:.1f} s", file=sys.stderr, flush=True)
    print("| program | lines | seconds | from-to | processor's | peak MB |")
    print("|---|--:|--:|--:|--:|--:|")
    for title, (_, sources) in programs.items():
        seconds, processor, memory = zip(*found[title][1:], strict=True)
        lines = sum(lines_of_code(sources_in / source) for source in sources)
        median, cpu = statistics.median(seconds), statistics.median(processor)
        print(
            f"| {title} | {lines} | {median:.1f} | {min(seconds):.1f}-{max(seconds):.1f} ", end=""
        )
        print(f"| {cpu:.1f} | {statistics.median(memory):.0f} |")
    (_, ours), *others = ((title, contents(folder / of)) for title, (of, _) in programs.items())
    verdicts = {title: compared(ours, theirs) for title, theirs in others}
    for title, (text, _) in verdicts.items():
        print(f"\n{title}: {text}")
    return all(agrees for _, agrees in verdicts.values())
