"""Searches for cases that fail: runs the random tests with fresh seeds until the time is up, and
says how many cases were tried and how to repeat a round that failed. `make test` tries the same
cases each time; this command tries others.
"""

from __future__ import annotations

import argparse
import os
import re
import secrets
import subprocess
import sys
import time
from collections.abc import Iterable
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]

EXAMPLES = re.compile(r"(\d+) passing(?: examples?)?, (\d+) failing")
"""What Hypothesis says of a test; newer versions leave the word out."""
BLOCK = re.compile(r"^( *)proptest! \{\n(.*?)^\1\}", re.M | re.S)
CASES = re.compile(r"cases: ([\d_]+)|with_cases\(([\d_]+)\)")
DEFAULT_CASES = 256
"""The cases that proptest tries if a block does not say."""


def python_tests(repository: Path) -> list[str]:
    """The files with random tests: those that use Hypothesis."""
    found = sorted((repository / "tests").rglob("test_*.py"))
    return [
        path.relative_to(repository).as_posix()
        for path in found
        if "\nfrom hypothesis import" in path.read_text()
    ]


def cases_of(text: str) -> int:
    """The cases that the property tests in a file of Rust try."""
    total = 0
    for _, block in BLOCK.findall(text):
        said = CASES.search(block)
        cases = int((said[1] or said[2]).replace("_", "")) if said else DEFAULT_CASES
        total += cases * block.count("#[test]")
    return total


def rust_cases(repository: Path) -> dict[str, int]:
    """The cases of one round in Rust, by the crate that has property tests."""
    found: dict[str, int] = {}
    for path in sorted((repository / "crates").rglob("*.rs")):
        cases = cases_of(path.read_text())
        if cases:
            crate = path.relative_to(repository / "crates").parts[0]
            found[crate] = found.get(crate, 0) + cases
    return found


def rust_command(crates: Iterable[str]) -> list[str]:
    """The tests of these crates."""
    return ["cargo", "test", "--locked", *(word for name in crates for word in ("-p", name))]


def python_command(seed: int) -> list[str]:
    """Hypothesis prints how many examples each test has tried."""
    options = ["-q", "-m", "not slow", "--hypothesis-show-statistics", f"--hypothesis-seed={seed}"]
    return [sys.executable, "-m", "pytest", *options, *python_tests(REPOSITORY)]


def run(command: list[str], environment: dict[str, str]) -> str | None:
    """What the command printed; None, with its output and how to repeat it, when it failed."""
    done = subprocess.run(
        command, env={**os.environ, **environment}, capture_output=True, text=True
    )
    if done.returncode == 0:
        return done.stdout
    settings = " ".join(f"{name}={value}" for name, value in environment.items())
    print(done.stdout[-20_000:], done.stderr[-5_000:])
    print(f"failed; to repeat it: {settings} {' '.join(command)}")
    return None


def main() -> int:
    """Exit status 1 when a case failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--minutes", type=float, default=10, help="no round starts after that")
    end = time.monotonic() + 60 * parser.parse_args().minutes
    rounds = examples = 0
    cases = rust_cases(REPOSITORY)
    while time.monotonic() < end:
        seed = secrets.randbits(32)
        fresh = {"PROPTEST_RNG_SEED": str(seed), "PROPTEST_CASES": str(DEFAULT_CASES)}
        rust = run(rust_command(cases), fresh)
        python = run(python_command(seed), {"TREEMILL_SOAK": "1"})
        if rust is None or python is None:
            return 1
        rounds += 1
        examples += sum(int(passed) for passed, _ in EXAMPLES.findall(python))
        print(
            f"round {rounds}, seed {seed}: {examples} examples in Python, "
            f"{rounds * sum(cases.values())} cases in Rust, none failed",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
