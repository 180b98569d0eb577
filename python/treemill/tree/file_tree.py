"""One file's tree as the dataset sees it: what the core reads; what uproot reads for it; and
defaults for branches that this file lacks and others have.

Decides, column by column, where it comes from; the reading itself is done by the core, by
uproot_fallback.py and by defaults.py. Knows no other file but through `others`, and no query.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

from ..arrays.kinds import Kind
from ..errors import QueryError, TreemillError, UnsupportedError
from ..quoting import near
from .defaults import Missing, column
from .open_tree import OpenTree
from .uproot_fallback import Fallback, Known

__all__ = ["UNORDERED", "FileTree", "Others", "Sample"]

Sample = tuple[dict[str, Any], Kind]
"""A branch as the core describes it, and the kind of its values."""


class Others(Protocol):
    """The dataset's other files."""

    def sample(self, branch: str) -> Sample | None:
        """A branch of this name in the first of them that has one that can be read."""

    def names(self) -> Iterable[str]:
        """The branches of the first of them."""


UNORDERED = "treemill: entries in no order"
"""The title of trees whose entries have no order that another tree's could match."""


class FileTree:
    """A tree, or an RNTuple, of one file. Thread-safe, as the core's."""

    def __init__(
        self,
        opened: OpenTree,
        path: str,
        missing: Missing,
        others: Others,
        known: Known | None = None,
    ) -> None:
        """`known`: as Fallback."""
        self.core = opened.core
        self.path = path
        self.missing = missing
        self.fallback = Fallback(path, opened.name, known)
        self.num_entries: int = self.core.num_entries
        self._opened = opened
        self._others = others
        self._refused: set[str] = set()  # paths of branches that the core failed to read
        self._unreadable: set[str] = set()  # and that uproot failed to read, too
        self._samples: dict[str, Sample | None] = {}

    @property
    def name(self) -> str:
        """Without directories and cycle."""
        return str(self.core.name)

    @property
    def path_in_file(self) -> str:
        """The name with directories, and the cycle where it was asked for."""
        return self._opened.name

    @property
    def clusters(self) -> Any:
        """First entries of its clusters."""
        return self.core.clusters

    @property
    def aliases(self) -> dict[str, str]:
        """Of TTree::SetAlias."""
        return dict(self.core.aliases)

    def described(self) -> list[dict[str, Any]]:
        """What is in the file, as the core describes it."""
        return self._opened.described()

    def branches(self) -> list[dict[str, Any]]:
        """What can be read, described as the core does: also what uproot reads, and the defaults
        of branches that this file lacks. For those that read all they are asked for from here."""
        found = []
        for branch in self.described():
            if branch["supported"] or branch["kind"] == "group":
                found.append(branch)
            elif self.how(branch) == "uproot":
                found.append(branch | {"supported": True, "kind": "other"})
        return found + [self._described_default(name) for name in self.lacking()]

    @property
    def by_name(self) -> dict[str, dict[str, Any]]:
        """The core's descriptions by name, and by path where that is another."""
        return self._opened.by_name

    def how(self, branch: dict[str, Any]) -> str:
        """Who reads a branch of this file: "core", "uproot" or "no"."""
        is_cores = branch["kind"] == "group" or branch["supported"]
        return self.reader_of(branch["path"], branch["cpp_type"], is_cores)

    def reader_of(self, path: str, cpp_type: str, supported: bool) -> str:
        """The same by a branch's path; `supported`: whether the core lists it as such. That it
        could not read the values all the same is known once it has tried."""
        if path in self._unreadable:
            return "no"
        if supported and path not in self._refused:
            return "core"
        return "uproot" if self.fallback.can(path, cpp_type) else "no"

    def _described_default(self, name: str) -> dict[str, Any]:
        sample = self.sample(name)
        branch = {} if sample is None else sample[0]
        return branch | {
            "name": name,
            "path": name,
            "kind": "optional" if self.missing[name] is None else branch.get("kind", "number"),
            "supported": True,
            "counter": self.counter_of_default(name),
            "total_bytes": 0,
            "zip_bytes": 0,
            "baskets": 0,
        }

    def counter_of_default(self, name: str) -> str | None:
        """The branch of this file that counts the items of a branch that it lacks: a default that
        is a number is repeated as often."""
        sample = self.sample(name)
        counter = None if sample is None else sample[0]["counter"]
        if isinstance(self.missing[name], tuple | None) or counter not in self.by_name:
            return None
        return str(counter)

    def lacking(self) -> list[str]:
        """Branches with defaults that this file lacks; for globs, of those that the first of the
        other files has."""
        named = dict.fromkeys(self.missing.names)
        if len(named) < len(self.missing.defaults):
            named |= dict.fromkeys(name for name in self._others.names() if self.missing.has(name))
        return [name for name in named if name not in self.by_name]

    def sample(self, name: str) -> Sample | None:
        """A branch that this file lacks, in one that has it."""
        if name not in self._samples:
            self._samples[name] = self._others.sample(name)
        return self._samples[name]

    def read(
        self,
        names: Sequence[str],
        start: int,
        stop: int,
        control: Any = None,
        flags: bool = False,
    ) -> list[Any]:
        """One column for each name, of the entries `[start, stop)`: core.Columns.
        `control` counts what the core reads. `flags`: columns of the core may be flags, bytes that
        stand for bools (core.Column.flags). Raises QueryError for a branch that the file lacks
        and that has no default, UnsupportedError for one that neither the core nor uproot reads."""
        names = list(names)
        found = self._read_cores(names, start, stop, control, flags)
        if not isinstance(found, TreemillError):
            return found
        if len(names) == 1:
            return [self._otherwise(names[0], start, stop, control, found)]
        # Apart only where something is not the core's.
        ours = [name for name in names if self._is_cores(name)]
        read = self._read_cores(ours, start, stop, control, flags)
        if isinstance(read, TreemillError):  # unsupported is some value, as it turns out
            ours, read = [], []
        known = dict(zip(ours, read, strict=True))
        return [
            known[name] if name in known else self.read([name], start, stop, control)[0]
            for name in names
        ]

    def _read_cores(
        self, names: list[str], start: int, stop: int, control: Any, flags: bool
    ) -> list[Any] | QueryError | UnsupportedError:
        try:
            columns: list[Any] = self.core.read(names, start, stop, control, flags=flags)
        except (QueryError, UnsupportedError) as error:
            return error
        return columns

    def _is_cores(self, name: str) -> bool:
        branch = self.by_name.get(name)
        return branch is not None and bool(branch["supported"])

    def _otherwise(
        self, name: str, start: int, stop: int, control: Any, error: QueryError | UnsupportedError
    ) -> Any:
        branch = self.by_name.get(name)
        if branch is None:
            if self.missing.has(name):
                return self._default(name, start, stop, control)
            raise self.lacks(name)
        if isinstance(error, QueryError) or branch["kind"] == "group":
            raise error
        return self.read_instead(branch, start, stop)

    def read_instead(self, branch: dict[str, Any], start: int, stop: int) -> Any:
        """A branch that the core cannot read, or found out that it cannot, by uproot."""
        path, cpp_type = branch["path"], branch["cpp_type"]
        try:
            if not self.fallback.can(path, cpp_type):
                raise self.cannot(branch)
            if branch["supported"]:
                self._refused.add(path)
            return self.fallback.read(path, cpp_type, start, stop)
        except UnsupportedError:
            self._unreadable.add(path)
            raise

    def _default(self, name: str, start: int, stop: int, control: Any) -> Any:
        sample = self.sample(name)
        if sample is None and name not in self.missing.names:
            raise self.lacks(name)  # a glob gives defaults to branches, it does not make any
        kind = None if sample is None else sample[1]
        counter, counts = self.counter_of_default(name), None
        if counter is not None:
            from ..arrays.columns import numbers  # heavy: numpy

            (read,) = self.core.read([counter], start, stop, control)
            counts = numbers(read)
        return column(name, self.missing[name], kind, stop - start, counts)

    def lacks(self, name: str) -> QueryError:
        """That there is no such branch."""
        hint = self.hint(name)
        return QueryError(
            f"no branch {name!r} in {self.path}{hint}",
            branch=name,
            file=self.path,
            suggestions=() if hint else near(name, self.by_name),
        )

    def hint(self, name: str) -> str:
        """What to do where other files have a branch of this name; empty where none has."""
        if self.sample(name) is None:
            return ""
        return f"; other files have it: missing={{{name!r}: …}} gives it a default"

    def cannot(self, branch: dict[str, Any]) -> UnsupportedError:
        """That neither the core nor uproot reads a branch."""
        reason = f": {branch['reason']}" if branch["reason"] else ""
        return UnsupportedError(
            f"neither treemill nor uproot can read {branch['cpp_type']} of branch "
            f"{branch['name']}{reason}",
            branch=branch["name"],
            file=self.path,
        )
