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
import time
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ..backends.remembered_partial import Begun, Remembering, Sample
from ..checkpoint import Pace, evaluator
from ..checkpoint.totals import Remembered, tree_of
from ..data import source
from ..data.foreign import LOCAL_ENTRY, NUMBERING
from ..errors import SourceError, TreemillError, UnsupportedError
from ..language.function_registry import OWN_LOCAL_ENTRY, Dependent
from ..monitoring.report import FromMemory
from ..query.dependencies import Dependencies, dependencies, difference, restricted
from ..query.planning import NOMINAL, relations_in

if TYPE_CHECKING:
    from ..checkpoint.results import Results
    from ..data.chain import Chain
    from ..query.booking import Booking
    from ..query.planning import Plan, Specification
    from ..workers.query_task import Lacking

__all__ = ["Pieces", "check_files", "looked_for", "not_remembered", "pieces", "titles_of"]


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
) -> Pieces:
    """Looks for the results of a pass. `whole`: what it computes. `titles`: of the bookings, by the
    index in it. `nothing`: the partials of no entries, in the same way."""
    there.look()
    asked = _Asked(whole, chain)
    samples = list(_samples(asked, chain))
    for sample in samples:
        sample.look(there)
    lacking = _lacking(samples, asked, len(chain.locations))
    sizes = {
        sample.files[place]: entries
        for sample in samples
        for place, entries in sample.found.entries.items()
    }
    done = {file: sizes[file] for file in range(len(chain.locations)) if file not in lacking}
    open_keys = _open_keys(samples, asked, lacking)
    begun = dict(_begun(there, asked, lacking, open_keys))
    remembering = Remembering(
        there,
        samples,
        chain.is_fileset,
        nothing,
        lacking,
        done,
        asked.may_keep,
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
    there: Results, whole: Specification, chain: Chain, titles: Sequence[str]
) -> FromMemory:
    """What a pass would take from what is remembered, and why not all. Keeps nothing."""
    there.look()
    asked = _Asked(whole, chain)
    samples = list(_samples(asked, chain))
    for sample in samples:
        sample.look(_Unchanged(there))
    lacking = _lacking(samples, asked, len(chain.locations))
    return _shown(_Unchanged(there), asked, lacking, titles)


class _Unchanged:
    """What is remembered, for who only looks. Implements totals.Remembered."""

    def __init__(self, there: Results) -> None:
        self.find = there.find

    def add(self, data: bytes, entries: Sequence[int], values: Mapping[bytes, bytes]) -> None:
        """Keeps nothing."""


def not_remembered(chain: Chain, *, has_rows: bool) -> str | None:
    """Why nothing of bookings of these data is remembered; None: it may be. `has_rows`: whether any
    of them gives rows."""
    if has_rows:
        return "rows are not remembered"
    if chain.friends:
        return "the dataset has friends, or columns from memory"
    if chain.trees.missing.defaults:
        return "the dataset has defaults for what files lack, whose types other files decide"
    return None


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

    def __init__(self, whole: Specification, chain: Chain) -> None:
        self.chain = chain
        self.needs = dependencies(whole, relations_in(chain))
        self.reasons: dict[int, str] = {}
        """Why bookings are not remembered, by their index."""
        self.keys: dict[int, bytes] = {}
        self.about: dict[int, list[tuple[str, str]]] = {}
        """What bookings depend on besides their parts, by what users call it."""
        self._now = time.time_ns()
        schema = None if chain.schema is None else (chain.schema.name, chain.schema.formats)
        about = f"{evaluator()}\n{schema!r}"
        for index, need in enumerate(self.needs):
            try:
                called = _called(need)
                texts = [text for _, text in need.parts]
                self.keys[index] = _key("booking", about, *texts, *(each for _, each in called))
                self.about[index] = [("treemill", about), *called]
            except UnsupportedError as error:
                self.reasons[index] = f"it cannot be remembered: {error}"
        self._states: dict[int, source.Identity] = {}
        self.files = [self._file(number) for number in range(len(chain.locations))]
        """The keys of files; None: nothing of it is remembered."""

    def _file(self, number: int) -> bytes | None:
        chain, location = self.chain, self.chain.locations[number]
        if number in chain.trees.far or location.replicas:
            return None
        try:
            ends = source.ends(location.path)  # on NFS a file that is opened is looked at anew
            now = chain.trees.identity(number)
        except SourceError:
            return None  # the worker that opens it will say so
        if not _is_settled(now, self._now):
            return None
        self._states[number] = now
        _, *marks = now.marks  # after a restart the device may have another number
        about = f"{location.tree!r} {location.verified!r} {now.size} {marks!r}"
        return _key("file", os.path.abspath(location.path), about, ends)

    def may_keep(self, number: int, seen: Mapping[str, object] | None) -> bool:
        """Whether a file that was run is as it was before, and its tree records no friend: that is
        another file, which may change. `seen`: what workers of other hosts have seen of files, by
        their paths; None: they are on this host."""
        try:
            path = self.chain.locations[number].path
            was, now = self._states.get(number), source.identity(path)
            if now != was or not (seen is None or _is_seen(now, seen.get(path))):
                return False
            trees = self.chain.trees
            return trees.was_run_whole(number, now) or not trees[number].core.friends
        except TreemillError:
            return False

    def leaf(self, number: int, salt: tuple[tuple[str, ...], bool], before: bytes) -> bytes | None:
        """The key of a file for bookings of some constants, and perhaps of entries' numbers in the
        whole chain, for which the files before it count."""
        key = self.files[number]
        if key is None or salt == ((), False):
            return key
        names, numbers = salt
        constants = self.chain.constants.among(number, names)
        return _key("leaf", key, json.dumps(constants, sort_keys=True), before if numbers else b"")


