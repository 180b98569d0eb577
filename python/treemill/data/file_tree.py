"""One file's tree as the dataset sees it: columns that the core reads, columns that uproot reads
instead, and defaults for branches that this file lacks and others have.

Decides for each column which of them it comes from; the core, uproot_fallback.py and defaults.py
read and make it. Knows no other file but through `others`, and no query.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Protocol

from ..errors import QueryError, UnsupportedError, near
from .defaults import MissingDefaults, column
from .kinds import Kind
from .open_tree import OpenTree

if TYPE_CHECKING:
    from .._core import Column, Control
    from .column_source import BranchDescription, Reader

__all__ = ["RESHUFFLED", "UNORDERED", "BranchExample", "FileTree", "OtherFiles"]

BranchExample = tuple["BranchDescription", Kind]
"""A branch as the core describes it, and the kind of its values."""


class OtherFiles(Protocol):
    """The dataset's other files than one, which is given by its number."""

    def example(self, branch: str, lacking: int) -> BranchExample | None:
        """A branch of this name in the first file that has one that can be read, for the file
        `lacking`, which lacks it."""

    def names(self, lacking: int) -> Iterable[str]:
        """The branches of the first file but the file `lacking`."""


UNORDERED = "treemill: entries in no order"
"""The title of a tree that several workers wrote: its entries have no order."""
RESHUFFLED = "treemill: entries in another order"
"""The description of an RNTuple, which has no bit for it, that was made of reshuffled entries."""


_MOST_SHARING = 5
"""Branches of one name that an error lists."""


