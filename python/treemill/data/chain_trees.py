"""The trees of a chain: files are opened when they are needed, and a file that was written to is
opened again. The chain owns what is open (`KeptTrees`): trees that it hands out know the chain,
and nothing that it keeps does, so that its files close when it goes.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Generic, TypeVar, cast

from .._core import NearFiles
from .._system.cache import prepare
from ..errors import SourceError, TreemillError
from . import source
from .assumptions import NO_ASSUMPTIONS, Answer, Assumptions
from .defaults import ERROR, MissingDefaults
from .file_tree import RESHUFFLED, UNORDERED, BranchExample, FileTree
from .location import Location
from .open_tree import KeptTrees, changed, identity_of_any, is_near, look_near, opened, shared
from .source import FileState, Identity
from .uproot_fallback import Known

if TYPE_CHECKING:
    from .file_tree import FileTree

__all__ = ["ChainTrees", "Remembered", "Sizes"]

Size = tuple[int, tuple[int, ...]]
"""The entries of a file, and where its clusters start."""

_NO_ORDER = (UNORDERED, RESHUFFLED)
"""The titles of tables whose entries have lost their order."""
_AT_ONCE = 1024
"""Files that the core looks at in one call, at most."""
_TRIED = 3
"""So many files say whether the core leaves all of them to others."""
_SOON = 128
"""Files on servers that are opened when a pass begins, before its workers ask for them, at most: as
many as the core keeps ready."""


class ChainTrees:
    """The chain's trees by the number of their file. Thread-safe."""

    def __init__(self, locations: Sequence[Location], missing: MissingDefaults = ERROR) -> None:
        self.locations = tuple(locations)
        self.far = frozenset(
            [n for n, at in enumerate(locations) if "://" in at.path and source.is_far(at.path)]
        )
        """The numbers of the files that are on servers."""
        self.is_listed = any(each.verified is not None for each in locations)
        """Whether a list of files says what was found of some of them."""
        self.missing = missing
        self.borrowing: set[int] = set()
        """The numbers of files, of those that were opened here, whose trees give names to what is
        not theirs: constants, numbers in the chain. The core runs no such file by itself."""
        self.recording: set[int] = set()
        """The numbers of those whose trees record friends. The core runs none of these either."""
        self.damaged: set[int] = set()
        """The numbers of files that could not be read, and do not say what columns there are."""
        self.assumed = NO_ASSUMPTIONS
        """The files that a pass takes for what they were until their servers answer."""
        self._known: Known = {}
        self._open = KeptTrees()
        self._remembered: dict[int, tuple[Identity, dict[str, object]]] = {}
        self._lock = threading.Lock()
        self._near: NearFiles | None = None

    def __getitem__(self, number: int) -> FileTree:
        """The tree of file `number`, as it is now."""
        location = self.locations[number]
        has_looked = self._has_looked(number)
        now = self._identity(number)
        tree = self._open.get(number, now)
        if tree is None:
            # At worst two threads open the same file at the same time.
            tree = shared(
                location.path,
                location.tree,
                now,
                lambda: opened(location, now, self._known),
                known_as=(location.logical, *location.replicas) if location.replicas else (),
                strict=has_looked and not location.replicas,
            )
            if location.verified is not None:
                entries = tree.core.num_entries
                location.verified.check(location.path, now.size, tree.uuid, entries)
            if tree.core.friends:
                self.recording.add(number)
            self._open.keep(number, now, tree)
        return FileTree(tree, location.path, self.missing, self, number)

    def remembered(self, number: int) -> dict[str, object]:
        """The values that are known of file `number` as it is now. Opens nothing. Raises
        SourceError if the file is gone."""
        now = self._identity(number)
        with self._lock:
            known = self._remembered.get(number)
            if known is None or known[0] != now:
                known = self._remembered[number] = (now, {})
            values = known[1]
        if "sizes" not in values or "unordered" not in values:
            found = self.near.found(number)
            if found is not None and found[0] == now:
                values.setdefault("sizes", found[1])
                if found[2]:
                    values["reshuffled"] = values["unordered"] = False
        return values

    @property
    def near(self) -> NearFiles:
        """What the core knows of the near files, each at one address: there may be many of them,
        and Python has nothing of its own for each."""
        with self._lock:
            if self._near is None:
                self._near = NearFiles(self.locations)
            return self._near

    def to_open(self) -> NearFiles:
        """`near`, for the core to open some of them."""
        prepare()
        return self.near

    def look_at_all(self, threads: int = 1, *, listed: bool = True) -> None:
        """Has the core look at the near files of which nothing is known, many at once on up to so
        many threads, where all files are asked about. What it leaves to others is opened by them
        when it is needed. `listed`: also at those of which a list says how large they are."""
        with self._lock:
            kept = {n for n, (_, values) in self._remembered.items() if values}
        kept.update(self._open.numbers())
        if self.is_listed and not listed:
            kept.update(n for n, at in enumerate(self.locations) if at.verified is not None)
            if len(kept) == len(self.locations):
                return
        new = [number for number in self.near.unknown() if number not in kept]
        numbers, after = new[:_TRIED], _TRIED
        while numbers:  # a user may end it in between
            opened = self.to_open().open(numbers, _NO_ORDER, threads)
            if not opened:
                return
            self.verified(opened)
            numbers, after = new[after : after + _AT_ONCE], after + _AT_ONCE

    @property
    def samples(self) -> dict[str, BranchExample | None]:
        """Branches that some files lack, as others have them, for as long as files stay what they
        are: for one pass."""
        return {}

    def example(self, branch: str, lacking: int) -> BranchExample | None:
        """See OtherFiles."""
        # Files that lack a branch are many, and the one that has it may be the last one.
        samples = self.samples
        if branch not in samples:
            found = self.sample(branch, self._others(lacking))
            samples[branch] = None if found is None else found[1]
        return samples[branch]

    def names(self, lacking: int) -> Iterable[str]:
        """See OtherFiles."""
        for number in self._others(lacking):
            with suppress(TreemillError):  # reading it raises what is wrong with it
                return self[number].by_name
        return ()

    def _others(self, number: int) -> Iterable[int]:
        return (other for other in range(len(self.locations)) if other != number)

    def sample(self, branch: str, numbers: Iterable[int]) -> tuple[int, BranchExample] | None:
        """A branch of this name in the first of these files that has one that can be read, and the
        number of that file. It is what others take for theirs as long as the pass goes on."""
        from .columns import kind_of  # heavy: numpy

        for number in numbers:
            try:
                tree = self[number]
                if branch in tree.by_name:
                    (empty,) = tree.read([branch], 0, 0)
                    return number, (tree.by_name[branch], kind_of(empty))
            except TreemillError:  # reading one of the others raises what is wrong with it
                continue
        return None

    def identity(self, number: int) -> Identity:
        """The identity of file `number`, as the pass sees it. Raises SourceError if it is gone."""
        return self._identity(number)

    def verified(self, numbers: Sequence[int]) -> int:
        """How many of these near files, which the core has opened, are what a list of files has
        seen of them, up to the first one that is not. Those that are not are forgotten."""
        if not self.is_listed:
            return len(numbers)
        differs: list[int] = []
        for count, number in enumerate(numbers):
            location, found = self.locations[number], self.near.found(number)
            if location.verified is None or found is None:
                continue
            state, (entries, _), _ = found
            opened = self.near.state(number)
            uuid = None if opened is None else opened[1]
            try:
                location.verified.check(location.path, state[0], uuid, entries)
            except TreemillError:
                self.near.forget(number)
                differs.append(count)
        return min(differs, default=len(numbers))

    def changed(self, numbers: Iterable[int] | None = None, threads: int = 1) -> SourceError | None:
        """The error for the first of these files, None: of all, that is not what the pass has seen
        of it; None if there is none. Looks at those near files that the pass has looked at, on
        `threads` if they are many: servers say by themselves if a file changes. Outside of passes
        files may change."""

    def states(self, numbers: Iterable[int] | None = None) -> Mapping[str, FileState]:
        """The states, by path, of those of these near files that the pass has opened, None: of all;
        for what other processes have opened. Outside of passes none."""
        return {}

    def look(self, numbers: Iterable[int]) -> None:
        """Notes what these files are if they are near, for a pass whose workers look at them in
        other processes: what they were when it began is what they have to be at its end."""

    def knows(self, number: int) -> bool:
        """True if anything is known of file `number`, be it as it was earlier. Looks at no file."""
        with self._lock:
            known = self._remembered.get(number)
        if number in self._open or (known is not None and known[1]):
            return True
        return self.near.is_found(number)

    def is_open(self, number: int) -> bool:
        """True if file `number` is open, be it as it was earlier. Looks at no file."""
        return number in self._open

    def opens(self, number: int, then: Callable[[], None]) -> bool:
        """Has file `number` opened in the background, if it can be without a thread that waits for
        its server, and calls `then` when it is open or cannot be opened: at once, or on another
        thread. `then` raises nothing, and must not wait. False if it has begun nothing."""
        return False

    def asks_servers(self) -> bool:
        """True if servers have to be asked when the files are opened: what that reads of one is
        neither open nor kept. Opens nothing."""
        return any(
            not (self.is_open(number) or self._is_kept(self.locations[number]))
            for number in self.far
        )

    def _is_kept(self, location: Location) -> bool:
        return not location.replicas and source.is_kept(location.path)

    def identify(self) -> None:
        """Looks at the identities of all files on servers at once, if each is to be looked at once
        only: where all of them are asked for, one after another would take longer."""

    def pinned(self, soon: Iterable[int] = (), *, assume: bool = False) -> ChainTrees:
        """Returns these trees for one pass, which looks at each file's identity once.

        `soon`: the files that this process will read, in order. Those on servers are opened in
        parallel with the caller. `assume`: whether those that it has had open are `assumed`; they
        are opened when they are needed."""
        return _Pinned(self, soon, assume)

    def sees(self, others: ChainTrees) -> None:
        """Takes files for what these other trees of the same files, which are for one question,
        have seen of them, for a pass that goes by the answer."""

    def matched(self) -> dict[int, Identity]:
        """What the files on servers are for a pass that goes by what was seen of them before: other
        processes have to see the same. Near files have states, for other hosts may have copies."""
        return {}

    def match(self, seen: Mapping[int, Identity]) -> None:
        """Takes files for what was seen of them, by their numbers."""

    def current(self, numbers: Iterable[int]) -> ChainTrees:
        """Returns these trees for one question of the user's: those of these files that are on
        servers are as they are now, or were a second ago at most, and are asked for at once."""
        far = self.far.intersection(numbers) if self.far else ()
        asked = [n for n in far if not self.locations[n].replicas]
        return _Current(self, asked) if asked else self

    def _identity(self, number: int) -> Identity:
        location = self.locations[number]
        if location.replicas:
            return identity_of_any(location)
        return source.recent_identity(location.path)

    def _has_looked(self, number: int) -> bool:
        """True if the identity of file `number` is one that was seen earlier."""
        return False