def _is_seen(here: source.Identity, there: object) -> bool:
    """Whether a worker of a cluster has seen this file, on a disk that hosts share. A copy, which
    may have been changed by itself, has another inode or other times."""
    if not isinstance(there, source.FileState):
        return False
    own = source.state(here, None)
    return (own.size, own.place[-1], own.times) == (there.size, there.place[-1], there.times)


def _called(need: Dependencies) -> list[tuple[str, str]]:
    """What the functions depend on that a booking calls, by what they are called. Raises
    UnsupportedError if that is not certain."""
    called = [each for each in need.functions if isinstance(each, Dependent)]
    return [(f"the code of {each!r}", each.depends_on()) for each in called]


_IN_THE_CHAIN = frozenset(NUMBERING) - {LOCAL_ENTRY, OWN_LOCAL_ENTRY}


def _samples(asked: _Asked, chain: Chain) -> Iterator[Sample]:
    """The bookings and files whose totals are of one tree."""
    count = len(chain.locations)
    by_salt: dict[tuple[tuple[str, ...], bool], dict[int, bytes]] = defaultdict(dict)
    names = chain.constant_names if chain.constants.are_there else frozenset[str]()
    for index, key in asked.keys.items():
        words = asked.needs[index].words
        salt = tuple(sorted(names & words)), not _IN_THE_CHAIN.isdisjoint(words)
        by_salt[salt][index] = key
    by_name: dict[str | None, list[int]] = defaultdict(list)
    for number in range(count):
        by_name[chain.dataset_of(number) if chain.is_fileset else None].append(number)
    before = [b""] * count
    if any(numbers for _, numbers in by_salt):
        for number in range(1, count):
            last = asked.files[number - 1] or os.urandom(16)
            before[number] = _key("before", before[number - 1], last)
    for salt, bookings in by_salt.items() or [(((), False), {})]:
        for name, files in by_name.items():
            leaves = {
                n: leaf for n in files if (leaf := asked.leaf(n, salt, before[n])) is not None
            }
            # Nothing is found of a file that is not remembered.
            tree = tree_of([leaves.get(number) or os.urandom(16) for number in files])
            yield Sample(name, files, tree, leaves, bookings)


def _lacking(samples: Sequence[Sample], asked: _Asked, count: int) -> dict[int, tuple[int, ...]]:
    """The indices of the bookings that have to be computed of each file of which any has."""
    lacking: dict[int, set[int]] = {file: set(asked.reasons) for file in range(count)}
    for sample in samples:
        first: dict[bytes, int] = {}  # of equal bookings one is computed
        for index, key in sample.bookings.items():
            first.setdefault(key, index)
        for place, keys in sample.found.missing.items():
            lacking[sample.files[place]].update(first[key] for key in keys)
    return {file: tuple(sorted(indices)) for file, indices in lacking.items() if indices}


def _open_keys(
    samples: Sequence[Sample], asked: _Asked, lacking: Mapping[int, Sequence[int]]
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
    count = len(asked.files)
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
    unknown = sum(each is None for each in asked.files)
    if unknown:
        words = f"{unknown:,} are not remembered: on servers, or written a moment ago"
        computed.append(("files", words))
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
    there.add(place, [], {key: json.dumps(about).encode() for key, about in now.values()})
    return words


def _compared(before: dict[str, str], now: dict[str, str]) -> str:
    return "the files are new or have changed" if before == now else difference(before, now)


def _short(text: str) -> str:
    return hashlib.blake2b(text.encode("utf-8", "surrogateescape"), digest_size=8).hexdigest()


_FINE, _COARSE = 50_000_000, 2_000_000_000
"""Nanoseconds after which a file that is changed again has another time: where times have fractions
of a second, and where they have none."""


def _is_settled(state: source.Identity, now: int) -> bool:
    """Whether a later change of a file will be seen by its times."""
    times = [mark for mark in state.marks[2:] if isinstance(mark, int)]
    is_coarse = all(each % 1_000_000_000 == 0 for each in times)
    return now - state.changed > (_COARSE if is_coarse else _FINE)


def check_files(chain: Chain) -> None:
    """Raises UnsupportedError if results of all of these files together cannot be remembered. Opens
    them."""
    now = time.time_ns()
    if chain.trees.far or any(each.replicas for each in chain.locations):
        raise UnsupportedError("files are on servers")
    for number in range(len(chain.locations)):
        if not _is_settled(chain.trees.identity(number), now):
            raise UnsupportedError("a file was written a moment ago")
        if chain.trees[number].core.friends:
            raise UnsupportedError("trees record friends, which may change")


def _key(*parts: str | bytes) -> bytes:
    hasher = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        hasher.update(len(data).to_bytes(8, "little"))
        hasher.update(data)
    return hasher.digest()
