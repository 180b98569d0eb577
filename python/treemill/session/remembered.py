"""Remembered results: what a run's bookings and files are known by, and what of a pass is there
already.

A result is known by all that it depends on: what is computed, after names are resolved; the file,
as it is now; and what computes it. Where that cannot be said for certain nothing is remembered, and
the report says why. Knows chains and plans; knows no pass and no worker.
"""

from __future__ import annotations

import hashlib
import json
import os
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..backends.remembered_partial import Begun, RememberedTree, Remembering
from ..checkpoint import Pace, evaluator
from ..checkpoint.totals import Record, Remembered, tree_of
from ..errors import UnsupportedError
from ..language.function_registry import Dependent, ExternalFunction
from ..monitoring.report import FromMemory
from ..query.booking import steps_to
from ..query.dependencies import dependencies, difference, restricted
from ..query.planning import NOMINAL, relations_in
from ..query.steps import Vary
from .known_files import FileKeys, Salt
from .known_files import key_of as _key

if TYPE_CHECKING:
    from ..checkpoint.results import Results
    from ..data.chain import Chain
    from ..query.booking import Booking
    from ..query.planning import Plan, Specification
    from ..workers.query_task import Lacking
    from ..workers.workload import Span

__all__ = ["ROWS", "Pieces", "is_certain", "looked_for", "pieces", "titles_of"]


ROWS = "rows are not remembered"
"""Why nothing of bookings that give rows is remembered."""


@dataclass(frozen=True)
class Pieces:
    """What is remembered of a pass, and what is not."""

    remembering: Remembering
    lacking: Sequence[Lacking]
    """What is computed."""
    shown: FromMemory


def pieces(
    there: Results,
    whole: Specification,
    chain: Chain,
    titles: Sequence[str],
    nothing: Sequence[bytes],
    spans: Sequence[Span] | None,
    *,
    apart: bool,
    goes_on_in_files: bool,
) -> Pieces:
    """Looks for the results of a pass. `whole`: what it computes. `titles`: of the bookings, by the
    index in it. `nothing`: the partials of no entries, in the same way. `spans`: the parts of files
    that it goes through, each of which is a file here; None: all files. `apart`: whether
    it has results for each sample of a fileset. `goes_on_in_files`: whether it may begin with a
    part of a file."""
    there.look()
    asked = _Asked(whole, chain, there, spans)
    samples = list(_samples(asked, chain))
    for sample in samples:
        sample.look(there)
    lacking = _lacking(samples, asked)
    sizes = {
        sample.files[place]: entries
        for sample in samples
        for place, entries in sample.found.entries.items()
    }
    done = {file: sizes[file] for file in range(asked.of.count) if file not in lacking}
    open_keys = _open_keys(samples, asked, lacking) if goes_on_in_files else {}
    begun = dict(_begun(there, asked, lacking, open_keys))
    remembering = Remembering(
        there,
        samples,
        apart,
        nothing,
        lacking,
        done,
        asked.of.may_keep,
        open_keys,
        begun,
        Pace(),
    )
    groups: dict[tuple[int, ...], list[int]] = defaultdict(list)
    for file, indices in lacking.items():
        groups[indices].append(file)
    parts = [(restricted(whole, indices), files) for indices, files in groups.items()]
    return Pieces(remembering, parts, _shown(there, asked, lacking, titles))


def looked_for(
    there: Results,
    whole: Specification,
    chain: Chain,
    titles: Sequence[str],
    spans: Sequence[Span] | None,
) -> FromMemory:
    """What a pass would take from what is remembered, and why not all. Keeps nothing. `spans`: as
    `pieces` takes them."""
    there.look()
    unchanged = _Unchanged(there)
    asked = _Asked(whole, chain, unchanged, spans)
    samples = list(_samples(asked, chain))
    for sample in samples:
        sample.look(unchanged)
    lacking = _lacking(samples, asked)
    return _shown(unchanged, asked, lacking, titles)


