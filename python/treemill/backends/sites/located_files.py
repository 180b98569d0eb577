"""The addresses of files at the hosts that have them, for all leases of a pass: servers are asked
once for all files, when a lease wants to know for the first time, and later leases begin with the
answers. One thread asks. Knows no site and no lease."""

from __future__ import annotations

import threading
from collections.abc import Collection, Iterator, Sequence

from ..base import Request

__all__ = ["LocatedFiles"]


class LocatedFiles:
    """What servers have said so far."""

    def __init__(self, request: Request) -> None:
        """`request`: for the pass of all sites."""
        self._files = range(len(request.files))
        self._given = request.addresses
        self._ask = request.locate
        self._found: dict[int, Sequence[str]] = {}
        self._asked = self._over = False
        self._changed = threading.Condition()
        """Guards all that changes."""

    def addresses(self) -> dict[int, Sequence[str]]:
        """See Request: those that are given, and those that servers have named."""
        given = self._given()
        with self._changed:
            return {**given, **self._found}

    def locate(self, wanted: Collection[int]) -> Iterator[dict[int, Sequence[str]]]:
        """See Request. It ends when all of these files are known, or servers have answered for
        all."""
        with self._changed:
            begins, self._asked = not self._asked, True
        if begins:
            threading.Thread(target=self._work, name="treemill-locate", daemon=True).start()
        unknown = set(wanted)
        while unknown and (found := self._known_of(unknown)):
            unknown -= found.keys()
            yield found

    def _known_of(self, files: Collection[int]) -> dict[int, Sequence[str]]:
        """Waits until something is known of any of these; nothing, if nothing more will be."""
        with self._changed:
            self._changed.wait_for(lambda: self._over or not self._found.keys().isdisjoint(files))
            return {file: self._found[file] for file in sorted(files) if file in self._found}

    def end(self) -> None:
        """Asks for no further files."""
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def _work(self) -> None:
        try:
            for found in self._ask(self._files) if self._ask is not None else ():
                with self._changed:
                    if self._over:
                        return
                    self._found.update(found)
                    self._changed.notify_all()
        finally:
            self.end()