class _Pinned(ChainTrees):
    """Trees for one pass, which share with the others what these have open and remember."""

    def __init__(self, trees: ChainTrees, soon: Iterable[int] = (), assume: bool = False) -> None:
        near = trees.near
        self.__dict__.update(trees.__dict__)
        self._near = near.pinned()
        self._identities: dict[int, Identity] = {}
        """Of the files that the core has no place for."""
        self._coming: dict[int, Answer[Identity]] = {}
        self._samples: dict[str, BranchExample | None] = {}
        self._matched: dict[int, Identity] = {}
        if not self.far:
            return
        paths = {n: self.locations[n].path for n in soon if n in self.far and self._is_single(n)}
        if assume:
            self.assumed = Assumptions(paths)
        # A file of which nothing is known says its identity when it is opened: that is one round
        # trip less.
        self._look(n for n in self.far if self.knows(n))
        new = (n for n in paths if not self._has_looked(n))
        for number in islice(new, _SOON):
            self._coming[number] = _answer(self.locations[number])

    def __getitem__(self, number: int) -> FileTree:
        tree = super().__getitem__(number)
        self.near.opened(number, self._identity(number), tree.uuid)
        return tree

    def _goes_by(self, number: int, identity: Identity) -> Identity:
        """What the pass goes by: the first look at a file holds."""
        noted = None if number in self.far else self.near.note(number, identity)
        return self._identities.setdefault(number, identity) if noted is None else Identity(*noted)

    def _is_single(self, number: int) -> bool:
        return not self.locations[number].replicas

    def _look(self, numbers: Iterable[int]) -> None:
        new = (n for n in numbers if not self._has_looked(n) and n not in self._coming)
        single = {n: self.locations[n].path for n in new if self._is_single(n)}
        far = source.identities(single.values())
        for number, path in single.items():
            if path in far:
                self._identities.setdefault(number, far[path])

    @property
    def samples(self) -> dict[str, BranchExample | None]:
        return self._samples

    def identify(self) -> None:
        self._look(self.far)

    def changed(self, numbers: Iterable[int] | None = None, threads: int = 1) -> SourceError | None:
        asked = None if numbers is None else [*numbers]
        suspect = self.near.changed(asked, threads)
        if own := self._identities:  # most files have one address: the core has looked at them
            known = [*own] if asked is None else [n for n in asked if n in own]  # others add more
            suspect += [n for n in known if n not in self.far or self.locations[n].replicas]
        for number in sorted(suspect):
            was, location = self._identity(number), self.locations[number]
            try:
                if look_near(location, was.size) != was:
                    return changed(location.path)
            except SourceError as error:
                return error
        return None

    def states(self, numbers: Iterable[int] | None = None) -> Mapping[str, FileState]:
        found = {}
        for number in self.near.all_seen() if numbers is None else numbers:
            opened = self.near.state(number)
            if opened is not None:
                seen, uuid = opened
                found[self.locations[number].path] = source.state(Identity(*seen), uuid)
        return found

    def look(self, numbers: Iterable[int]) -> None:
        self.near.look(numbers := [*numbers])
        for number in numbers:
            if not self.near.is_seen(number) and is_near(self.locations[number]):
                with suppress(SourceError):  # it may be there for workers, who say if it is not
                    self._identity(number)

    def sees(self, others: ChainTrees) -> None:
        if isinstance(others, _Pinned) and others is not self:
            seen = ((n, others.near.identity(n)) for n in others.near.all_seen())
            self.match(others._identities | {n: Identity(*at) for n, at in seen if at is not None})

    def match(self, seen: Mapping[int, Identity]) -> None:
        for number, identity in seen.items():
            is_far = number in self.far and self._is_single(number)
            if is_far or is_near(self.locations[number]):
                known = self._goes_by(number, identity)
                self._matched |= {number: known} if is_far else {}

    def matched(self) -> dict[int, Identity]:
        return dict(self._matched)

    def pinned(self, soon: Iterable[int] = (), *, assume: bool = False) -> ChainTrees:
        return self

    def current(self, numbers: Iterable[int]) -> ChainTrees:
        return self

    def _identity(self, number: int) -> Identity:
        known = self._identities.get(number) or self.assumed.identities.get(number)
        if known is None and (seen := self.near.identity(number)) is not None:
            return Identity(*seen)
        if known is None:
            location = self.locations[number]
            if location.replicas:
                looked = identity_of_any(location)
            else:
                looked = self._looked(number, location.path)
            known = self._goes_by(number, looked)
        return known

    def _looked(self, number: int, path: str) -> Identity:
        coming = self._coming.get(number)
        try:
            told = None if coming is None else coming.result()
        except SourceError:
            self._coming.pop(number, None)  # another attempt looks again
            raise
        return source.identity(path) if told is None else told

    def opens(self, number: int, then: Callable[[], None]) -> bool:
        location = self.locations[number]
        if number not in self.far or location.replicas:
            return False
        if self.is_open(number) or self._is_kept(location):
            then()
            return True
        with self._lock:
            coming = self._coming.get(number)
        if coming is None:
            coming = _answer(location)
            if not self._has_looked(number):
                with self._lock:
                    coming = self._coming.setdefault(number, coming)
        coming.then(then)
        return True

    def _has_looked(self, number: int) -> bool:
        known = number in self._identities or number in self.assumed.identities
        return known or self.near.is_seen(number)


