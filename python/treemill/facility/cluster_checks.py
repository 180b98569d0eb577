"""What follows from the facts of a cluster's processes: what agrees, what does not, what to do.
Pure: plain values in, plain values out.

A worker is compared with the client, because what the client has written is what workers run. Where
the client need not have a thing (files, space), workers are compared with one another.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal, TypedDict

__all__ = ["CHECKS", "CheckResult", "ClusterFacts", "FileFacts", "ProcessFacts", "check_results"]

# The types of what `facts.gather` tells of a process. That module is sent as text to workers
# without treemill, so that it cannot name them.


class FileFacts(TypedDict):
    """What one process says of a file."""

    size: int | None
    error: str | None
    """Why it cannot be read."""
    content: str | None
    """Why it, or the tree in it, cannot be opened."""
    opened: bool
    """Whether it was opened, which needs treemill."""


class CredentialFacts(TypedDict):
    """What one process says of a file with a credential."""

    path: str
    readable: bool


class ScratchFacts(TypedDict):
    """What one process says of its folder for temporary files."""

    path: str
    free: int | None
    """Bytes."""
    error: str | None
    """Why it cannot be written to."""


class UserFacts(TypedDict):
    """The user of one process."""

    uid: int
    groups: Sequence[int]


class ProcessFacts(TypedDict):
    """What `facts.gather` gives in one process."""

    host: str
    pid: int
    time: float
    python: str
    implementation: str
    machine: str
    packages: Mapping[str, str | None]
    treemill: str | None
    """Why treemill cannot be imported."""
    environment: Mapping[str, str]
    user: UserFacts
    files: Mapping[str, FileFacts]
    proxy: CredentialFacts | None
    token: CredentialFacts | None
    scratch: ScratchFacts
    memory: int | None
    cores: int | None
    open_files: int | None


_CLOCK = 1.0
"""Seconds that a clock may go wrong: certificates and tokens allow for minutes, traces do not."""
_SCRATCH = 2**30
"""Free bytes that a worker should have for temporary files."""
_MEMORY = 2**29
"""Bytes that each thread of a worker should have."""
_OPEN_FILES = 1024
_SHOWN = 3
_CREDENTIALS: Mapping[Literal["proxy", "token"], str] = {
    "proxy": "X509_USER_PROXY",
    "token": "BEARER_TOKEN_FILE",
}
"""The variables that say where a file with a credential is."""


@dataclass(frozen=True)
class ClusterFacts:
    """The facts of a cluster."""

    client: ProcessFacts
    scheduler: ProcessFacts
    workers: Mapping[str, ProcessFacts]
    """The facts of each worker, by its address."""
    clocks: Mapping[str, float] = field(default_factory=dict)
    """How far a clock is certainly wrong, in seconds, relative to the client's, by address."""
    limits: Mapping[str, int] = field(default_factory=dict)
    """The bytes of memory that Dask allows each worker, by address; 0: any number."""
    threads: Mapping[str, int] = field(default_factory=dict)
    """The threads of each worker, by address."""
    untold: Mapping[str, str] = field(default_factory=dict)
    """Why other workers have told no facts, by address."""
    asked: Sequence[str] = ()
    """The packages that the user has named."""


@dataclass(frozen=True)
class CheckResult:
    """The outcome of one check."""

    check: str
    found: str
    """What was found, in a few words."""
    todo: str | None = None
    """What to do; None: nothing, all is well."""
    where: tuple[str, ...] = ()
    """The processes that the result is about, if it is not all of them."""

    @property
    def well(self) -> bool:
        """True if there is nothing to do."""
        return self.todo is None


def check_results(cluster: ClusterFacts) -> list[CheckResult]:
    """The result of each check; several if several things are wrong."""
    untold = list(_untold(cluster))
    if not cluster.workers:
        todo = "start workers with `dask worker tcp://…`, or ask why the batch system starts none"
        return untold or [CheckResult("workers", "there are none", todo)]
    conclusions = [CheckResult("workers", _crowd(cluster)), *untold]
    for name, check in CHECKS.items():
        wrong = list(check(cluster))
        conclusions += wrong or [
            CheckResult(name, _AGREED[name](cluster) if name in _AGREED else "agree")
        ]
    return conclusions


