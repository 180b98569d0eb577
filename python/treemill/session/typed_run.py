"""What type checkers know of `run`: values have the types of their bookings. No code that runs."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Protocol, TypedDict, TypeVar, cast, overload

if TYPE_CHECKING:
    from typing import Unpack

    from ..query.booking import Booking
    from ..query.node import Bookable
    from ..selector.selector import Selector

__all__ = ["Run", "typed"]

A = TypeVar("A")
B = TypeVar("B")
C = TypeVar("C")
D = TypeVar("D")


class Options(TypedDict, total=False):
    """`Session.run` says what each means."""

    inputs: Mapping[str, Any] | None
    progress: bool | None
    feedback: Any
    on_error: str
    entries: Any
    max_files: int | None
    cycles: int | None
    seed: int
    schema: Any


class Processor(Protocol):
    """As coffea's."""

    def process(self, events: Any, /) -> Any:
        """See coffea."""

    def postprocess(self, accumulator: Any, /) -> Any:
        """See coffea."""


class Run(Protocol):
    """As a session's method, and as the function."""

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
        a: Booking[Any],
        b: Booking[Any],
        c: Booking[Any],
        d: Booking[Any],
        e: Booking[Any],
        /,
        *more: Booking[Any],
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
        self, nested: Mapping[Any, object] | Sequence[object], /, **options: Unpack[Options]
    ) -> Any: ...

    @overload
    def __call__(
        self,
        selector: Selector | Processor | Callable[[Any], Any],
        data: Bookable | Mapping[str, Any] = ...,
        /,
        **options: Unpack[Options],
    ) -> Any: ...


def typed(run: Callable[..., Any]) -> Run:
    """The same function, with these types."""
    return cast(Run, run)
