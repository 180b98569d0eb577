"""What users hold: a dataset, a chain of files with everything that can be asked of it. Nothing is
opened when it is made; a file is opened when something in it is asked for.

Nothing but the package's front and its commands imports this module: what others need of the files
is the Chain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import Any

from .chain.array_columns import array_columns
from .chain.chain import Chain, chain_of
from .chain.entry_list import SELECTED
from .chain.friend_columns import Friend
from .chain.friends import index_names
from .chain.read_methods import ReadMethods
from .errors import QueryError
from .faces import completed, face, short_errors
from .query.node import Bookable, Node, Origin
from .query.steps import Params
from .session.services import SERVICES
from .tree.branch import Branches
from .tree.defaults import policy

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
    """Make a dataset of ROOT files. No file is opened.

    Parameters
    ----------
    files
        A path, a glob, `"path:tree"`, `"@list.txt"` with one of these per line, a mapping of paths
        or globs to trees, a list of any of these, or a fileset of coffea's: its datasets are one
        then, whose chunks have the names and metadata of their files (docs/coffea.md).
    tree
        The tree, if the files do not name it. Without one each file has only one tree; of several
        cycles the newest counts.
    name
        What selectors see in `events.metadata["dataset"]`.
    missing
        What a branch counts as in files that lack it: "error", or a mapping of names or globs to
        defaults, as `{"Jet_btag": -1.0, "HLT_*": False, "genWeight": None}` (docs/datasets.md).
    metadata
        What else is to be in `events.metadata`, such as `{"xsec": 6.2, "year": 2018}`.

    Returns
    -------
    Dataset
        The files as one tree.

    Raises
    ------
    SourceError
        If a file does not exist.
    UnsupportedError
        For URLs.

    Examples
    --------
    >>> events = tm.dataset("data/*.root", tree="Events", missing={"Jet_btag": -1.0})
    >>> events.num_entries == len(events)
    True
    """
    return Dataset(chain_of(files, tree, name, policy(missing), metadata))


def _holds_arrays(friend: Any) -> bool:
    """Whether it is a mapping of columns, and not of files to their trees."""
    return isinstance(friend, Mapping) and not all(
        value is None or isinstance(value, str) for value in friend.values()
    )


def _fits(name: str, globs: Sequence[str]) -> bool:
    return not globs or any(fnmatchcase(name, glob) for glob in globs)


@face("chain", "node")
class Dataset(ReadMethods, Bookable):
    """Files and trees, as one. Make it with `treemill.dataset`."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        root = Node(Origin(chain, SERVICES))
        self._root = root if chain.selected is None else root.filter(SELECTED, "entry list")

    @property
    def node(self) -> Node:
        """The root of its query."""
        return self._root

    def _computed(self, exprs: Sequence[str], start: int | None, stop: int | None) -> list[Any]:
        found = self.node.arrays({expr: expr for expr in exprs}, start, stop)
        return [found[expr] for expr in exprs]

    # What there is.

    @property
    def name(self) -> str:
        """What selectors see in `events.metadata["dataset"]`."""
        return self.chain.name

    @property
    def metadata(self) -> Mapping[str, Any]:
        """What else is in `events.metadata`."""
        return self.chain.metadata

    @property
    def files(self) -> tuple[str, ...]:
        """The files' paths."""
        return self.chain.files

    @property
    def num_entries(self) -> int:
        """Entries of all files together, or the number of selected ones. Opens every file that was
        not opened yet."""
        return self.chain.num_entries

    @completed
    def branches(self) -> Branches:
        """The branches of the first file's tree, whatever other files have, and the columns that it
        has from elsewhere."""
        return self.chain.branches

    @property
    def aliases(self) -> dict[str, str]:
        """Names and expressions of TTree::SetAlias, of the first file's tree."""
        return self.chain.aliases

    @property
    def index(self) -> tuple[str, str] | None:
        """Names of the major and minor columns of `TTree::BuildIndex`, of the first file's tree;
        None without an index."""
        return self.chain.index

    def show(self, *names: str) -> None:
        """Print the branches: name, C++ type, how they read and by whom, sizes, titles; and
        aliases.

        Parameters
        ----------
        *names
            Globs; only what fits one is printed.

        Raises
        ------
        QueryError
            If nothing fits.

        Examples
        --------
        >>> events.show("Muon_*", "MET_*")  # doctest: +ELLIPSIS
        <dataset ...
        """
        from .monitor.branch_table import print_branches  # start-up

        aliases = {name: text for name, text in self.aliases.items() if _fits(name, names)}
        found = [branch for branch in self.branches.values() if _fits(branch.name, names)]
        if names and not (found or aliases):
            near = get_close_matches(names[0].replace("*", ""), self.branches, 3)
            raise QueryError(f"no branch is called {' or '.join(names)}", suggestions=near)
        print_branches(repr(self), found, aliases)

    # What goes along with it.

    def add_friend(self, friend: Any, alias: str | None = None, *, index: Any = None) -> Dataset:
        """Add the columns of another dataset beside these, as TTree::AddFriend; this dataset stays
        as it is.

        Friends that files record by themselves are there without this.

        Parameters
        ----------
        friend
            A Dataset, what `treemill.dataset` takes, or a mapping of names to arrays in memory,
            which are as long as the dataset. Its columns are `alias.column`, and `column` if no
            other has that name.
        alias
            Else the name of its tree. Arrays need one.
        index
            One or two columns of integers that both have, as `("run", "event")`: entries without a
            match have missing values, and lists without items. None: the index of
            `TTree::BuildIndex`, if the friend has it and the dataset has its columns, as in ROOT;
            else by the number of the entry in the whole chain, which must be as long. False: by
            number all the same.

        Returns
        -------
        Dataset
            The same entries, with more columns.

        Raises
        ------
        QueryError
            For an alias that is taken or cannot be named; for other lengths, when it is read.

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
            raise QueryError(f"a friend called {name!r} cannot be named in expressions: alias=")
        added = Friend(other.chain, name.split("/")[-1], index_names(index))
        return Dataset(self.chain.with_friends(self.chain.friends.plus(added)))

    def define(self, name: str, expr: Any, params: Params = None) -> Any:
        """Add a column: see `Node.define`; or one of an array in memory.

        Parameters
        ----------
        name
            Of the column.
        expr
            An expression; or an array of NumPy, awkward or Arrow or a list, with one value or one
            list for each entry of the whole dataset.
        params
            Constants by name, as for `with_params`.

        Returns
        -------
        Node or Dataset
            Of an array a Dataset, since it is a column of all entries.

        Raises
        ------
        QueryError
            For what makes no sense; for another length, when it is read.

        Examples
        --------
        >>> weighted = events.define("w", [1.0] * events.num_entries)
        >>> weighted.sum("w").value == events.num_entries
        True
        """
        if isinstance(expr, str):
            return super().define(name, expr, params)
        made = array_columns({name: expr}, None)
        return Dataset(self.chain.with_friends(self.chain.friends.with_arrays(made)))

    def _with_arrays(self, arrays: Any, alias: str | None, index: Any) -> Dataset:
        if not isinstance(alias, str) or not alias.isidentifier():
            raise QueryError("arrays need a name to go by, an identifier: alias=")
        if index:
            raise QueryError("arrays go with entries by their number, and not by an index=")
        made = array_columns(arrays, alias)
        return Dataset(self.chain.with_friends(self.chain.friends.with_arrays(made)))

    def select_entries(self, entries: Any) -> Dataset:
        """Select some of the entries, as TTree::SetEntryList; this dataset stays as it is.

        Parameters
        ----------
        entries
            Their numbers in the whole chain, in any order; a mask of all of them; or
            "file.root:name" of a TEntryList or TEventList.

        Returns
        -------
        Dataset
            Of these entries, in the chain's order, for arrays, queries and selectors. Clusters
            without a selected entry are not read. `entries=` of a run and `start`, `stop` of arrays
            count the selected ones.

        Raises
        ------
        QueryError
            For entries that there are not.

        Examples
        --------
        >>> events.select_entries([3, 5, 8]).arrays("MET_pt").MET_pt.to_list() == (
        ...     events.arrays("MET_pt").MET_pt[[3, 5, 8]].to_list()
        ... )
        True
        """
        return Dataset(self.chain.selecting(entries))

    def __reduce__(self) -> tuple[Any, ...]:
        return Dataset, (self.chain,)

    def _repr_html_(self) -> str:
        from .monitor.html import of_branches  # start-up

        entries = f"{self.num_entries:,} entries, {len(self.files)} files"
        return of_branches(repr(self), self.branches.values(), entries)

    def __len__(self) -> int:
        return self.num_entries

    def __repr__(self) -> str:
        return repr(self.chain)
