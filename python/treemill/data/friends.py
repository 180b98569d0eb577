"""Friends: other trees whose columns join a dataset's own, entry by entry or by an index, as
TTree::AddFriend does. A friend that the user adds joins the whole chain; a friend that a file
records joins the tree of that file.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import suppress
from functools import partial
from typing import TYPE_CHECKING, Literal, TypeAlias, cast
from weakref import WeakKeyDictionary

from ..errors import QueryError, SourceError, TreemillError, UnsupportedError, warn
from ..frozen import replaced
from . import source
from .entry_ranges import starts
from .foreign import Field, Foreign, joined
from .friend_columns import (
    Align,
    Alignment,
    Friend,
    FriendChain,
    FriendColumns,
    Index,
    IndexNames,
    names_here,
)

if TYPE_CHECKING:
    from .._core import Column
    from .array_columns import ArrayColumns
    from .chain_trees import Remembered
    from .column_source import FileState
    from .file_tree import FileTree
    from .location import Location
    from .open_tree import OpenTree

__all__ = ["FriendIndex", "Friends", "Recorded", "index_names", "recorded_chain"]

Recorded = tuple[str, str, str]
"""A friend as a file records it: the alias, the tree's name, the file's address or nothing."""

FriendIndex: TypeAlias = str | Sequence[str] | Literal[False] | None
"""What users give as `index=`: see `Dataset.add_friend`."""


def index_names(index: object) -> IndexNames | bool | None:
    """Understand what a user gives for an index: a major column, or a major and a minor one."""
    if index is None or index is False:
        return index
    if isinstance(index, str):
        return index, "0"
    parts = list(index) if isinstance(index, Sequence) else []
    names = [name for name in parts if isinstance(name, str)]
    if len(names) not in (1, 2) or len(names) < len(parts):
        raise QueryError(f"an index is a column's name or two, not {index!r}")
    return names[0], names[1] if len(names) == 2 else "0"


def aligned(
    friend: Friend,
    sizes: Sequence[int],
    title: str,
    columns: Iterable[str],
    reshuffled: str | None = None,
    threads: int = 1,
) -> Alignment:
    """The alignment of a friend to a chain with files of these sizes and with these columns. Looks
    into all of the friend's files, on so many threads. `title`: the chain's name for messages;
    `reshuffled`: the path of a file of it whose entries have no order."""
    ours, others = starts(sizes), friend.chain
    theirs = starts(others.looked_into(threads))
    names = friend.index_names(set(columns))
    if names is not None:
        return Alignment(ours, theirs, names, Index(*friend.index_columns(names)))
    _require_order(others, others.reshuffled, f"its friend {friend.alias}")
    if reshuffled is not None:
        raise _no_order(title, reshuffled)
    if ours[-1] != theirs[-1]:
        raise QueryError(
            f"{title} has {ours[-1]} entries and its friend {friend.alias} ({others!r}) has "
            f"{theirs[-1]}: they cannot be joined entry by entry; give add_friend an index=",
            file=others.files[0],
        )
    return Alignment(ours, theirs)


class Friends:
    """The friends of a dataset. Immutable but for what it remembers; threads may share it."""

    def __init__(
        self,
        given: tuple[Friend, ...] = (),
        arrays: tuple[ArrayColumns, ...] = (),
        starts: tuple[int, ...] | None = None,
        own: frozenset[str] | None = None,
        meant: Mapping[str, str] | None = None,
        *,
        is_pinned: bool = False,
    ) -> None:
        """`starts`: the first entries of the dataset's files, `own`: its own columns, `meant`: see
        `meant`; if they are known already. `is_pinned`: whether they are for one pass."""
        self.given = given
        self.arrays = arrays
        self._starts = starts
        self._own = own
        self._meant = meant
        self._decided: tuple[OpenTree, Mapping[str, str]] | None = None
        """`meant`, as the tree of the first file has it: for one pass."""
        self._lock = threading.Lock()
        self._recorded: WeakKeyDictionary[OpenTree, list[Friend]] = WeakKeyDictionary()
        """The friends that trees record, for as long as these are open."""
        self._pinned: dict[Location, FriendChain] | None = {} if is_pinned else None
        """The friends that files record, as the pass has seen them."""

    def __reduce__(self) -> tuple[object, ...]:
        is_pinned = self._pinned is not None
        return _received, (
            self.given,
            self.arrays,
            self._starts,
            self._own,
            self._meant,
            is_pinned,
        )

    def __bool__(self) -> bool:
        return bool(self.given or self.arrays)

    def plus(self, friend: Friend) -> Friends:
        """These friends and one more."""
        if friend.chain.selected is not None:
            raise QueryError(
                f"the friend {friend.alias} is a selection of entries: give the whole dataset"
            )
        self._check_new(friend.alias)
        return Friends((*self.given, friend), self.arrays)

    def with_arrays(self, arrays: ArrayColumns) -> Friends:
        """These friends and columns from memory. Later columns hide earlier ones of the same
        name."""
        if arrays.alias is not None:
            self._check_new(arrays.alias)
        return Friends(self.given, (arrays, *self.arrays))

    def _check_new(self, alias: str) -> None:
        taken = [each.alias for each in self.given] + [each.alias for each in self.arrays]
        if alias in taken:
            raise QueryError(f"there is a friend {alias} already; give another alias=")

    def settled(self, chain: FriendChain, threads: int = 1) -> Friends:
        """These friends with all that a pass must know of the whole chain, so that workers need not
        find it out. Opens every file, on so many threads, unless all friends are those that files
        record."""
        if not self:
            return self._for_a_pass((), meant=self._known_meant(chain))
        sizes, title = chain.looked_into(threads), repr(chain)
        columns, own = self._own_columns(chain), starts(sizes)
        for each in self.arrays:
            if each.length != own[-1]:
                name = next(iter(each.columns))
                raise QueryError(
                    f"{title} has {own[-1]} entries and the array {name} has {each.length}: an "
                    "array needs a value or a list for each entry of the dataset, in their order"
                )
        now = self.current(None).given  # servers are asked for all files of a friend at once
        pinned = [replaced(each, chain=each.chain.pinned(threads=threads)) for each in self.given]
        settled = []
        for given, mine, seen in zip(self.given, pinned, now, strict=True):
            by = mine if seen.chain is given.chain else seen
            alignment = aligned(by, sizes, title, columns, threads=threads)
            mine.chain.trees.sees(by.chain.trees)  # the pass reads what it is aligned by
            settled.append(replaced(mine, alignment=alignment))
        by_number = [each for each in settled if each.alignment and each.alignment.names is None]
        if by_number:
            _require_order(chain, chain.reshuffled, title)
        if self.arrays:
            _require_order(chain, chain.unordered, title)
        return self._for_a_pass(tuple(settled), own, columns, self._known_meant(chain))

    def _for_a_pass(
        self,
        given: tuple[Friend, ...],
        starts: tuple[int, ...] | None = None,
        own: frozenset[str] | None = None,
        meant: Mapping[str, str] | None = None,
    ) -> Friends:
        made = Friends(given, self.arrays, starts, own, meant, is_pinned=True)
        made._recorded = self._recorded  # opened once, for all passes
        return made

    def current(self, files: Iterable[int] | None) -> Friends:
        """These friends for one question of the user's: see Chain.current."""
        given = tuple(replaced(each, chain=each.chain.current(files)) for each in self.given)
        if all(now.chain is each.chain for now, each in zip(given, self.given, strict=True)):
            return self
        return Friends(given, self.arrays, self._starts, self._own, self._meant)

    def changed(self, threads: int = 1) -> SourceError | None:
        """The error for a file of a friend that is not what the pass has seen of it. `threads`: how
        many look at files, if these are many."""
        errors = (chain.changed(None, threads) for chain in self._of_pass())
        return next((error for error in errors if error is not None), None)

    def _of_pass(self) -> list[FriendChain]:
        """All friends whose files the pass has looked at."""
        with self._lock:
            recorded = [*(self._pinned or {}).values()]
        return [*(each.chain for each in self.given), *recorded]

    def states(self) -> dict[str, FileState]:
        """The states of those near files that the pass has opened, by path."""
        states = (chain.states().items() for chain in self._of_pass())
        return {path: state for each in states for path, state in each}

    def foreign(self, chain: FriendChain, file: int, tree: FileTree) -> Foreign | None:
        """The friends' columns for the entries of one file, whose tree is `tree`; None if it has no
        friends."""
        recorded = self._of_file(chain, file, tree) if tree.core.friends else []
        meant = self.meant(chain, file)
        if not self and not recorded and not meant:
            return None
        own = self._own_columns(chain, file)
        here = _names(tree) if recorded else own

        def later(
            friend: Friend,
            title: str,
            sizes: Callable[[], list[int]],
            reshuffled: str | None = None,
        ) -> Align:
            return lambda: friend.alignment or aligned(friend, sizes(), title, here, reshuffled)

        title, path = repr(chain), chain.files[file]
        several = [(each, later(each, title, lambda: chain.entries), file) for each in self.given]
        mixed = path if tree.is_reshuffled else None
        for each in recorded:  # of the tree, whose passes are many
            mine = replaced(each, chain=self._as_seen(each.chain))
            several.append((mine, later(mine, path, lambda: [tree.num_entries], mixed), 0))
        bare = self._bare([each for each, _, _ in several], own)
        for each in recorded:
            names = bare.get(each.alias, frozenset())
            bare[each.alias] = frozenset(n for n in names if meant.get(n) == each.alias)
        refused = _refused(tree, meant, recorded, bare) if meant else None
        first = self._first(chain, file) if self.arrays else 0
        return joined(
            [
                *(
                    each.foreign(first, bare.get(each.alias or "", frozenset()))
                    for each in self.arrays
                ),
                refused,
                *(
                    FriendColumns(each, align, number, tree, bare.get(each.alias, frozenset()))
                    for each, align, number in several
                ),
            ]
        )

    def alike(self, chain: FriendChain) -> list[FriendColumns] | None:
        """The columns of each friend, for the core to read them by itself; None if it cannot, or if
        more than the friends' files is not alike for all of the chain's."""
        if self.arrays or not all(map(_is_plain, self.given)):
            return None
        bare, tree = self.bare(chain), chain.trees[0]
        return [
            FriendColumns(each, partial(_known, each), 0, tree, bare.get(each.alias, frozenset()))
            for each in self.given
        ]

    def bare(self, chain: FriendChain) -> dict[str, frozenset[str]]:
        """The columns that may be named without their alias, by alias. It is the same in all files:
        a name that the first file has as a column of its own is the dataset's own also where a
        file lacks it, and any other is the friend's also where a file has such a branch."""
        return self._bare(self.given, self._own_columns(chain))

    def _bare(self, friends: Iterable[Friend], own: Set[str]) -> dict[str, frozenset[str]]:
        names = [(each.alias, list(each.chain.branches)) for each in friends]
        names += [(each.alias, list(each.columns)) for each in self.arrays if each.alias]
        return _bare(names, own)

    def meant(self, chain: FriendChain, file: int = 0) -> Mapping[str, str]:
        """What names mean columns of friends that files record, when this file is read: their
        aliases, by the names. The first file decides this for all."""
        if self._meant is not None:
            return self._meant
        decider = chain.decider(file)
        if not decider.core.friends:
            return {}
        with self._lock:
            if self._decided is not None and self._decided[0] is decider.opened:
                return self._decided[1]
        number = file if decider.path == chain.locations[file].path else chain.first
        recorded = self._of_file(chain, number, decider)
        bare = self._bare([*self.given, *recorded], self._own_columns(chain, file))
        meant = {
            name: each.alias
            for each in recorded
            for branch in each.chain.branches.values()
            for name in names_here(branch, each.alias, bare.get(each.alias, frozenset()))
        }
        if self._pinned is not None:  # between passes the friends' files may change
            with self._lock:
                self._decided = decider.opened, meant
        return meant

    def _known_meant(self, chain: FriendChain) -> Mapping[str, str] | None:
        """`meant` for a pass, so that workers need not open the first file to know it; None if it
        is not open here either."""
        first = chain.first
        if chain.trees.is_open(first):
            with suppress(TreemillError):  # reading the file raises what is wrong with it
                return self.meant(chain, first)
        return None

    def _own_columns(self, chain: FriendChain, file: int = 0) -> frozenset[str]:
        """The dataset's own columns, when this file is read."""
        return _names(chain.decider(file)) if self._own is None else self._own

    def described(self, chain: FriendChain, friend: Friend) -> list[tuple[str, str, bool, str]]:
        """The columns of one of these friends, whose alignment is known, with the alias and, as far
        as that may be left out, without it: their names, their kinds in words, whether values may
        be missing, their counters."""
        from .columns import kind_of  # heavy: numpy

        names = self.bare(chain).get(friend.alias, frozenset())
        columns = FriendColumns(friend, partial(_known, friend), 0, chain.trees[0], names)
        return [
            (
                each.name,
                repr(kind_of(cast("Column", each.empty))),
                each.nullable,
                each.counter or "",
            )
            for each in columns.schema()
        ]

    def recorded(self, chain: FriendChain) -> Iterator[Friend]:
        """The friends that files record, as the pass sees them, if the first file records some: no
        name means a column of them otherwise. Opens all files then."""
        with suppress(TreemillError):  # reading the file raises what is wrong with it
            if chain.locations and not chain.decider(0).core.friends:
                return
        for number in range(len(chain.locations)):
            with suppress(TreemillError):
                for each in self._of_file(chain, number, chain.trees[number]):
                    yield replaced(each, chain=self._as_seen(each.chain))

    def _as_seen(self, recorded: FriendChain) -> FriendChain:
        """A friend that files record, for the one pass that these are for: it looks at the friend
        once, whichever files record it. Outside of passes each look is one of its own."""
        new = recorded.pinned()
        with self._lock:
            if self._pinned is None:
                return new
            return self._pinned.setdefault(recorded.locations[0], new)

    def _first(self, chain: FriendChain, file: int) -> int:
        return chain.first_entry(file) if self._starts is None else self._starts[file]

    def _of_file(self, chain: FriendChain, file: int, tree: FileTree) -> list[Friend]:
        """The friends that the file's tree records, without those that cannot be opened."""
        with self._lock:
            known = self._recorded.get(tree.opened)
        if known is not None:
            return known
        friends = []
        location = chain.locations[file]
        for alias, name, address in tree.core.friends:
            try:
                friend = recorded_chain(chain, file, (alias, name, address))
                _ = friend.sizes[0]
            except (SourceError, QueryError, UnsupportedError) as error:
                message = f"{location.shown}: its friend {alias} is left out: {error}"
                warn(message)
                continue
            friends.append(Friend(friend, alias))
        with self._lock:
            self._recorded[tree.opened] = friends
        return friends


