"""Which groups of a pass are near to a file: those with a process on a host that has the file. A
file's own address names a host, or the client has found out which hosts have it. Pure: asks no name
service and no server.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from ...scheduling import host_of, node_of
from ...scheduling.messages import Part
from ...scheduling.unleased_parts import Reach
from .places import Places

__all__ = ["NearGroups"]


class NearGroups:
    """The groups near to each file. What changes that gives the numbers of the files for which it
    may have become another answer."""

    def __init__(
        self, nodes: Sequence[str | None], groups_at: Callable[[str], frozenset[str]]
    ) -> None:
        """`nodes`: of the pass's files, as their addresses say them. `groups_at` gives the names of
        the groups with processes on a host, which the cluster calls so."""
        self._places = Places(nodes)
        self._groups_at = groups_at
        self._addresses: dict[int, list[str]] = {}  # by file, as the client says them
        self._names: dict[str, set[str]] = {}  # of each host of processes
        self._hosts: list[list[str]] = [[] for _ in nodes]  # that have a file
        self._files: dict[str, set[int]] = {}  # that are on a host
        for file, node in enumerate(nodes):
            self._put(file, [host_of(node)])

    def reach(self, file: int) -> Reach:
        """See Lessor."""
        near = (self._groups_at(self._places.host(host)) for host in self._hosts[file])
        return Reach(frozenset().union(*near))

    def addresses(self, parts: Iterable[Part]) -> dict[int, list[str]]:
        """What the client has found of the files of these parts."""
        return {
            part.file: self._addresses[part.file] for part in parts if part.file in self._addresses
        }

    def locate(self, addresses: Mapping[int, Sequence[str]]) -> set[int]:
        """The client has found out at which addresses these files are."""
        for file, each in addresses.items():
            if each:
                self._addresses[file] = list(each)
                self._put(file, [host_of(node_of(address)) for address in each])
        return set(addresses)

    def named(self, host: str, names: Sequence[str] = ()) -> set[int]:
        """A process is on this host, which the cluster calls `host` and which has these names. What
        was known of the host gives nothing."""
        self._places.worker(host, names)
        known = self._names.setdefault(host, set())
        fresh = {name for name in (host, *map(str.lower, names)) if self._places.host(name) == host}
        fresh -= known
        known |= fresh
        return self._at(fresh)

    def at(self, host: str) -> set[int]:
        """The files on this host."""
        return self._at(self._names.get(host, ()))

    def _at(self, names: Iterable[str]) -> set[int]:
        return set().union(*(self._files.get(name, ()) for name in names))

    def _put(self, file: int, hosts: Iterable[str | None]) -> None:
        for host in self._hosts[file]:
            self._files[host].discard(file)
        self._hosts[file] = [host for host in hosts if host]
        for host in self._hosts[file]:
            self._files.setdefault(host, set()).add(file)
