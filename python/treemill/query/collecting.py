"""The methods of nodes and datasets that ask for values themselves.

Pure: standard library, errors and the query only.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, overload

from ..faces import face
from ..language.expression import parse
from .booking import Booking, Located
from .quantities import named_columns
from .rows import MOST_BYTES, Arrays, Take
from .steps import Params

if TYPE_CHECKING:
    import awkward

    from .booking import Array

__all__ = ["Collects"]


@face()
class Collects(Located):
    """Methods of nodes and datasets."""

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
            The largest number of bytes: all values are in memory.
        params
            Constants by name, as for `with_params`.

        Returns
        -------
        Booking
            For one expression its values, a numpy array if there is one per entry, else an awkward
            array. For a list or a mapping an awkward array of records, as `arrays` computes now.

        Raises
        ------
        QueryError
            For expressions that make no sense; when the query is run, if it is more than `limit`.

        Examples
        --------
        >>> met = events.take("MET_pt")
        >>> muons = events.filter("nMuon >= 2").take(["Muon_pt", "MET_pt"])
        >>> len(met.value) == events.num_entries, muons.value.fields
        (True, ['Muon_pt', 'MET_pt'])
        """
        if isinstance(columns, str):
            return Booking(self._with(params), Take(((columns, parse(columns)),), limit))
        rows = Arrays(named_columns(columns, self._names), limit)
        return Booking(self._with(params), rows)

    def arrays(
        self,
        names: str | Sequence[str] | Mapping[str, str] | None = None,
        start: int | None = None,
        stop: int | None = None,
    ) -> awkward.Array:
        """Compute columns of the entries that arrive here, now.

        Parameters
        ----------
        names
            Expressions or globs, or a mapping of names to expressions; None: all columns.
        start, stop
            Only of these entries of the dataset, counted before any filter; negative ones from its
            end.

        Returns
        -------
        awkward.Array
            Records, in the order of entries. `take` books the same.

        Raises
        ------
        QueryError, UnsupportedError
            For a name that does not exist; for a branch that cannot be read.

        Examples
        --------
        >>> events.filter("nMuon >= 2").arrays(["MET_pt", "Muon_pt"], stop=1000).fields
        ['MET_pt', 'Muon_pt']
        """
        node = self._with(None)
        columns = "*" if names is None else names
        rows = Arrays(named_columns(columns, self._names), sys.maxsize)
        return node.origin.services.arrays(Booking(node, rows), start, stop)
