"""The method of nodes and datasets that books files: which columns, which file.

Pure: standard library, errors and the query only.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

from ..faces import face
from .booking import Booking, Located, steps_to
from .rows import Snapshot
from .steps import Define, Params, Step

if TYPE_CHECKING:
    from .snapshot_target import Fill, SnapshotFile

__all__ = ["Saves"]


@face()
class Saves(Located):
    """The method of nodes and datasets."""

    __slots__ = ()

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
        """Book a file with columns of the entries that arrive here, in the order of entries. Values
        are written as they come, so that the file may be larger than memory.

        Parameters
        ----------
        path
            The suffix says what it is: .root (a TTree, or with format="rntuple" an RNTuple),
            .parquet, .feather or .arrow. The file appears when it is complete; an older one is
            replaced in the same moment. For a fileset, {dataset} in the file's name stands for the
            name of each data set.
        columns
            As for `take`; a collection's name, "Jet", stands for all its columns: `nJet`, `Jet_*`
            and `Jet.*`. None: all columns of the files and those that are defined, as RDataFrame's
            `Snapshot` writes.
        tree
            The name of the tree, or of the RNTuple; None: that of the first file's tree.
        format
            "rntuple", or what the suffix says.
        params
            Constants by name, as for `with_params`.
        compression
            "zstd:5", "zlib:1", "lzma:7", "lz4:4" with any level, or without one; None: none.
        fill
            What missing values become, one value or one for each column by name. ROOT files have
            none: without `fill` they get NaN, the lowest signed integer, the highest unsigned one,
            the empty string. Parquet and Feather keep them missing without `fill`.
        copy_trees
            Names of other trees of the same files that are copied whole, such as "Runs".

        Returns
        -------
        Booking
            Its value is a `SnapshotFile`; of a fileset a `ByDataset` of these.

        Raises
        ------
        QueryError, UnsupportedError
            For values that this kind of file cannot hold, when it is booked or before anything is
            read.

        Examples
        --------
        >>> skim = events.filter("nMuon >= 2").snapshot("skim.root", ["Muon_pt"], compression="lz4")
        """
        from .snapshot_columns import branch_columns, columns_of, titles, uncounted  # start-up
        from .snapshot_target import (  # start-up
            SnapshotTarget,
            check_target,
            check_tree,
            compression_of,
            copied_names,
            snapshot_format,
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
        if kind == "ttree":
            named = branch_columns(named)
        target = SnapshotTarget(
            place,
            kind,
            tree,
            compression_of(kind, compression),
            fill,
            copied_names(kind, tree, copy_trees),
            titles(named, branches, defined),
            uncounted(named, branches, defined),
            node.origin.chain.is_reshuffled,
        )
        return Booking(node, Snapshot(named, target=target))
