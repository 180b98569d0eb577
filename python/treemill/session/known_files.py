"""What the files of a pass are known by, for results of them that are remembered: their identity,
and what comes to their entries from elsewhere, as far as a booking may mean it: constants, defaults
of what they lack, friends, columns from memory.

What cannot be told for certain has no key, and a reason. Knows chains; knows no booking but by its
words, no pass and no worker.
"""

from __future__ import annotations

import hashlib
import json
import os
import re
import time
from collections.abc import Iterable, Iterator, Sequence, Set
from contextlib import suppress
from functools import cached_property
from typing import TYPE_CHECKING, NamedTuple, cast

from ..backends.merged_partial import Seen
from ..backends.remembered_partial import HERE
from ..data import source
from ..data.entry_ranges import parts_between
from ..data.friends import Recorded, recorded_chain
from ..errors import SourceError, TreemillError, UnsupportedError, without_credentials
from ..workers.file_query import is_meant

if TYPE_CHECKING:
    from ..checkpoint.totals import Record, Remembered
    from ..data.chain import Chain
    from ..data.friend_columns import Friend, FriendChain
    from ..data.friends import Friends

__all__ = [
    "DefaultKeys",
    "FilesOfChain",
    "FriendKeys",
    "RecordedKeys",
    "Salt",
    "check_files",
    "is_seen",
    "key_of",
    "may_mean",
]


def key_of(*parts: str | bytes) -> bytes:
    """The key of data, or of what is computed, from all that it depends on."""
    hasher = hashlib.blake2b(digest_size=16)
    for part in parts:
        data = part.encode("utf-8", "surrogateescape") if isinstance(part, str) else part
        hasher.update(len(data).to_bytes(8, "little"))
        hasher.update(data)
    return hasher.digest()


class Salt(NamedTuple):
    """What counts for a booking besides the columns of a file."""

    constants: tuple[str, ...]
    """The names of constants of files."""
    numbers: bool
    """Whether entries' numbers in the whole chain, for which the files before a file count."""
    defaults: tuple[str, ...]
    """The columns that a file may lack and that have defaults."""
    friends: tuple[int, ...]
    """The friends, by their places."""
    arrays: tuple[tuple[int, str], ...]
    """The columns from memory, by the place of what they were given with, and their names."""
    numbering: tuple[str, ...] = ()
    """The columns of the dataset that have names of entries' numbers."""
    recorded: bool = False
    """Whether the friends that files record."""

    @property
    def is_plain(self) -> bool:
        """Whether nothing but a file's own columns counts."""
        return not any(self)


class _About(NamedTuple):
    """What a file's tree holds."""

    names: frozenset[str]
    """All names that mean branches."""
    has_aliases: bool
    """Whether it has names that stand for expressions, whose words are not those of the query."""
    friends: Sequence[Recorded]
    """The friends that it records, which are in other files."""


_NAMES = b"names, friends.."
"""16 bytes that stand for what a file's tree holds."""


