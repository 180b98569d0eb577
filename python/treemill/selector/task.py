"""A selector in a form that can be sent: with its inputs apart, and on which data. Implements
worker.task.Task; knows no packet and no transport.
"""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from ..results.parts import client_here
from ..worker.workload import SpanWorkload

if TYPE_CHECKING:
    from .._core import Control
    from ..chain.chain import Chain
    from ..evaluation.task import QueryTask
    from ..worker.workload import Span, Workload
    from .node_columns import Derivation
    from .selector import Selector

__all__ = ["SelectorTask"]


class SelectorTask:
    """A selector on a chain, or on a number of cycles."""

    least_seconds = 0.1

    def __init__(
        self,
        selector: Selector,
        inputs: Mapping[str, Any],
        chain: Chain | None,
        *,
        cycles: int,
        seed: int,
        workers: int,
        spans: Sequence[Span] | None,
        derivation: Derivation | None = None,
        beside: QueryTask | None = None,
        schema: Any = None,
    ) -> None:
        """`beside`: bookings that the selector takes along. `schema`: see selecting.reader_of."""
        from .selector import commits_only_at_end  # start-up

        self._derivation = derivation
        self._beside = beside
        self._schema = schema

        self.inputs: Any = inputs
        self.commit_seconds = float("inf") if commits_only_at_end(selector) else 1.0
        self._selector = selector
        self._chain = None if chain is None else chain.pinned()
        self._cycles = cycles
        self._seed = seed
        self._workers = workers
        self._spans = spans
        self._client = client_here()

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"inputs": None}

    def preload(self) -> None:
        """What selectors read with, and fill, most of them."""
        import hist  # noqa: F401

        from . import chunk  # noqa: F401  # heavy: awkward
        from .workload import reader_of  # heavy: numpy

        reader_of(self._selector, self._schema)

    def control(self) -> Control:
        """The core's."""
        from treemill import _core  # heavy: core

        return _core.Control()

    def workload(self, number: int) -> Workload[Any]:
        """For one worker only: it has a selector of its own."""
        from .workload import SelectorWorkload  # heavy: numpy

        derived = None
        if self._derivation is not None:
            from .node_columns import Derived  # heavy: numpy

            assert self._chain is not None
            derived = Derived(self._derivation, self._chain)
        workload = SelectorWorkload(
            copy.deepcopy(self._selector),
            self.inputs,
            self._chain,
            cycles=self._cycles,
            seed=self._seed,
            workers=self._workers,
            name=str(number),
            derived=derived,
            beside=None if self._beside is None else self._beside.workload(number),
            client=self._client,
            schema=self._schema,
        )
        return workload if self._spans is None else SpanWorkload(workload, self._spans)

    def load(self, data: bytes) -> Any:
        """From another process."""
        from .partial import OutputPartial  # heavy: numpy

        return OutputPartial.loads(data, None if self._beside is None else self._beside.load)
