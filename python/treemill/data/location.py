"""Makes (path, tree) pairs of what a user writes for a dataset: globs, lists, dictionaries,
"file.root:Events", "@list.txt".

Asks data/source.py for directories and list files; opens no ROOT file.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import field
from functools import lru_cache
from itertools import repeat
from typing import TYPE_CHECKING, Any, Protocol, TypeAlias

from .._system.files import working_folder
from .._system.memory import without_collector
from ..errors import QueryError, SourceError, without_credentials
from ..frozen import frozen, replaced
from . import source

if TYPE_CHECKING:
    from .file_checks import VerifiedFile

    class SupportsModelDump(Protocol):
        """coffea's specifications of files, which are models of pydantic."""

        def model_dump(self) -> dict[str, Any]: ...

    FilePath: TypeAlias = str | os.PathLike[str]
    Files: TypeAlias = (
        FilePath
        | Mapping[Any, FilePath | Sequence[FilePath] | Mapping[str, Any] | None]
        | Iterable["Files"]
        | SupportsModelDump
    )
    """What users write for the files of a dataset: see `treemill.dataset`."""
    FilesByName: TypeAlias = FilePath | Mapping[str, Files | Mapping[str, Any]] | SupportsModelDump
    """What users write for a fileset: see `treemill.fileset`."""

__all__ = [
    "Location",
    "as_seen_from",
    "expand",
    "is_own",
    "located",
    "nearest_first",
    "plain",
    "replicated",
    "require_present",
    "split_tree",
]


@frozen
class Location:
    """A file and, if the user named one, a tree in it (`dir/Events`, `Events;2`)."""

    path: str
    tree: str | None = None
    metadata: Mapping[str, object] | None = field(default=None, compare=False)
    """The metadata of the fileset's dataset that the file belongs to, with its name as
    `dataset`."""
    absence: str | None = field(default=None, compare=False)
    """The message of the error if there was no such file."""
    replicas: tuple[str, ...] = ()
    """All addresses of a file that lies at several, `path` among them; else none."""
    logical: str | None = None
    """The name that replicas share."""
    verified: VerifiedFile | None = field(default=None, compare=False)
    """What was found of the file before, if the list of files says it."""

    def __str__(self) -> str:
        return f"{self.path}:{self.tree}" if self.tree else self.path

    @property
    def shown(self) -> str:
        """What users read of it, without what opens a door."""
        path = without_credentials(self.path)
        return f"{path}:{self.tree}" if self.tree else path


_MAX_LIST_DEPTH = 8
_MOST_LINES = 1_000_000


def expand(files: object, tree: str | None = None) -> tuple[Location, ...]:
    """Returns all files of the dataset, in order; the files of a glob are sorted by name.

    `files`: a path, a glob, "path:tree", "@file" with one of these per line (# comments), a
    pathlib.Path, a mapping of these to trees, a mapping of a file's logical name to the list of its
    replicas, or a list of any of these. `tree`: the tree of files that are written without one; a
    URL is a whole then, whatever colons it has. Raises SourceError if there is no such file,
    UnsupportedError for URLs.
    """
    locations = located(files, tree)
    require_present(locations)
    return locations


def located(files: object, tree: str | None = None) -> tuple[Location, ...]:
    """Like `expand`, with files that there are not: their locations say so."""
    locations = tuple(_expand(files, tree, 0))
    if not locations:
        raise SourceError("a dataset needs at least one file")
    return locations


def as_seen_from(folder: str | None, locations: tuple[Location, ...]) -> tuple[Location, ...]:
    """The locations for a process that has got them from one whose relative paths begin in
    `folder`: those of them that lie there have absolute paths, unless both have the same folder."""
    if folder is None or folder == working_folder():
        return locations

    def seen(location: Location) -> Location:
        path = os.path.join(folder, location.path)
        is_relative = not os.path.isabs(location.path) and not source.is_url(location.path)
        is_there = is_relative and not location.replicas and source.exists(path)
        return replaced(location, path=path) if is_there else location

    return tuple(map(seen, locations))


def require_present(locations: Iterable[Location]) -> None:
    """Raise SourceError if one of the files was not there."""
    for location in locations:
        if location.absence is not None:
            raise SourceError(location.absence, kind="missing", file=location.path)


