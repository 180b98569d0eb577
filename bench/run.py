"""`python -m bench`: treemill and its rivals; writes `bench/results/<date>-<machine>.{json,md}`."""

import argparse
from pathlib import Path

from . import cold, data, goals, machine, memory, ntuples, publish, report, tables, warm
from .options import Options
from .protocol import RivalError
from .publish import say
from .queries import QUERIES
from .rivals import REMEMBERING, RIVALS
from .times import Times

_PARTS = ("warm", "cold", "memory")


def _options(arguments: list[str]) -> argparse.Namespace:
    options = Options("rivals", __doc__)
    options.size("events", 1_000_000, 50_000, "events in each file")
    options.size("rounds", 7, 2, "counted rounds")
    options.size("gigabytes", 10.0, 0.05, "size of the memory measurement's dataset")
    queries, rivals = [q.key for q in QUERIES], [r.key for r in RIVALS]
    options.choice("queries", queries, queries, "only these")
    options.choice("codecs", data.CODECS, data.CODECS, "of the files")
    options.choice("rivals", rivals, rivals, "only these")
    options.choice("parts", _PARTS, _PARTS, "only these")
    words = "RNTuples instead of trees; the warm part only"
    options.add("--ntuples", action="store_true", help=words)
    words = "a file of one's own as a codec"
    options.add("--file", action="append", metavar="NAME=PATH", help=words)
    chosen = options.parse(arguments)
    if chosen.ntuples:
        chosen.parts = ("warm",)
    return chosen


def _files(chosen: argparse.Namespace) -> dict[str, Path]:
    if chosen.file:
        pairs = (text.split("=", 1) for text in chosen.file)
        files = {name: Path(path).resolve() for name, path in pairs}
    elif chosen.ntuples:
        files = {
            ntuples.LABELS[c]: ntuples.make(c, chosen.events, chosen.data) for c in chosen.codecs
        }
    else:
        files = {c: data.make(c, chosen.events, chosen.data) for c in chosen.codecs}
    for path in files.values():
        data.warm_up(path)
    return files


def main(arguments: list[str]) -> int:
    """Run what the options ask for; 1 when rivals disagree."""
    chosen = _options(arguments)
    files = _files(chosen)
    facts = machine.describe()
    rivals = [r for r in RIVALS if r.key in chosen.rivals]
    if not chosen.ntuples:  # its page about trees is about reading them
        rivals = [r for r in rivals if r.group != REMEMBERING]
    cells: list[warm.Cell] = []
    shells: dict[str, Times] = {}
    sweeps: list[memory.Sweep] = []
    try:
        if "warm" in chosen.parts:
            queries = [q for q in QUERIES if q.key in chosen.queries]
            with warm.Pool.of(rivals, say) as pool:
                cells = warm.measure(pool, queries, files, chosen.rounds, chosen.clock, say)
                facts["versions"] |= pool.versions
        first = files.get("zstd") or next(iter(files.values()))
        if "cold" in chosen.parts:
            shells = cold.measure(cold.commands(first), chosen.rounds, say)
        if "memory" in chosen.parts:
            sweepers = [r for r in rivals if r.sweeps]
            sweeps = memory.measure(sweepers, files.get("lz4", first), chosen.gigabytes, say)
    except (warm.WrongBinsError, RivalError) as error:
        say(f"failed: {error}")
        return 1
    described = {name: data.describe(path) for name, path in files.items()}
    verdicts = [*goals.warm(goals.medians(cells, RIVALS))]
    verdicts += [*goals.cold(shells), *goals.memory(sweeps)]
    others = {
        "cold": {name: times.as_dict() for name, times in shells.items()},
        "memory": [sweep.as_dict() for sweep in sweeps],
    }
    numbers = tables.numbers(facts, described, chosen, cells, verdicts, **others)
    about = machine.about(facts, tables.sizes(described), chosen.rounds, chosen.clock)
    title = f"treemill and its rivals{', RNTuple' * chosen.ntuples}, {publish.today()}"
    text = report.markdown(title, about, cells, shells, sweeps, verdicts)
    what = "-rntuple" * chosen.ntuples + "-quick" * chosen.quick
    publish.page(chosen.output, what, numbers, text)
    return 0
