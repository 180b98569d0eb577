"""What is wrong with the files of a fileset, from what was seen of each. Pure."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..errors import QueryError, SourceError
from ..frozen import frozen

__all__ = ["Finding", "Seen", "VerifiedFile", "findings", "verified_of"]

# What `treemill dataset verify` has found of a file and wrote into its list, so that later runs
# need not open the file to plan; and whether the file is still the same when it is opened. Pure.


@frozen
class VerifiedFile:
    """A file, as it was when it was verified."""

    size: int
    """Bytes."""
    entries: int
    clusters: tuple[int, ...]
    """The first entry of each cluster."""
    uuid: str | None = None
    """The UUID in the file's header; None if it has none."""

    def check(self, path: str, size: int, uuid: str | None, entries: int) -> None:
        """Raises SourceError if the file at this path is another one now."""
        actual = {"size": size, "UUID": uuid, "number of entries": entries}
        noted = {"size": self.size, "UUID": self.uuid, "number of entries": self.entries}
        for what, now in actual.items():
            then = noted[what]
            if then != now and then is not None:
                raise SourceError(
                    f"{path} is not the file that was verified: its {what} was {then}, and now is "
                    f"{now}. Verify the fileset again: treemill dataset verify",
                    file=path,
                )

    def to_json(self) -> dict[str, object]:
        """Returns what the list has of it."""
        document: dict[str, object] = {"num_entries": self.entries, "size": self.size}
        if self.uuid is not None:
            document["uuid"] = self.uuid
        return {**document, "clusters": list(self.clusters)}


def verified_of(file: Mapping[str, object], of: str) -> VerifiedFile | None:
    """Returns what a fileset says of a file; None if the file was not verified. Raises QueryError
    for what makes no sense. `of`: the fileset, for messages."""
    if "num_entries" not in file or "size" not in file or "clusters" not in file:
        return None
    size, entries, clusters = file["size"], file["num_entries"], file["clusters"]
    uuid = file.get("uuid")
    if not (
        isinstance(size, int)
        and size >= 0
        and isinstance(entries, int)
        and (type(clusters) is list or isinstance(clusters, Sequence))
        and _ascend(clusters, entries)
    ):
        raise QueryError(
            f"{of}: a verified file has size, num_entries and clusters, which are numbers and the "
            "first entries of clusters: treemill dataset verify writes them"
        )
    return VerifiedFile(size, entries, tuple(clusters), str(uuid) if uuid else None)


def _ascend(clusters: Sequence[object], entries: int) -> bool:
    before = -1
    for first in clusters:
        if not isinstance(first, int) or not before < first <= entries:
            return False
        before = first
    return entries >= 0


_NAMED = 3
"""Branches that a finding names, at most."""


@dataclass(frozen=True)
class Seen:
    """A file, as it was seen."""

    dataset: str
    path: str
    """Its address, as the fileset has it."""
    real: str
    """Its address, by which files are told apart."""
    tree: str | None
    """The tree, as it is called in the file."""
    verified: VerifiedFile | None = None
    """None if it could not be opened."""
    branches: Mapping[str, str] | None = None
    """The types of the branches, by name."""
    stored: tuple[int, ...] = ()
    """The stored bytes of each branch."""
    kind: str = ""
    """Why it could not be opened: missing, truncated or unreadable."""
    reason: str = ""
    """The same in words."""


@dataclass(frozen=True)
class Finding:
    """Something that is wrong with a file."""

    number: int
    """The file's place in the fileset."""
    kind: str
    """missing, truncated, unreadable, doubled, shared, uuid or tree."""
    dataset: str
    path: str
    text: str
    left_out: bool
    """Whether the list of sound files goes without it."""


