"""The methods of nodes and datasets that ask for values themselves: as arrays, in files, as
tables and drawings.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, overload

from ..errors import QueryError, check_flag, check_whole
from ..language.expression import Expression, parse
from ..public_api import public_class
from .booking import Booking, Located, Place, steps_to
from .quantities import may_be_glob, named_columns
from .rows import MOST_BYTES, Arrays, Snapshot, Take
from .steps import Define, Params, Step, Vary

if TYPE_CHECKING:
    import awkward
    import hist

    from .axes import Bins, Range
    from .booking import Array
    from .description import Description
    from .rows import Fill, SnapshotFile

__all__ = ["Values"]


@public_class()
class Values(Located):
    """The methods of nodes and datasets that give the values themselves: as arrays, in files, as
    tables and drawings. They only describe what is wanted: the services of the dataset
    (session/services.py) make it."""

    __slots__ = ()

    @overload
    def take(
        self, columns: str, limit: int = MOST_BYTES, params: Params = None
    ) -> Booking[Array | awkward.Array]: ...

    @overload
    def take(
        self,
        columns: Sequence[str] | Mapping[str, str],
        limit: int = MOST_BYTES,
        params: Params = None,
    ) -> Booking[awkward.Array]: ...

    def take(
        self,
        columns: str | Sequence[str] | Mapping[str, str],
        limit: int = MOST_BYTES,
        params: Params = None,
    ) -> Booking[Array | awkward.Array]:
        """Book values of the entries that arrive here, in the order of entries.

        Parameters
        ----------
        columns
            One expression; or a list of expressions, where `"Jet_*"` stands for all columns of such
            names, defined ones included; or a mapping of names to expressions.
        limit
            The largest number of bytes of the result, which is in memory.
        params
            Constants by name, as for `with_params`.

        Returns
        -------
        Booking
            The value for one expression is a NumPy array if the expression has one value per entry,
            and otherwise an awkward array. For a list or a mapping it is an awkward array of
            records, as from `arrays`.

        Raises
        ------
        QueryError
            If an expression makes no sense. When the query runs: if the result is larger than
            `limit`.

        Examples
        --------
        >>> met = events.take("MET_pt")
        >>> muons = events.filter("nMuon >= 2").take(["Muon_pt", "MET_pt"])
        >>> len(met.value) == events.num_entries, muons.value.fields
        (True, ['Muon_pt', 'MET_pt'])
        """
        check_whole("limit", limit)
        if isinstance(columns, str):
            return Booking(self._with(params), Take(((columns, _one(columns)),), limit))
        rows = Arrays(named_columns(columns, self._names), limit)
        return Booking(self._with(params), rows)

    def arrays(
        self,
        names: str | Sequence[str] | Mapping[str, str] | None = None,
        start: int | None = None,
        stop: int | None = None,
    ) -> awkward.Array:
        """Compute columns of the entries that arrive here, at once.

        Parameters
        ----------
        names
            Expressions or globs, or a mapping of names to expressions; None: all columns.
        start, stop
            The entries `[start, stop)` of the dataset, counted before any filter. Negative numbers
            count from the end.

        Returns
        -------
        awkward.Array
            Records, in the order of entries. `take` books the same.

        Raises
        ------
        QueryError, UnsupportedError
            If a name does not exist, or if treemill cannot read a branch.

        Examples
        --------
        >>> events.filter("nMuon >= 2").arrays(["MET_pt", "Muon_pt"], stop=1000).fields
        ['MET_pt', 'Muon_pt']
        """
        node = self._with(None)
        columns = "*" if names is None else names
        rows = Arrays(named_columns(columns, self._names), sys.maxsize)
        return node.origin.services.arrays(Booking(node, rows), start, stop)

    def _steps(self) -> list[Step | None]:
        return [place.step for place in steps_to(self._with(None))]

    def snapshot(
        self,
        path: str,
        columns: str | Sequence[str] | Mapping[str, str] | None = None,
        tree: str | None = None,
        format: str | None = None,  # noqa: A002 - what it is called elsewhere
        params: Params = None,
        *,
        compression: str | None = "default",
        fill: Fill = None,
        copy_trees: str | Sequence[str] = (),
    ) -> Booking[SnapshotFile]:
        """Book a file with columns of the entries that arrive here, in the order of entries.
        Workers write values during the pass, so the file may be larger than memory.

        Parameters
        ----------
        path
            The suffix selects the format: .root (a TTree, or with format="rntuple" an RNTuple),
            .parquet, .feather or .arrow. The file appears when it is complete, and replaces an
            older one in the same moment. For a fileset, {dataset} in the file's name stands for the
            name of each sample.
        columns
            As for `take`; a collection's name, "Jet", stands for all its columns: `nJet`, `Jet_*`
            and `Jet.*`. None: all columns of the files and all defined columns, as RDataFrame's
            `Snapshot` writes.
        tree
            The name of the tree or RNTuple; None: the name of the first file's tree.
        format
            "rntuple" for an RNTuple; None: the suffix selects the format.
        params
            Constants by name, as for `with_params`.
        compression
            "zstd:5", "zlib:1", "lzma:7" or "lz4:4" with any level, or without one; None: no
            compression.
        fill
            The value that replaces missing values, or a mapping from columns to such values. ROOT
            files cannot store missing values: without `fill`, NaN, the lowest signed integer, the
            highest unsigned integer or the empty string replaces them. Parquet and Feather files
            keep missing values without `fill`.
        copy_trees
            Names of other trees of the same files that are copied whole, such as "Runs".

        Returns
        -------
        Booking
            Its value is a `SnapshotFile`; of a fileset a `ByDataset` of these.

        Raises
        ------
        QueryError, UnsupportedError
            If this kind of file cannot hold the values. `snapshot` raises the error, or the run
            before it reads events.

        Examples
        --------
        >>> skim = events.filter("nMuon >= 2").snapshot("skim.root", ["Muon_pt"], compression="lz4")
        """
        from .rows import (  # start-up  # start-up
            SnapshotTarget,
            branch_columns,
            check_target,
            check_tree,
            columns_of,
            compression_of,
            copied_names,
            snapshot_format,
            titles,
            uncounted,
        )

        steps = self._steps()
        node = self._with(params)
        place, kind = snapshot_format(path, format)
        check_target(place, node.origin.chain)
        tree = node.origin.chain.tree_name if tree is None else tree
        check_tree(tree, kind)
        defined = {step.name for step in steps if isinstance(step, Define)}
        branches = node.origin.chain.branches
        named = columns_of("*" if columns is None else columns, self._names, branches, steps)
        if kind in ("ttree", "rntuple"):
            named = branch_columns(named, kind)
        target = SnapshotTarget(
            place,
            kind,
            tree,
            compression_of(kind, compression),
            fill,
            copied_names(kind, tree, copy_trees),
            titles(named, branches, defined),
            uncounted(named, branches, defined),
        )
        return Booking(node, Snapshot(named, target=target))

    # What is shown at once. Below `vary` these show the nominal values.

    def draw(
        self,
        expr: str | Sequence[str],
        where: str | None = None,
        option: str = "",
        *,
        bins: Bins = None,
        range: Range = None,  # noqa: A002 - as numpy and matplotlib call it
        weight: str | None = None,
        profile: bool = False,
        log: bool = False,
        params: Params = None,
    ) -> hist.Hist:
        """Fill a histogram now, show it, and return it, as TTree::Draw does.

        Parameters
        ----------
        expr
            The expression to fill. For several dimensions write "y:x" or a list, `["x", "y"]`. It
            may end in ">>h(100,0,1)", the name and the bins of the histogram.
        where
            The selection of entries. If it has one value per item, it selects items, as in
            `draw("Jet_pt", "Jet_pt > 30")`. If it is a number and not a condition, it is a weight.
        option
            An option of TTree::Draw: "goff" shows nothing, and "prof" means `profile`. Options for
            painting ("colz", "hist", "e" …) change nothing.
        bins, range
            As for `hist`. Without a range, the axis leaves out far tails: it holds at least 99.9 %
            of the values, and a message says how many values are outside.
        weight
            An expression. If the selection is a number, it is a further weight.
        profile
            If true, "y:x" draws the mean of y against x.
        log
            If true, the scale is logarithmic.
        params
            Constants by name, as for `with_params`.

        Returns
        -------
        hist.Hist
            The histogram.

        Raises
        ------
        QueryError
            For arguments that make no sense, with the place in the expression.

        Examples
        --------
        >>> pairs = events.draw("Jet_pt:Jet_eta", "Jet_pt > 30", "goff", bins=[(50, -5, 5), 40])
        >>> pairs.ndim
        2
        """
        from .description import Drawing  # start-up

        # A drawing is made now and alone: other bookings stay booked.
        check_flag("profile", profile)
        check_flag("log", log)
        wanted = Drawing(expr, where, option, bins, range, weight, profile, log)
        node = _nominal(self._with(params))
        histogram: hist.Hist = node.origin.services.draw(node, wanted)
        return histogram

    def scan(
        self, *columns: str, where: str | None = None, n: int = 20, params: Params = None
    ) -> None:
        """Print the first entries, with a line for each item of lists, as TTree::Scan does.

        Parameters
        ----------
        *columns
            Expressions or globs, also as "a:b"; without any, the first eight branches with numbers.
        where
            The selection of entries.
        n
            The number of entries to list. Reading stops when this number is found.
        params
            Constants by name, as for `with_params`.

        Raises
        ------
        QueryError
            For arguments that make no sense, with the place in the expression.

        Examples
        --------
        >>> events.define("half", "0.5").scan("half", n=2)
        Row  half
        ───  ────
          0   0.5
          1   0.5
        """
        for each in columns:
            if not isinstance(each, str):
                raise QueryError(
                    f"scan takes expressions as texts, not {each!r:.60}: an expression gets a name "
                    'by define("name", "expression")'
                )
        node = _nominal(self._with(params))
        node.origin.services.scan(node, columns, where, n)

    def head(
        self,
        columns: str | Sequence[str] | Mapping[str, str] = "*",
        n: int = 5,
        params: Params = None,
    ) -> awkward.Array:
        """Compute the first entries that arrive here. Reading stops when `n` entries are found.

        Parameters
        ----------
        columns
            As for `arrays`.
        n
            The number of entries.
        params
            Constants by name, as for `with_params`.

        Returns
        -------
        awkward.Array
            Records.

        Raises
        ------
        QueryError
            For arguments that make no sense, with the place in the expression.

        Examples
        --------
        >>> len(events.filter("nMuon >= 2").head(["MET_pt", "Muon_pt"], n=3))
        3
        """
        if isinstance(columns, int):
            raise QueryError(f"head takes columns first: write head(n={columns})")
        node = _nominal(self._with(params))
        return node.origin.services.head(node, columns, n)

    def describe(self, *columns: str, params: Params = None) -> Description:
        """Compute statistics of columns, in one pass over the data.

        Parameters
        ----------
        *columns
            Expressions or globs; without any, all branches with numbers.
        params
            Constants by name, as for `with_params`.

        Returns
        -------
        Description
            A mapping from names to the numbers of values, of missing values and of values that are
            not finite, the mean, the standard deviation (of a sample, ddof=1), the extremes, the
            approximate quartiles, and the sizes of branches. It prints as a table.

        Raises
        ------
        QueryError
            For arguments that make no sense, with the place in the expression.

        Examples
        --------
        >>> numbers = events.describe("MET_pt", "Jet_*")
        >>> numbers["MET_pt"].max == events.max("MET_pt").value
        True
        """
        node = _nominal(self._with(params))
        description: Description = node.origin.services.describe(node, columns)
        return description


def _one(text: str) -> Expression:
    """One expression. Raises QueryError for others, and says where a glob may stand."""
    try:
        return parse(text)
    except QueryError:
        if may_be_glob(text):
            hint = f"{text} is a glob, which stands in a list: take([{text!r}])"
            raise QueryError(hint, text=text, span=(0, len(text))) from None
        raise


def _nominal(place: Place) -> Place:
    """The place without variations: what is shown are the nominal values."""
    steps = [each.step for each in steps_to(place)]
    if not any(isinstance(step, Vary) for step in steps):
        return place
    node = type(place)
    made = node(place.origin)
    for step in steps:
        if not isinstance(step, Vary):
            made = node(place.origin, made, step)
    return made
