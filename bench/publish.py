"""Where results go: a run's raw numbers and its page, named by date, machine and what was measured.
Measures nothing and judges nothing.
"""

import datetime
import re
import sys
from argparse import Namespace
from collections.abc import Collection, Mapping, Sequence
from pathlib import Path

from . import data, machine, tables
from .measured import Row
from .protocol import REPOSITORY

FOLDER = REPOSITORY / "bench" / "results"


def say(text: str) -> None:
    """How far a run is, beside what it prints."""
    print(text, file=sys.stderr, flush=True)


def today() -> str:
    """As files and titles have it: the date, UTC."""
    return datetime.datetime.now(datetime.UTC).date().isoformat()


def raw(folder: Path, what: str, numbers: object) -> Path:
    """Writes `<date>-<machine><what>.json`."""
    folder.mkdir(parents=True, exist_ok=True)
    path = folder / f"{today()}-{machine.slug()}{what}.json"
    data.dump(path, numbers)
    return path


def partial(folder: Path, what: str, numbers: object, text: str) -> Path:
    """Writes the numbers, and the page beside them; gives the page's path."""
    written = raw(folder, what, numbers).with_suffix(".md")
    written.write_text(text)
    say(f"written: {written}")
    return written


def of_parts(chosen: Sequence[str], parts: Collection[str]) -> str:
    """What a page's name says of the parts that it has: nothing if these are all. Some parts alone
    do not replace what the same day has of all."""
    some = "" if set(chosen) == set(parts) else f"-{'-'.join(chosen)}"
    return some.replace(" ", "-").lower()


def page(folder: Path, what: str, numbers: object, text: str) -> Path:
    """As `partial`, and prints the page."""
    written = partial(folder, what, numbers, text)
    print(text)
    return written


def between(page: Path, command: str, part: str, text: str) -> str:
    """A page of the documentation with this text between the marks of a part, of which
    `python -m bench COMMAND` writes the table. Raises ValueError without marks."""
    marks = f"<!-- begin of {part}, by `python -m bench {command}` -->\n", f"<!-- end of {part} -->"
    pattern = re.compile(re.escape(marks[0]) + ".*?" + re.escape(marks[1]), re.DOTALL)
    if not pattern.search(written := page.read_text()):
        raise ValueError(f"{page} has no marks of {part}")
    return pattern.sub(lambda _: f"{marks[0]}\n{text}\n{marks[1]}", written)


def rows(
    chosen: Namespace,
    what: str,
    title: str,
    legend: str,
    about: Mapping[str, object],
    facts: Mapping[str, object],
    measured: Sequence[Row],
) -> None:
    """The page of a measurement that is a table of lines. `chosen`: its options; `what`: its name
    in the files' names; `about` and `facts`: see machine.py."""
    numbers = {"machine": facts, "about": about, "rows": [row.as_dict() for row in measured]}
    head = f"# {title}, {today()}\n"
    text = "\n".join([head, tables.facts(about), legend, tables.rows(measured)])
    page(chosen.output, f"-{what}" + "-quick" * chosen.quick, numbers, text)