def _crowd(cluster: ClusterFacts) -> str:
    hosts = {facts["host"] for facts in cluster.workers.values()}
    threads = sum(cluster.threads.values())
    return (
        f"{_count(len(cluster.workers), 'worker')} with {_count(threads, 'thread')} on "
        f"{_count(len(hosts), 'host')}"
    )


def _untold(cluster: ClusterFacts) -> Iterator[CheckResult]:
    todo = (
        "check whether these processes are stopped, overloaded or wait for a disk: restart them, "
        "or allow more seconds by --timeout"
    )
    for reason in dict.fromkeys(cluster.untold.values()):
        where = tuple(sorted(each for each, why in cluster.untold.items() if why == reason))
        yield CheckResult("workers", f"{_count(len(where), 'worker')}: {reason}", todo, where)


def _python(cluster: ClusterFacts) -> Iterator[CheckResult]:
    def minor(facts: ProcessFacts) -> str:
        return f"{facts['implementation']} {'.'.join(facts['python'].split('.')[:2])}"

    todo = (
        "start the workers from the same environment as the client: functions cannot be sent to "
        "another version of Python"
    )
    yield from _different("Python", cluster, minor, todo)


def _treemill(cluster: ClusterFacts) -> Iterator[CheckResult]:
    for error, where in _grouped(cluster.workers, lambda facts: facts["treemill"]).items():
        if error is not None:
            todo = "pip install 'treemill[cluster]' in the workers' environment"
            yield CheckResult("treemill", f"cannot be imported: {error}", todo, where)


def _packages(cluster: ClusterFacts) -> Iterator[CheckResult]:
    for name in cluster.client["packages"]:
        version = _at("packages", name)
        wanted = version(cluster.client)
        todo = (
            f"pip install {name}=={wanted} where the workers run"
            if wanted
            else f"pip install {name} where the client runs, or remove it from the workers"
        )
        asked = name in cluster.asked
        if wanted is None and name in _OPTIONAL and not asked:
            continue  # the client does not use it
        if asked and not any(map(version, (cluster.client, *cluster.workers.values()))):
            todo = "give the name by which pip installs it, or install it where it is needed"
            yield CheckResult("packages", f"{name} is installed nowhere", todo)
        yield from _different("packages", cluster, version, todo, name)


_OPTIONAL = {"coffea", "vector", "uproot"}
_EXCHANGED = {"dask", "distributed", "cloudpickle", "msgpack", "tornado"}


def _scheduler(cluster: ClusterFacts) -> Iterator[CheckResult]:
    for name in sorted(_EXCHANGED):
        mine = cluster.client["packages"].get(name)
        its = cluster.scheduler["packages"].get(name)
        if mine != its:
            todo = f"use the same version: pip install {name}=={its} where the client runs"
            yield CheckResult("scheduler", f"{name} is {its} there and {mine} here", todo)
    error = cluster.scheduler["treemill"]
    if error is not None:
        todo = "pip install 'treemill[cluster]' where the scheduler runs: treemill leads runs there"
        yield CheckResult("scheduler", f"treemill cannot be imported there: {error}", todo)


def _clocks(cluster: ClusterFacts) -> Iterator[CheckResult]:
    late = {where: off for where, off in cluster.clocks.items() if abs(off) > _CLOCK}
    if late:
        worst = max(late.values(), key=abs)
        yield CheckResult(
            "clocks",
            f"wrong by up to {abs(worst):.1f} s",
            "set the clocks of these hosts by NTP (`timedatectl`, `chronyc tracking`)",
            tuple(sorted(late)),
        )


def _files(cluster: ClusterFacts) -> Iterator[CheckResult]:
    paths = {path for facts in cluster.workers.values() for path in facts["files"]}
    for path in sorted(paths):
        for fault, todo in _FILE_FAULTS.items():
            for error, where in _grouped(cluster.workers, _at("files", path, fault)).items():
                if error is not None:
                    yield CheckResult("files", f"{path}: {error}", todo, where)
        sizes = _grouped(cluster.workers, _at("files", path, "size"))
        sizes.pop(None, None)
        if len(sizes) > 1:
            sizes_by_host = ", ".join(
                f"{size:,} bytes on {_some(where)}" for size, where in sizes.items()
            )
            yield CheckResult(
                "files",
                f"{path} differs: {sizes_by_host}",
                "copy it again to the wrong hosts",
            )