def recorded_chain(chain: FriendChain, file: int, recorded: Recorded) -> FriendChain:
    """The friend that the tree of a file records. Raises what is wrong with its address."""
    alias, name, address = recorded
    return chain.sibling({_resolved(address, chain.locations[file].path): name}, name=alias)


class _Refused:
    """Branches of a file whose names mean a friend's column in the dataset's first file, which
    records that friend, where this file records no such friend. Implements Foreign."""

    def __init__(self, tree: FileTree, meant: Mapping[str, str]) -> None:
        self._tree, self._meant = tree, meant

    def schema(self) -> Sequence[Field]:
        """See Foreign."""
        by_name = self._tree.by_name
        names = [name for name in self._meant if self._tree.how(by_name[name]) != "no"]
        empty = self._tree.read(names, 0, 0)
        return [
            Field(name, column, counter=by_name[name]["counter"], listed=False)
            for name, column in zip(names, empty, strict=True)
        ]

    def read(self, name: str, start: int, stop: int) -> Column:
        """See Foreign."""
        alias = self._meant[name]
        raise QueryError(
            f"{name} is a column of the friend {alias}, which the dataset's first file records, "
            "and a branch of this file, which records no such friend: use datasets of files that "
            "are alike",
            file=self._tree.path,
            branch=name,
            entries=(start, stop),
        )


