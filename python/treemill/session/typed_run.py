"""The types of `run` for type checkers: values have the types of their bookings. No code that runs.

What a user's function gets and a user's selector gives is Any: only the user knows its type.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypeVar, cast, overload

from .options import RunKeywords

if TYPE_CHECKING:
    from typing import Unpack

    from ..monitoring.watch import Feedback
    from ..query.booking import Booking
    from ..query.node import Bookable
    from ..workers.selector import Processor, Selector

__all__ = ["Run", "typed"]

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")
Key = TypeVar("Key")


class Options(RunKeywords, total=False):
    """The keywords of `Session.run`, which says what each means."""

    progress: bool | None
    feedback: Feedback | None


class Run(Protocol):
    """`Session.run`, and the function `treemill.run`."""

    @overload
    def __call__(self, a: Booking[A], /, **options: Unpack[Options]) -> A: ...

    @overload
    def __call__(
        self, a: Booking[A], b: Booking[B], /, **options: Unpack[Options]
    ) -> tuple[A, B]: ...

    @overload
    def __call__(
        self, a: Booking[A], b: Booking[B], c: Booking[C], /, **options: Unpack[Options]
    ) -> tuple[A, B, C]: ...

    @overload
    def __call__(
        self,
        a: Booking[A],
        b: Booking[B],
        c: Booking[C],
        d: Booking[D],
        /,
        **options: Unpack[Options],
    ) -> tuple[A, B, C, D]: ...

    @overload
    def __call__(
        self,
        a: Booking,
        b: Booking,
        c: Booking,
        d: Booking,
        e: Booking,
        /,
        *more: Booking,
        **options: Unpack[Options],
    ) -> tuple[Any, ...]: ...

    @overload
    def __call__(
        self, bookings: Mapping[str, Booking[A]], /, **options: Unpack[Options]
    ) -> dict[str, A]: ...

    @overload
    def __call__(
        self, bookings: Sequence[Booking[A]], /, **options: Unpack[Options]
    ) -> list[A]: ...

    @overload
    def __call__(
        self, nested: Mapping[Key, object] | Sequence[object], /, **options: Unpack[Options]
    ) -> Any: ...

    @overload
    def __call__(
        self,
        selector: Selector | Processor | Callable[[Any], Any],
        data: Bookable | Mapping[str, object] = ...,
        /,
        **options: Unpack[Options],
    ) -> Any: ...


def typed(run: Callable[..., object]) -> Run:
    """The function itself, to type checkers a `Run`."""
    return cast(Run, run)
