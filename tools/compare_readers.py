"""Every branch and field of every ROOT file below some folders, by treemill alone and by uproot.

    python -m tools.compare_readers DIR... [--oracle root] [--hang SECONDS] [--jobs N] [--verbose]

Prints, per file and in sum, how many branches are equal, different, unsupported (by C++ type), read
by treemill only, crashed or hung. Exit status 1 if any is different, crashed or hung, but for those
of tools/readers/known.py.
"""

import argparse
import os
import sys
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from .readers import known
from .readers.compare import Outcome, Verdict
from .readers.process import Reader
from .readers.sample import differences_from_root

COLUMNS = ("equal", "known", "different", "unsupported", "only", "crashed", "hung", "grouping")
COLUMN_OF = {
    Verdict.EQUAL: "equal",
    Verdict.DIFFERENT: "different",
    Verdict.REFUSED: "different",
    Verdict.BROKEN_PROMISE: "crashed",
    Verdict.UNSUPPORTED: "unsupported",
    Verdict.UNCHECKED: "only",
    Verdict.CRASHED: "crashed",
    Verdict.HUNG: "hung",
    # No data to compare: groups, counters of split collections, branches shorter than their tree.
    Verdict.GROUP: "grouping",
    Verdict.COUNTS: "grouping",
    Verdict.SHORT: "grouping",
    Verdict.BOTH_REFUSE: "grouping",
}
FAST = {"AsDtype", "AsJagged", "AsStrings", "AsStridedObjects"}


def column_of(outcome: Outcome) -> str:
    """The column of the table that an outcome is counted in."""
    return "known" if known.why(outcome) else COLUMN_OF[outcome.verdict]


def equal_of(found: Iterable[Outcome], fast_only: bool) -> tuple[int, int]:
    """How many are equal (or known not to be, tools/readers/known.py), of how many that uproot
    reads; grouping branches left out."""
    read = [
        column_of(o)
        for o in found
        if o.uproot and (o.uproot in FAST or not fast_only) and column_of(o) != "grouping"
    ]
    return sum(column in ("equal", "known") for column in read), len(read)


def share(found: Iterable[Outcome], fast_only: bool) -> str:
    """`equal_of` in words."""
    equal, read = equal_of(found, fast_only)
    return f"{equal} of {read} ({100 * equal / max(1, read):.2f} %)"


def row(name: str, found: list[Outcome]) -> str:
    """A line of the table."""
    counts = Counter(column_of(o) for o in found)
    return f"{name[:60]:60}" + "".join(f"{counts[column]:12}" for column in COLUMNS)


def report(found: list[Outcome], verbose: bool) -> None:
    """Sums, and what is missing by type."""
    print(row("sum", found))
    print("\nof what uproot reads as AsDtype, AsJagged, AsStrings, AsStridedObjects:", end=" ")
    print(f"{share(found, True)} equal; of all that it reads: {share(found, False)}")
    fields = Counter(column_of(o) for o in found if o.is_field)
    ntuples = {(o.file, o.tree) for o in found if o.is_field}
    counted = ", ".join(f"{count} {column}" for column, count in fields.items())
    print(f"of these, fields of {len(ntuples)} RNTuples: {counted or 'none'}")
    reasons = Counter(reason for o in found if (reason := known.why(o)))
    for reason, count in reasons.items():
        print(f"\nknown, {count} branches: {reason}")
    for title, by_uproot in (("that uproot reads", True), ("that neither reads", False)):
        missing = [
            o for o in found if column_of(o) == "unsupported" and bool(o.uproot) == by_uproot
        ]
        types = Counter(o.cpp_type for o in missing)
        print(f"\nunsupported types {title}, {len(missing)} branches:")
        for cpp_type, count in types.most_common(None if verbose else 40):
            print(f"{count:7}  {cpp_type}")
    for outcome in filter(is_wrong, found):
        print(outcome)


def compare(
    paths: Sequence[Path],
    patience: float,
    jobs: int,
    say: Callable[[Path, list[Outcome]], None] = lambda path, found: None,
) -> dict[Path, list[Outcome]]:
    """The outcomes of all files, read by as many processes as there are jobs, the largest files
    first. `say` hears of one file after another, in the order of `paths`."""
    own = threading.local()
    readers: list[Reader] = []

    def outcomes(path: Path) -> list[Outcome]:
        if not hasattr(own, "reader"):
            own.reader = Reader()
            readers.append(own.reader)
        return list(own.reader.outcomes(path, patience))

    found = {}
    with ThreadPoolExecutor(jobs) as pool:
        by_size = sorted(paths, key=lambda path: path.stat().st_size, reverse=True)
        futures = {path: pool.submit(outcomes, path) for path in by_size}
        try:
            for path in paths:
                found[path] = futures[path].result()
                say(path, found[path])
        finally:
            pool.shutdown(cancel_futures=True)
            for reader in readers:
                reader.close()
    return found


def is_wrong(outcome: Outcome) -> bool:
    """Whether it makes the command fail."""
    return column_of(outcome) in ("different", "crashed", "hung")


def main() -> int:
    """The command."""
    parser = argparse.ArgumentParser(prog="compare_readers", description=__doc__.split("\n\n")[0])
    parser.add_argument("folders", nargs="+", type=Path, metavar="DIR")
    parser.add_argument("--oracle", choices=["root"], help="compare a sample with RDataFrame too")
    parser.add_argument("--hang", type=float, default=30.0, metavar="SECONDS")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 2, metavar="N")
    parser.add_argument("--verbose", action="store_true", help="all types")
    arguments = parser.parse_args()
    paths = sorted({p for folder in arguments.folders for p in _files(folder)})
    print(" " * 60 + "".join(f"{column:>12}" for column in COLUMNS))
    by_file = compare(
        paths,
        arguments.hang,
        arguments.jobs,
        lambda path, some: print(row(path.name, some), flush=True),
    )
    found = [outcome for some in by_file.values() for outcome in some]
    report(found, arguments.verbose)
    wrong = any(map(is_wrong, found))
    if arguments.oracle == "root":
        for line in differences_from_root(by_file):
            wrong = True
            print(line)
    return int(wrong)


def _files(folder: Path) -> list[Path]:
    return [folder.resolve()] if folder.is_file() else list(folder.resolve().rglob("*.root"))


if __name__ == "__main__":
    sys.exit(main())
