"""What a run with checkpoint= keeps, and what it is of: the files, the part of them, what is
computed.

Whatever decides the numbers is in the fingerprint; how many workers there are is not. Knows chains
and how they are described; knows no pass and no worker.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from types import BuiltinFunctionType, FunctionType, MethodType
from typing import TYPE_CHECKING, cast

from ..backends.base import Pool
from ..backends.checkpoint_writer import Checkpointing
from ..checkpoint import (
    Fingerprint,
    Folder,
    Wanted,
    by_attribute,
    digest,
    evaluator,
    versions,
)
from ..data.source import is_far
from ..errors import SourceError, TreemillError, UnsupportedError
from ..workers.selector import Selector, commits_only_at_end, given_for
from ..workers.workload import Partial

if TYPE_CHECKING:
    from ..data.chain import Chain
    from ..data.friend_columns import FriendChain
    from ..data.friends import Friends
    from ..workers.workload import Span

__all__ = [
    "QueryCheckpoint",
    "certain_of_selector",
    "folder_for",
    "of_selector",
    "refuse_end_worker",
]


@dataclass(frozen=True)
class QueryCheckpoint:
    """What one query of a run keeps."""

    folder: Folder
    number: int
    """The number of the query in the run."""
    by_content: bool = False
    """Whether a pass is known by all that it is of, as what is remembered is: another pass is
    another checkpoint. Else there is one for each query of a run."""

    def checkpointing(
        self,
        name: str,
        chain: Chain | None,
        spans: Sequence[Span] | None,
        parts: Mapping[str, str],
        check: Callable[[Partial], None],
    ) -> Checkpointing:
        """Returns what is kept of the pass with this name. `chain`: as the pass sees it; None if
        there is no data. `parts`: digests of what is computed. `check` raises an error about a
        partial that cannot be kept. Raises what is wrong with the checkpoint."""
        wanted = Wanted(
            Fingerprint(versions(), {**parts, **_described(chain, spans, self.by_content)}),
            *_files(chain, spans),
        )
        of: int | str = self.number
        if self.by_content:
            about = wanted.fingerprint
            of = digest([dict(about.versions), dict(about.parts), dict(wanted.identities)])
        checkpoint = self.folder.checkpoint(f"{of}-{name}", wanted)
        what = 'remember="code"' if self.by_content else "checkpoint="
        try:
            return Checkpointing(checkpoint, checkpoint.load(), check, what)
        except BaseException:
            checkpoint.close()
            raise


def folder_for(checkpoint: str | os.PathLike[str], pool: Pool) -> Folder:
    """The folder in which a run keeps what it has done. Raises what is wrong with it."""
    if not pool.keeps:
        raise UnsupportedError(
            f"checkpoint= is not supported with {pool.kind}: leave it out, or use "
            "connect(workers=…, mode=…)"
        )
    return Folder(checkpoint)


def of_selector(selector: Selector) -> dict[str, str]:
    """The parts of a selector."""
    code = given_for(selector)
    is_code = isinstance(code, FunctionType | MethodType | BuiltinFunctionType | partial | tuple)
    parts = {"code": digest(code)} if is_code else by_attribute(code)
    return {f"{selector.title}'s {name}": each for name, each in parts.items()}


def certain_of_selector(selector: Selector) -> dict[str, str]:
    """The parts of a selector whose output is remembered. Raises UnsupportedError if it is not
    certain what its code depends on."""
    code = digest(given_for(selector), certain=True)
    return {"code": code, "evaluator": digest(evaluator())}


def refuse_end_worker(selector: Selector) -> None:
    """Raises UnsupportedError if nothing could be kept before the selector is done."""
    if commits_only_at_end(selector):
        raise UnsupportedError(
            f"{selector.title} has end_worker, so that workers hand over their output only when "
            "they are done: checkpoint= would keep nothing. Do in end what end_worker does, or "
            "leave checkpoint= out"
        )


def _described(
    chain: Chain | None, spans: Sequence[Span] | None, by_content: bool
) -> dict[str, str]:
    if chain is None:
        return {}
    metadata = chain.name, chain.metadata, [x.metadata for x in chain.locations]
    numbers = range(len(chain.locations)) if chain.per_file else ()
    constants = [_given(chain, number) for number in numbers]
    return {
        "files": digest([str(location) for location in chain.locations]),
        "part of the data": digest(spans and list(spans)),
        "selected entries": digest(chain.selected),
        "defaults": digest(chain.trees.missing.defaults),
        "metadata": digest(metadata, exact=by_content),
        "constants of files": digest([*constants, chain.is_fileset]),
        "friends": digest(_joined(chain)),
        "arrays": digest(chain.friends.arrays),
    }


def _given(chain: Chain, number: int) -> object:
    """What users' functions give for a file: they may look at files, too."""
    try:
        return chain.constants.given(number)
    except TreemillError as error:  # the worker that reads the file will say so
        return str(error)


def _joined(chain: Chain | FriendChain, above: tuple[tuple[str, ...], ...] = ()) -> list[object]:
    """What decides the values of friends' columns. `above`: the files of the chains that this one
    is a friend of, as files may record each other."""
    found: list[object] = []
    friends, files = cast("Friends", chain.friends), tuple(map(str, chain.locations))
    if files in above:
        return found
    for each in (*friends.given, *friends.recorded(chain)):
        theirs, own = each.chain, cast("Friends", each.chain.friends)
        about = each.alias, each.index, [*map(str, theirs.locations)], _identities(theirs)
        defaults, inner = theirs.trees.missing.defaults, _joined(theirs, (*above, files))
        found.append((*about, defaults, inner, own.arrays))
    return found


def _files(
    chain: Chain | None, spans: Sequence[Span] | None
) -> tuple[Sequence[str], Mapping[int, str]]:
    """The names of the pass's files and digests of their identities."""
    if chain is None:
        return ["cycles"], {0: "cycles"}
    digests = _identities(chain)
    if spans is None:
        return chain.files, digests
    numbers = [number for number, _, _ in spans]
    identities = {at: digests[number] for at, number in enumerate(numbers) if number in digests}
    return [chain.files[number] for number in numbers], identities


def _identities(chain: Chain | FriendChain) -> dict[int, str]:
    """Digests of the identities of the files that are there. For a local file its size and the
    time of its last change count: after a restart its device may have another number."""
    digests = {}
    chain.trees.identify()
    for number, location in enumerate(chain.locations):
        try:
            size, changed, marks = chain.trees.identity(number)
        except SourceError:
            continue  # the worker that opens it will say so, or not, if errors are skipped
        digests[number] = digest(
            (size, changed, marks if is_far(location.path) and not location.replicas else ())
        )
    return digests