class FilesOfChain:
    """The files of one chain by themselves."""

    def __init__(self, chain: Chain | FriendChain, there: Remembered) -> None:
        self._trees, self.locations = chain.trees, chain.locations
        self._there = there
        self._now = time.time_ns()
        self._looked: dict[int, tuple[source.Identity, bytes]] = {}
        """What files are by a look at many at once, and a digest of their first and last bytes."""
        self._states: dict[int, source.Identity] = {}
        self._keys: dict[int, bytes | None] = {}
        self._about: dict[int, _About | None] = {}
        self.reasons: dict[int, str] = {}
        """Why files have no keys."""
        # All servers are asked at once, and workers have to see what this process has seen.
        far = [n for n in self._trees.far if not self.locations[n].replicas]
        if far:
            self._trees.identify()

    def look(self, numbers: Iterable[int]) -> None:
        """Looks at the near ones of these files at once: their keys will be asked for."""
        new = [n for n in numbers if n not in self._keys and n not in self._trees.far]
        for number, looked in zip(new, self._trees.near.ends(new), strict=True):
            if looked is not None:
                state, ends = looked
                self._looked[number] = source.Identity(*state), ends

    def key(self, number: int) -> bytes | None:
        """What a file is known by; None: nothing of it is remembered."""
        if number not in self._keys:
            key = self._made(number)
            self._keys[number] = key if isinstance(key, bytes) else None
            if isinstance(key, str):
                self.reasons[number] = key
        return self._keys[number]

    def _made(self, number: int) -> bytes | str:
        location = self.locations[number]
        is_far = number in self._trees.far
        if location.replicas:
            return "at several addresses, which may differ"
        looked = self._looked.pop(number, None)
        if looked is not None:
            now, ends = looked
        else:
            try:
                # On NFS a file that is opened is looked at anew.
                ends = b"" if is_far else source.ends(location.path)
                now = self._trees.identity(number)
            except SourceError:
                return "out of reach"  # the worker that opens it will say so
        if is_far and now.changed:
            return "on servers that do not say when they change"
        if not is_far and not _is_settled(now, self._now):
            return "written a moment ago"
        self._states[number] = now
        if is_far:
            self._trees.match({number: now})
            path, marks = without_credentials(location.path), [*now.marks]
        else:
            path = os.path.abspath(location.path)
            marks = [*now.marks[1:]]  # after a restart the device may have another number
        about = f"{location.tree!r} {location.verified!r} {now.size} {marks!r}"
        return key_of("file", path, about, ends)

    def unchanged(self, numbers: Iterable[int]) -> set[int]:
        """Those of these files that are what they were when their keys were made, and those that
        say so by themselves. Looks at each once."""
        far, near = set[int](), list[tuple[int, source.Identity]]()
        for number in numbers:
            if number in self._trees.far:
                far.add(number)
            elif (state := self._states.get(number)) is not None:
                near.append((number, state))
        same = far.union(self._trees.near.unchanged(near))
        return same.union(n for n, state in near if n not in same and self._is_still(n, state))

    def _is_still(self, number: int, state: source.Identity) -> bool:
        """Whether a file that the core has no place for, or that it has seen changed, is so."""
        with suppress(SourceError):
            return source.identity(self.locations[number].path) == state
        return False

    def are_seen(self, numbers: Iterable[int], seen: Seen, *, strict: bool = True) -> set[int]:
        """Those of these files of which workers have seen what this process sees. `seen`: what
        workers of other hosts have seen of files, by their paths; None: they are on this host.
        `strict`: whether they must have seen each."""
        if seen is None:
            return {*numbers}
        found = set[int]()
        for number in numbers:
            path, state = self.locations[number].path, self._states.get(number)
            is_open = number in self._trees.far or not (strict or path in seen)
            if is_open or (state is not None and is_seen(state, seen.get(path))):
                found.add(number)
        return found

    def about(self, number: int) -> _About | None:
        """What a file's tree holds, as it is kept or as the file says it; None if it cannot be
        opened."""
        if number not in self._about:
            self._about[number] = self._kept(number) or self._look(number)
        return self._about[number]

    def _kept(self, number: int) -> _About | None:
        key = self.key(number)
        if key is None:
            return None
        told = self._there.find(key_of("about", key), [_NAMES])[0].get(_NAMES)
        if told is None:
            return None
        place, has_aliases, friends = told[:16], told[16], told[17:]
        names = self._there.find(key_of(_NAMES), [place])[0].get(place)
        if names is None:
            return None
        return _About(_shared_names(names), bool(has_aliases), json.loads(friends or "[]"))

    def _look(self, number: int) -> _About | None:
        try:
            tree = self._trees[number]
        except TreemillError:
            return None
        names = frozenset(tree.by_name)
        about = _About(names, bool(tree.aliases), tree.core.friends)
        key = self.key(number)
        if key is not None:  # most files have the same names: they are kept once
            text = json.dumps(sorted(names)).encode()
            place = key_of(text)
            friends = json.dumps(about.friends).encode() if about.friends else b""
            more = bytes([about.has_aliases]) + friends
            told: list[Record] = [(key_of("about", key), [], {_NAMES: place + more})]
            if not self._there.find(key_of(_NAMES), [place])[0]:
                told.append((key_of(_NAMES), [], {place: text}))
            self._there.add(told)
        return about


_last_names: list[tuple[bytes, frozenset[str]]] = []


def _shared_names(text: bytes) -> frozenset[str]:
    """The names in a text; those of the last one are there already."""
    if not _last_names or _last_names[0][0] != text:
        _last_names[:] = [(text, frozenset(json.loads(text)))]
    return _last_names[0][1]


