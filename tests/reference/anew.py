"""Random chains of definitions: collections, records and members of them that are defined anew, one
after another, over names that are no identifiers, too; and the data for them.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import awkward as ak
import numpy as np
import uproot
from hypothesis import strategies as st

from .evaluator import evaluate
from .values import MISSING, Element, Event

_MEMBERS = ("pt", "eta", "phi", "mass", "m#1")


def write(path: Path, seed: int, entries: int = 40) -> None:
    """Collections A and B, a record M, and numbers."""
    rng = np.random.default_rng(seed)

    def collection(most: int) -> Any:
        counts = rng.integers(0, most, entries)
        n = int(counts.sum())
        values = (rng.exponential(20.0, n) + 0.5, *(rng.normal(0.0, 1.5, n) for _ in range(4)))
        return ak.zip(
            {
                name: ak.unflatten(np.abs(value) if name == "mass" else value, counts)
                for name, value in zip(_MEMBERS, values, strict=True)
            }
        )

    columns = {
        "entry": np.arange(entries, dtype=np.int32),
        "x-y": rng.normal(5.0, 10.0, entries),
        "µ.x": rng.normal(5.0, 10.0, entries),
        "A": collection(5),
        "B": collection(4),
        **{f"M_{name}": rng.exponential(3.0, entries) + 0.1 for name in _MEMBERS},
    }
    types = {
        name: c.dtype if isinstance(c, np.ndarray) else ak.type(c).content
        for name, c in columns.items()
    }
    with uproot.recreate(path) as file:
        tree = file.mktree("Events", types, counter_name=lambda name: f"n{name}")
        tree.extend(columns)


def events(path: Path) -> list[Event]:
    """What is in the file."""
    with uproot.open(path) as file:
        rows = file["Events"].arrays().to_list()
    found = []
    for row in rows:
        record = Element({name: row.pop(f"M_{name}") for name in _MEMBERS})
        event = Event(row, ("A", "B"))
        found.append(Event({**event, "M": record}))
    return found


@dataclass
class Chain:
    """Definitions in order, and what may be asked after them."""

    steps: list[tuple[str, str]] = field(default_factory=list)
    lists: dict[str, set[str]] = field(
        default_factory=lambda: {name: set(_MEMBERS) for name in "AB"}
    )
    """Collections, and their members."""
    records: dict[str, set[str]] = field(default_factory=lambda: {"M": set(_MEMBERS)})
    numbers: list[str] = field(default_factory=lambda: ["`x-y`", "`µ.x`"])

    def define(self, name: str, text: str) -> None:
        self.steps.append((name, text))


def after(event: Event, steps: list[tuple[str, str]]) -> Event:
    """An event with these definitions, each of which sees those before it."""
    names = dict(event)
    for name, text in steps:
        value = evaluate(text, Event(names))
        name = name.strip("`")
        owners = [n for n in names if re.match(re.escape(n) + "[._].", name)]
        names[name] = value
        for owner in owners:
            member = name[len(owner) + 1 :]
            whole = names[owner]
            if isinstance(whole, list) and isinstance(value, list):
                rows = zip(whole, value, strict=True)
                names[owner] = [Element({**item, member: v}) for item, v in rows]
            elif isinstance(whole, Element):
                names[owner] = Element({**whole, member: value})
    return Event(names)


def _spelled(member: str) -> str:
    return member if member.isidentifier() else f"`{member}`"


class _Writer:
    def __init__(self, draw: Callable[..., Any]) -> None:
        self._draw = draw
        self.chain = Chain()

    def pick(self, *options: str) -> str:
        return str(self._draw(st.sampled_from(options)))

    def member(self, members: set[str]) -> str:
        return _spelled(self.pick(*sorted(members)))

    def name(self, kind: dict[str, set[str]]) -> str:
        """One to define: anew, or another."""
        return self.pick(*kind, *kind, f"new{len(self.chain.steps)}")

    def step(self) -> None:
        ways = [self.filtered, self.filtered, self.changed, self.changed, self.record, self.number]
        self._draw(st.sampled_from(ways))()

    def filtered(self) -> None:
        chain = self.chain
        source, other = self.pick(*chain.lists), self.pick(*chain.lists)
        m = self.member(chain.lists[source])
        members = set(chain.lists[source])
        ways = [
            f"[j for j in {source} if j.{m} > {self.pick('0.3', '2.1', '9.7')}]",
            f"sorted({source}, key=lambda j: j.{m})",
            f"{source}[:{self.pick('1', '2')}]",
            f"{source}[{source}.{m} > 0.3]",
            f"concat({source}, {other})",
            source,
        ]
        text = self.pick(*ways)
        if text.startswith("concat"):
            members &= chain.lists[other]
        name = self.name(chain.lists)
        chain.define(name, text)
        chain.lists[name] = members

    def changed(self) -> None:
        """A member, of a collection or a record."""
        chain = self.chain
        kind = self._draw(st.sampled_from([chain.lists, chain.lists, chain.records]))
        whole = self.pick(*kind)
        old = self.member(kind[whole])
        new = self.pick(*_MEMBERS, "extra")
        sign = self.pick("_", ".")
        name = f"{whole}{sign}{new}" if new.isidentifier() else f"`{whole}{sign}{new}`"
        chain.define(name, f"abs({whole}.{old} * 1.5 + {self.pick('0.1', *chain.numbers)})")
        kind[whole].add(new)

    def record(self) -> None:
        chain = self.chain
        source = self.pick(*chain.lists)
        m = self.member(chain.lists[source])
        record = self.pick(*chain.records)
        parts = "pt", "eta", "phi", "mass"
        made = ", ".join(f"{part}={record}.{part} * 0.7" for part in parts)
        ways = {
            f"{source}[0]": chain.lists[source],
            f"max({source}, key=lambda j: j.{m})": chain.lists[source],
            f"({record} if {chain.numbers[0]} > 3.1 else {record})": chain.records[record],
            f"vector({made})": set(parts),
        }
        text = self.pick(*ways)
        name = self.name(chain.records)
        chain.define(name, text)
        chain.records[name] = set(ways[text])

    def number(self) -> None:
        chain = self.chain
        source = self.pick(*chain.lists)
        m = self.member(chain.lists[source])
        name = self.pick("`x-y`", "`µ.x`", f"`n{len(chain.steps)} ()`")
        chain.define(name, f"sum({source}.{m}) * 0.5 + {self.pick(*chain.numbers)}")
        if name not in chain.numbers:
            chain.numbers.append(name)

    def question(self) -> str:
        """The same members in all ways to write them."""
        chain = self.chain
        x = self.pick(*chain.lists)
        m = self.member(chain.lists[x])
        derived = self.pick("px", "pz", "energy", m)
        record = self.pick(*chain.records)
        r = self.member(chain.records[record])
        return self.pick(
            *(f"{x}.{m}", f"[j.{m} for j in {x}]", f"{x}[0].{m}", f"sum({x}.{m})"),
            *(f"[j.{derived} for j in {x}]", f"{x}.{derived}", f"len({x}) * 1.0"),
            *(f"max({x}, key=lambda j: j.{m}).{derived}", f"sum(j.{m} for j in {x} if j.{m} > 1)"),
            *(f"{record}.{r}", f"{record}.px", f"fill_missing({record}.{r}, -1.0)"),
            *(f"{n} * 1.0" for n in chain.numbers),
        )


@st.composite
def chains(draw: Callable[..., Any], most: int = 6) -> tuple[list[tuple[str, str]], list[str]]:
    """Definitions, and expressions after them."""
    writer = _Writer(draw)
    for _ in range(draw(st.integers(1, most))):
        writer.step()
    return writer.chain.steps, [writer.question() for _ in range(6)]


__all__ = ["MISSING", "after", "chains", "events", "write"]