def _refused(
    tree: FileTree,
    meant: Mapping[str, str],
    recorded: Iterable[Friend],
    bare: Mapping[str, Set[str]],
) -> _Refused | None:
    """The branches of a file that are refused, by what names mean (`Friends.meant`) and by what the
    friends that it records have; None without any."""
    there = {
        name
        for each in recorded
        for branch in each.chain.branches.values()
        for name in names_here(branch, each.alias, bare[each.alias])
    }
    names = {n: alias for n, alias in meant.items() if n not in there and n in tree.by_name}
    return _Refused(tree, names) if names else None


def _known(friend: Friend) -> Alignment:
    """The alignment of a friend to the chain of a pass."""
    assert friend.alignment is not None
    return friend.alignment


def _is_plain(friend: Friend) -> bool:
    """True if the core can read the friend's columns by itself: entry by entry from near files with
    one address each, of which no list says what they are, and which have nothing but their own and
    defaults for columns of certain names."""
    chain, alignment = friend.chain, friend.alignment
    return (
        alignment is not None
        and alignment.names is None
        and not (chain.trees.far or chain.trees.missing.has_globs or chain.friends)
        and chain.selected is None
        and all(
            not at.replicas
            and at.verified is None
            and at.path.isascii()
            and (at.tree or "").isascii()
            for at in chain.locations
        )
    )


