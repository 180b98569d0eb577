"""Runs the two halves of `make test` beside each other, and ends with one line for each.

Rust's tests wait for servers for half of their time, so Python's run beside them. A half that fails
does not end the other one. The exit status is 1 if one of them failed.
"""

from __future__ import annotations

import re
import subprocess
import sys
import threading
from collections.abc import Iterable
from dataclasses import dataclass

HALVES = {"Rust": ["make", "test-rust"], "Python": ["make", "test-python"]}

RUST_RESULT = re.compile(r"^test result: \w+\. (\d+) passed; (\d+) failed; (\d+) ignored")
"""Cargo says one of these for each test program."""
PYTHON_RESULT = re.compile(r"^=+ .*\bin [\d.]+s.* =+$")
PYTHON_COUNT = re.compile(r"(\d+) (passed|failed|errors?|skipped)\b")


@dataclass
class Count:
    """What a half's lines say about how its tests ended."""

    passed: int = 0
    failed: int = 0
    skipped: int = 0

    def read(self, line: str) -> None:
        """Adds what one line of the runner's output says."""
        if rust := RUST_RESULT.match(line):
            self.passed += int(rust[1])
            self.failed += int(rust[2])
            self.skipped += int(rust[3])
        elif PYTHON_RESULT.match(line):
            for number, word in PYTHON_COUNT.findall(line):
                field = word if word in {"passed", "skipped"} else "failed"
                setattr(self, field, getattr(self, field) + int(number))


def count(lines: Iterable[str]) -> Count:
    """How many tests passed, failed and were skipped, from the lines of `cargo test` or pytest.

    >>> count(["test result: ok. 12 passed; 0 failed; 1 ignored; 0 measured; 0 filtered out"])
    Count(passed=12, failed=0, skipped=1)
    >>> count(["==== 2 failed, 40 passed, 8 skipped in 9.10s ===="])
    Count(passed=40, failed=2, skipped=8)
    """
    total = Count()
    for line in lines:
        total.read(line)
    return total


def summary(name: str, total: Count, status: int) -> str:
    """The line that a half ends with.

    A half may fail though no test did: a program that does not compile has none.
    """
    said = f"{name}: {total.passed} passed, {total.failed} failed, {total.skipped} skipped"
    return said if (status == 0) == (total.failed == 0) else f"{said} (exit status {status})"


def run(command: list[str], total: Count) -> int:
    """Runs one half, prints its lines as they come, and counts them."""
    done = subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, errors="replace"
    )
    assert done.stdout is not None
    for line in done.stdout:
        total.read(line.rstrip("\n"))
        sys.stdout.write(line)
        sys.stdout.flush()
    return done.wait()


def main() -> int:
    """Runs both halves."""
    totals = {name: Count() for name in HALVES}
    statuses: dict[str, int] = {}

    def half(name: str) -> None:
        statuses[name] = run(HALVES[name], totals[name])

    threads = [threading.Thread(target=half, args=(name,)) for name in HALVES]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    for name in HALVES:
        print(summary(name, totals[name], statuses.get(name, 1)))
    return int(any(statuses.get(name, 1) for name in HALVES))


if __name__ == "__main__":
    sys.exit(main())
