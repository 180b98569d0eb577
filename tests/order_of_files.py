"""In which order files of tests begin where several processes share them. Knows no test."""

from collections import Counter
from collections.abc import Iterable
from pathlib import Path
from typing import Protocol

HERE = Path(__file__).parent

BEGIN_FIRST = (
    *("cluster/test_blame.py", "cluster/test_faults.py", "cluster/test_kept_on_clusters.py"),
    *("cluster/test_storms.py", "cluster/test_remembered_on_clusters.py", "remote/test_faults.py"),
    *("cluster/test_waiting.py", "cluster/test_fair_share.py", "cluster/test_facilities.py"),
    *("cluster/test_absent_workers.py", "cluster/test_owners.py", "cluster/test_retiring.py"),
    *("cluster/test_operators_commands.py", "cluster/test_versions.py", "remote/test_checksums.py"),
)
"""Files of few tests that take long: the tests of a file run in one process, and when such a file
begins last, the other processes wait for it."""


class Item(Protocol):
    """A test."""

    path: Path


def ordered(items: Iterable[Item]) -> list[Item]:
    """The tests, those of a file one after another as before: first the files that take long, then
    those of the most tests."""
    items = list(items)
    tests = Counter(item.path for item in items)
    first = {HERE / name: place for place, name in enumerate(BEGIN_FIRST)}
    return sorted(items, key=lambda item: (first.get(item.path, len(first)), -tests[item.path]))
