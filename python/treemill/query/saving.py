"""The method of nodes and datasets that books files: which columns, which file.

Pure: standard library, errors and the query only.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from ..errors import QueryError
from ..faces import face
from ..language.expression import Expression
from ..language.tree_node import child, word
from .booking import Booking, Located, steps_to
from .quantities import named_columns
from .rows import Snapshot
from .steps import Define, Params, Step

if TYPE_CHECKING:
    from .data_protocols import QueriedBranch
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
        columns: str | Sequence[str] | Mapping[str, str],
        tree: str = "Events",
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
            As for `take`; a collection's name, "Jet", stands for all its columns, `Jet_*` and
            `nJet`.
        tree
            The name of the tree, or of the RNTuple.
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
        check_tree(tree, kind)
        defined = {step.name for step in steps if isinstance(step, Define)}
        named = _columns(columns, self._names, steps)
        target = SnapshotTarget(
            place,
            kind,
            tree,
            compression_of(kind, compression),
            fill,
            copied_names(kind, tree, copy_trees),
            _titles(named, node.origin.chain.branches, defined),
        )
        return Booking(node, Snapshot(named, target=target))


def _titles(
    columns: Sequence[tuple[str, Expression]],
    branches: Mapping[str, QueriedBranch],
    defined: Collection[str],
) -> dict[str, str]:
    """Titles of the columns that are branches, and not defined anew."""
    from .snapshot_target import titles_of  # start-up

    own = {}
    for name, expr in columns:
        branch = word(expr.tree, "id") if expr.tree["kind"] == "name" else ""
        if branch and branch not in defined:
            own[name] = branch
    return titles_of(branches, own)


def _columns(
    columns: str | Iterable[str] | Mapping[str, str],
    known: Callable[[], Iterable[str]],
    steps: Sequence[Step | None],
) -> tuple[tuple[str, Expression], ...]:
    """Makes names and expressions as `named_columns` does; the name of a collection stands for all
    its columns."""
    listed = [columns] if isinstance(columns, str) else columns
    if isinstance(listed, Mapping):
        return named_columns(listed, known)
    defined = {step.name: step.expr for step in steps if isinstance(step, Define)}
    names: list[str] = []
    texts: list[str] = []
    anew: dict[str, str] = {}
    for text in listed:
        names = names or [*known()]
        prefix = f"{text}_"
        members = [name for name in names if name.startswith(prefix)]
        if not members or (text in names and not _is_list(defined.get(text))):
            texts.append(text)
        elif text in defined:
            anew |= {name: f"{text}.{name.removeprefix(prefix)}" for name in members}
        else:
            counter = [name for name in names if name == f"n{text}"]
            texts += [name for name in (*counter, *members) if name not in texts]
    pairs = named_columns(texts, known) if texts or not anew else ()
    pairs += named_columns(anew, known) if anew else ()
    twice = [name for name, _ in pairs if [other for other, _ in pairs].count(name) > 1]
    if twice:
        raise QueryError(f"the column {twice[0]!r} is listed twice")
    return pairs


def _is_list(expr: Expression | None) -> bool:
    """True if its form shows that it makes a list of objects of another collection."""
    if expr is None:
        return False
    tree = expr.tree
    if tree["kind"] == "comprehension":
        return child(tree, "element")["kind"] == "name"
    return tree["kind"] == "call" and child(tree, "function").get("id") in ("sorted", "concat")
