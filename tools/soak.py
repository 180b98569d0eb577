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

PYTHON_TESTS = [
    "tests/python/test_language.py",
    "tests/python/test_packetizer.py",
    "tests/python/test_speculation.py",
    "tests/python/test_mergers.py",
    "tests/python/test_partials.py",
    "tests/python/test_matching.py",
    "tests/python/test_schemas.py",
    "tests/python/test_expression.py",
    "tests/python/test_axes.py",
    "tests/oracle/test_arrays.py",
    "tests/oracle/test_deep_lists.py",
]
RUST_TESTS = ["random", "forms", "together", "engine"]

EXAMPLES = re.compile(r"(\d+) passing examples?, (\d+) failing")
PASSED = re.compile(r"test result: ok\. (\d+) passed")


def rust_command() -> list[str]:
    """The property tests of the query engine; their numbers of cases are in their files."""
    targets = [word for name in RUST_TESTS for word in ("--test", name)]
    return ["cargo", "test", "--locked", "-p", "treemill-query", *targets]


def python_command(seed: int) -> list[str]:
    """Hypothesis prints how many examples each test has tried."""
    options = ["-q", "--hypothesis-show-statistics", f"--hypothesis-seed={seed}"]
    return [sys.executable, "-m", "pytest", *options, *PYTHON_TESTS]


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
    rounds = examples = properties = 0
    while time.monotonic() < end:
        seed = secrets.randbits(32)
        rust = run(rust_command(), {"PROPTEST_RNG_SEED": str(seed)})
        python = run(python_command(seed), {"TREEMILL_SOAK": "1"})
        if rust is None or python is None:
            return 1
        rounds += 1
        properties += sum(int(found) for found in PASSED.findall(rust))
        examples += sum(int(passed) for passed, _ in EXAMPLES.findall(python))
        print(
            f"round {rounds}, seed {seed}: {examples} examples in Python, "
            f"{properties} runs of property tests in Rust, none failed",
            flush=True,
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
