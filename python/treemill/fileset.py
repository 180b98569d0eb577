"""The fileset, which users hold: samples by name, with the methods of a dataset for all of them
at once. No file is opened when it is made.

Only the package's `__init__` and its commands import this module. Other modules use the Chain.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import TYPE_CHECKING

from .data.chain import Chain, ChainParts, chain_from
from .data.defaults import policy
from .data.entry_list import SELECTED
from .data.filesets import FilesetFiles as Files
from .data.filesets import named_fileset
from .dataset import Dataset
from .errors import QueryError, near
from .frozen import replaced
from .public_api import public_class, short_errors
from .query.node import Bookable, Node, Origin
from .session.services import SERVICES

if TYPE_CHECKING:
    from .data.defaults import Missing
    from .data.file_constants import OfFile
    from .data.location import FilesByName
    from .data.object_schemas import Schema

__all__ = ["Fileset", "fileset"]

_READS = "fs[name].{}(…) reads columns of one sample, arrays(…) those of each"
_OF_ONE = {
    **{name: f"fs[name].{name} is of one sample" for name in ("aliases", "branches", "index")},
    **{name: _READS.format(name) for name in ("read", "to_arrow", "to_numpy")},
    "add_friend": "fs[name].add_friend(friend) is one sample with the columns of a friend",
    "io_report": "fs[name].io_report() is about the last run, of whatever samples",
    "name": "list(fs) has the names of the samples",
    "select_entries": "fs[name].select_entries(entries) is some entries of one sample; "
    "filter(…) selects entries of all",
    "show": "fs[name].show() prints the branches of one sample",
}
"""What to write for a dataset's methods and properties that several samples do not have."""


@short_errors
def fileset(
    files: FilesByName,
    tree: str | None = None,
    *,
    missing: Missing = "error",
    schema: Schema = "auto",
    on_error: str = "stop",
) -> Fileset:
    """Make a fileset: samples by name, for all of which you book once. This opens no file.

    Parameters
    ----------
    files
        A mapping from names to files: a path, a glob, a list of these, or a mapping in the form of
        coffea's filesets, with "files" and, if you want, "treename" and "metadata"; the
        specification that RDataFrame's `FromSpec` reads; or the path of a JSON file with any of
        these (docs/filesets.md).
    tree
        The tree of files for which `files` names none. Without a name, each file must have only one
        tree.
    missing
        The value of a branch in files that lack it, as for `treemill.dataset`. For example, data
        files lack `genWeight`.
    schema
        How objects are arranged and refer to others, as for `treemill.dataset`.
    on_error
        "stop": if a file does not exist, this is an error now. "skip": it is an error only when a
        run needs the file, so a run with `on_error="skip"` goes on without it.

    Returns
    -------
    Fileset
        A mapping of names to datasets, which has a dataset's methods for all of them. The value of
        a booking is a `ByDataset`: a mapping of names to results.

    Raises
    ------
    QueryError
        If `files` is not a fileset, or if the schema does not exist.
    SourceError
        If a file does not exist.

    Examples
    --------
    >>> fs = tm.fileset({
    ...     "dy": {"files": {"data/*.root": "Events"}, "metadata": {"xsec": 6077.2, "is_mc": True}},
    ...     "data": {"files": ["data/*.root:Events"], "metadata": {"xsec": 1.0, "is_mc": False}},
    ... })
    >>> met = fs.filter("nMuon >= 2").hist("MET_pt", bins=(20, 0, 200), weight="xsec")
    >>> list(met.value)
    ['dy', 'data']
    """
    if not isinstance(on_error, str) or on_error not in ("stop", "skip"):
        raise QueryError(f'on_error is "stop" or "skip", not {on_error!r}')
    known = None
    if not isinstance(schema, str) or schema != "auto":
        from .data.object_schemas import object_schema  # start-up

        known = object_schema(schema)
    parts = ChainParts((), "fileset", policy(missing), is_fileset=True, schema=known)
    return Fileset(named_fileset(files, tree), parts, with_missing=on_error == "skip")


