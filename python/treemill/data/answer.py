"""A question to servers that is asked beside the caller. Knows neither files nor servers."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Generic, TypeVar

__all__ = ["Answer"]

_Value = TypeVar("_Value")


class Answer(Generic[_Value]):
    """What `ask` gives, on a thread of its own. Thread-safe."""

    def __init__(self, ask: Callable[[], _Value]) -> None:
        self._ask = ask
        self._value: _Value | None = None
        self._error: Exception | None = None
        self._ended = threading.Event()
        self._then: list[Callable[[], None]] = []
        self._lock = threading.Lock()
        threading.Thread(target=self._work, name="treemill-open", daemon=True).start()

    @property
    def is_here(self) -> bool:
        """True if `result` does not wait."""
        return self._ended.is_set()

    def result(self) -> _Value | None:
        """Waits for the answer; None if that was given up. Raises what `ask` has raised."""
        self._ended.wait()
        if self._error is not None:
            raise self._error
        return self._value

    def then(self, call: Callable[[], None]) -> None:
        """Calls this when there is a result: at once, or on the thread that asks. It must not wait,
        and raise nothing."""
        with self._lock:
            if not self._ended.is_set():
                self._then.append(call)
                return
        call()

    def give_up(self) -> None:
        """Ends the wait for the answer. One that has come stays."""
        self._ended.set()

    def _work(self) -> None:
        try:
            self._value = self._ask()
        except Exception as error:
            self._error = error
        finally:
            with self._lock:
                self._ended.set()
                calls, self._then = self._then, []
            for call in calls:
                call()