_FILE_FAULTS = {
    "error": "mount it on these hosts, give the user the right to read it, or name it by a URL "
    "(root://, https://) that all can read",
    "content": "check whether the file is a ROOT file and has this tree, or copy it again",
}
"""What may be wrong with a file, and what to do."""


def _found_files(cluster: ClusterFacts) -> str:
    files = [file for facts in cluster.workers.values() for file in facts["files"].values()]
    if not files:
        return "none were given"
    number = _count(len(next(iter(cluster.workers.values()))["files"]), "file")
    if all(file["opened"] for file in files):
        return f"{number}, the same for all"
    return f"{number} of the same size for all; workers without treemill could not open them"


def _users(cluster: ClusterFacts) -> Iterator[CheckResult]:
    def user(facts: ProcessFacts) -> str:
        return f"uid {facts['user']['uid']}"

    todo = "start all workers as one user: otherwise their permissions and proxies differ"
    groups = _grouped(cluster.workers, user)
    if len(groups) > 1:
        yield _several("users", groups, todo)


def _credentials(cluster: ClusterFacts) -> Iterator[CheckResult]:
    for kind, variable in _CREDENTIALS.items():
        if cluster.client[kind] is None:
            continue
        missing = tuple(
            sorted(a for a, facts in cluster.workers.items() if not _is_readable(facts[kind]))
        )
        if missing:
            words = f"the client has a {kind} and these workers have none that they can read"
            todo = f"put the {kind} where they can read it, and set {variable} there"
            yield CheckResult("credentials", words, todo, missing)


def _is_readable(credential: CredentialFacts | None) -> bool:
    return credential is not None and credential["readable"]


def _environment(cluster: ClusterFacts) -> Iterator[CheckResult]:
    names = sorted({name for facts in cluster.workers.values() for name in facts["environment"]})
    for name in names:
        groups = _grouped(cluster.workers, _at("environment", name, default="not set"))
        if len(groups) > 1:
            todo = f"give {name} the same value where workers start"
            yield _several("environment", groups, todo, name)


def _scratch(cluster: ClusterFacts) -> Iterator[CheckResult]:
    for error, where in _grouped(cluster.workers, lambda facts: facts["scratch"]["error"]).items():
        if error is not None:
            path = cluster.workers[where[0]]["scratch"]["path"]
            todo = "start these workers with --local-directory in a folder that they may write to"
            yield CheckResult("scratch", f"{path} cannot be written to: {error}", todo, where)
    little = tuple(
        sorted(
            a for a, facts in cluster.workers.items() if (facts["scratch"]["free"] or 0) < _SCRATCH
        )
    )
    if little:
        least = min(cluster.workers[address]["scratch"]["free"] or 0 for address in little)
        todo = "make room, or give --local-directory another disk"
        yield CheckResult("scratch", f"only {_size(least)} are free", todo, little)


def _memory(cluster: ClusterFacts) -> Iterator[CheckResult]:
    little = tuple(sorted(a for a in cluster.workers if _per_thread(cluster, a) < _MEMORY))
    if little:
        least = min(_per_thread(cluster, address) for address in little)
        todo = "give workers more memory (--memory-limit), or fewer threads (--nthreads)"
        yield CheckResult("memory", f"{_size(int(least))} for a thread", todo, little)
    hosts: dict[str, list[str]] = {}
    for address, facts in cluster.workers.items():
        hosts.setdefault(facts["host"], []).append(address)
    for host, there in sorted(hosts.items()):
        total = cluster.workers[there[0]]["memory"]
        promised = sum(cluster.limits.get(address, 0) for address in there)
        if total and promised > 1.05 * total:
            words = f"workers on {host} may take {_size(promised)}, and it has {_size(total)}"
            todo = "lower --memory-limit, or start fewer workers there"
            yield CheckResult("memory", words, todo, tuple(sorted(there)))