def _expand(files: object, tree: str | None, depth: int) -> Iterable[Location]:
    if isinstance(files, (str, os.PathLike)):
        yield from _expand_text(files, tree, depth)
    elif isinstance(files, Mapping):
        for path, own_tree in files.items():
            if isinstance(own_tree, (list, tuple)):
                yield replicated(path, own_tree, tree)
                continue
            if own_tree is not None and not isinstance(own_tree, str):
                raise QueryError(f"the tree of {path} must be a name, not {own_tree!r}")
            for location in _expand(path, own_tree or tree, depth):
                named = _tree(own_tree) or location.tree or _tree(tree)
                yield replaced(location, tree=named)
    elif isinstance(files, (bytes, bytearray)) or hasattr(files, "read"):
        raise _no_path(files)
    elif isinstance(files, Iterable):
        yield from _expand_several([*files], tree, depth)
    else:
        raise _no_path(files)


def _expand_several(files: Sequence[object], tree: str | None, depth: int) -> Iterable[Location]:
    found = list[Location]()
    for each, location in zip(files, plain(files, repeat(tree)), strict=True):
        if location is None:
            found += _expand(each, tree, depth)
        else:
            found.append(location)
    return found


def plain(
    files: Sequence[object],
    trees: Iterable[object],
    verified: Iterable[VerifiedFile | None] = repeat(None),
    metadata: Mapping[str, object] | None = None,
) -> list[Location | None]:
    """The locations of those of these files that are plain paths, with their trees; None of the
    others. There may be many, and most are plain: no other may be asked for each. `verified`: what
    was found of each; `metadata`: of all."""
    texts = [each if type(each) is str else "" for each in files]
    are_plain = source.are_plain(texts)
    names: dict[str | None, str | None] = {None: None}

    def own(tree: str | None) -> str | None:
        if tree not in names:
            names[tree] = _tree(tree)
        return names[tree]

    with without_collector():
        return [
            Location(text, own(tree), metadata, None, (), None, found)
            if is_plain and (tree is None or isinstance(tree, str))
            else None
            for text, tree, found, is_plain in zip(texts, trees, verified, are_plain, strict=False)
        ]


def replicated(name: object, addresses: Iterable[object], tree: str | None = None) -> Location:
    """One file that lies at several addresses, with its logical name, after which `:tree` may
    follow. Raises QueryError if there is none, or if one is a glob."""
    logical, own_tree = split_tree(str(name), tree)
    paths: list[str] = []
    for each in addresses:
        if not isinstance(each, (str, os.PathLike)):
            raise _no_path(each)
        path = source.address(os.fspath(each))
        if source.is_glob(path) and not source.exists(path):
            raise QueryError(f"a replica of {logical} is one file, not a pattern: {path}")
        paths.append(path)
    if not paths:
        raise QueryError(f"{logical} has no replica")
    named = _tree(own_tree) or _tree(tree)
    return Location(paths[0], named, replicas=tuple(dict.fromkeys(paths)), logical=logical)


def _no_path(files: object) -> QueryError:
    return QueryError(f"a dataset is made of paths, not {type(files).__name__}")


def _expand_text(text: str | os.PathLike[str], tree: str | None, depth: int) -> Iterable[Location]:
    if isinstance(text, str) and text.startswith("@"):
        yield from _expand_list(text[1:], tree, depth)
        return
    path, own_tree = split_tree(text, tree) if isinstance(text, str) else (os.fspath(text), None)
    tree = _tree(own_tree) or _tree(tree)
    path = source.address(path)
    is_folder = path.endswith("/")
    if source.exists(path) and not is_folder:
        yield Location(path, tree)
    elif not source.is_glob(path) and not is_folder:
        yield Location(path, tree, absence=f"no such file: {path}")
    elif matches := source.matching(path):
        for match in matches:
            yield Location(match, tree)
    else:
        yield Location(path, tree, absence=f"no file matches {path}")


def _tree(name: str | None) -> str | None:
    """The name of a tree without spaces around it and without needless slashes."""
    if name is None:
        return None
    if not isinstance(name, str):
        raise QueryError(f"the tree of a file is a name, not {name!r:.60}")
    if name.isidentifier():
        return name
    return "/".join(filter(None, name.strip().split("/"))) or None