class _Current(_Pinned):
    """Trees for one question of the user's, which share with the others what these have open and
    remember. Files that it is not about are as other looks have them."""

    def __init__(self, trees: ChainTrees, numbers: Iterable[int]) -> None:
        near = trees.near
        self.__dict__.update(trees.__dict__)
        self._near = near.pinned()
        self._coming = {}
        self._samples = {}
        self._matched = {}
        paths = {number: self.locations[number].path for number in numbers}
        are_known = all(self.knows(number) for number in paths)
        seen = source.recent_identities(paths.values(), soon=not are_known)
        self._identities = {n: seen[path] for n, path in paths.items() if path in seen}

    def _looked(self, number: int, path: str) -> Identity:
        return source.recent_identity(path)


def _answer(location: Location) -> Answer[Identity]:
    """What a far file is, when it is open and described."""
    return Answer(partial(source.look, location.path, location.tree or ""))


# What follows from a file's metadata, kept while the file stays as it is: values, and the files'
# sizes. Opens files by the trees that it is given.

Value = TypeVar("Value")


class Remembered(Generic[Value]):
    """Values that follow from a file's metadata, kept while the file stays as it is.
    Thread-safe."""

    def __init__(self, trees: ChainTrees, name: str, make: Callable[[FileTree], Value]) -> None:
        """`name`: the key of the values, which chains of the same trees share."""
        self._trees = trees
        self._name = name
        self._make = make

    def peek(self, number: int) -> Value | None:
        """The value if it is known and the file is as it was, else None. Opens nothing."""
        if not self._trees.knows(number):
            return None
        return cast("Value | None", self._trees.remembered(number).get(self._name))

    def __getitem__(self, number: int) -> Value:
        known = self._trees.remembered(number)
        if self._name not in known:
            known[self._name] = self._make(self._trees[number])
        return cast(Value, known[self._name])