def is_seen(here: source.Identity, there: object) -> bool:
    """Whether a worker of a cluster, or each of several, has seen this file, on a disk that hosts
    share. A copy, which may have been changed by itself, has another inode or other times."""
    if isinstance(there, list):
        return all(is_seen(here, each) for each in there)
    if not isinstance(there, source.FileState):
        return there == HERE
    own = source.state(here, None)
    return (own.size, own.place[-1], own.times) == (there.size, there.place[-1], there.times)


class DefaultKeys:
    """The defaults of columns that files lack."""

    def __init__(self, chain: Chain | FriendChain, files: FilesOfChain) -> None:
        self._trees, self._missing = chain.trees, chain.trees.missing
        self._files, self._count = files, len(chain.locations)
        self._samples: dict[str, tuple[str, int]] = {}
        self._last: dict[int, int] = {}
        """The last file that was looked into for the defaults of a file."""

    @cached_property
    def _firsts(self) -> list[int]:
        """The first two files that can be opened: the first other one says for which columns a glob
        has defaults."""
        every = (n for n in range(self._count) if self._files.about(n) is not None)
        return [number for number, _ in zip(every, range(2), strict=False)]

    def _others(self, number: int) -> Iterable[str]:
        for first in self._firsts:
            if first != number and (about := self._files.about(first)) is not None:
                return sorted(about.names)
        return ()

    @cached_property
    def _candidates(self) -> dict[str, frozenset[str]]:
        """The columns that may have defaults, with the words of which one is there if an expression
        means the column."""
        names = self._missing.named(self._of_firsts)
        return {name: frozenset((name, *_beginnings(name))) for name in names}

    @property
    def every(self) -> Sequence[str]:
        """All columns with defaults."""
        return sorted(self._candidates)

    def _of_firsts(self) -> Iterator[str]:
        for first in self._firsts:
            if (about := self._files.about(first)) is not None:
                yield from sorted(about.names)

    def meant(self, words: Set[str]) -> tuple[str, ...]:
        """The columns with defaults that expressions of these words may mean in any file."""
        found = {
            name
            for name, begin in self._candidates.items()
            if not words.isdisjoint(begin) and is_meant(name, words)
        }
        if self._missing.has_globs:  # a glob may mean a branch that the first file lacks
            found |= {word for word in words if self._missing.has(word)}
        return tuple(sorted(found))

    def of(self, number: int, about: _About, meant: Sequence[str]) -> str:
        """What a file lacks of these columns, as others have it, and what is there instead; empty
        if it lacks nothing."""
        lacking = self._missing.lacking(about.names, lambda: self._others(number))
        wanted = {*lacking} if about.has_aliases else {*meant}
        told = []
        for name in sorted(wanted | {*meant}):
            if name not in about.names:
                kind, last = self._sample(name)
                self._last[number] = max(last, self._last.get(number, 0))
                told.append([name, repr(self._missing[name]), kind, name in lacking])
        return json.dumps(told) if told else ""

    def _sample(self, name: str) -> tuple[str, int]:
        """How the first file that has a column has it; and the number of the last file that was
        looked into."""
        if name not in self._samples:
            having = (
                n
                for n in range(self._count)
                if (about := self._files.about(n)) is not None and name in about.names
            )
            found = self._trees.sample(name, having)
            if found is None:
                self._samples[name] = "", self._count - 1
            else:
                number, (described, kind) = found
                self._samples[name] = f"{kind!r} {described['counter']!r}", number
        return self._samples[name]

    def end(self, numbers: Iterable[int]) -> int:
        """The number of the file up to which, itself not included, files say what the defaults of
        these files are like."""
        return max((self._last.get(number, -1) for number in numbers), default=-1) + 1


def _beginnings(name: str) -> Iterator[str]:
    for sign in re.finditer(r"[._]", name):
        yield name[: sign.start()]


def may_mean(words: Set[str], name: str, alias: str | None) -> bool:
    """Whether expressions of these words may mean a column that others join, or a collection that
    it is of."""
    if alias is not None and alias in words:
        return True
    first = next(_beginnings(name), name)
    return name in words or first in words or is_meant(name, words)


