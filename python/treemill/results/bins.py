"""The bins of histograms, for those that are added or compared bin by bin. Knows no file and no
plot.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from hist import Hist

__all__ = ["bins_of"]


def bins_of(histogram: Hist) -> list[list[object]]:
    """What the bins of each axis are: edges, or the values of an axis that is not continuous.
    Names, labels and flow bins do not count."""
    return [
        [float(edge) for edge in axis.edges]
        if axis.traits.continuous
        else [axis.value(i) for i in range(axis.size)]
        for axis in histogram.axes
    ]
