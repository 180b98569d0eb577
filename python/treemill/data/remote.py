"""Files on servers, as a kind of storage: asks the core for states, listings and contents by URL.

Knows no protocol, which is the core's, and no dataset.
"""

from __future__ import annotations

import fnmatch
import posixpath
import re
import threading
import time
from collections.abc import Callable, Iterable, Sequence
from queue import Empty, SimpleQueue
from typing import TypeVar

from .._system.cache import prepare
from ..errors import SourceError, UnsupportedError, without_credentials
from .column_source import Identity

__all__ = ["Remote", "first_answer"]

# Asks several places of one file the same question, one after the other: the first that answers
# is heard. Knows no storage and no file.

Answer = TypeVar("Answer")

_PATIENCE = 1.0
"""Seconds after which the next place is asked, too."""


def first_answer(
    places: Sequence[str],
    ask: Callable[[str], Answer],
    patience: float = _PATIENCE,
    *,
    name: str | None = None,
) -> Answer:
    """Returns what the first of `places` to answer says. The next one is asked when one has failed,
    or when nothing was said for `patience` seconds. Raises SourceError if all fail, which says of
    each why. `name`: the file's name, which they share."""
    heard: SimpleQueue[tuple[int, Answer | None, Exception | None]] = SimpleQueue()

    def one(number: int) -> None:
        try:
            heard.put((number, ask(places[number]), None))
        except Exception as error:  # raised by the thread that waits
            heard.put((number, None, error))

    errors: dict[int, SourceError] = {}
    asked = 0
    while len(errors) < len(places):
        if asked < len(places):
            # A thread, since a place that is silent is not waited for when another one answers.
            threading.Thread(target=one, args=(asked,), daemon=True).start()
            asked += 1
        try:
            last = asked == len(places)
            number, answer, error = heard.get(timeout=None if last else patience)
        except Empty:
            continue
        if error is None:
            return answer  # type: ignore[return-value]
        if not isinstance(error, SourceError):
            raise error
        errors[number] = error
    reasons = "; ".join(f"{place}: {errors[n].message}" for n, place in enumerate(places))
    raise SourceError(f"no replica can be opened: {reasons}", file=name)


_GLOB = re.compile(r"[*\[]|\?(?!.*=)")
"""The signs of a glob in a URL; a question mark before an equals sign begins a query."""
_ARCHIVE = "xrdcl.unzip="
_ROOT = "root://", "roots://", "xroot://", "xroots://"
_RECENT = 1.0
"""Seconds for which a question of the user's takes an earlier look's word: what one cell asks of a
file costs one round trip."""
_LATELY = 10.0
"""Seconds for which other looks that are for no pass take an earlier one's word, and for which a
server that has failed is not waited for again."""
_FRESH = 2.0
"""Seconds for which the first pass over a file takes the word of the look that was for no pass: it
is what the file was opened for, to know its columns, a round trip or two ago."""
_FEW = 4
"""Files that are opened when they are looked at: of many files, other processes may open most."""
_AT_ONCE = 128
"""Files that are asked for at once. The core's connections are shared, so this is only threads."""


