"""What users hold: a dataset, a chain of files with everything that can be asked of it. Nothing is
opened when it is made; a file is opened when something in it is asked for.

Nothing but the package's front and its commands imports this module: what others need of the files
is the Chain.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from difflib import get_close_matches
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING, Any

from .array_columns import array_columns
from .branches import Branches
from .chain.chain import Chain, chain_of
from .errors import QueryError
from .faces import completed, face, short_errors
from .friend_columns import Friend
from .friends import index_names
from .missing import policy
from .query import Bookable, Node, Origin, Params
from .selection import SELECTED
from .services import SERVICES

if TYPE_CHECKING:
    import awkward
    import numpy.typing as npt
    import pyarrow

    from .read_columns import Columns
    from .reading import Names

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

    `files` may be a fileset of coffea's, too: its datasets are one then, whose chunks have the
    names and metadata of their files (docs/coffea.md).

    Raises SourceError where a file does not exist, UnsupportedError for URLs.
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
class Dataset(Bookable):
    """Files and trees, as one. Make it with `treemill.dataset`."""

    def __init__(self, chain: Chain) -> None:
        self.chain = chain
        root = Node(Origin(chain, SERVICES))
        self._root = root if chain.selected is None else root.filter(SELECTED, "entry list")

    @property
    def node(self) -> Node:
        """The root of its query."""
        return self._root

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
        name = alias or other.chain.locations[0].tree or other.chain.trees[0].name
        if not isinstance(name, str) or not name.split("/")[-1].isidentifier():
            raise QueryError(f"a friend called {name!r} cannot be named in expressions: alias=")
        added = Friend(other.chain, name.split("/")[-1], index_names(index))
        return Dataset(self.chain.with_friends(self.chain.friends.plus(added)))

    def define(self, name: str, expr: Any, params: Params = None) -> Any:
        """As `treemill.query.Node.define`; or a column of an array in memory, NumPy's, awkward's,
        Arrow's or a list, with one value or one list for each entry of the whole dataset:
        `events.define("w", weights)` is a dataset with a column `w`."""
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
        """A dataset of some of the entries, as TTree::SetEntryList: `entries` are their numbers in
        the whole chain (in any order; they come in the chain's), a mask of all of them, or
        "file.root:name" of a TEntryList or TEventList. For arrays, queries and selectors; parts of
        files (clusters) without a selected entry are not read. `entries=` of a run and `start`,
        `stop` of arrays then count the selected ones. This dataset stays as it is."""
        return Dataset(self.chain.selecting(entries))

    # Arrays.

    def read(
        self,
        names: Names = None,
        start: int | None = None,
        stop: int | None = None,
    ) -> Columns:
        """Columns of entries `[start, stop)`, counted over the whole chain; negative ones from its
        end, as in slices. `names`: names of branches, globs or expressions, or a mapping of names
        to them; None: all that can be read (what turns out to
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

        return read(self.chain, names, start, stop, self._computed, flags)

    def _computed(self, exprs: Sequence[str], start: int | None, stop: int | None) -> list[Any]:
        found = self.node.arrays({expr: expr for expr in exprs}, start, stop)
        return [found[expr] for expr in exprs]

    def arrays(
        self,
        names: Names = None,
        start: int | None = None,
        stop: int | None = None,
    ) -> awkward.Array:
        """As `read`: an awkward array of records, with uproot's layout and field names."""
        return self._read(names, start, stop, flags=True).to_awkward()

    def to_arrow(
        self,
        names: Names = None,
        start: int | None = None,
        stop: int | None = None,
    ) -> pyarrow.Table:
        """As `read`: a pyarrow.Table."""
        return self.read(names, start, stop).to_arrow()

    def to_numpy(
        self,
        names: Names = None,
        start: int | None = None,
        stop: int | None = None,
    ) -> dict[str, npt.NDArray[Any]]:
        """As `read`: numpy arrays by name; jagged branches as object arrays of arrays."""
        return self._read(names, start, stop, flags=True).to_numpy()

    def __reduce__(self) -> tuple[Any, ...]:
        return Dataset, (self.chain,)

    def _repr_html_(self) -> str:
        from .monitor.html import of_branches

        entries = f"{self.num_entries:,} entries, {len(self.files)} files"
        return of_branches(repr(self), self.branches.values(), entries)

    def __len__(self) -> int:
        return self.num_entries

    def __repr__(self) -> str:
        return repr(self.chain)