def _expand_list(path: str, tree: str | None, depth: int) -> Iterable[Location]:
    if depth >= _MAX_LIST_DEPTH:
        raise SourceError(f"lists of files contain each other: @{path}", file=path)
    path = source.address(path)
    try:
        lines = source.content(path).decode("utf-8").splitlines()
    except (SourceError, UnicodeDecodeError) as error:
        raise SourceError(f"cannot read the list of files {path}: {error}", file=path) from None
    if len(lines) > _MOST_LINES:
        raise SourceError(
            f"the list of files {path} has {len(lines):,} lines, and at most {_MOST_LINES:,} are "
            "taken: merge the files, or make several datasets",
            file=path,
        )
    for line in lines:
        entry = line.strip()
        if not entry or entry.startswith("#"):
            continue
        # Relative paths in a list start at the list's folder.
        prefix, entry = ("@", entry[1:]) if entry.startswith("@") else ("", entry)
        yield from _expand_text(prefix + source.beside(entry, path), tree, depth + 1)


def split_tree(text: str, tree: str | None = None) -> tuple[str, str | None]:
    """Split "path:tree" at its last colon. The colons of URLs, of their queries, ports and Windows
    drives separate no tree, nor do those in the name of an existing file. A URL's query comes after
    the tree. `tree`: its name if the user has said it; then a URL is a whole."""
    if ":" not in text:
        return text, None
    if not source.is_url(text):
        return (text, None) if source.exists(text) else _split(text, 0)
    if tree is not None:
        return text, None
    query = source.query(text)
    whole = text.removesuffix(query)
    # A cache may name another server: root://cache//root://host:1094//file.root
    path, own_tree = _split(whole, source.last_server(whole))
    return path + query, own_tree


def _split(text: str, begin: int) -> tuple[str, str | None]:
    """Splits at the last colon from `begin` on."""
    head, colon, tail = text[begin:].rpartition(":")
    if not colon or not tail:
        return text, None
    # A tree's name may have colons, too: RNT:CollectionTree.
    named, ending, rest = text[begin:].partition(".root:")
    if ending and ".root" not in rest:
        head, tail = named + ".root", rest
    path = text[:begin] + head
    if len(path) == 1 and path.isalpha():  # C:\data\file.root
        return text, None
    # A tree's name does not look like the rest of a path to a file.
    if tail.endswith(".root") or "\\" in tail:
        return text, None
    return path, tail


# Tells which of several addresses of a file are on this host, as far as they say so. Asks no name
# service, and opens no connection.


def nearest_first(addresses: Sequence[str]) -> tuple[str, ...]:
    """The addresses with those at this host first, and else in their order.

    >>> nearest_first(["root://far.site.org//a.root", "root://localhost//a.root"])
    ('root://localhost//a.root', 'root://far.site.org//a.root')
    """
    return tuple(sorted(addresses, key=lambda each: not is_own(_host(each))))


def _host(address: str) -> str | None:
    from urllib.parse import urlsplit  # start-up

    try:
        return urlsplit(address).hostname
    except ValueError:  # the opening says what is wrong with it
        return None


@lru_cache(maxsize=4096)
def is_own(host: str | None) -> bool:
    """True if this name or number is of this host. A name is compared without its domain if one of
    both has none.

    >>> is_own("127.0.0.1"), is_own("far.site.org"), is_own(None)
    (True, False, False)
    """
    import ipaddress  # start-up
    import socket  # start-up

    if host is None:
        return False
    own, host = socket.gethostname().lower(), host.lower()
    if host in ("localhost", own):
        return True
    try:
        number = ipaddress.ip_address(host)
    except ValueError:
        labels = [own.split("."), host.split(".")]
        return labels[0][0] == labels[1][0] and min(map(len, labels)) == 1
    family = socket.AF_INET if number.version == 4 else socket.AF_INET6
    try:
        with socket.socket(family, socket.SOCK_DGRAM) as probe:
            probe.bind((host, 0))  # works with the numbers of this host only
    except OSError:
        return False
    return True
