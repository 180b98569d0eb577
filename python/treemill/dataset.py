"""A dataset: an ordered set of (file, tree) that is used as one tree.

Made without opening anything; a file is opened when something in it is asked for. Reading is in
reading.py, queries are described in query.py and run by a session.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from .branches import Branch, branch_list
from .foreign import Foreign, Table, joined
from .location import Location, expand
from .missing import ERROR, Missing, policy
from .opened import OpenTrees, Remembered
from .query import Booking, Node, Origin

if TYPE_CHECKING:
    from .reading import Columns

__all__ = ["Branches", "Dataset", "dataset"]


def dataset(
    files: Any, tree: str | None = None, *, name: str = "dataset", missing: Any = "error"
) -> Dataset:
    """A dataset of ROOT files.

    `files` is a path, a glob, `"path:tree"`, `"@list.txt"` with one of these per line, a mapping of
    paths or globs to trees, or a list of any of these. `tree` names the tree where the files do
    not; it may be left out where each file has only one (of several cycles the newest counts).
    `name` is what selectors see in `events.metadata["dataset"]`. `missing`: what a branch counts as
    in files that lack it: "error", or a mapping of names or globs to defaults, as
    `{"Jet_btag": -1.0, "HLT_*": False, "genWeight": None}` (docs/datasets.md).

    Raises SourceError where a file does not exist, UnsupportedError for URLs.
    """
    return Dataset(expand(files, tree), name, policy(missing))


class Branches(Mapping[str, Branch]):
    """The branches of a tree by name, in the tree's order."""

    def __init__(self, branches: Sequence[Branch]) -> None:
        self._by_name: dict[str, Branch] = {}
        self.children: dict[str, list[Branch]] = {}
        """Those of each branch, by its path."""
        for branch in branches:
            # Of branches with one name the outermost is meant, which comes first.
            self._by_name.setdefault(branch.name, branch)
            parent = branch.path[: -len(branch.name) - 1]
            if parent:
                self.children.setdefault(parent, []).append(branch)

    def __getitem__(self, name: str) -> Branch:
        return self._by_name[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self._by_name)

    def __len__(self) -> int:
        return len(self._by_name)

    def __repr__(self) -> str:
        return f"<{len(self)} branches: {', '.join(self)}>"


class Dataset:
    """Files and trees, as one. Make it with `treemill.dataset`.

    `filter`, `define`, `with_params`, `vary` and the bookings (`hist`, `profile`, `count`, `sum`,
    `mean`, `std`, `var`, `min`, `max`, `unique`, `approx_quantiles`, `take`, `snapshot`) are those
    of `treemill.query.Node`.
    """

    def __init__(
        self, locations: Sequence[Location], name: str = "dataset", missing: Missing = ERROR
    ) -> None:
        self.name = name
        self.trees = OpenTrees(locations, missing)
        self.sizes = Remembered(self.trees, lambda tree: (tree.num_entries, tuple(tree.clusters)))
        self.baskets = Remembered(
            self.trees, lambda tree: {b["name"]: max(b["baskets"], 1) for b in tree.described()}
        )
        self.bytes = Remembered(
            self.trees, lambda tree: {b["name"]: b["total_bytes"] for b in tree.described()}
        )
        self._branches = Remembered(self.trees, lambda tree: Branches(branch_list(tree)))
        self._root = Node(Origin(self, self._run))
        self.filter = self._root.filter
        self.define = self._root.define
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

    # What there is.

    @property
    def files(self) -> tuple[str, ...]:
        """The files' paths."""
        return tuple(location.path for location in self.trees.locations)

    @property
    def num_entries(self) -> int:
        """Entries of all files together. Opens every file that was not opened yet."""
        return sum(self.sizes[i][0] for i in range(len(self.trees.locations)))

    @property
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

    def show(self) -> None:
        """Prints the branches: name, C++ type, how they read and by whom, sizes; and aliases."""
        from .monitor.tables import print_branches

        print_branches(repr(self), self.branches.values(), self.aliases)

    # What workers read.

    def foreign(self, file: int) -> Foreign | None:
        """Columns for the entries of this file that do not come from its tree; None: there are
        none."""
        return joined([])

    def table(self, file: int) -> Any:
        """core.Tree of this file, with its foreign columns where there are some."""
        foreign, tree = self.foreign(file), self.trees[file]
        return tree if foreign is None else Table(tree, foreign)

    # Arrays.

    def read(
        self,
        names: str | Sequence[str] | None = None,
        start: int | None = None,
        stop: int | None = None,
    ) -> Columns:
        """Columns of entries `[start, stop)`, counted over the whole chain; negative ones from its
        end, as in slices. `names`: branch names or globs; None: all that can be read. Raises
        QueryError for an unknown name, UnsupportedError for a branch that treemill cannot read."""
        from .reading import read

        return read(self, names, start, stop)

    def arrays(
        self,
        names: str | Sequence[str] | None = None,
        start: int | None = None,
        stop: int | None = None,
    ) -> Any:
        """Like `read`, as an awkward array of records, with uproot's layout and field names."""
        return self.read(names, start, stop).to_awkward()

    def to_arrow(
        self,
        names: str | Sequence[str] | None = None,
        start: int | None = None,
        stop: int | None = None,
    ) -> Any:
        """Like `read`, as a pyarrow.Table."""
        return self.read(names, start, stop).to_arrow()

    def to_numpy(
        self,
        names: str | Sequence[str] | None = None,
        start: int | None = None,
        stop: int | None = None,
    ) -> dict[str, Any]:
        """Like `read`, as numpy arrays by name; jagged branches as object arrays of arrays."""
        return self.read(names, start, stop).to_numpy()

    # Queries.

    def show_drawing(
        self, node: Node, exprs: Sequence[str], where: str | None, bins: Any, weight: str | None
    ) -> Any:
        """Fills one histogram and draws it: in a terminal as text; notebooks do by themselves."""
        from .drawing import drawn
        from .monitor.display import in_notebook, show

        result, title = drawn(node, exprs, where, bins, weight)
        if not in_notebook():
            show(getattr(result, "nominal", result), title)
        return result

    @staticmethod
    def _run(bookings: Sequence[Booking]) -> None:
        from .session import run

        run(*bookings)

    def __reduce__(self) -> tuple[Any, ...]:
        # To another process goes where the files are, nothing of what is open here.
        return Dataset, (self.trees.locations, self.name, self.trees.missing)

    def __len__(self) -> int:
        return self.num_entries

    def __repr__(self) -> str:
        first, *rest = self.trees.locations
        return f"<dataset {first}{f' and {len(rest)} more' if rest else ''}>"
