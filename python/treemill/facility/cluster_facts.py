"""Gathers the facts of a Dask cluster's processes. The only module here that meets distributed."""

from __future__ import annotations

import contextlib
import importlib.util
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, cast

from ..errors import MissingPackageError, WorkerError
from . import facts
from .fact_types import ProcessFacts
from .verdicts import Wiring

if TYPE_CHECKING:
    from distributed import Client

__all__ = ["gathered"]

# `eval` is the same function in every version of Python, and what it evaluates is text.
_CALL = "(exec(compile(source, 'facts', 'exec'), names) or names['gather'])(**wanted)"
_CLOCK = "__import__('time').time()"


def gathered(
    address: object, paths: Sequence[str] = (), packages: Sequence[str] = (), timeout: float = 30.0
) -> Wiring:
    """The facts of a cluster. `address` of its scheduler, or a Client, or a cluster object of
    Dask's. `paths`: files that workers should be able to read. `packages`: more packages to
    compare. `timeout`: seconds to wait for the scheduler, and for the first worker. Raises
    WorkerError if the scheduler or a worker does not answer."""
    with _client(address, timeout) as client:
        about = {"paths": list(paths), "packages": list(packages)}
        _first_worker(client, timeout)
        call = {"source": Path(facts.__file__).read_text(), "names": {}, "wanted": about}
        try:
            facts_by_worker = client.run(eval, _CALL, call)
            scheduler = client.run_on_scheduler(
                eval, _CALL, call | {"names": {}, "wanted": {"packages": list(packages)}}
            )
            clocks = _clocks(client)
        except Exception as error:
            raise WorkerError(
                f"a worker could not tell its facts: {type(error).__name__}: {error}"
            ) from error
        known = client.scheduler_info(n_workers=-1)["workers"]
        return Wiring(
            cast(ProcessFacts, facts.gather(paths, packages)),
            scheduler,
            facts_by_worker,
            clocks,
            {
                where: int(known[where]["memory_limit"] or 0)
                for where in facts_by_worker
                if where in known
            },
            {where: int(known[where]["nthreads"]) for where in facts_by_worker if where in known},
        )


@contextlib.contextmanager
def _client(address: object, timeout: float) -> Iterator[Client]:
    if importlib.util.find_spec("distributed") is None:
        raise MissingPackageError("clusters need distributed: pip install 'treemill[cluster]'")
    from distributed import Client

    if isinstance(address, Client):
        yield address
        return
    try:
        client = Client(address, timeout=timeout, set_as_default=False)
    except (OSError, TimeoutError, ValueError, TypeError) as error:
        raise WorkerError(
            f"no scheduler answers at {address} within {timeout:g} s ({error or 'it is silent'}): "
            "look whether it runs, and whether a firewall is between it and this host"
        ) from None
    try:
        yield client
    finally:
        client.close()


def _first_worker(client: Client, timeout: float) -> None:
    """Waits for a worker; that there is none is a verdict."""
    with contextlib.suppress(TimeoutError):
        client.wait_for_workers(1, timeout=timeout)


def _clocks(client: Client) -> dict[str, float]:
    """Returns how far each worker's clock is certainly wrong: it was asked between two looks at
    ours."""
    before = time.time()
    clocks: Mapping[str, float] = client.run(eval, _CLOCK)
    after = time.time()
    return {where: min(now - before, 0.0) or max(now - after, 0.0) for where, now in clocks.items()}
