"""`python -m bench`: measure, compare, write `bench/results/<date>-<machine>.{json,md}`.
`python -m bench adl` does so for the tasks of bench/adl, `python -m bench sessions` for sessions
and selectors, each with options of its own.
"""

import argparse
import sys
from pathlib import Path

from . import cold, data, goals, machine, memory, ntuples, publish, report, warm
from .adl import run as adl
from .protocol import RivalError, Worker
from .queries import QUERIES
from .rivals import RIVALS
from .sessions import run as sessions
from .times import Times

_PARTS = ("warm", "cold", "memory")


def _options(arguments: list[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    add = parser.add_argument
    add("--quick", action="store_true", help="50,000 events, 2 rounds, 0.05 GB: does it run?")
    add("--events", type=int, help="events in each file (1,000,000)")
    add("--rounds", type=int, help="counted rounds (7)")
    add("--gigabytes", type=float, help="size of the memory measurement's dataset (10)")
    add("--queries", nargs="+", metavar="Q", choices=[q.key for q in QUERIES], help="q1 … q4")
    add("--codecs", nargs="+", metavar="C", choices=data.CODECS, help="zlib lz4 zstd none")
    add("--rivals", nargs="+", metavar="R", choices=[r.key for r in RIVALS], help="only these")
    add("--parts", nargs="+", metavar="P", choices=_PARTS, default=_PARTS, help="warm cold memory")
    add("--ntuples", action="store_true", help="RNTuples instead of trees; the warm part only")
    add("--file", action="append", metavar="NAME=PATH", help="a file of one's own as a codec")
    add("--data", type=Path, default=data.FOLDER, help="folder of the files that are read")
    add("--output", type=Path, default=publish.FOLDER, help="folder")
    add("--clock", choices=("wall", "cpu"), default="wall", help="cpu: for a machine that is busy")
    chosen = parser.parse_args(arguments)
    small = chosen.quick
    chosen.events = chosen.events or (50_000 if small else 1_000_000)
    chosen.rounds = chosen.rounds or (2 if small else 7)
    chosen.gigabytes = chosen.gigabytes or (0.05 if small else 10.0)
    if chosen.ntuples:
        chosen.parts = ("warm",)
    return chosen


def _say(text: str) -> None:
    print(text, file=sys.stderr, flush=True)


def _files(chosen: argparse.Namespace) -> dict[str, Path]:
    if chosen.file:
        pairs = (text.split("=", 1) for text in chosen.file)
        files = {name: Path(path).resolve() for name, path in pairs}
    elif chosen.ntuples:
        files = {
            ntuples.LABELS[c]: ntuples.make(c, chosen.events, chosen.data)
            for c in chosen.codecs or data.CODECS
        }
    else:
        files = {c: data.make(c, chosen.events, chosen.data) for c in chosen.codecs or data.CODECS}
    for path in files.values():
        data.warm_up(path)
    return files


def _pool(chosen: argparse.Namespace) -> warm.Pool:
    pool = warm.Pool()
    for rival in RIVALS:
        if chosen.rivals and rival.key not in chosen.rivals:
            continue
        try:
            pool.workers.append(Worker(rival))
        except RivalError as error:
            pool.missing[rival.key] = str(error)
            _say(str(error))
    return pool


def main(arguments: list[str] | None = None) -> int:
    """Run what the options ask for; 1 when rivals disagree."""
    given = sys.argv[1:] if arguments is None else arguments
    if given[:1] == ["adl"]:
        return adl.main(given[1:], _say, summary)
    if given[:1] == ["sessions"]:
        return sessions.main(given[1:], _say)
    chosen = _options(arguments)
    files = _files(chosen)
    facts = machine.describe()
    queries = [q for q in QUERIES if not chosen.queries or q.key in chosen.queries]
    cells: list[warm.Cell] = []
    shells: dict[str, Times] = {}
    sweeps: list[memory.Sweep] = []
    versions: dict[str, str] = {}
    try:
        if "warm" in chosen.parts:
            pool = _pool(chosen)
            try:
                cells = warm.measure(pool, queries, files, chosen.rounds, chosen.clock, _say)
                for worker in pool.workers:
                    versions |= worker.versions
            finally:
                pool.close()
        first = files.get("zstd") or next(iter(files.values()))
        if "cold" in chosen.parts:
            shells = cold.measure(first, chosen.rounds, _say)
        if "memory" in chosen.parts:
            sweepers = [r for r in RIVALS if r.sweeps and r.key in (chosen.rivals or {r.key})]
            sweeps = memory.measure(sweepers, files.get("lz4", first), chosen.gigabytes, _say)
    except warm.WrongBinsError as error:
        _say(f"WRONG: {error}")
        return 1
    except RivalError as error:
        _say(f"failed: {error}")
        return 1
    facts["versions"] = {**dict(facts["versions"]), **versions}  # type: ignore[call-overload]
    described = {name: data.describe(path) for name, path in files.items()}
    verdicts = [*goals.warm(goals.medians(cells)), *goals.cold(shells), *goals.memory(sweeps)]
    numbers = {
        "machine": facts,
        "files": described,
        "rounds": chosen.rounds,
        "clock": chosen.clock,
        "warm": [
            {"rival": c.rival, "query": c.query, "codec": c.codec}
            | {"wall": c.wall.as_dict(), "cpu": c.cpu.as_dict()}
            for c in cells
        ],
        "cold": {name: times.as_dict() for name, times in shells.items()},
        "memory": [sweep.as_dict() for sweep in sweeps],
        "goals": [verdict.as_dict() for verdict in verdicts],
    }
    text = report.markdown(
        f"treemill and its rivals{', RNTuple' * chosen.ntuples}, {publish.today()}",
        summary(facts, described, chosen.rounds, chosen.clock),
        cells,
        shells,
        sweeps,
        verdicts,
    )
    what = "-rntuple" * chosen.ntuples + "-quick" * chosen.quick
    written = publish.page(chosen.output, what, numbers, text)
    _say(f"written: {written}")
    return 0


def summary(
    facts: dict[str, object], files: dict[str, dict[str, object]], rounds: int, clock: str
) -> dict[str, object]:
    memory_size = facts["memory"]
    assert isinstance(memory_size, int)
    sizes = ", ".join(f"{name} {int(str(f['bytes'])) / 1e6:.0f} MB" for name, f in files.items())
    return {
        "machine": f"{facts['cpu']}, {facts['cores']} cores, {memory_size / 2**30:.0f} GiB,"
        f" {facts['kernel']}",
        "versions": ", ".join(f"{k} {v}" for k, v in dict(facts["versions"]).items())  # type: ignore[call-overload]
        + f"; Python {facts['python']}, {facts['rustc']}; commit {facts['commit']}",
        "files": f"{next(iter(files.values()))['events']:,} events: {sizes}",
        "counted rounds": rounds,
        "clock": f"{clock}; load average before the run {facts['load']:.2f}",
    }


if __name__ == "__main__":
    sys.exit(main())
