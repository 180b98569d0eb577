"""Files on servers that a pass takes for what this process has seen last, before the servers have
answered: what is kept of them here is used meanwhile. The servers are asked in the background. The
results of the pass count once all have answered and nothing has changed. Knows no tree, no pass.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Mapping
from typing import Generic, TypeVar

from ..errors import SourceError
from . import source
from .open_tree import changed
from .source import Identity

__all__ = ["NO_ASSUMPTIONS", "Answer", "Assumptions"]

# A question to servers that is asked in the background. Knows neither files nor servers.

_Value = TypeVar("_Value")


def _on_a_thread(
    ask: Callable[[], _Value],
) -> Callable[[Callable[[_Value | Exception], None]], None]:
    """How an Answer begins to ask what keeps a thread until it is answered."""

    def begin(hear: Callable[[_Value | Exception], None]) -> None:
        def work() -> None:
            try:
                told: _Value | Exception = ask()
            except Exception as error:
                told = error
            hear(told)

        threading.Thread(target=work, name="treemill-open", daemon=True).start()

    return begin


class Answer(Generic[_Value]):
    """The answer to a question, when it comes. Thread-safe."""

    def __init__(self, begin: Callable[[Callable[[_Value | Exception], None]], None]) -> None:
        """`begin` asks without waiting, and gives the answer, or the error, to what it gets."""
        self._value: _Value | None = None
        self._error: Exception | None = None
        self._ended = threading.Event()
        self._then: list[Callable[[], None]] = []
        self._lock = threading.Lock()
        begin(self._hear)

    @property
    def is_here(self) -> bool:
        """True if `result` does not wait."""
        return self._ended.is_set()

    def result(self) -> _Value | None:
        """Waits for the answer; None if that was given up. Raises the error that came for it."""
        self._ended.wait()
        if self._error is not None:
            raise self._error
        return self._value

    def then(self, call: Callable[[], None]) -> None:
        """Calls this when there is a result: at once, or on the thread that tells. It must raise
        nothing, and not wait."""
        with self._lock:
            if not self._ended.is_set():
                self._then.append(call)
                return
        call()

    def give_up(self) -> None:
        """Ends the wait for the answer. One that has come stays."""
        self._ended.set()

    def _hear(self, told: _Value | Exception) -> None:
        if isinstance(told, Exception):
            self._error = told
        else:
            self._value = told
        with self._lock:
            self._ended.set()
            calls, self._then = self._then, []
        for call in calls:
            call()


class Assumptions:
    """The files that this process has had open, with their identities of then. Thread-safe."""

    def __init__(self, paths: Mapping[int, str]) -> None:
        """`paths`: the files' addresses by their numbers. Those that are not known are left out."""
        known = {number: source.assumed(path) for number, path in paths.items()}
        self.identities = {n: identity for n, identity in known.items() if identity is not None}
        """What the files are taken for, by their numbers."""
        self._paths = {number: paths[number] for number in self.identities}
        self._answer: Answer[Mapping[str, Identity]] | None = None

    def ask(self, *, soon: bool) -> None:
        """Begins to ask the servers, once. `soon`: whether the files will probably be read, and not
        only what is kept of them: then they are opened, too."""
        if self._answer is None and self._paths:
            asked = list(self._paths.values())
            # Only so many are opened: of those that are kept here it may not be necessary.
            self._answer = Answer(
                _on_a_thread(
                    lambda: source.identities(sorted(asked, key=source.is_kept), soon=soon)
                )
            )

    def is_certain(self) -> bool:
        """True if the servers have answered, and no file has changed. Waits for nothing."""
        if not self._paths:
            return True
        return self._answer is not None and self._answer.is_here and self.changed() is None

    def changed(self) -> SourceError | None:
        """The error for a file that is not what it was taken for, or of which its server does not
        tell; None if there is none. Asks the servers, and waits for them."""
        self.ask(soon=False)
        now = (None if self._answer is None else self._answer.result()) or {}
        differ = (n for n, it in self.identities.items() if now.get(self._paths[n]) != it)
        number = next(differ, None)
        return None if number is None else changed(self._paths[number])

    def when_changed(self, call: Callable[[], None]) -> None:
        """Calls this as soon as it is known that `changed` gives an error. It must not wait."""

        def answered() -> None:
            if self.changed() is not None:
                call()

        self.ask(soon=False)
        if self._answer is not None:
            self._answer.then(answered)

    def release(self) -> None:
        """Closes files that were opened by asking and that the pass, which is over, did not need:
        servers have only so many places for files that are open."""
        if self._paths:
            source.release(self._paths.values())

    def give_up(self) -> None:
        """Waits no longer for the servers, as if they did not tell."""
        if self._answer is not None:
            self._answer.give_up()


NO_ASSUMPTIONS = Assumptions({})