def findings(inspected: Sequence[Seen], is_same: Callable[[Seen, Seen], bool]) -> list[Finding]:
    """Returns what is wrong, in the order of the files. `is_same`: whether two files whose trees
    look alike have the same entries; it is asked of such files only."""
    problems: list[Finding] = []
    sound: list[tuple[int, Seen]] = []
    before = _Before(is_same)
    for number, each in enumerate(inspected):
        if each.verified is None:
            problem = Finding(number, each.kind, each.dataset, each.path, each.reason, True)
            problems.append(problem)
            continue
        twin = before.twin(number, each)
        if twin is not None:
            problems.append(twin)
        if twin is None or not twin.left_out:
            sound.append((number, each))
    return sorted([*problems, *_differing(sound)], key=lambda finding: finding.number)


class _Before:
    """The files before one, by what tells them apart."""

    def __init__(self, is_same: Callable[[Seen, Seen], bool]) -> None:
        self._is_same = is_same
        self._places: dict[str, list[Seen]] = {}
        self._uuids: dict[str, Seen] = {}
        self._alike: dict[object, list[Seen]] = {}

    def twin(self, number: int, each: Seen) -> Finding | None:
        """Whether a file before this one is the same. Notes this one."""
        assert each.verified is not None
        looks = each.verified.entries, each.stored
        places = self._places.setdefault(f"{each.real}:{each.tree}", [])
        alike = self._alike.setdefault(looks, [])
        uuid = each.verified.uuid
        known = each if uuid is None else self._uuids.setdefault(f"{uuid}:{each.tree}", each)
        first = self._twin(number, each, places, alike, known)
        places.append(each)
        alike.append(each)
        return first

    def _twin(
        self, number: int, each: Seen, places: list[Seen], alike: list[Seen], known: Seen
    ) -> Finding | None:
        for other in _own_first(each, places):
            return _doubled(number, each, other, "the same file")
        assert each.verified is not None
        # Files without entries look alike, and are not doubled by that.
        for other in _own_first(each, alike) if each.verified.entries else ():
            if self._is_same(each, other):
                same = "same UUID" if known is other else "other UUID"
                return _doubled(number, each, other, f"the same content ({same})")
        if known is each:
            return None
        text = f"has the UUID of {known.path}, and other content: is one of them an older version?"
        return Finding(number, "uuid", each.dataset, each.path, text, False)


def _own_first(each: Seen, others: Iterable[Seen]) -> list[Seen]:
    """The others, those of the same sample first."""
    return sorted(others, key=lambda other: other.dataset != each.dataset)


def _doubled(number: int, each: Seen, other: Seen, what: str) -> Finding:
    """Makes a finding of two equal files. In one sample the second one is left out; two samples
    may share a file on purpose."""
    within = each.dataset == other.dataset
    place = other.path if within else f"{other.path} of {other.dataset!r}"
    kind = "doubled" if within else "shared"
    return Finding(number, kind, each.dataset, each.path, f"{what} as {place}", within)


def _differing(inspected: Iterable[tuple[int, Seen]]) -> Iterable[Finding]:
    """Files whose trees differ from the first one of their sample."""
    firsts: dict[str, Seen] = {}
    for number, each in inspected:
        first = firsts.setdefault(each.dataset, each)
        if each.branches is first.branches or each.branches is None or first.branches is None:
            continue
        text = "; ".join(_differences(each.branches, first.branches))
        if text:
            text = f"{text}, compared with {first.path}"
            yield Finding(number, "tree", each.dataset, each.path, text, False)


def _differences(mine: Mapping[str, str], theirs: Mapping[str, str]) -> Iterable[str]:
    common = [name for name in theirs if name in mine]
    changed = [name for name in common if mine[name] != theirs[name]]
    yield from _named("lacks", [name for name in theirs if name not in mine])
    yield from _named("has also", [name for name in mine if name not in theirs])
    retyped = [f"{name} ({mine[name]}, not {theirs[name]})" for name in changed]
    yield from _named("has other types of", retyped)


def _named(verb: str, names: Sequence[str]) -> Iterable[str]:
    if names:
        more = f" and {len(names) - _NAMED} more" if len(names) > _NAMED else ""
        yield f"{verb} {', '.join(names[:_NAMED])}{more}"
