"""`treemill.plot`, which is a function that has others: `treemill.plot.stack`."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, ParamSpec, Protocol, TypeVar, cast

from .showing import plot as _plot
from .stacking import stack

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["plot"]

_P = ParamSpec("_P")
_Stack = TypeVar("_Stack")
_Stack_co = TypeVar("_Stack_co", covariant=True)


class _Plot(Protocol[_P, _Stack_co]):
    """A function that draws, with another one that stacks."""

    __name__: str

    def __call__(self, *args: _P.args, **kwargs: _P.kwargs) -> Figure: ...

    @property
    def stack(self) -> _Stack_co: ...


def _with(plot: Callable[_P, Figure], stack: _Stack) -> _Plot[_P, _Stack]:
    # The function itself, so that help() and signatures are those of functions.
    plot.stack = stack  # type: ignore[attr-defined]
    return cast("_Plot[_P, _Stack]", plot)


plot = _with(_plot, stack)