@public_class("chain", "node", habits=_OF_ONE)
class Fileset(Bookable, Mapping[str, Dataset]):
    """Samples by name. Make it with `treemill.fileset`."""

    def __init__(self, files: Files, parts: ChainParts, *, with_missing: bool = False) -> None:
        self._files = files
        self._parts = parts
        self._with_missing = with_missing
        self.chain = self._chain(files, parts)
        root = Node(Origin(self.chain, SERVICES))
        self._root = root if self.chain.selected is None else root.filter(SELECTED, "entry list")
        self._metadata = self.chain.datasets

    def _chain(self, files: Files, parts: ChainParts) -> Chain:
        return chain_from(files, parts, with_missing=self._with_missing)

    @property
    def node(self) -> Node:
        """The root of its query."""
        return self._root

    # The samples.

    @property
    def metadata(self) -> Mapping[str, Mapping[str, object]]:
        """The metadata of each sample, by name."""
        return {name: dict(each) for name, each in self._metadata.items()}

    @property
    def files(self) -> tuple[str, ...]:
        """The paths of all files."""
        return self.chain.files

    @property
    def num_entries(self) -> int:
        """The number of entries of all samples. Opens every file that was not opened yet."""
        return self.chain.current().num_entries

    def __getitem__(self, name: str) -> Dataset:
        """One sample by itself. Raises KeyError if there is none of this name."""
        if name not in self._metadata:
            meant = near(name, self._metadata)
            hint = f"did you mean {meant[0]!r}?" if meant else f"there are {', '.join(self)}"
            raise KeyError(f"no sample {name!r}; {hint}")
        parts = replaced(self._parts, name=name, is_fileset=False)
        return Dataset(self._chain(self._files.of(name), parts))

    def __iter__(self) -> Iterator[str]:
        return iter(self._metadata)

    def __len__(self) -> int:
        """The number of samples."""
        return len(self._metadata)

    def __contains__(self, name: object) -> bool:
        return name in self._metadata

    # A dataset has no such methods, and says what to write instead.
    keys = Mapping.keys
    items = Mapping.items
    values = Mapping.values

    def subset(self, wanted: Iterable[str] | Callable[[Mapping[str, object]], object]) -> Fileset:
        """Make a fileset of some of the samples. Use it for bookings that only these samples need.

        Parameters
        ----------
        wanted
            The name or names of samples, or a function that gets the metadata of a sample and says
            whether to take the sample. The item "dataset" of the metadata is the name of the
            sample.

        Returns
        -------
        Fileset
            The chosen samples, in the same order.

        Raises
        ------
        KeyError
            If no sample has one of the names.
        QueryError
            If no sample is chosen.

        Examples
        --------
        >>> fs = tm.fileset({"dy": "data/*.root:Events", "tt": "data/*.root:Events"})
        >>> list(fs.subset(["tt"]))
        ['tt']
        >>> list(fs.subset(lambda metadata: metadata["dataset"] != "tt"))
        ['dy']
        """
        if callable(wanted):
            known = {name: {"dataset": name, **each} for name, each in self.metadata.items()}
            names = [name for name, each in known.items() if wanted(each)]
        else:
            each = [wanted] if isinstance(wanted, str) else wanted
            names = [self[name].name for name in each]
        if not names:
            raise QueryError(f"subset() leaves none of the samples {', '.join(self)}")
        files = self._files.of_all(names)
        return Fileset(files, self._parts, with_missing=self._with_missing)

    # Columns.

    def define_per_file(self, name: str, function: OfFile) -> Fileset:
        """Add a column with one value for each file: see `Dataset.define_per_file`.

        Parameters
        ----------
        name
            The column's name, an identifier.
        function
            Called with a `DataFile`, which has `path`, `tree`, `dataset` and `metadata`.

        Returns
        -------
        Fileset
            The same samples, with one more column.

        Raises
        ------
        QueryError
            For a name that is taken; when it is run, if the value is no constant.

        Examples
        --------
        >>> fs = tm.fileset({"dy": "data/*.root:Events"}).define_per_file(
        ...     "is_first", lambda file: "_000" in file.path
        ... )
        >>> n, first = tm.run(fs.count(), fs.filter("is_first").count())
        >>> 0 < first["dy"] < n["dy"]
        True
        """
        chain = self.chain.with_constant(name, function)
        parts = replaced(self._parts, per_file=chain.per_file)
        return Fileset(self._files, parts, with_missing=self._with_missing)

    def __reduce__(self) -> tuple[type[Fileset], tuple[Files, ChainParts]]:
        return Fileset, (self._files, self._parts)

    def __eq__(self, other: object) -> bool:
        return self is other

    __hash__ = object.__hash__

    def _counts(self) -> Counter[str]:
        """The number of files of each sample."""
        return Counter(map(self.chain.dataset_of, range(len(self.chain.files))))

    def _repr_html_(self) -> str:
        from .pictures.html import table  # start-up

        counts = self._counts()
        rows = [
            [name, f"{counts[name]:,}", ", ".join(f"{k}: {v}" for k, v in metadata.items())]
            for name, metadata in self._metadata.items()
        ]
        return table(["sample", "files", "metadata"], rows)

    def __repr__(self) -> str:
        counts = self._counts()
        shown = ", ".join(f"{name}: {n}" for name, n in list(counts.items())[:6])
        more = f", and {len(counts) - 6} more" if len(counts) > 6 else ""
        return f"<fileset of {len(counts)} samples ({shown}{more} files)>"
