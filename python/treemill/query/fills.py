"""The methods of nodes and datasets that book histograms and profiles. Fills nothing.

Pure: standard library, errors and the query only.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..errors import QueryError
from ..faces import face
from ..language.expression import Weight, parse, weighted
from .axes import axes_from_bins, names_of
from .booking import Booking, Located, steps_to
from .quantities import Hist
from .steps import Params, Vary
from .storages import storage_like, storage_of

if TYPE_CHECKING:
    from hist import Hist as Filled

__all__ = ["Fills"]

VARIATION = "variation"
"""What stands for variations among items of the metadata."""

Labels = str | Sequence[str | None] | None


@face()
class Fills(Located):
    """Methods of nodes and datasets."""

    __slots__ = ()

    def hist(
        self,
        *exprs: str,
        bins: object = None,
        weight: Weight = None,
        range: object = None,  # noqa: A002 - as numpy and matplotlib call it
        name: str | None = None,
        label: Labels = None,
        storage: object = None,
        params: Params = None,
        stack: str | Sequence[str] | None = None,
    ) -> Booking[Filled]:
        """Book a histogram.

        Parameters
        ----------
        *exprs
            One expression per dimension. Each value fills; each item of a list does.
        bins
            Per dimension the number of bins, `(number, low, high)`, a list of edges, or an axis of
            hist or boost-histogram; for one dimension alone, or in a list for several.
        weight
            An expression, or a number. Bins then hold sums of weights and of their squares
            (storage Weight), else counts (storage Double).
        range
            `(low, high)`, for one dimension alone or in a list for several. If an axis needs a
            range and none is given, a first pass over the same columns finds it.
        name
            The histogram's name.
        label
            The axis's label, or a list of one for each axis.
        storage
            One of hist's storages or its name, such as "Weight" for a histogram without weights
            that will be added to others with weights. None: if `bins` is a histogram, its storage
            unless that is Double.
        params
            Constants by name, as for `with_params`.
        stack
            Of a fileset: "dataset", or an item of the metadata such as "process", for one histogram
            with an axis of categories of this name before the others. Below `vary`: "variation",
            for one histogram with an axis of "nominal" and all variations. A list for both. None:
            one histogram for each data set and each variation that changes it.

        Returns
        -------
        Booking
            Its value is a `hist.Hist`; below `vary`, a `Variations` of these; on a fileset, a
            `ByDataset` of either.

        Raises
        ------
        QueryError
            For arguments that make no sense, with the place in the expression; when the query is
            run, for unknown columns.

        Examples
        --------
        >>> pt = events.hist("Muon_pt", bins=(50, 0, 100), weight="1.5")
        >>> muons = events.filter("nMuon >= 1")
        >>> both = muons.hist("Muon_eta[0]", "MET_pt", bins=[20, (10, 0, 200)])
        >>> pt.value.axes[0].size, both.value.ndim
        (50, 2)
        """
        more = (name, label, storage, params)
        return self._binned("hist", exprs, bins, range, weight, *more, stack=stack)

    def profile(
        self,
        *exprs: str,
        sample: str,
        bins: object = None,
        weight: Weight = None,
        range: object = None,  # noqa: A002 - as for hist
        name: str | None = None,
        label: Labels = None,
        storage: object = None,
        params: Params = None,
    ) -> Booking[Filled]:
        """Book the mean of `sample` in each bin, as ROOT's TProfile.

        Parameters
        ----------
        sample
            The expression whose mean is taken.
        *exprs, bins, weight, range, name, label, storage, params
            As for `hist`.

        Returns
        -------
        Booking
            Its value is a `hist.Hist` with storage Mean; with a weight WeightedMean.

        Raises
        ------
        QueryError
            For arguments that make no sense.

        Examples
        --------
        >>> response = events.profile("MET_pt", sample="sum(Jet_pt)", bins=(10, 0, 100))
        >>> response.value.kind.name
        'MEAN'
        """
        more = (name, label, storage, params, sample)
        return self._binned("profile", exprs, bins, range, weight, *more)

    def _binned(
        self,
        method: str,
        exprs: Sequence[str],
        bins: object,
        limits: object,
        weight: Weight,
        name: str | None,
        label: Labels,
        storage: object,
        params: Params,
        sample: str | None = None,
        stack: str | Sequence[str] | None = None,
    ) -> Booking:
        stacked = _stacked(stack)
        if not exprs:
            raise QueryError(f"{method}() needs an expression to fill with")
        parsed = tuple([parse(expr) for expr in exprs])
        axes = tuple(axes_from_bins(bins, len(parsed), limits))
        names_of(axes)
        labels = tuple(label) if isinstance(label, list | tuple) else (label,)
        if not all(word is None or isinstance(word, str) for word in (name, *labels)):
            raise QueryError(f"names and labels are strings; got {name!r}, {label!r}")
        if len(labels) > len(parsed):
            raise QueryError(f"{len(labels)} labels for {len(parsed)} axes")
        labels += (None,) * (len(parsed) - len(labels))
        sampled = None if sample is None else parse(sample)
        kind = sample is not None, weight is not None
        kept = storage_of(storage_like(bins, *kind) if storage is None else storage, *kind)
        wanted = Hist(parsed, axes, weighted(weight), name, labels, sampled, kept, *stacked)
        node = self._with(params)
        if stacked[1] and not any(isinstance(each.step, Vary) for each in steps_to(node)):
            raise QueryError(f'stack="{VARIATION}" is for histograms below vary()')
        if stacked[0] is not None and not node.origin.chain.is_fileset:
            raise QueryError(
                "stack= is for the data sets of a fileset: treemill.fileset({name: files, …})"
            )
        return Booking(node, wanted)


def _stacked(stack: str | Sequence[str] | None) -> tuple[str | None, bool]:
    """The item of the metadata by which data sets are stacked, and whether variations are."""
    if stack is None:
        return None, False
    named = [stack] if isinstance(stack, str) else stack
    several = list(named) if isinstance(named, Sequence) else []
    items = [each for each in several if each != VARIATION]
    if not several or len(items) > 1 or not all(isinstance(each, str) for each in several):
        raise QueryError(
            f'stack= is an item of the metadata, "{VARIATION}", or a list of both; got {stack!r}'
        )
    return (items[0] if items else None), VARIATION in several