class _Unchanged:
    """What is remembered, for who only looks. Implements totals.Remembered."""

    def __init__(self, there: Results) -> None:
        self.find, self.may_have = there.find, there.may_have

    def add(self, records: Iterable[Record]) -> None:
        """Keeps nothing."""


def titles_of(bookings: Sequence[Booking], planned: Plan) -> list[str]:
    """What each of the results of a pass is called that fills these bookings."""
    titles = [""] * len(planned.specification.bookings)
    for booking in bookings:
        for variation, slots in planned.slots[booking.number].items():
            suffix = "" if variation == NOMINAL else f" ({variation})"
            for slot in slots:
                titles[slot] = f"{booking.title}{suffix}"
    return titles


class _Asked:
    """What a pass asks for, as keys."""

    def __init__(
        self,
        whole: Specification,
        chain: Chain,
        there: Remembered,
        spans: Sequence[Span] | None,
    ) -> None:
        self.needs = dependencies(whole, relations_in(chain))
        self.reasons: dict[int, str] = {}
        """Why bookings are not remembered, by their index."""
        self.keys: dict[int, bytes] = {}
        self.about: dict[int, list[tuple[str, str]]] = {}
        """What bookings depend on besides their parts, by what users call it."""
        schema = None if chain.schema is None else (chain.schema.name, chain.schema.formats)
        about = f"{evaluator()}\n{schema!r}"
        for index, need in enumerate(self.needs):
            try:
                called = _called(need.functions)
                texts = [text for _, text in need.parts]
                self.keys[index] = _key("booking", about, *texts, *(each for _, each in called))
                self.about[index] = [("treemill", about), *called]
            except UnsupportedError as error:
                self.reasons[index] = f"it cannot be remembered: {error}"
        self.of = FileKeys(chain, there, spans)
        self.salts = {
            index: self.of.salt(need.words)
            for index, need in enumerate(self.needs)
            if index in self.keys
        }


def _called(functions: Iterable[ExternalFunction]) -> list[tuple[str, str]]:
    """What these functions depend on, by what they are called. Raises UnsupportedError if that is
    not certain."""
    called = [each for each in functions if isinstance(each, Dependent)]
    return [(f"the code of {each!r}", each.depends_on()) for each in called]


def is_certain(bookings: Iterable[Booking]) -> bool:
    """Whether what all functions depend on is certain that bookings call, so that two passes are
    given the same values by them."""
    steps = {id(place.step): place.step for each in bookings for place in steps_to(each.node)}
    called: dict[str, ExternalFunction] = {}
    for step in steps.values():
        if isinstance(step, Vary):
            exprs = [expr for varied in step.by_tag.values() for expr in varied]
        else:
            exprs = [] if step is None else [step.expr]
        called |= {e.provided.identity: e.provided for e in exprs if e.provided is not None}
    try:
        _called(called.values())
    except UnsupportedError:
        return False
    return True


def _samples(asked: _Asked, chain: Chain) -> Iterator[RememberedTree]:
    """The bookings and files whose totals are of one tree."""
    by_salt: dict[Salt, dict[int, bytes]] = defaultdict(dict)
    for index, key in asked.keys.items():
        by_salt[asked.salts[index]][index] = key
    by_name: dict[str | None, list[int]] = defaultdict(list)
    for number, file in enumerate(asked.of.files):
        by_name[chain.dataset_of(file) if chain.is_fileset else None].append(number)
    for salt, bookings in by_salt.items() or [(None, {})]:
        known = {} if salt is None else asked.of.leaves(salt)
        for name, files in by_name.items():
            leaves = {n: leaf for n in files if (leaf := known.get(n)) is not None}
            # Nothing is found of a file that is not remembered.
            tree = tree_of([leaves.get(number) or os.urandom(16) for number in files])
            yield RememberedTree(name, files, tree, leaves, bookings)