def _received(
    given: tuple[Friend, ...],
    arrays: tuple[ArrayColumns, ...],
    starts: tuple[int, ...] | None,
    own: frozenset[str] | None,
    meant: Mapping[str, str] | None,
    is_pinned: bool,
) -> Friends:
    """The friends in another process."""
    return Friends(given, arrays, starts, own, meant, is_pinned=is_pinned)


def _names(tree: FileTree) -> frozenset[str]:
    """The columns of a file's own tree, with those that it lacks and that have defaults."""
    return frozenset(branch["name"] for branch in tree.branches())


def _require_order(chain: FriendChain, has_none: Remembered[bool], words: str) -> None:
    """Raise QueryError if a file of this chain is one whose entries have no order."""
    _, unsure = chain.trees.near.tables()
    for number in unsure:
        if has_none[number]:
            raise _no_order(words, chain.files[number])


def _no_order(words: str, path: str) -> QueryError:
    return QueryError(
        f"the entries of {words} are in no particular order, as several threads or workers wrote "
        "them (TTree::kEntriesReshuffled): a friend cannot go by their numbers. Give add_friend an "
        "index=, or write the tree in the order of its input: RDataFrame on one thread, or "
        "snapshot(), or one file (as_dataset=False) in process()",
        file=path,
    )


def _resolved(address: str, main: str) -> str:
    """The address of a recorded friend's file. None is given for the tree's own file; a relative
    path starts at that file's folder, or else here."""
    if not address:
        return main
    if source.is_url(address):
        return address
    beside = source.beside(address, main)
    return beside if source.exists(beside) else address


def _bare(friends: list[tuple[str, list[str]]], own: Set[str]) -> dict[str, frozenset[str]]:
    """The columns of each friend that may be named without its alias, because neither the dataset
    nor another friend has a column of that name. `friends`: aliases and columns."""
    owners: dict[str, list[str]] = {}
    for alias, names in friends:
        for name in names:
            owners.setdefault(name, []).append(alias)
    names_by_alias: dict[str, set[str]] = {}
    for name, aliases in owners.items():
        if len(aliases) == 1 and name not in own:
            names_by_alias.setdefault(aliases[0], set()).add(name)
    return {alias: frozenset(names) for alias, names in names_by_alias.items()}