def _per_thread(cluster: ClusterFacts, address: str) -> float:
    facts = cluster.workers[address]
    limit = cluster.limits.get(address) or facts["memory"] or _MEMORY * 1e6
    return min(limit, facts["memory"] or limit) / max(cluster.threads.get(address, 1), 1)


def _limits(cluster: ClusterFacts) -> Iterator[CheckResult]:
    def few(facts: ProcessFacts) -> bool:
        return facts["open_files"] is not None and 0 <= facts["open_files"] < _OPEN_FILES

    where = tuple(sorted(address for address, facts in cluster.workers.items() if few(facts)))
    if where:
        least = min(cluster.workers[address]["open_files"] or 0 for address in where)
        todo = f"raise it where workers start: ulimit -n {_OPEN_FILES}"
        yield CheckResult("open files", f"only {least} at once", todo, where)


CHECKS: Mapping[str, Callable[[ClusterFacts], Iterator[CheckResult]]] = {
    "Python": _python,
    "treemill": _treemill,
    "packages": _packages,
    "scheduler": _scheduler,
    "clocks": _clocks,
    "files": _files,
    "users": _users,
    "credentials": _credentials,
    "environment": _environment,
    "scratch": _scratch,
    "memory": _memory,
    "open files": _limits,
}
"""The checks, in the order in which their results are shown."""

_AGREED: Mapping[str, Callable[[ClusterFacts], str]] = {
    "Python": lambda w: w.client["python"],
    "treemill": lambda w: w.client["packages"]["treemill"] or "of its sources",
    "files": _found_files,
    "clocks": lambda w: f"within {_CLOCK:g} s",
    "credentials": lambda w: "as the client's",
    "scratch": lambda w: (
        f"{_size(min(f['scratch']['free'] or 0 for f in w.workers.values()))} or more"
    ),
    "memory": lambda w: f"{_size(int(min(_per_thread(w, a) for a in w.workers)))} for a thread",
    "open files": lambda w: f"{_OPEN_FILES:,} or more",
}
"""What is said if nothing is wrong."""


def _different(
    check: str,
    cluster: ClusterFacts,
    value: Callable[[ProcessFacts], object],
    todo: str,
    name: str = "",
) -> Iterator[CheckResult]:
    """A result for each value that is not the client's."""
    wanted = value(cluster.client)
    for other, where in sorted(_grouped(cluster.workers, value).items(), key=str):
        if other != wanted:
            what = f"{name} " if name else ""
            words = f"{what}{other or 'missing'}, and {wanted or 'missing'} on the client"
            yield CheckResult(check, words, todo, where)


def _several(
    check: str, groups: Mapping[object, tuple[str, ...]], todo: str, name: str = ""
) -> CheckResult:
    """A result about values of which all workers should have the same."""
    values = "; ".join(f"{value} on {_some(where)}" for value, where in groups.items())
    most = max(groups.values(), key=len)
    others = tuple(sorted(a for where in groups.values() if where is not most for a in where))
    return CheckResult(check, f"{name}: {values}" if name else values, todo, others)


def _at(*path: str, default: object = None) -> Callable[[ProcessFacts], object]:
    """Returns what gives the fact at this place."""

    def found(facts: ProcessFacts) -> object:
        value: object = facts
        for name in path:
            value = value.get(name, default) if isinstance(value, Mapping) else default
        return value

    return found


def _grouped(
    workers: Mapping[str, ProcessFacts], value: Callable[[ProcessFacts], object]
) -> dict[object, tuple[str, ...]]:
    """Addresses by value, the most frequent value first."""
    groups: dict[object, list[str]] = {}
    for address, facts in sorted(workers.items()):
        groups.setdefault(value(facts), []).append(address)
    ordered = sorted(groups.items(), key=lambda each: -len(each[1]))
    return {key: tuple(where) for key, where in ordered}


def _some(where: Sequence[str]) -> str:
    shown = ", ".join(where[:_SHOWN])
    return shown if len(where) <= _SHOWN else f"{shown} and {len(where) - _SHOWN} more"


def _count(number: int, what: str) -> str:
    return f"{number} {what}" if number == 1 else f"{number} {what}s"


def _size(number: int) -> str:
    return f"{number / 2**30:.1f} GiB"
