"""Which workers and files are on the same host, though addresses name a host in several ways: that
of a worker by numbers, that of a file often by a name. Pure: asks no name service.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ...scheduling import host_of, node_of

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
        self._nodes: dict[int, list[str]] = {}  # by file: the nodes that have it
        self._chosen: dict[int, str] = {}  # one of these
        self._files_at: dict[str, set[int]] = {}  # by host: files that it has
        self._with_workers: set[str] = set()  # names whose files were chosen for that

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
        for file, each in addresses.items():
            self._nodes[file] = [node_of(address) for address in each]
            for node in self._nodes[file]:
                self._files_at.setdefault(host_of(node) or "", set()).add(file)
        return self._choose(addresses)

    def nodes_beside(self, host: str, names: Sequence[str]) -> dict[int, str]:
        """The nodes of those files that are at this host and belong elsewhere now that it is known
        to have a worker. Of several processes of a host only the first has any."""
        fresh = {host, *(name.lower() for name in names)} - self._with_workers
        self._with_workers |= fresh
        files = (self._files_at.get(name, ()) for name in fresh)
        before = {file: self._chosen.get(file) for file in sorted(set().union(*files))}
        nodes = self._choose(before) if before else {}
        return {file: node for file, node in nodes.items() if node != before[file]}

    def _choose(self, files: Iterable[int]) -> dict[int, str]:
        known = set(self._of_workers.values())
        choices = {}
        for file in files:
            nodes = [self._named(node) for node in self._nodes[file]]
            near = [node for node in nodes if host_of(node) in known] or nodes
            if near:
                choices[file] = self._chosen[file] = self._fewest(near, self._chosen.get(file))
        return choices

    def _fewest(self, nodes: Sequence[str], before: str | None) -> str:
        """The one of these nodes with the fewest files, to which a file is moved from `before`."""
        if before is not None:
            self._files[before] -= 1
        node = min(nodes, key=lambda node: (self._files.get(node, 0), node != before))
        self._files[node] = self._files.get(node, 0) + 1
        return node

    def _named(self, node: str) -> str:
        """The node, with its host by the name that is used."""
        host = host_of(node) or ""
        self._of_files.add(host)
        scheme, _, rest = node.partition("://")
        partition = rest.rpartition("/")[2]
        return f"{scheme}://{self._of_workers.get(host, host)}/{partition}"
