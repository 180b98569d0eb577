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
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from ..backends.remembered_partial import Begun, RememberedTree, Remembering
from ..checkpoint import Pace, evaluator
from ..checkpoint.totals import Record, Remembered, tree_of
from ..data.foreign import ENTRY, IN_THE_CHAIN, LOCAL_ENTRY
from ..errors import TreemillError, UnsupportedError
from ..language.function_registry import Dependent, ExternalFunction
from ..monitoring.report import FromMemory
from ..query.booking import steps_to
from ..query.dependencies import dependencies, difference, restricted
from ..query.planning import NOMINAL
from ..query.steps import Vary, relations_in
from .known_files import (
    DefaultKeys,
    FilesOfChain,
    FriendKeys,
    RecordedKeys,
    Salt,
    key_of,
    may_mean,
)

if TYPE_CHECKING:
    from ..backends.merged_partial import Seen
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
    knows_recorded: bool
    """Whether friends that files record count."""
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
    shown = _shown(there, asked, lacking, titles)
    return Pieces(remembering, parts, asked.of.knows_recorded, shown)


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


class FileKeys:
    """What each file of a pass, or each part of one, is known by, for bookings of some words."""

    def __init__(self, chain: Chain, there: Remembered, spans: Sequence[Span] | None) -> None:
        """`chain`: as the pass sees it. `spans`: the parts of files that it goes through; None: all
        files."""
        self._chain = chain
        self._own = FilesOfChain(chain, there)
        self._spans = spans
        every = range(len(chain.locations))
        self.files = [*every] if spans is None else [file for file, *_ in spans]
        """The number of each file, or of the file of each part."""
        self.count = len(self.files)
        """The files or parts."""
        self._defaults = DefaultKeys(chain, self._own) if chain.trees.missing.defaults else None
        self._friends = [FriendKeys(each, chain, there) for each in chain.friends.given]
        read = dict.fromkeys(self.files)
        self._own.look(read)
        self._keys = {number: self._own.key(number) for number in read}
        """The keys of the files by themselves; None: nothing of it is remembered."""
        first = self._own.about(chain.first) if chain.locations else None
        is_recording = first is not None and bool(first.friends)
        self._recorded = RecordedKeys(chain, self._own, there) if is_recording else None
        """The first file says what names of such friends mean in the others."""
        self._salts: dict[frozenset[str], Salt] = {}
        self._leaves: dict[Salt, Mapping[int, bytes | None]] = {}

    @property
    def knows_recorded(self) -> bool:
        """Whether friends count that files record: if the first one records none, those of others
        have no names that a query could use, and files that record some are not remembered."""
        return self._recorded is not None

    @property
    def reasons(self) -> list[tuple[int, str]]:
        """Why files are not remembered: how many, and the reason."""
        own = self._own.reasons
        if "_before" not in vars(self):  # other files count for their number of entries only
            own = {number: reason for number, reason in own.items() if number in self._keys}
        found = Counter(own.values())
        for each in self._friends:
            if each.reason is not None:
                found[f"joined with files of {each.alias} that are {each.reason}"] = self.count
        if self._recorded is not None:
            found.update(self._recorded.reasons.values())
        return [(number, reason) for reason, number in found.items()]

    def salt(self, words: frozenset[str]) -> Salt:
        """What counts for a booking of these words besides the columns of a file."""
        known = self._salts.get(words)  # many bookings have the same words
        if known is None:
            known = self._salts[words] = self._salt(words)
        return known

    def _salt(self, words: Set[str]) -> Salt:
        chain = self._chain
        names = chain.constant_names if chain.constants.are_there else frozenset[str]()
        if self._is_more:  # members may refer to collections that no word names
            words = {*words, *chain.referred(frozenset(words))}
        friends = tuple(n for n, each in enumerate(self._friends) if each.is_meant(words))
        searched = {name for n in friends for name in self._friends[n].searched_by}
        return Salt(
            tuple(sorted(names & words)),
            not IN_THE_CHAIN.isdisjoint(words),
            self._defaults.meant(words | searched) if self._defaults else (),
            friends,
            tuple(
                (place, name)
                for place, arrays in enumerate(chain.friends.arrays)
                for name in arrays.columns
                if may_mean(words, name, arrays.alias)
            ),
            tuple(name for name in (ENTRY, LOCAL_ENTRY) if name in words and self._is_own(name)),
            self._recorded is not None and self._recorded.is_meant(words, self._keys),
        )

    def _is_own(self, name: str) -> bool:
        """Whether a name of entries' numbers means a column of the dataset: in all files."""
        with suppress(TreemillError):  # reading a file raises what is wrong with it
            return self._chain.decider(0).has(name)
        return False

    def leaves(self, salt: Salt) -> Mapping[int, bytes | None]:
        """The keys of files, or of parts of files, by their places, for bookings of this salt."""
        if salt not in self._leaves:
            before = self._before if salt.numbers else [b""] * len(self._chain.locations)
            every = dict.fromkeys(self.files)
            leaves = {number: self._leaf(number, salt, before) for number in every}
            places = enumerate(self.files)
            self._leaves[salt] = {at: self._part(at, leaves[number]) for at, number in places}
        return self._leaves[salt]

    def _part(self, place: int, leaf: bytes | None) -> bytes | None:
        """The key of the part of a file that is read of it."""
        if self._spans is None or leaf is None:
            return leaf
        chain, (number, first, stop) = self._chain, self._spans[place]
        is_whole = first == 0 and (stop is None or stop == chain.sizes[number][0])
        if chain.selected is None:
            return leaf if is_whole else key_of("part", leaf, f"{first} {stop}")
        last = chain.sizes[number][0] if stop is None else stop
        chosen = chain.selected.within(number, first, last)
        return key_of("part", leaf, f"{first} {last}", chosen.tobytes())

    def _leaf(self, number: int, salt: Salt, before: Sequence[bytes]) -> bytes | None:
        key = self._keys[number]
        if key is None or (salt.is_plain and not self._is_more):
            return key
        constants = self._chain.constants.among(number, salt.constants)
        parts: list[str | bytes] = [json.dumps(constants, sort_keys=True), before[number]]
        parts += salt.numbering
        has_more = bool(constants or before[number] or salt.numbering)
        friends, arrays, recorded = salt.friends, salt.arrays, salt.recorded
        if self._is_more:
            about = self._own.about(number)
            if about is None:
                return None
            given = self._chain.friends
            if about.has_aliases:  # they may mean anything
                friends = tuple(range(len(given.given)))
                arrays = tuple((n, name) for n, a in enumerate(given.arrays) for name in a.columns)
                recorded = self._recorded is not None
            if self._defaults:
                told = self._defaults.of(number, about, salt.defaults)
                has_more |= bool(told)
                parts.append(told)
        for place in friends:
            joined = self._friends[place].of(number)
            if joined is None:
                return None
            has_more = True
            parts.append(joined)
        if arrays:
            has_more = True
            parts.append(self._of_arrays(number, arrays))
        if self._recorded is not None and recorded:
            joined = self._recorded.of(number)
            if joined is None:
                return None
            has_more = True
            parts.append(joined)
        return key_of("leaf", key, *parts) if has_more else key

    @property
    def _is_more(self) -> bool:
        """Whether a file's aliases, or what it lacks, may matter."""
        return bool(self._defaults or self._chain.friends or self._recorded)

    @cached_property
    def _before(self) -> list[bytes]:
        """What the files are known by whose entries are numbered before those of each file."""
        before = [b""] * len(self._chain.locations)
        for number, since in enumerate(self._chain.numbered_from):
            if number > since:
                last = self._own.key(number - 1) or os.urandom(16)
                before[number] = key_of("before", before[number - 1], last)
        return before

    @cached_property
    def _bare(self) -> Mapping[str, Set[str]]:
        """The columns that may be named without their alias, by alias: the same in all files."""
        return self._chain.friends.bare(self._chain)

    def _of_arrays(self, number: int, meant: Sequence[tuple[int, str]]) -> bytes:
        """The values of columns from memory that belong to a file."""
        chain, parts = self._chain, list[str | bytes]()
        first, entries = chain.first_entry(number), chain.sizes[number][0]
        for place, name in meant:
            given = chain.friends.arrays[place]
            column, counter = given.columns[name], given.counters.get(name)
            is_bare = given.alias is None or name in self._bare.get(given.alias, ())
            parts += [f"{given.alias!r} {name} {is_bare} {column.null_count > 0} {counter!r}"]
            parts += [column.slice(first, entries).dumps()]
        return key_of("arrays", *parts)

    def may_keep(self, places: Iterable[int], seen: Seen) -> set[int]:
        """Those of these files, or parts of files, that were run and that are, with all that was
        joined to them, as they were before. `seen`: what workers of other hosts have seen of files,
        by their paths; None: they are on this host. Looks at each file once, also at one that
        counts for many."""
        numbers = {place: self.files[place] for place in places}
        run, own = {*numbers.values()}, self._own
        before = range(0 if self._defaults is None else self._defaults.end(run))
        same = own.unchanged(run.union(before))
        fine = own.are_seen(run & same, seen)
        if self._defaults is not None:
            agreed = own.are_seen(same.intersection(before), seen, strict=False)
            changed = next((number for number in before if number not in agreed), len(before))
            fine = {number for number in fine if self._defaults.end([number]) <= changed}
        for friend in self._friends:
            fine &= friend.unchanged(fine, seen)
        if self._recorded is not None:
            fine = self._recorded.unchanged(fine, seen)
        return {place for place, number in numbers.items() if number in fine}


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
                self.keys[index] = key_of("booking", about, *texts, *(each for _, each in called))
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
        file: key_of("open", *leaves[file])
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
            now[index] = key_of("title", title, str(seen[title])), about
    if not now:
        return {}
    place = key_of("bookings by title")
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
