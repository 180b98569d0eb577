"""Asks several places of one file the same question, one after the other: the first that answers is
heard. Knows no storage and no file.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import TypeVar

from ..errors import SourceError

__all__ = ["first_answer"]

Answer = TypeVar("Answer")

_PATIENCE = 1.0
"""Seconds after which the next place is asked, too."""


def first_answer(
    places: Sequence[str],
    ask: Callable[[str], Answer],
    patience: float = _PATIENCE,
    *,
    name: str | None = None,
) -> Answer:
    """Returns what the first of `places` to answer says. The next one is asked when one has failed,
    or when nothing was said for `patience` seconds. Raises SourceError if all fail, which says of
    each why. `name`: the file's name, which they share."""
    heard: SimpleQueue[tuple[int, Answer | None, Exception | None]] = SimpleQueue()

    def one(number: int) -> None:
        try:
            heard.put((number, ask(places[number]), None))
        except Exception as error:  # raised by the thread that waits
            heard.put((number, None, error))

    errors: dict[int, SourceError] = {}
    asked = 0
    while len(errors) < len(places):
        if asked < len(places):
            # A thread, since a place that is silent is not waited for when another one answers.
            threading.Thread(target=one, args=(asked,), daemon=True).start()
            asked += 1
        try:
            last = asked == len(places)
            number, answer, error = heard.get(timeout=None if last else patience)
        except Empty:
            continue
        if error is None:
            return answer  # type: ignore[return-value]
        if not isinstance(error, SourceError):
            raise error
        errors[number] = error
    reasons = "; ".join(f"{place}: {errors[n].message}" for n, place in enumerate(places))
    raise SourceError(f"no replica can be opened: {reasons}", file=name)