class Remote:
    """Files of one server or another. Implements source.Storage."""

    is_far = True

    def __init__(self) -> None:
        self._looks: dict[str, tuple[float, Identity]] = {}
        self._unused: set[str] = set()  # whose last look was for no pass
        self._sizes: dict[tuple[str, ...], tuple[float, int]] = {}
        self._failures: dict[str, tuple[float, SourceError]] = {}
        self._lock = threading.Lock()

    def address(self, text: str) -> str:
        """See Storage."""
        if _ARCHIVE in text and text.lower().startswith(_ROOT):
            raise UnsupportedError(
                f"{without_credentials(text)}: {_ARCHIVE}… names a file in a ZIP archive, which "
                "treemill does not read: unpack the archive, or write xrootd+root:// (pip install "
                "xrootd)",
                file=text,
            )
        return text

    def exists(self, path: str) -> bool:
        """See Storage."""
        # To ask would take a round trip for each file of a dataset: the opening tells.
        return not self.is_glob(path) and not path.endswith("/")

    def is_glob(self, path: str) -> bool:
        """See Storage."""
        return _GLOB.search(path) is not None

    def is_directory(self, path: str) -> bool:
        """See Storage."""
        from treemill import _core  # heavy: core

        return _core.remote_stat(path)[1]

    def identity(self, path: str) -> Identity:
        """See Storage."""
        with self._lock:
            when, failure = self._failures.pop(path, (-_LATELY, None))
        if failure is not None and time.monotonic() - when < _LATELY:
            raise failure  # of a moment ago: a server that is silent is not waited for twice
        return self._looked(path, True)

    def look(self, path: str, tree: str, then: Callable[[Identity | Exception], None]) -> None:
        """See Storage."""
        from treemill import _core  # heavy: core

        with self._lock:
            when, failure = self._failures.pop(path, (-_LATELY, None))
        if failure is not None and time.monotonic() - when < _LATELY:
            then(failure)  # as `identity` raises it
            return

        def heard(told: tuple[int, Sequence[int] | None] | SourceError) -> None:
            if isinstance(told, SourceError):
                then(told)
                return
            identity = _identity(*told)
            with self._lock:
                self._looks[path] = time.monotonic(), identity
            then(identity)

        prepare()
        _core.remote_look(path, tree if tree.isascii() else "", heard)

    def _has_failed(self, path: str) -> bool:
        with self._lock:
            when, _ = self._failures.get(path, (-_LATELY, None))
        return time.monotonic() - when < _LATELY

    def _fresh(self, path: str) -> Identity | None:
        """What was seen a moment ago, once: the next pass looks again."""
        with self._lock:
            is_unused = path in self._unused
            self._unused.discard(path)
        return self._seen(path, _FRESH) if is_unused else None

    def _looked(self, path: str, soon: bool) -> Identity:
        fresh = self._fresh(path)
        if fresh is not None:
            return fresh
        identity = _look(path, soon)
        with self._lock:
            self._looks[path] = time.monotonic(), identity
        return identity

    def recent_identity(self, path: str) -> Identity:
        """See Storage."""
        known = self._seen(path, _LATELY)
        if known is None:
            known = self.identity(path)
            with self._lock:
                self._unused.add(path)
        return known

    def recent_identities(self, paths: Iterable[str], *, soon: bool) -> dict[str, Identity]:
        """See tree.source."""
        distinct = list(dict.fromkeys(paths))
        seen = {path: at for path in distinct if (at := self._seen(path, _RECENT)) is not None}
        told = self._told([path for path in distinct if path not in seen], soon)
        with self._lock:
            self._unused.update(told)
        return seen | told

    def size(self, path: str) -> int:
        """Bytes, of a file that will not be opened by this address alone; they may be some seconds
        old."""
        return (self._seen(path, _LATELY) or self._looked(path, False)).size

    def _seen(self, path: str, seconds: float) -> Identity | None:
        """What the last look saw, if it is no older."""
        with self._lock:
            when, identity = self._looks.get(path, (-seconds, None))
        return identity if time.monotonic() - when < seconds else None

    def has_size(self, replicas: Sequence[str], size: int) -> None:
        """A file that lies at all of these addresses has this many bytes now."""
        with self._lock:
            self._sizes[tuple(replicas)] = time.monotonic(), size

    def size_of_any(self, replicas: Sequence[str]) -> int | None:
        """The bytes of a file that lies at all of these addresses, if that was said lately."""
        with self._lock:
            when, size = self._sizes.get(tuple(replicas), (-_LATELY, None))
        return size if time.monotonic() - when < _LATELY else None

    def assumed(self, path: str) -> Identity | None:
        """See Storage."""
        from treemill import _core  # heavy: core

        told = _core.remote_assumed(path)
        return None if told is None else _identity(*told)

    def is_kept(self, path: str) -> bool:
        """See Storage."""
        from treemill import _core  # heavy: core

        return _core.remote_kept(path)

    def identities(self, paths: Iterable[str], *, soon: bool = False) -> dict[str, Identity]:
        """See Storage."""
        distinct = list(dict.fromkeys(paths))
        found = {path: fresh for path in distinct if (fresh := self._fresh(path)) is not None}
        asked = [path for path in distinct if path not in found and not self._has_failed(path)]
        return found | self._told(asked, soon or len(distinct) <= _FEW)

    def _told(self, asked: list[str], soon: bool) -> dict[str, Identity]:
        """What servers say of these files now, asked for at once. Of a file that they do not tell
        of, an earlier look counts no more."""
        if not asked:
            return {}
        from treemill import _core  # heavy: core

        prepare()  # they may be opened at once
        told = _core.remote_stats(asked, soon=soon)
        now = time.monotonic()
        found: dict[str, Identity] = {}
        with self._lock:
            for path, stat in zip(asked, told, strict=True):
                self._looks.pop(path, None)
                self._failures.pop(path, None)
                if isinstance(stat, SourceError):
                    self._failures[path] = now, stat  # raised again when the file is wanted
                elif stat is not None:
                    found[path] = _identity(*stat)
                    self._looks[path] = now, found[path]
        return found

    def release(self, paths: Iterable[str]) -> None:
        """See tree.source."""
        from treemill import _core  # heavy: core

        _core.remote_release(list(paths))

    def hosts(self, paths: Iterable[str]) -> dict[str, list[str]]:
        """The addresses of each file at the hosts that have it, asked for at once; none if its
        server has it itself or does not tell."""
        from treemill import _core  # heavy: core

        silent: set[str] = set()

        def one(path: str) -> tuple[str, list[str]]:
            server = _server(path)
            try:
                hosts = [] if server in silent else _core.remote_hosts(path)
            except SourceError:  # the opening tells what is wrong
                silent.add(server)
                hosts = []
            return path, [path.replace(server, host, 1) for host in hosts]

        from concurrent.futures import ThreadPoolExecutor  # start-up: most files are local

        with ThreadPoolExecutor(_AT_ONCE) as threads:
            return dict(threads.map(one, dict.fromkeys(paths)))

    def matching(self, pattern: str) -> list[str]:
        """See Storage."""
        if pattern.endswith("/"):
            pattern += "*.root"
        head, query = _without_query(pattern)
        begin = _SERVER_AND_ROOT.match(head)
        if begin is None:
            return []
        parts = head[begin.end() :].split("/")
        return sorted(path + query for path in _walk(begin[0], parts, query))

    def beside(self, address: str, file: str) -> str:
        """See Storage."""
        head, query = _without_query(file)
        folder = posixpath.dirname(head)
        begin = _SERVER_AND_ROOT.match(head)
        if address.startswith("/") and begin is not None:
            return begin[0] + address.lstrip("/") + query
        return f"{folder}/{address}{query}"

    def canonical(self, path: str) -> str:
        """See Storage."""
        return path

    def content(self, path: str) -> bytes:
        """See Storage."""
        from treemill import _core  # heavy: core

        return _core.remote_content(path)