class FileTree:
    """A tree, or an RNTuple, of one file, as a dataset has it. Thread-safe. Implements
    TreeColumns."""

    __slots__ = ("_number", "_others", "core", "missing", "num_entries", "opened", "path")

    def __init__(
        self,
        opened: OpenTree,
        path: str,
        missing: MissingDefaults,
        others: OtherFiles,
        number: int,
    ) -> None:
        """`number`: that of the file in the dataset."""
        self.opened = opened
        """The same object for as long as the file stays open."""
        self.core = opened.core
        self.path = path
        self.missing = missing
        self.num_entries: int = self.core.num_entries
        self._others = others
        self._number = number

    @property
    def name(self) -> str:
        """The tree's name without directories and cycle."""
        return self.core.name

    @property
    def path_in_file(self) -> str:
        """The tree's name with directories, and with the cycle if the user gave one."""
        return self.opened.name

    @property
    def uuid(self) -> str | None:
        """The UUID in the file's header; None if it has none."""
        return self.opened.uuid

    @property
    def key(self) -> str:
        """The tree's path with its cycle, as its key has it: `/dir/Events;1`."""
        return self.opened.key

    def in_uproot(self) -> object:
        """The file as uproot opens it."""
        from .uproot_fallback import uproot_file  # heavy: uproot

        return uproot_file(self.path, self.opened.file)

    @property
    def is_unordered(self) -> bool:
        """True if several of treemill's workers wrote the entries, in no order."""
        return self.core.title == UNORDERED

    @property
    def is_reshuffled(self) -> bool:
        """True if the entries are in another order than those of the tree that they come from, as
        RDataFrame's threads and treemill's workers write them."""
        return self.core.is_reshuffled or self.core.title in (UNORDERED, RESHUFFLED)

    @property
    def clusters(self) -> Sequence[int]:
        """The first entry of each cluster."""
        return self.core.clusters

    @property
    def aliases(self) -> dict[str, str]:
        """The names and expressions of TTree::SetAlias."""
        return dict(self.core.aliases)

    @property
    def weight(self) -> float:
        """The weight of TTree::SetWeight, which TTree::Draw gives to each entry."""
        return self.core.weight

    def described(self) -> list[BranchDescription]:
        """The branches in the file, as the core describes them."""
        return self.opened.described()

    def branches(self) -> list[BranchDescription]:
        """The branches that can be read, by whatever reads them, and the defaults of branches that
        this file lacks, described as if the core read them all."""
        described: list[BranchDescription] = []
        for branch in self.described():
            if branch["supported"] or branch["kind"] == "group":
                described.append(branch)
            elif self.how(branch) == "uproot":
                described.append(branch | {"supported": True, "kind": "other"})
        return described + [self._described_default(name) for name in self.lacking()]

    @property
    def by_name(self) -> dict[str, BranchDescription]:
        """The core's descriptions by all names that mean the branch, and by path."""
        return self.opened.by_name

    def has(self, name: str) -> bool:
        """True if it means a branch of this file, or one that it lacks and that has a default."""
        return name in self.by_name or (bool(self.missing.defaults) and name in self.lacking())

    def how(self, branch: BranchDescription) -> Reader:
        """Returns what reads a branch of this file."""
        is_cores = branch["kind"] == "group" or branch["supported"]
        return self.reader_of(branch["path"], branch["cpp_type"], is_cores)

    def reader_of(self, path: str, cpp_type: str, supported: bool) -> Reader:
        """Returns what reads the branch at this path: see BranchReaders."""
        return self.opened.readers.reader_of(path, cpp_type, supported)

    def _described_default(self, name: str) -> BranchDescription:
        sample = self.sample(name)
        described = _UNKNOWN if sample is None else sample[0]
        return described | {
            "name": name,
            "also": (),
            "path": name,
            "parent": None,
            "kind": "optional" if self.missing[name] is None else described["kind"],
            "supported": True,
            "counter": self.counter_of_default(name),
            "total_bytes": 0,
            "zip_bytes": 0,
            "baskets": 0,
        }

    def counter_of_default(self, name: str) -> str | None:
        """The branch of this file that counts the items of a branch that it lacks. A default that
        is a number is repeated that many times."""
        sample = self.sample(name)
        counter = None if sample is None else sample[0]["counter"]
        is_repeated = not isinstance(self.missing[name], tuple | None)
        return counter if is_repeated and counter in self.by_name else None

    def lacking(self) -> list[str]:
        """Branches with defaults that this file lacks. A glob gives defaults to the branches of the
        first of the other files."""
        return self.missing.lacking(self.by_name, lambda: self._others.names(self._number))

    def sample(self, name: str) -> BranchExample | None:
        """A branch that this file lacks, from a file that has it."""
        return self._others.example(name, self._number)

    def read(
        self,
        names: Sequence[str],
        start: int,
        stop: int,
        control: Control | None = None,
        *,
        flags: bool = False,
    ) -> list[Column]:
        """See ColumnSource. Raises QueryError for a branch that the file lacks and that has no
        default, UnsupportedError for one that neither the core nor uproot reads."""
        # An error is in no variable after it was met: its frames would hold it, and the files.
        names = list(names)
        try:
            return self._read_cores(names, start, stop, control, flags)
        except (QueryError, UnsupportedError) as error:
            if len(names) == 1 and self._is_final(names[0], error):
                raise
        if len(names) == 1:
            return [self._otherwise(names[0], start, stop, control)]
        # The core reads what it can in one go; the other columns are read one by one.
        ours = [name for name in names if self._is_cores(name)]
        try:
            read = self._read_cores(ours, start, stop, control, flags)
        except (QueryError, UnsupportedError):  # the core met a value that it does not support
            ours, read = [], []
        known = dict(zip(ours, read, strict=True))
        return [
            known[name] if name in known else self.read([name], start, stop, control)[0]
            for name in names
        ]

    def _read_cores(
        self, names: list[str], start: int, stop: int, control: Control | None, flags: bool
    ) -> list[Column]:
        return self.core.read(names, start, stop, control, flags=flags)

    def _is_cores(self, name: str) -> bool:
        branch = self.by_name.get(name)
        return branch is not None and branch["supported"]

    def _is_final(self, name: str, error: QueryError | UnsupportedError) -> bool:
        """Whether the core's error says all: nothing else can read the branch."""
        branch = self.by_name.get(name)
        is_query = isinstance(error, QueryError)
        return branch is not None and (is_query or branch["kind"] == "group")

    def _otherwise(self, name: str, start: int, stop: int, control: Control | None) -> Column:
        branch = self.by_name.get(name)
        if branch is not None:
            return self.read_instead(branch, start, stop)
        if self.missing.has(name):
            return self._default(name, start, stop, control)
        raise self.lacks(name)

    def read_instead(self, branch: BranchDescription, start: int, stop: int) -> Column:
        """See OpenTree."""
        return self.opened.read_instead(branch, start, stop)

    def _default(self, name: str, start: int, stop: int, control: Control | None) -> Column:
        sample = self.sample(name)
        if sample is None and name not in self.missing.names:
            raise self.lacks(name)  # a glob gives defaults to branches of files, it makes none
        kind = None if sample is None else sample[1]
        counter, counts = self.counter_of_default(name), None
        if counter is not None:
            from .columns import numbers  # heavy: numpy

            (read,) = self.core.read([counter], start, stop, control)
            counts = numbers(read)
        return column(name, self.missing[name], kind, stop - start, counts)

    def lacks(self, name: str) -> QueryError:
        """The error that no branch of this name is meant."""
        if sharing := self.opened.sharing(name):
            return QueryError(
                f"{name} is ambiguous in {self.path}, because several branches are called so: "
                f"write {' or '.join(sharing[:_MOST_SHARING])}",
                branch=name,
                file=self.path,
            )
        hint = self.hint(name)
        return QueryError(
            f"no branch {name!r} in {self.path}{hint}",
            branch=name,
            file=self.path,
            suggestions=() if hint else near(name, self.by_name),
        )

    def hint(self, name: str) -> str:
        """Returns what to do if other files have a branch of this name; empty if none has."""
        if self.sample(name) is None:
            return ""
        return f"; other files have it: missing={{{name!r}: …}} gives it a default"


_UNKNOWN: BranchDescription = {
    "name": "",
    "also": (),
    "path": "",
    "parent": None,
    "title": "",
    "cpp_type": "",
    "supported": True,
    "reason": None,
    "kind": "number",
    "dtype": None,
    "item": None,
    "len": None,
    "usable": ("",),
    "unusable": (),
    "counter": None,
    "is_member": False,
    "total_bytes": 0,
    "zip_bytes": 0,
    "baskets": 0,
}
"""A branch that no file has. Only its default says what it holds."""