class Sizes(Remembered[Size]):
    """The entries of each file, and where its clusters start. For files that were verified before
    these are what was found then: if a file has changed since, opening it is an error."""

    _name = "sizes"

    def __init__(self, trees: ChainTrees, *, is_pinned: bool = False) -> None:
        """`is_pinned`: whether the trees are for one pass."""
        self._trees = trees
        self._is_pinned = is_pinned
        self._starts: dict[int, list[int]] = {}
        """Where files begin, from some of them on."""
        self._lock = threading.Lock()

    def first_entry(self, number: int, since: int = 0) -> int:
        """The number of this file's first entry, counted from the file `since`. Opens the files
        between them."""
        if not self._is_pinned:  # files may change from call to call
            return sum(self[before][0] for before in range(since, number))
        with self._lock:
            starts = self._starts.setdefault(since, [0])
            while len(starts) <= number - since:
                starts.append(starts[-1] + self[since + len(starts) - 1][0])
            return starts[number - since]

    @staticmethod
    def _make(tree: FileTree) -> Size:
        return int(tree.num_entries), tuple(tree.clusters)

    def peek(self, number: int) -> Size | None:
        """See Remembered."""
        return self._verified(number) or super().peek(number)

    def __getitem__(self, number: int) -> Size:
        return self._verified(number) or super().__getitem__(number)

    def _verified(self, number: int) -> Size | None:
        verified = self._trees.locations[number].verified
        return None if verified is None else (verified.entries, verified.clusters)
