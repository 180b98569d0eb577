"""The storage that files lie in, asked by address: whether a file exists, what its identity is,
which files a glob matches, what lies beside a file, what a small text file says. An address is a
path or a URL; its scheme says which storage it belongs to.

Only this module decides what an address means and looks at directories. Knows no tree, no dataset
and no layout of files: the core and uproot read the ROOT files themselves.
"""

from __future__ import annotations

import os
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from typing import Protocol

from .._system import process as process  # before all else: what it notes of forks and of the end
from .._system.files import whole
from ..errors import SourceError, sound_path
from .column_source import FileState, Identity
from .remote import Remote

__all__ = [
    "FileState",
    "Identity",
    "Storage",
    "address",
    "are_plain",
    "assumed",
    "beside",
    "canonical",
    "content",
    "ends",
    "exists",
    "has_size",
    "identities",
    "identity",
    "identity_of_any",
    "identity_of_near",
    "is_directory",
    "is_far",
    "is_glob",
    "is_kept",
    "is_same",
    "is_url",
    "look",
    "matching",
    "recent_identities",
    "recent_identity",
    "release",
    "server",
    "state",
]

_SERVER = re.compile(r"[A-Za-z][A-Za-z0-9+.-]+://[^/]*")
_GLOB = re.compile(r"[*?\[]")
_MOST_CONTENT = 1 << 28
"""Bytes of a file that is read as a whole."""


class Storage(Protocol):
    """What each kind of storage answers. All addresses have the form that `address` gives."""

    is_far: bool
    """Whether an answer takes a round trip to a server."""

    def address(self, text: str) -> str:
        """The form of an address that all other methods, and the core, take."""

    def exists(self, path: str) -> bool:
        """True if something has this address; also a link that points nowhere. A far storage says
        yes to every address of a file: the opening tells."""

    def is_glob(self, path: str) -> bool:
        """True if the address has the signs of a glob."""

    def is_directory(self, path: str) -> bool:
        """True if the address is that of a directory."""

    def identity(self, path: str) -> Identity:
        """The identity of a file as it is now. Raises SourceError if there is no such file, or if
        the storage refuses to tell."""

    def look(self, path: str, tree: str, then: Callable[[Identity | Exception], None]) -> None:
        """Gives what `identity` gives or raises to `then`, without waiting for it, of a file that
        will be opened soon: a far one is open by then, and described, with its tree of this name;
        empty: its only one. `then` raises nothing, and must not wait."""

    def recent_identity(self, path: str) -> Identity:
        """Gives what `identity` gives; for a far file it may be some seconds old."""

    def identities(self, paths: Iterable[str], *, soon: bool = False) -> dict[str, Identity]:
        """The identities of many files, asked for at once; without those that fail. `soon`: whether
        the files may be opened next."""

    def assumed(self, path: str) -> Identity | None:
        """The identity of a far file as this process has had it open last, if it can be read before
        its server answers. Asks nothing."""

    def is_kept(self, path: str) -> bool:
        """True if the file, which this process has had open, can be opened without its server."""

    def matching(self, pattern: str) -> list[str]:
        """The addresses that a glob matches, sorted. `**` goes through folders. A folder, with a
        slash at its end, is all `*.root` in it."""

    def beside(self, given: str, file: str) -> str:
        """The address that `given` means in a file: a relative path starts at its directory."""

    def canonical(self, path: str) -> str:
        """The one address of a file that may have several, by links or by relative paths."""

    def content(self, path: str) -> bytes:
        """Returns all bytes of a small file. Raises SourceError."""


