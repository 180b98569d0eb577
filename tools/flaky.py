"""Looks for tests whose outcome depends on chance: runs each test program and each test file many
times, alone and then beside processes that keep all cores busy, and says what failed how often.

    python -m tools.flaky --times 20           everything: many hours on two cores
    python -m tools.flaky http tests/remote    only what has one of these words in its name
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

REPOSITORY = Path(__file__).parents[1]

RUST_FAILURES = re.compile(r"^failures:\n((?:    \S+\n)+)", re.M)
PYTHON_FAILED = re.compile(r"^(?:FAILED|ERROR) (\S+)", re.M)

BUSY = "while True: pass"
"""What a process does that keeps a core from the tests."""

MOST_SECONDS = 1800
"""A run that takes longer counts as failed: it hangs."""


@dataclass(frozen=True)
class Subject:
    """A test program or test file, and how it is run."""

    name: str
    command: tuple[str, ...]
    folder: Path


def rust_subjects(messages: str) -> list[Subject]:
    """The test programs that `cargo test --no-run --message-format=json` says it has made."""
    found = []
    for line in messages.splitlines():
        message = json.loads(line) if line.startswith("{") else {}
        program = message.get("executable")
        if program and message.get("profile", {}).get("test"):
            folder = Path(message["manifest_path"]).parent
            name = f"{folder.name}/{message['target']['name']}"
            found.append(Subject(name, (program, "--quiet"), folder))
    return found


def python_subjects(repository: Path) -> list[Subject]:
    """The test files of Python."""
    options = ("-m", "pytest", "-q", "-rfE", "-p", "no:cacheprovider", "-m", "not slow")
    found = sorted((repository / "tests").rglob("test_*.py"))
    names = [path.relative_to(repository).as_posix() for path in found]
    return [Subject(name, (sys.executable, *options, name), repository) for name in names]


def failures(output: str) -> list[str]:
    """The tests that a run says have failed.

    >>> failures("failures:\\n\\nfailures:\\n    a::b\\n    c\\n\\ntest result: FAILED.")
    ['a::b', 'c']
    >>> failures("FAILED tests/test_a.py::test_b - assert 1 == 2")
    ['tests/test_a.py::test_b']
    """
    rust = [name.strip() for block in RUST_FAILURES.findall(output) for name in block.split()]
    return rust + PYTHON_FAILED.findall(output)


def run(subject: Subject) -> list[str]:
    """What failed in one run; the subject itself if no test did and the run ended badly."""
    try:
        done = subprocess.run(
            subject.command,
            cwd=subject.folder,
            capture_output=True,
            text=True,
            errors="replace",
            timeout=MOST_SECONDS,
        )
    except subprocess.TimeoutExpired:
        return [f"{subject.name} (hangs)"]
    # Pytest says 5 of a file all of whose tests are left out.
    if done.returncode in (0, 5):
        return []
    return failures(done.stdout) or [f"{subject.name} (exit status {done.returncode})"]


@contextmanager
def load(processes: int) -> Iterator[None]:
    """Keeps so many processes busy."""
    busy = [subprocess.Popen([sys.executable, "-c", BUSY]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in busy:
            process.kill()
            process.wait()


def search(subjects: Iterable[Subject], times: int, processes: int) -> Counter[tuple[str, str]]:
    """How often each test failed, by (circumstance, test)."""
    found: Counter[tuple[str, str]] = Counter()
    for subject in subjects:
        for circumstance, busy in (("alone", 0), ("under load", processes)):
            with load(busy):
                for _ in range(times):
                    for name in run(subject):
                        found[circumstance, name] += 1
                        print(f"{circumstance}: {name} failed", flush=True)
        print(f"{subject.name}: {times} times alone, {times} times under load", flush=True)
    return found


def main() -> int:
    """Exit status 1 when a test failed."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("words", nargs="*", help="only what has one of these in its name")
    parser.add_argument("--times", type=int, default=20, help="runs of each in each circumstance")
    cores = os.cpu_count() or 1
    parser.add_argument("--busy", type=int, default=2 * cores, help="processes that are the load")
    arguments = parser.parse_args()
    build = ["cargo", "test", "--workspace", "--exclude", "treemill-py", "--locked", "--quiet"]
    built = subprocess.run(
        [*build, "--no-run", "--message-format=json"],
        cwd=REPOSITORY,
        capture_output=True,
        text=True,
        check=True,
    )
    subjects = [
        subject
        for subject in rust_subjects(built.stdout) + python_subjects(REPOSITORY)
        if not arguments.words or any(word in subject.name for word in arguments.words)
    ]
    found = search(subjects, arguments.times, arguments.busy)
    for (circumstance, name), failed in sorted(found.items()):
        print(f"{name}: failed {failed} of {arguments.times} times {circumstance}")
    print(f"{len(subjects)} programs and files, {len({name for _, name in found})} failed")
    return int(bool(found))


if __name__ == "__main__":
    sys.exit(main())
