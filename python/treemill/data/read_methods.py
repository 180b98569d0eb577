"""The methods of datasets that read columns now, as Arrow, awkward or NumPy. The dataset's query
computes the expressions among them.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ..public_api import public_class
from .chain import Chain

if TYPE_CHECKING:
    import awkward
    import numpy.typing as npt
    import pyarrow

    from .chunked_columns import ChunkedColumns
    from .reader import Names

__all__ = ["ReadMethods"]


@public_class()
class ReadMethods:
    """Reads columns of a chain."""

    chain: Chain

    def _computed(
        self, exprs: Sequence[str], start: int | None, stop: int | None
    ) -> list[awkward.Array]:
        """Compute an awkward array for each expression, for the entries `[start, stop)`."""
        raise NotImplementedError

    def read(
        self,
        names: Names = None,
        start: int | None = None,
        stop: int | None = None,
    ) -> ChunkedColumns:
        """Read columns now, of one type over all files.

        Parameters
        ----------
        names
            Names of branches, globs or expressions, or a mapping of names to them; None: all that
            can be read (what turns out to be unreadable is left out, with a warning).
        start, stop
            Entries `[start, stop)`, counted over the whole chain; negative ones from its end.

        Returns
        -------
        ChunkedColumns
            Columns that you can turn into Arrow, awkward or NumPy.

        Raises
        ------
        QueryError
            For an unknown name.
        UnsupportedError
            For a branch that treemill cannot read.

        Examples
        --------
        >>> events.read(["MET_pt"], stop=10).names
        ('MET_pt',)
        """
        return self._read(names, start, stop)

    def _read(
        self,
        names: Names,
        start: int | None,
        stop: int | None,
        flags: bool = False,
    ) -> ChunkedColumns:
        from .reader import read  # heavy: core

        return read(self.chain, names, start, stop, self._computed, flags)

    def arrays(
        self,
        names: Names = None,
        start: int | None = None,
        stop: int | None = None,
    ) -> awkward.Array:
        """Read columns now, as an awkward array of records with uproot's layout and field names.

        Parameters
        ----------
        names
            Names of branches, globs or expressions, or a mapping of names to them; None: all that
            can be read (what turns out to be unreadable is left out, with a warning).
        start, stop
            Entries `[start, stop)`, counted over the whole chain; negative ones from its end.

        Returns
        -------
        awkward.Array
            Records.

        Raises
        ------
        QueryError
            For an unknown name.
        UnsupportedError
            For a branch that treemill cannot read.

        Examples
        --------
        >>> events.arrays(["Muon_pt", "MET_pt"], start=0, stop=1000).fields
        ['Muon_pt', 'MET_pt']
        """
        return self._read(names, start, stop, flags=True).to_awkward()

    def to_arrow(
        self,
        names: Names = None,
        start: int | None = None,
        stop: int | None = None,
    ) -> pyarrow.Table:
        """Read columns now, as an Arrow table. It needs pyarrow: `pip install "treemill[arrow]"`.

        Parameters
        ----------
        names
            Names of branches, globs or expressions, or a mapping of names to them; None: all that
            can be read (what turns out to be unreadable is left out, with a warning).
        start, stop
            Entries `[start, stop)`, counted over the whole chain; negative ones from its end.

        Returns
        -------
        pyarrow.Table
            One chunk per file.

        Raises
        ------
        QueryError
            For an unknown name.
        UnsupportedError
            For a branch that treemill cannot read.

        Examples
        --------
        >>> events.to_arrow("MET_pt", stop=5).num_rows
        5
        """
        return self.read(names, start, stop).to_arrow()

    def to_numpy(
        self,
        names: Names = None,
        start: int | None = None,
        stop: int | None = None,
    ) -> dict[str, npt.NDArray[Any]]:
        """Read columns now, as NumPy arrays by name.

        Parameters
        ----------
        names
            Names of branches, globs or expressions, or a mapping of names to them; None: all that
            can be read (what turns out to be unreadable is left out, with a warning).
        start, stop
            Entries `[start, stop)`, counted over the whole chain; negative ones from its end.

        Returns
        -------
        dict
            Jagged branches are object arrays of arrays.

        Raises
        ------
        QueryError
            For an unknown name.
        UnsupportedError
            For a branch that treemill cannot read.

        Examples
        --------
        >>> events.to_numpy("MET_pt", stop=5)["MET_pt"].dtype
        dtype('float32')
        """
        return self._read(names, start, stop, flags=True).to_numpy()