class _Local:
    """Files that the operating system opens by a path. Implements Storage."""

    is_far = False

    def address(self, text: str) -> str:
        if "://" in text and is_url(text):
            return sound_path(text[len("file://") :])
        path = sound_path(text)
        return os.path.expanduser(path) if path.startswith("~") else path

    def exists(self, path: str) -> bool:
        return os.path.lexists(path)

    def is_glob(self, path: str) -> bool:
        return _GLOB.search(path) is not None

    def is_directory(self, path: str) -> bool:
        return os.path.isdir(path)

    def identity(self, path: str) -> Identity:
        try:
            stat = os.stat(path)
        except OSError as error:
            raise _failed(path, error) from None
        changed = max(stat.st_mtime_ns, stat.st_ctime_ns)
        marks = stat.st_dev, stat.st_ino, stat.st_mtime_ns, stat.st_ctime_ns
        return Identity(stat.st_size, changed, marks)

    def look(self, path: str, tree: str, then: Callable[[Identity | Exception], None]) -> None:
        try:
            answer: Identity | Exception = self.identity(path)
        except SourceError as error:
            answer = error
        then(answer)

    def recent_identity(self, path: str) -> Identity:
        return self.identity(path)

    def identities(self, paths: Iterable[str], *, soon: bool = False) -> dict[str, Identity]:
        return {}  # to ask for each when it is wanted takes no longer

    def assumed(self, path: str) -> Identity | None:
        return None

    def is_kept(self, path: str) -> bool:
        return True

    def matching(self, pattern: str) -> list[str]:
        import glob  # start-up: most files are named

        if os.path.isdir(pattern):
            pattern = os.path.join(glob.escape(pattern), "*.root")
        return sorted(glob.glob(pattern, recursive=True))

    def beside(self, given: str, file: str) -> str:
        # A path from the root or from a home directory stays as it is.
        return os.path.join(os.path.dirname(file), os.path.expanduser(given))

    def canonical(self, path: str) -> str:
        return os.path.realpath(path)

    def content(self, path: str) -> bytes:
        try:
            with open(path, "rb") as file:
                return whole(file, _MOST_CONTENT)
        except OSError as error:
            raise _failed(path, error) from None
        except ValueError as error:  # also a path that no system has
            raise SourceError(f"cannot read {path!r}: {error}", file=path) from None


def _failed(path: str, error: OSError) -> SourceError:
    reason = "no such file" if isinstance(error, FileNotFoundError) else error.strerror
    kind = next((name for each, name in _KINDS.items() if isinstance(error, each)), "permanent")
    return SourceError(f"{reason}: {path}", kind=kind, file=path)


_KINDS = {FileNotFoundError: "missing", PermissionError: "denied"}
"""The kinds of errors of this machine, as the core has them."""
_LOCAL = _Local()
_REMOTE = Remote()
_STORAGES: Mapping[str, Storage] = {"": _LOCAL, "file": _LOCAL}
"""Storages by scheme; a path has none. The core's table says which other schemes there are."""
_BRIDGED: set[str] = set()
"""Schemes that the core's table does not have, and that Python reads."""


def _storage(path: str) -> Storage:
    if "://" not in path:  # as most are, and each pass asks for each file's identity
        return _LOCAL
    scheme = server(path).partition("://")[0].lower()
    storage = _STORAGES.get(scheme)
    if storage is not None:
        return storage
    from treemill import _core  # heavy: core

    known = _core.remote_schemes()
    if scheme not in known and scheme not in _BRIDGED:
        from . import bridge  # start-up: most files are local

        bridge.check(scheme, path, known)
        _BRIDGED.add(scheme)
    return _REMOTE


def server(text: str) -> str:
    """The beginning of a URL up to its path, `root://host:1094`; empty for a path."""
    match = _SERVER.match(text) if "://" in text else None
    return "" if match is None else match[0]


def last_server(text: str) -> int:
    """Where the last server ends that a URL names: caches and gateways name a second one."""
    return max((match.end() for match in _SERVER.finditer(text)), default=0)


def query(text: str) -> str:
    """The query of a URL, with its question mark; empty if it has none. A question mark that no
    equals sign follows is a sign of a glob."""
    _, mark, rest = text.partition("?")
    return mark + rest if "=" in rest else ""


def is_url(text: str) -> bool:
    """True if this is a URL, of whatever scheme, and not a path."""
    return "://" in text and _SERVER.match(text) is not None


def is_glob(path: str) -> bool:
    """See Storage."""
    return _storage(path).is_glob(path)


def is_far(path: str) -> bool:
    """True if the file is on a server, so that each question takes a round trip."""
    return _storage(path).is_far


def address(text: str) -> str:
    """Returns what a user writes for a file, in the form that everything else takes: a path with
    its home directory, or a URL. Raises UnsupportedError for a scheme that is not supported."""
    return _storage(text).address(text)


def exists(path: str) -> bool:
    """See Storage."""
    return _storage(path).exists(path)


def are_plain(texts: Sequence[str]) -> list[bool]:
    """Which of these texts are the paths of files of this machine that are there, and have no sign
    that could mean something else."""
    from treemill import _core  # heavy: core

    return _core.are_plain(texts)


def is_directory(path: str) -> bool:
    """See Storage."""
    return _storage(path).is_directory(path)


