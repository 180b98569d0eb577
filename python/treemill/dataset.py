"""A dataset: an ordered set of (file, tree) that is used as one tree.

Made without opening anything; a file is opened when something in it is asked for. Reading is in
reading.py, queries are described in query.py and run by a session.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from .array_columns import array_columns
from .branches import Branches, branch_list
from .errors import QueryError
from .faces import completed, face, short_errors
from .foreign import Foreign, Table, joined
from .friends import Friend, Friends, index_names
from .location import Location, expand
from .missing import ERROR, Missing, policy
from .opened import OpenTrees, Remembered
from .query import Booking, Node, Origin, Params
from .selection import SELECTED, Selection, selection

if TYPE_CHECKING:
    import awkward
    import numpy.typing as npt
    import pyarrow

    from .at_once import AtOnce
    from .reading import Columns, Names

__all__ = ["Dataset", "dataset"]


@short_errors
def dataset(
    files: Any,
    tree: str | None = None,
    *,
    name: str = "dataset",
    missing: Any = "error",
    metadata: Mapping[str, Any] | None = None,
) -> Dataset:
    """A dataset of ROOT files.

    `files` is a path, a glob, `"path:tree"`, `"@list.txt"` with one of these per line, a mapping of
    paths or globs to trees, or a list of any of these. `tree` names the tree where the files do
    not; it may be left out where each file has only one (of several cycles the newest counts).
    `name` is what selectors see in `events.metadata["dataset"]`, and `metadata` what else is to be
    in there (`{"xsec": 6.2, "year": 2018}`). `missing`: what a branch counts as
    in files that lack it: "error", or a mapping of names or globs to defaults, as
    `{"Jet_btag": -1.0, "HLT_*": False, "genWeight": None}` (docs/datasets.md).

    Raises SourceError where a file does not exist, UnsupportedError for URLs.
    """
    return Dataset(expand(files, tree), name, policy(missing), metadata=metadata)


def _holds_arrays(friend: Any) -> bool:
    """Whether it is a mapping of columns, and not of files to their trees."""
    return isinstance(friend, Mapping) and not all(
        value is None or isinstance(value, str) for value in friend.values()
    )


# What other modules use of a dataset.
_INTERNAL = (
    *("at_once", "baskets", "beside", "bytes", "explained", "first_entry", "foreign", "friends"),
    *("selected", "settled", "sizes", "table", "titles", "trees"),
)


def _fits(name: str, globs: Sequence[str]) -> bool:
    return not globs or any(fnmatchcase(name, glob) for glob in globs)


@face(*_INTERNAL)
class Dataset:
    """Files and trees, as one. Make it with `treemill.dataset`.

    `filter`, `define`, `with_params`, `vary` and the bookings (`hist`, `profile`, `count`, `sum`,
    `mean`, `std`, `var`, `min`, `max`, `unique`, `approx_quantiles`, `take`, `snapshot`) are those
    of `treemill.query.Node`.
    """

    def __init__(
        self,
        locations: Sequence[Location],
        name: str = "dataset",
        missing: Missing = ERROR,
        friends: Friends | None = None,
        selected: Selection | None = None,
        metadata: Mapping[str, Any] | None = None,
    ) -> None:
        self.name = name
        self.metadata: dict[str, Any] = dict(metadata or {})
        self.friends = Friends() if friends is None else friends
        self.selected = selected
        self.trees = OpenTrees(locations, missing)
        self.sizes = Remembered(self.trees, lambda tree: (tree.num_entries, tuple(tree.clusters)))
        self.titles = Remembered(self.trees, lambda tree: str(tree.core.title))
        self.baskets = Remembered(
            self.trees, lambda tree: {b["name"]: max(b["baskets"], 1) for b in tree.described()}
        )
        self.bytes = Remembered(
            self.trees, lambda tree: {b["name"]: b["total_bytes"] for b in tree.described()}
        )
        self._branches = Remembered(self.trees, lambda tree: Branches(branch_list(tree)))
        root = Node(Origin(self, self._run))
        self._root = root if selected is None else root.filter(SELECTED, "entry list")
        self.filter = self._root.filter
        self.with_params = self._root.with_params
        self.vary = self._root.vary
        self.hist = self._root.hist
        self.profile = self._root.profile
        self.count = self._root.count
        self.sum = self._root.sum
        self.mean = self._root.mean
        self.std = self._root.std
        self.var = self._root.var
        self.min = self._root.min
        self.max = self._root.max
        self.unique = self._root.unique
        self.approx_quantiles = self._root.approx_quantiles
        self.take = self._root.take
        self.snapshot = self._root.snapshot
        self.draw = self._root.draw
        self.scan = self._root.scan
        self.head = self._root.head
        self.describe = self._root.describe
        self.explain = self._root.explain

    # What there is.

    @property
    def files(self) -> tuple[str, ...]:
        """The files' paths."""
        return tuple(location.path for location in self.trees.locations)

    @property
    def num_entries(self) -> int:
        """Entries of all files together, or of those the selected ones. Opens every file that was
        not opened yet."""
        if self.selected is not None:
            return len(self.selected)
        return sum(self.sizes[i][0] for i in range(len(self.trees.locations)))

    @completed
    def branches(self) -> Branches:
        """The branches of the first file's tree, whatever other files have, and the columns that it
        has from elsewhere."""
        table = self.table(0)
        if isinstance(table, Table):
            return Branches(branch_list(table))
        branches: Branches = self._branches[0]
        return branches

    @property
    def aliases(self) -> dict[str, str]:
        """Names and expressions of TTree::SetAlias, of the first file's tree."""
        return dict(self.trees[0].aliases)

    def show(self, *names: str) -> None:
        """Prints the branches, those whose names fit a glob if `names` are given: name, C++ type,
        how they read and by whom, sizes, titles; and aliases.

            events.show("Muon_*", "MET_*")
        """
        from .monitor.tables import print_branches

        aliases = {name: text for name, text in self.aliases.items() if _fits(name, names)}
        found = [branch for branch in self.branches.values() if _fits(branch.name, names)]
        if names and not (found or aliases):
            near = get_close_matches(names[0].replace("*", ""), self.branches, 3)
            raise QueryError(f"no branch is called {' or '.join(names)}", suggestions=near)
        print_branches(repr(self), found, aliases)

    # What goes along with it.

    @property
    def index(self) -> tuple[str, str] | None:
        """Names of the major and minor columns of `TTree::BuildIndex`, of the first file's tree;
        None without an index."""
        found: tuple[str, str] | None = self.trees[0].core.index
        return found

    def add_friend(self, friend: Any, alias: str | None = None, *, index: Any = None) -> Dataset:
        """A dataset with the columns of `friend`, a Dataset or what `treemill.dataset` takes,
        beside its own: `alias.column`, and `column` where no other has that name. It is as
        TTree::AddFriend, but this dataset stays as it is. `alias`: else the name of its tree.

        Entries go together by their number in the whole chain, which must be as long, or by
        `index`, one or two columns of integers that both have (`("run", "event")`): entries without
        a match have missing values (None in arrays), and lists without items. Without `index=` the
        one of `TTree::BuildIndex` counts where the friend has it and the dataset its columns, as in
        ROOT; `index=False`: by number all the same.

        A mapping of names to arrays in memory is a friend, too, by number: as long as the dataset
        has entries, and with an alias: `add_friend({"score": scores}, alias="nn")`.

        Friends that files record by themselves are there without this."""
        if _holds_arrays(friend):
            return self._with_arrays(friend, alias, index)
        other = friend if isinstance(friend, Dataset) else dataset(friend)
        name = alias or other.trees.locations[0].tree or other.trees[0].name
        if not isinstance(name, str) or not name.split("/")[-1].isidentifier():
            raise QueryError(f"a friend called {name!r} cannot be named in expressions: alias=")
        added = Friend(other, name.split("/")[-1], index_names(index))
        return Dataset(*self._parts(self.friends.plus(added), self.selected))

    def define(self, name: str, expr: Any, params: Params = None) -> Any:
        """As `treemill.query.Node.define`; or a column of an array in memory, NumPy's, awkward's,
        Arrow's or a list, with one value or one list for each entry of the whole dataset:
        `events.define("w", weights)` is a dataset with a column `w`."""
        if isinstance(expr, str):
            return self._root.define(name, expr, params)
        made = array_columns({name: expr}, None)
        return Dataset(*self._parts(self.friends.with_arrays(made), self.selected))

    def _with_arrays(self, arrays: Any, alias: str | None, index: Any) -> Dataset:
        if not isinstance(alias, str) or not alias.isidentifier():
            raise QueryError("arrays need a name to go by, an identifier: alias=")
        if index:
            raise QueryError("arrays go with entries by their number, and not by an index=")
        made = array_columns(arrays, alias)
        return Dataset(*self._parts(self.friends.with_arrays(made), self.selected))

    def select_entries(self, entries: Any) -> Dataset:
        """A dataset of some of the entries, as TTree::SetEntryList: `entries` are their numbers in
        the whole chain (in any order; they come in the chain's), a mask of all of them, or
        "file.root:name" of a TEntryList or TEventList. For arrays, queries and selectors; parts of
        files (clusters) without a selected entry are not read. `entries=` of a run and `start`,
        `stop` of arrays then count the selected ones. This dataset stays as it is."""
        if self.selected is not None:
            raise QueryError("entries are selected already; select from the whole dataset")
        chosen = selection(self, entries)
        return Dataset(*self._parts(self.friends, chosen))

    def settled(self) -> Dataset:
        """For one pass: itself, or where it has friends with what takes a look at all files."""
        if not self.friends:
            return self
        made = object.__new__(Dataset)
        made.__dict__.update(self.__dict__, friends=self.friends.settled(self))
        return made

    # What workers read.

    def foreign(self, file: int) -> Foreign | None:
        """Columns for the entries of this file that do not come from its tree, for queries; None:
        there are none."""
        flags = None if self.selected is None else self.selected.foreign(file)
        return joined([flags, self.beside(file)])

    def beside(self, file: int) -> Foreign | None:
        """As `foreign`, without what queries use by themselves."""
        return joined([self.friends.foreign(self, file)])

    def first_entry(self, file: int) -> int:
        """The number in the whole chain of this file's first entry. Opens the files before it."""
        return sum(int(self.sizes[before][0]) for before in range(file))

    def table(self, file: int) -> Any:
        """core.Tree of this file, with its foreign columns where there are some."""
        foreign, tree = self.beside(file), self.trees[file]
        return tree if foreign is None else Table(tree, foreign)

    # Arrays.

    def read(
        self,
        names: Names = None,
        start: int | None = None,
        stop: int | None = None,
    ) -> Columns:
        """Columns of entries `[start, stop)`, counted over the whole chain; negative ones from its
        end, as in slices. `names`: names of branches, globs or expressions, or a mapping of names
        to them, as for `treemill.query.Node.arrays`; None: all that can be read (what turns out to
        be unreadable is left out, with a warning). Read now, and not booked. Raises QueryError for
        an unknown name, UnsupportedError for a branch that treemill cannot read."""
        return self._read(names, start, stop)

    def _read(
        self,
        names: Names,
        start: int | None,
        stop: int | None,
        flags: bool = False,
    ) -> Columns:
        from .reading import read

        return read(self.settled(), names, start, stop, self._computed, flags)

    def _computed(self, exprs: Sequence[str], start: int | None, stop: int | None) -> list[Any]:
        from .session import run

        booking = self._root.arrays({expr: expr for expr in exprs}, limit=sys.maxsize)
        entries = None if start is None and stop is None else (start or 0, stop)
        found = run(booking, entries=entries, progress=False)
        return [found[expr] for expr in exprs]

    def arrays(
        self,
        names: Names = None,
        start: int | None = None,
        stop: int | None = None,
    ) -> awkward.Array:
        """Like `read`, as an awkward array of records, with uproot's layout and field names."""
        return self._read(names, start, stop, flags=True).to_awkward()

    def to_arrow(
        self,
        names: Names = None,
        start: int | None = None,
        stop: int | None = None,
    ) -> pyarrow.Table:
        """Like `read`, as a pyarrow.Table."""
        return self.read(names, start, stop).to_arrow()

    def to_numpy(
        self,
        names: Names = None,
        start: int | None = None,
        stop: int | None = None,
    ) -> dict[str, npt.NDArray[Any]]:
        """Like `read`, as numpy arrays by name; jagged branches as object arrays of arrays."""
        return self._read(names, start, stop, flags=True).to_numpy()

    # Queries.

    @property
    def at_once(self) -> AtOnce:
        """What is drawn and listed at once, for nodes."""
        from .at_once import AtOnce

        return AtOnce()

    def explained(self, bookings: Sequence[Booking]) -> str:
        """The plan of a pass for these bookings, in words."""
        from .explaining import explained

        return explained(self, bookings)

    @staticmethod
    def _run(bookings: Sequence[Booking]) -> None:
        from .session import run

        run(*bookings)

    def __reduce__(self) -> tuple[Any, ...]:
        # To another process goes where the files are, nothing of what is open here.
        return Dataset, self._parts(self.friends, self.selected)

    def _parts(self, friends: Friends, selected: Selection | None) -> tuple[Any, ...]:
        more = friends, selected, self.metadata
        return self.trees.locations, self.name, self.trees.missing, *more

    def _repr_html_(self) -> str:
        from .monitor.html import of_branches

        entries = f"{self.num_entries:,} entries, {len(self.files)} files"
        return of_branches(repr(self), self.branches.values(), entries)

    def __len__(self) -> int:
        return self.num_entries

    def __repr__(self) -> str:
        first, *rest = self.trees.locations
        return f"<dataset {first}{f' and {len(rest)} more' if rest else ''}>"
