"""How many workers of a process may take part in a pass that is limited to some. Pure."""

from __future__ import annotations

from collections.abc import Iterable

from ...frozen import frozen

__all__ = ["UNLIMITED", "AdmittedThreads", "Limits", "free_threads"]


@frozen
class Limits:
    """The largest numbers of workers of a pass; None: no limit."""

    workers: int | None = None
    """The number of workers in all."""
    on_host: int | None = None
    """The number of workers on each host."""

    def there(self, threads: Iterable[int]) -> int:
        """Returns how many workers may take part, at least one, if each host has so many threads.

        >>> Limits(on_host=2).there([4, 1]), Limits(workers=3).there([4, 1])
        (3, 3)
        """
        most = self.on_host
        there = sum(each if most is None else min(each, most) for each in threads)
        return max(there if self.workers is None else min(there, self.workers), 1)


UNLIMITED = Limits()


@frozen
class AdmittedThreads:
    """A process that takes part, with this many workers."""

    host: str
    workers: int


def free_threads(
    limits: Limits, host: str, threads: int, admitted: Iterable[AdmittedThreads]
) -> int:
    """Returns how many workers a process of this host, with this many threads, may have in addition
    to those that take part.

    >>> taking_part = [AdmittedThreads("a", 2), AdmittedThreads("b", 1)]
    >>> free_threads(Limits(workers=4, on_host=3), "a", 8, taking_part)
    1
    """
    if limits == UNLIMITED:
        return threads  # however many there are: they need not be counted
    processes = list(admitted)
    if limits.workers is not None:
        threads = min(threads, limits.workers - sum(each.workers for each in processes))
    if limits.on_host is not None:
        here = sum(each.workers for each in processes if each.host == host)
        threads = min(threads, limits.on_host - here)
    return max(threads, 0)
