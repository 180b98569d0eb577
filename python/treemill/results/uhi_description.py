"""A histogram as UHI's serialisation describes it, and back. Its variances of means are those that
give the same histogram again."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..errors import UnsupportedError, warn
from .result_tree import Json

_OFF = {"Mean": "_sum_of_deltas_squared", "WeightedMean": "_sum_of_weighted_deltas_squared"}

_ROUNDING = 1e-9
"""The part of a sum of squares up to which deviations are rounding."""

if TYPE_CHECKING:
    from hist import Hist

__all__ = ["described", "from_description"]


def described(histogram: Hist, path: str, *, is_all: bool = True) -> Json:
    """UHI's description, with NumPy arrays. Warns of what it does not hold, if the description is
    all that is kept. Raises UnsupportedError for a histogram that UHI cannot describe."""
    import numpy as np

    try:
        description: Json = histogram._to_uhi_()
    except (AttributeError, TypeError, KeyError, NotImplementedError) as error:
        raise UnsupportedError(f"cannot save {path}: UHI does not describe it: {error}") from error
    storage = dict(description["storage"])
    if storage["type"] in ("mean", "weighted_mean"):
        # One value has no variance: it comes back as the sum of squared deviations, which is 0.
        variances = np.array(storage["variances"])
        is_known = np.isfinite(variances)
        storage["variances"] = np.where(is_known, variances, 0.0)
        # With weights of both signs there may be deviations, and no estimate of the variance.
        view = histogram.view(flow=True)
        off = np.abs(view[_OFF[histogram.storage_type.__name__]])
        weights = view["count" if storage["type"] == "mean" else "sum_of_weights"]
        lost = ~is_known & (off > _ROUNDING * np.abs(weights * view["value"] ** 2))
        if is_all and lost.any():
            warn(
                f"{path or 'the result'}: the squared deviations in {int(lost.sum())} bins are "
                "lost, because their weights give no variance: a .root file keeps them"
            )
    description["storage"] = storage
    return description


def from_description(description: Json) -> Hist:
    """The histogram, of which the description may have the filled bins only."""
    import numpy as np
    from hist import Hist

    if "index" in description["storage"]:
        from uhi.io import from_sparse  # younger than the rest of uhi.io

        description = from_sparse(description)
    histogram = Hist(description)
    off = _OFF.get(histogram.storage_type.__name__)
    if off is not None:  # a bin with at most one value has no deviations; its variance is NaN
        view = histogram.view(flow=True)
        view[off] = np.where(np.isfinite(view[off]), view[off], 0.0)
    return histogram