def _lacking(samples: Sequence[RememberedTree], asked: _Asked) -> dict[int, tuple[int, ...]]:
    """The indices of the bookings that have to be computed of each file of which any has."""
    lacking: dict[int, set[int]] = {file: set(asked.reasons) for file in range(asked.of.count)}
    for sample in samples:
        first: dict[bytes, int] = {}  # of equal bookings one is computed
        for index, key in sample.bookings.items():
            first.setdefault(key, index)
        for place, keys in sample.found.missing.items():
            lacking[sample.files[place]].update(first[key] for key in keys)
    return {file: tuple(sorted(indices)) for file, indices in lacking.items() if indices}


def _open_keys(
    samples: Sequence[RememberedTree], asked: _Asked, lacking: Mapping[int, Sequence[int]]
) -> dict[int, bytes]:
    """What files are known by of which not all is done: those of which all that is computed can be
    remembered."""
    leaves: dict[int, list[bytes]] = defaultdict(list)
    for sample in samples:
        for file, leaf in sample.leaves.items():
            leaves[file].append(leaf)
    return {
        file: _key("open", *leaves[file])
        for file, indices in lacking.items()
        if file in leaves and asked.keys.keys() >= set(indices)
    }


def _begun(
    there: Results,
    asked: _Asked,
    lacking: Mapping[int, Sequence[int]],
    open_keys: Mapping[int, bytes],
) -> Iterator[tuple[int, Begun]]:
    """What earlier runs have left of files of which not all was done."""
    for file, key in open_keys.items():
        wanted = [asked.keys[index] for index in lacking[file]]
        found = there.find_open(key, wanted)
        if found is not None:
            bounds = iter(found.entries)
            ranges = list(zip(bounds, bounds, strict=True))
            yield file, Begun(ranges, [found.values[each] for each in wanted], found.segment)


def _shown(
    there: Remembered, asked: _Asked, lacking: Mapping[int, tuple[int, ...]], titles: Sequence[str]
) -> FromMemory:
    count = asked.of.count
    files: dict[int, int] = defaultdict(int)  # that a booking is computed of
    for indices in lacking.values():
        for index in indices:
            files[index] += 1
    whole = [index for index, number in files.items() if number == count]
    differences = _differences(there, asked, whole, titles)
    computed = []
    for index, number in sorted(files.items()):
        reason = asked.reasons.get(index) or differences.get(index)
        reason = reason or f"{number:,} of {count:,} files are new or have changed"
        computed.append((titles[index], reason))
    for unknown, why in asked.of.reasons:
        computed.append(("files", f"{unknown:,} are not remembered: {why}"))
    total = len(asked.needs)
    parts = sum(files.values())
    found = [title for index, title in enumerate(titles) if index not in files]
    return FromMemory(total, total - len(files), count, len(lacking), parts, computed, found)


def _differences(
    there: Remembered, asked: _Asked, computed: Sequence[int], titles: Sequence[str]
) -> dict[int, str]:
    """Why nothing was remembered of these bookings, as far as they can be compared with those of
    the same title that were computed before, and notes what they depend on now."""
    now: dict[int, tuple[bytes, dict[str, str]]] = {}
    seen: dict[str, int] = defaultdict(int)  # several bookings may have one title
    for index, title in enumerate(titles):
        seen[title] += 1
        if index in asked.keys and index in computed:
            need = asked.needs[index]
            about = {
                name: f"{_short(text)} {source}".rstrip()
                for (name, text), source in zip(need.parts, need.sources, strict=True)
            }
            for name, text in asked.about[index]:  # several functions may have one name
                about[name] = _short(about.get(name, "") + text)
            now[index] = _key("title", title, str(seen[title])), about
    if not now:
        return {}
    place = _key("bookings by title")
    before, _ = there.find(place, [key for key, _ in now.values()])
    words = {}
    for index, (key, about) in now.items():
        then = before.get(key)
        words[index] = "it is new" if then is None else _compared(json.loads(then), about)
    told = {key: json.dumps(about).encode() for key, about in now.values()}
    there.add([(place, [], told)])
    return words


def _compared(before: dict[str, str], now: dict[str, str]) -> str:
    return "the files are new or have changed" if before == now else difference(before, now)


def _short(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()