def identity(path: str) -> Identity:
    """See Storage."""
    return _storage(path).identity(path)


def look(path: str, tree: str, then: Callable[[Identity | Exception], None]) -> None:
    """See Storage.look."""
    _storage(path).look(path, tree, then)


def recent_identity(path: str) -> Identity:
    """See Storage."""
    return _storage(path).recent_identity(path)


def recent_identities(paths: Iterable[str], *, soon: bool) -> dict[str, Identity]:
    """The identities of these far files, asked for at once, for a question of the user's: as they
    are now, or were a second ago at most. Those that fail are left out: to ask for one of them
    raises its error. `soon`: see Storage."""
    return _REMOTE.recent_identities(paths, soon=soon)


def identity_of_any(replicas: Sequence[str], name: str | None) -> Identity:
    """The identity of a file that lies at all of these addresses, as the first of them that answers
    says it. Raises SourceError, which says why of each, if none does. `name`: the file's logical
    name.

    Only the size counts, and what those are that are near: replicas have times and tags of their
    own, and the one that answers may be another one each time. The core compares their first and
    last bytes when it opens them."""
    from .remote import first_answer  # start-up: most files have one address

    near = identity_of_near(replicas)

    def ask(path: str) -> int:
        return _REMOTE.size(path) if is_far(path) else identity(path).size

    known = _REMOTE.size_of_any(replicas)
    size = first_answer(replicas, ask, name=name) if known is None else known
    return near._replace(size=size)


def identity_of_near(replicas: Iterable[str]) -> Identity:
    """What the near ones of these replicas say, of whatever size: each of them may be read."""
    identities = []
    for path in replicas:
        if not is_far(path):
            with suppress(SourceError):  # it may be elsewhere
                identities.append(identity(path))
    return Identity(0, max((each.changed for each in identities), default=0), tuple(identities))


def state(seen: Identity, uuid: str | None) -> FileState:
    """The state of a near file that had this identity when it was opened, and has this UUID."""
    device, inode, *times = seen.marks
    return FileState(seen.size, uuid, (os.uname().nodename, device, inode), tuple(times))


def has_size(replicas: Sequence[str], size: int) -> None:
    """A file that lies at all of these addresses has been opened, and has this many bytes: they are
    not asked for it for some seconds."""
    _REMOTE.has_size(replicas, size)


def identities(paths: Iterable[str], *, soon: bool = False) -> dict[str, Identity]:
    """The identities of the far ones of these files, asked for at once; without those that fail.
    To ask for a near one when it is wanted takes no longer. `soon`: see Storage."""
    far = [path for path in paths if "://" in path and is_far(path)]
    return _REMOTE.identities(far, soon=soon) if far else {}


def assumed(path: str) -> Identity | None:
    """See Storage."""
    return _storage(path).assumed(path)


def is_kept(path: str) -> bool:
    """See Storage."""
    return _storage(path).is_kept(path)


def release(paths: Iterable[str]) -> None:
    """Closes those of these far files that were opened when their identities were asked for, and
    that were not wanted since."""
    _REMOTE.release(paths)


def hosts(paths: Iterable[str]) -> dict[str, list[str]]:
    """The addresses of far files at the hosts that have them, asked for at once; none of a file
    whose server has it itself or does not tell."""
    far = [path for path in paths if "://" in path and is_far(path)]
    return _REMOTE.hosts(far) if far else {}


def matching(pattern: str) -> list[str]:
    """See Storage."""
    return _storage(pattern).matching(pattern)


def beside(given: str, file: str) -> str:
    """Returns what the path or URL `given` means in `file`: see Storage."""
    return given if is_url(given) else _storage(file).beside(given, file)


def canonical(path: str) -> str:
    """See Storage."""
    return _storage(path).canonical(path)


def is_same(one: str, other: str) -> bool:
    """True if two addresses mean the same file."""
    return is_url(one) == is_url(other) and canonical(one) == canonical(other)


def content(path: str) -> bytes:
    """See Storage."""
    return _storage(path).content(path)


def ends(path: str) -> bytes:
    """A digest of the first and last bytes of a near file, which ROOT writes each time that
    something in it changes: its header, and the lists of its keys and of its free space. Raises
    SourceError."""
    from treemill import _core  # heavy: core

    digest = _core.ends(path)
    if digest is None:
        raise SourceError(f"cannot read {path!r}", file=path)
    return digest