def _server(url: str) -> str:
    return url.split("/", 3)[2] if url.count("/") > 2 else url


_SERVER_AND_ROOT = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*://[^/]*/+")


def _look(url: str, soon: bool) -> Identity:
    """The identity of a file that will be opened `soon`, or may be. One of which the server says
    too little is another file each time."""
    from treemill import _core  # heavy: core

    prepare()  # it may be opened at once
    size, _, marks = _core.remote_stat(url, soon=soon)
    return _identity(size, marks)


def _identity(size: int, marks: Sequence[int] | None) -> Identity:
    if marks is None:
        now = time.time_ns()
        return Identity(size, now, (now,))  # it may be changing
    # The marks tell more than a time of change does, which not all servers say.
    return Identity(size, 0, tuple(marks))


def _without_query(url: str) -> tuple[str, str]:
    """A URL up to its query, and the query with its question mark; it has an equals sign."""
    mark = re.search(r"\?(?=.*=)", url)
    return (url, "") if mark is None else (url[: mark.start()], url[mark.start() :])


def _walk(folder: str, parts: list[str], query: str) -> Iterable[str]:
    """The files below a folder, whose URL ends with a slash, that match these parts of a path."""
    from treemill import _core  # heavy: core

    first, *rest = parts
    if not _GLOB.search(first):
        if not rest:
            yield folder + first
        else:
            yield from _walk(f"{folder}{first}/", rest, query)
        return
    if first == "**" and rest:
        yield from _walk(folder, rest, query)
    for name, is_folder, written in _core.remote_list(folder + query):
        if first == "**":
            if is_folder:
                yield from _walk(f"{_address(folder, name, written)}/", parts, query)
            elif not rest:
                yield _address(folder, name, written)
        elif fnmatch.fnmatchcase(name, first):
            if not rest:
                yield _address(folder, name, written)
            elif is_folder:
                yield from _walk(f"{_address(folder, name, written)}/", rest, query)


def _address(folder: str, name: str, written: str | None) -> str:
    """The address of what has this name in a folder, and is `written` like this in addresses."""
    if written is None:
        raise SourceError(
            f"the name {name!r} in {folder} cannot be written in an address, because a question "
            "mark begins its options: rename it, or name the other files",
            file=folder,
        )
    return folder + written