class FriendKeys:
    """What a friend joins to files."""

    def __init__(self, friend: Friend, chain: Chain, there: Remembered) -> None:
        self.alias = friend.alias
        self._friend, self._chain = friend, chain
        self._files = FilesOfChain(friend.chain, there)
        has_defaults = friend.chain.trees.missing.defaults
        self._defaults = DefaultKeys(friend.chain, self._files) if has_defaults else None
        self._pieces: dict[int, list[tuple[int, int, int]]] = {}

    @cached_property
    def _columns(self) -> tuple[list[str], str]:
        """The names of the friend's columns, those without its alias as far as they mean it in this
        dataset, and what they are like."""
        fields = self._chain.friends.described(self._chain, self._friend)
        names = sorted({name for name, *_ in fields})
        return names, json.dumps(sorted(map(repr, fields)))

    def is_meant(self, words: Set[str]) -> bool:
        """Whether expressions of these words may mean one of its columns."""
        return any(may_mean(words, name, self.alias) for name in self._columns[0])

    @property
    def searched_by(self) -> Sequence[str]:
        """The columns by whose values its entries are found."""
        alignment = self._friend.alignment
        assert alignment is not None
        return alignment.names or ()

    @cached_property
    def reason(self) -> str | None:
        """Why nothing that it is joined to is remembered; None: it is."""
        chain = self._friend.chain
        if chain.friends:
            return "with friends of their own"
        self._files.look(range(len(chain.locations)))
        for number in range(len(chain.locations)):
            if self._files.key(number) is None:
                return self._files.reasons[number]
            about = self._files.about(number)
            if about is None or about.friends:
                return "with friends of their own"
        return None

    def _joined(self, number: int) -> list[tuple[int, int, int]]:
        """The parts of the friend's files that are joined to a file: their numbers, the first
        entry, and the one after the last."""
        if self._every is not None:
            return self._every
        known = self._pieces.get(number)
        if known is None:
            alignment = self._friend.alignment
            assert alignment is not None
            begin, end = alignment.starts[number : number + 2]
            known = self._pieces[number] = parts_between(alignment.theirs, begin, end)
        return known

    @cached_property
    def _every(self) -> list[tuple[int, int, int]] | None:
        """What is joined to each file, if an index finds the first of all entries of the friend;
        None: each file has parts of its own."""
        alignment = self._friend.alignment
        assert alignment is not None
        if alignment.names is None:
            return None
        return [(file, 0, entries) for file, entries in enumerate(self._friend.chain.entries)]

    @cached_property
    def _of_every(self) -> bytes | None:
        return self._key_of(self._every or [])

    def of(self, number: int) -> bytes | None:
        """What is joined to a file; None if it is not known for certain."""
        if self.reason is not None:
            return None
        return self._key_of(self._joined(number)) if self._every is None else self._of_every

    def _key_of(self, joined: Sequence[tuple[int, int, int]]) -> bytes | None:
        assert self._friend.alignment is not None
        parts = [self.alias, repr(self._friend.alignment.names), self._columns[1]]
        keys: list[str | bytes] = [*parts]
        for file, first, last in joined:
            key = self._files.key(file)
            if key is None:
                return None
            keys += [f"{first} {last}", key]
            about = None if self._defaults is None else self._files.about(file)
            if self._defaults is not None and about is not None:
                keys.append(self._defaults.of(file, about, self._defaults.every))
        return key_of("friend", *keys)

    def unchanged(self, numbers: Set[int], seen: Seen) -> Set[int]:
        """Those of these files for which the friend's files that are joined to them are as they
        were. Looks at each of these once."""
        if self.reason is not None or not numbers:
            return numbers
        if self._every is not None:  # one list is that of all
            every = {file for file, *_ in self._every}
            return numbers if every <= self._same(every, seen) else set()
        joined = {n: {file for file, *_ in self._joined(n)} for n in numbers}
        same = self._same({file for files in joined.values() for file in files}, seen)
        return {number for number, files in joined.items() if files <= same}

    def _same(self, files: Set[int], seen: Seen) -> Set[int]:
        before = set(range(0 if self._defaults is None else self._defaults.end(files)))
        same = self._files.unchanged(files | before)
        if before != self._files.are_seen(same & before, seen, strict=False):
            return set()  # another one may say now what a default is like
        return self._files.are_seen(same & files, seen)


