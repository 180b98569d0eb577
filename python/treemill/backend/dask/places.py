"""Which workers and files are on the same host, though addresses name a host in several ways: that
of a worker by numbers, that of a file often by a name. Pure: asks no name service.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...packetizer import host_of, node_of

__all__ = ["Places"]

_EVERY_HOST = {"", "localhost", "localhost.localdomain"}
"""Names that say nothing of other hosts."""


class Places:
    """The hosts of one pass: each has one name here, by which the packetizer compares."""

    def __init__(self, nodes: Iterable[str | None]) -> None:
        """`nodes`: of the pass's files, as far as their addresses say them."""
        self._of_files = {host_of(node) for node in nodes} - {None}
        self._of_workers: dict[str, str] = {}  # names of workers' hosts, to the one that is used
        self._files: dict[str, int] = {}  # by node: how many files were put there

    def worker(self, host: str, names: Sequence[str]) -> str:
        """The name for the host of a worker, which the cluster calls `host` and which says that it
        has these names."""
        others = [name.lower() for name in names if name.lower() not in _EVERY_HOST]
        named = [name for name in (host, *others) if name in self._of_files]
        chosen = self._of_workers.get(host) or (named[0] if named else host)
        for name in (host, *others):
            self._of_workers.setdefault(name, chosen)
        return chosen

    def nodes(self, addresses: Mapping[int, Sequence[str]]) -> dict[int, str]:
        """The node of each of these files, of which these are addresses at the hosts that have it:
        one with a worker, if there is one, and among these the one with the fewest files."""
        found = {}
        for file, each in addresses.items():
            nodes = [self._named(node_of(address)) for address in each]
            known = set(self._of_workers.values())
            near = [node for node in nodes if host_of(node) in known] or nodes
            if near:
                found[file] = min(near, key=lambda node: self._files.get(node, 0))
                self._files[found[file]] = self._files.get(found[file], 0) + 1
        return found

    def _named(self, node: str) -> str:
        """The node, with its host by the name that is used."""
        host = host_of(node) or ""
        self._of_files.add(host)
        scheme, _, rest = node.partition("://")
        partition = rest.rpartition("/")[2]
        return f"{scheme}://{self._of_workers.get(host, host)}/{partition}"
