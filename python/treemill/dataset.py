"""The dataset, which users hold: a chain of files, with methods for everything that can be done
with it. No file is opened when it is made; a file is opened when something in it is needed.

Only the package's `__init__` and its commands import this module. Other modules use the Chain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, TypeGuard, overload

from .data.branch import Branches
from .data.chain import Chain, chain_of
from .data.defaults import policy
from .data.entry_list import SELECTED
from .data.friend_columns import Friend
from .data.friends import index_names
from .data.read_methods import ReadMethods
from .errors import QueryError, near
from .public_api import completed, public_class, short_errors
from .query.node import Bookable, Node, Origin
from .query.steps import Arguments, Defined, Names, Params
from .session.services import SERVICES

if TYPE_CHECKING:
    import awkward

    from .data.array_columns import InMemory
    from .data.defaults import Missing
    from .data.entry_list import EntryNumbers
    from .data.file_constants import OfFile
    from .data.friends import FriendIndex
    from .data.location import Files
    from .data.object_schemas import Schema
    from .io_report import IOReport

__all__ = ["Dataset", "dataset"]


@short_errors
def dataset(
    files: Files,
    tree: str | None = None,
    *,
    name: str = "dataset",
    missing: Missing = "error",
    metadata: Mapping[str, object] | None = None,
    schema: Schema = "auto",
) -> Dataset:
    """Make a dataset of ROOT files. No file is opened.

    Parameters
    ----------
    files
        A path, a URL, a glob, `"folder/"` (its `*.root`), `"path:tree"`, `"@list.txt"` with one of
        these per line, a mapping of paths or globs to trees, a list of any of these, or a fileset
        of coffea's. The datasets of a fileset become one; its chunks have the names and metadata
        of their files (docs/coffea.md).
    tree
        The tree, if the files do not name it. If you give it, treemill takes URLs as they are, with
        their colons. Without a name, each file must have only one tree. If a tree has several
        cycles, treemill takes the newest.
    name
        The name that selectors find in `events.metadata["dataset"]`.
    missing
        The value of a branch in files that lack it: "error", or a mapping of names or globs to
        defaults, such as `{"Jet_btag": -1.0, "HLT_*": False, "genWeight": None}`
        (docs/datasets.md).
    metadata
        Other items of `events.metadata`, such as `{"xsec": 6.2, "year": 2018}`.
    schema
        The rules by which objects refer to others: "nanoaod", "physlite", "edm4hep", "fcc",
        "delphes", one of coffea's schemas, or None (docs/objects.md). "auto": the columns decide.

    Returns
    -------
    Dataset
        The files as one tree.

    Raises
    ------
    SourceError
        If a file does not exist.
    UnsupportedError
        For addresses of a kind that treemill does not read.

    Examples
    --------
    >>> events = tm.dataset("data/*.root", tree="Events", missing={"Jet_btag": -1.0})
    >>> events.num_entries == len(events)
    True
    """
    return Dataset(chain_of(files, tree, name, policy(missing), metadata, schema=schema))


def _holds_arrays(friend: object) -> TypeGuard[Mapping[str, object]]:
    """Whether it is a mapping of columns, and not of files to their trees."""
    return isinstance(friend, Mapping) and not all(
        value is None or isinstance(value, str) for value in friend.values()
    )


def _fits(name: str, globs: Sequence[str]) -> bool:
    return not globs or any(fnmatchcase(name, glob) for glob in globs)


@public_class("chain", "node")
class Dataset(ReadMethods, Bookable):
    """Files and trees, read as one tree. Make it with `treemill.dataset`."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        root = Node(Origin(chain, SERVICES))
        self._root = root if chain.selected is None else root.filter(SELECTED, "entry list")

    @property
    def node(self) -> Node:
        """The root of its query."""
        return self._root

    def _computed(
        self, exprs: Sequence[str], start: int | None, stop: int | None
    ) -> list[awkward.Array]:
        values = self.node.arrays({expr: expr for expr in exprs}, start, stop)
        return [values[expr] for expr in exprs]

    # Contents.

    @property
    def name(self) -> str:
        """The name that selectors find in `events.metadata["dataset"]`."""
        return self.chain.name

    @property
    def metadata(self) -> Mapping[str, object]:
        """The metadata of the dataset, which selectors find in `events.metadata`, too."""
        return self.chain.metadata

    @property
    def files(self) -> tuple[str, ...]:
        """The files' paths."""
        return self.chain.files

    @property
    def num_entries(self) -> int:
        """The number of entries of all files, or of selected entries. Opens every file that was not
        opened yet."""
        return self.chain.current().num_entries

    @completed
    def branches(self) -> Branches:
        """The branches of the first file's tree, and the columns that friends, defaults and arrays
        add to it. Other files may have other branches."""
        return self.chain.current([0]).branches

    @property
    def aliases(self) -> dict[str, str]:
        """The names and expressions of TTree::SetAlias in the first file's tree."""
        return self.chain.current([0]).aliases

    @property
    def index(self) -> tuple[str, str] | None:
        """The names of the major and minor columns of `TTree::BuildIndex` in the first file's tree;
        None without an index."""
        return self.chain.current([0]).index

    def show(self, *names: str) -> None:
        """Print the branches with their names, C++ types, readers, sizes and titles, and print the
        aliases.

        Parameters
        ----------
        *names
            Globs. If you give any, only matching names are printed.

        Raises
        ------
        QueryError
            If no name matches.

        Examples
        --------
        >>> events.show("Muon_*", "MET_*")  # doctest: +ELLIPSIS
        <dataset ...
        """
        from .pictures.tables import print_branches  # start-up

        aliases = {name: text for name, text in self.aliases.items() if _fits(name, names)}
        branches = [branch for branch in self.branches.values() if _fits(branch.name, names)]
        if names and not (branches or aliases):
            meant = near(names[0].replace("*", ""), self.branches)
            raise QueryError(f"no branch is called {' or '.join(names)}", suggestions=meant)
        print_branches(repr(self), branches, aliases)

    # Other columns and entries.

    def add_friend(
        self,
        friend: Dataset | Files | Mapping[str, InMemory],
        alias: str | None = None,
        *,
        index: FriendIndex = None,
    ) -> Dataset:
        """Add the columns of another dataset beside these, as TTree::AddFriend; this dataset stays
        as it is.

        You need not add friends that the files record.

        Parameters
        ----------
        friend
            A Dataset, anything that `treemill.dataset` takes, or a mapping of names to arrays in
            memory, which are as long as the dataset. Its columns are `alias.column`, and `column`
            if neither the first file nor another friend has a column of that name.
        alias
            The friend's name; None: the name of its tree. Arrays need an alias.
        index
            One or two columns of integers that both have, such as `("run", "event")`. Entries
            without a match get missing values, and lists without items. None: the index of
            `TTree::BuildIndex`, if the friend has one and the dataset has its columns, as in ROOT;
            else entries are matched by number in the whole chain, and both must be equally long.
            False: entries are matched by number in any case.

        Returns
        -------
        Dataset
            The same entries, with more columns.

        Raises
        ------
        QueryError
            For an alias that is taken or cannot be named; when it is read, for different lengths.

        Examples
        --------
        >>> both = events.add_friend({"score": range(events.num_entries)}, alias="nn")
        >>> both.max("nn.score").value == events.num_entries - 1
        True
        """
        if _holds_arrays(friend):
            return self._with_arrays(friend, alias, index)
        other = friend if isinstance(friend, Dataset) else dataset(friend)
        name = alias or other.chain.locations[0].tree or other.chain.trees[0].name
        if not isinstance(name, str) or not name.split("/")[-1].isidentifier():
            raise QueryError(f"expressions cannot name a friend {name!r}: name it by alias=")
        added = Friend(other.chain, name.split("/")[-1], index_names(index))
        return Dataset(self.chain.with_friends(self.chain.friends.plus(added)))

    @overload
    def define(
        self, name: Names, expr: Defined, params: Params = ..., *, columns: Arguments = ...
    ) -> Node: ...
    @overload
    def define(self, name: str, expr: InMemory, params: Params = None) -> Dataset: ...

    def define(
        self,
        name: Names,
        expr: Defined | InMemory,
        params: Params = None,
        *,
        columns: Arguments = None,
    ) -> Node | Dataset:
        """Add a column (see `Node.define`), also from an array in memory.

        Parameters
        ----------
        name
            The name of the column, or a list of names for a function that returns a tuple.
        expr
            An expression, a number, a function; or an array of NumPy, awkward or Arrow or a list,
            with one value or one list for each entry of the whole dataset.
        params, columns
            As for `Node.define`.

        Returns
        -------
        Node or Dataset
            A Dataset for an array, which is a column of all entries.

        Raises
        ------
        QueryError
            If the expression is not valid. When the query runs: if a column does not exist, if a
            type does not fit, or if an array has another length.

        Examples
        --------
        >>> weighted = events.define("w", [1.0] * events.num_entries)
        >>> weighted.sum("w").value == events.num_entries
        True
        """
        if isinstance(expr, (str, bool, int, float)) or callable(expr):
            return super().define(name, expr, params, columns=columns)
        if not isinstance(name, str):
            raise QueryError("an array is one column: give one name")
        return self._joined({name: expr}, None)

    def _with_arrays(
        self, arrays: Mapping[str, object], alias: str | None, index: object
    ) -> Dataset:
        if not isinstance(alias, str) or not alias.isidentifier():
            raise QueryError(
                "add_friend() needs alias= for arrays: the name by which expressions call them, "
                'such as alias="nn"'
            )
        if index:
            raise QueryError("arrays are matched by entry number: leave index= out")
        return self._joined(arrays, alias)

    def _joined(self, arrays: Mapping[str, object], alias: str | None) -> Dataset:
        """The dataset with arrays as columns."""
        from .data.array_columns import array_columns  # start-up

        columns = array_columns(arrays, alias)
        return Dataset(self.chain.with_friends(self.chain.friends.with_arrays(columns)))

    def define_per_file(self, name: str, function: OfFile) -> Dataset:
        """Add a column with one value for each file, as RDataFrame's DefinePerSample does. This
        dataset does not change.

        Numbers, bools and strings of the metadata are columns without this: `xsec`, `is_mc`.

        Parameters
        ----------
        name
            The column's name, an identifier. Selectors find its value in `events.metadata`.
        function
            Each worker process calls it once for each file, with a `DataFile`, which has `path`,
            `tree`, `dataset` and `metadata`. It returns a number, a bool or a string.

        Returns
        -------
        Dataset
            The same entries, with one more column.

        Raises
        ------
        QueryError
            For a name that is taken; when it is run, if the value is no constant.
        WorkerError
            When it is run, if the function fails.

        Examples
        --------
        >>> by_file = events.define_per_file("is_first", lambda file: "_000" in file.path)
        >>> 0 < by_file.filter("is_first").count().value < events.num_entries
        True
        """
        return Dataset(self.chain.with_constant(name, function))

    def select_entries(self, entries: EntryNumbers) -> Dataset:
        """Select some of the entries, as TTree::SetEntryList does. This dataset does not change.

        Parameters
        ----------
        entries
            Their numbers in the chain; a mask; or "file.root:name" of a TEntryList or TEventList.

        Returns
        -------
        Dataset
            The selected entries, in the chain's order. treemill does not read clusters without a
            selected entry. `entries=` of a run and `start`, `stop` of arrays count the selected
            entries.

        Raises
        ------
        QueryError
            For numbers of entries that do not exist.

        Examples
        --------
        >>> events.select_entries([3, 5, 8]).count().value
        3
        """
        return Dataset(self.chain.selecting(entries))

    def io_report(self) -> IOReport:
        """Get the bytes and requests of the last run in this process, of any session, summed over
        all samples of the run. `session.report.io` describes one query.

        Returns
        -------
        IOReport
            Bytes, requests and the waiting time of threads. All are zero before the first run.

        Examples
        --------
        >>> events.io_report().requests  # the file is a local one
        0
        """
        return SERVICES.io_report()

    def __reduce__(self) -> tuple[type[Dataset], tuple[Chain]]:
        return Dataset, (self.chain,)

    def _repr_html_(self) -> str:
        from .pictures.html import of_branches  # start-up

        about = f"{self.num_entries:,} entries, {len(self.files)} files"
        return of_branches(repr(self), self.branches.values(), about)

    def __len__(self) -> int:
        return self.num_entries

    def __repr__(self) -> str:
        return repr(self.chain)