class RecordedKeys:
    """What the friends join to files that these record."""

    def __init__(self, chain: Chain, files: FilesOfChain, there: Remembered) -> None:
        self._chain, self._own, self._there = chain, files, there
        self._known: dict[int, list[tuple[str, FilesOfChain]]] = {}
        self._chains: dict[str, FilesOfChain] = {}
        self.reasons: dict[int, str] = {}
        """Why it is not known for certain what is joined to a file."""

    def _of(self, number: int) -> list[tuple[str, FilesOfChain]]:
        """The friends of a file that are there, by their aliases."""
        if number not in self._known:
            found = self._known[number] = []
            for alias, files, reason in self._looked(number):
                if files is not None:
                    found.append((alias, files))
                if reason is not None:
                    self.reasons[number] = f"records friends {reason}"
        return self._known[number]

    def _looked(self, number: int) -> Iterator[tuple[str, FilesOfChain | None, str | None]]:
        """The friends that a file records, by their aliases; None for one that is out of reach; and
        why one is not known for certain. The columns of those count all the same: what may mean
        them is not remembered."""
        about = self._own.about(number)
        if about is None:
            yield "", None, "that are out of reach"
            return
        for recorded in about.friends:
            alias = recorded[0]
            try:
                friend = recorded_chain(self._chain, number, (*recorded,))
            except TreemillError:
                yield alias, None, "that are out of reach"
                continue
            place = str(friend.locations[0])
            files = self._chains.get(place)  # files may record the same one
            if files is None:
                files = self._chains[place] = FilesOfChain(friend.pinned(), self._there)
            if len(friend.locations) > 1:  # a pattern of names, which means others tomorrow
                yield alias, files, "of several files"
                continue
            if files.key(0) is None:
                yield alias, files, f"that are {files.reasons[0]}"
                continue
            its = files.about(0)
            is_plain = its is not None and not its.friends
            yield alias, files, None if is_plain else "with friends of their own"

    def is_meant(self, words: Set[str], numbers: Iterable[int]) -> bool:
        """Whether expressions of these words may mean a column that these files' friends have."""
        seen = set[tuple[str, int]]()
        for number in numbers:
            for alias, files in self._of(number):
                about = files.about(0)
                if about is None or (alias, id(about.names)) in seen:
                    continue
                seen.add((alias, id(about.names)))
                if any(may_mean(words, name, alias) for name in about.names):
                    return True
        return False

    @cached_property
    def _meant(self) -> str:
        """What names mean columns of such friends, which the first file decides."""
        return json.dumps(sorted(self._chain.friends.meant(self._chain).items()))

    def of(self, number: int) -> bytes | None:
        """What is joined to a file; None if it is not known for certain."""
        friends = self._of(number)
        if number in self.reasons:
            return None
        keys: list[str | bytes] = [self._meant]
        for alias, files in friends:
            key = files.key(0)
            assert key is not None
            keys += [alias, key]
        return key_of("recorded", *keys)

    def unchanged(self, numbers: Set[int], seen: Seen) -> set[int]:
        """Those of these files whose friends, if they are known, are as they were. Looks at each of
        these once."""
        known = {n: [each for _, each in self._of(n) if each.key(0) is not None] for n in numbers}
        every = {id(files): files for friends in known.values() for files in friends}
        same = {at for at, files in every.items() if files.are_seen(files.unchanged([0]), seen)}
        return {n for n, friends in known.items() if all(id(each) in same for each in friends)}


_FINE, _COARSE = 50_000_000, 2_000_000_000
"""Nanoseconds after which a file that is changed again has another time: where times have fractions
of a second, and where they have none."""


def _is_settled(state: source.Identity, now: int) -> bool:
    """Whether a later change of a file will be seen by its times."""
    times = [mark for mark in state.marks[2:] if isinstance(mark, int)]
    is_coarse = all(each % 1_000_000_000 == 0 for each in times)
    return now - state.changed > (_COARSE if is_coarse else _FINE)


def check_files(chain: Chain | FriendChain) -> None:
    """Raises UnsupportedError if results of all of these files together, with their friends, cannot
    be remembered. Opens them."""
    now = time.time_ns()
    if chain.trees.far or any(each.replicas for each in chain.locations):
        raise UnsupportedError("files are on servers")
    for number in range(len(chain.locations)):
        if not _is_settled(chain.trees.identity(number), now):
            raise UnsupportedError("a file was written a moment ago")
        if chain.trees[number].core.friends:
            raise UnsupportedError("trees record friends, which may change")
    for each in cast("Friends", chain.friends).given:
        check_files(each.chain)
