"""Whether the files of a pass are at its end what they were when it began.

A worker looks after each of its packets. What no worker sees is a file that changes between the
packets of one process and those of another one, or after its last packet. Knows no worker.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ..backends.base import Pass, Pool
from ..errors import FormatError, SourceError
from ..workers.workload import Span

if TYPE_CHECKING:
    from ..data.chain import Chain

__all__ = ["Unchanged"]


class Unchanged:
    """The files of one pass, as this process has seen them."""

    def __init__(self, chain: Chain, spans: Sequence[Span] | None, pool: Pool) -> None:
        """`chain`: for the pass. `spans`: the parts of files to go through; None: all entries of
        all files. To be made before the pass begins: workers of other processes look by
        themselves, later."""
        self._chain = chain
        self._spans = spans
        if not pool.remembers:
            numbers = range(len(chain.locations))
            chain.trees.look(numbers if spans is None else {file for file, *_ in spans})

    def error(self, ended: Pass, error: BaseException | None) -> BaseException | None:
        """The error of a pass that has ended with `error`: of a file that has changed since and of
        which entries are in the result, or that may be why the pass has failed."""
        if error is not None:
            is_of_bytes = isinstance(error, (FormatError, SourceError))
            return (self._chain.changed() if is_of_bytes else None) or error
        places = ended.coverage().processed
        files = places if self._spans is None else {self._spans[place][0] for place in places}
        return self._chain.changed(files) or self._chain.friends.changed()
