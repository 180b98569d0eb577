"""How large a dataset is, as far as it is known: the entries of files that were opened, and the
number of those that were not. Only notes numbers; knows no file and no part."""

from __future__ import annotations

__all__ = ["Extent"]


class Extent:
    """The number of entries of a dataset."""

    __slots__ = ("_known", "_sized", "unknown")

    def __init__(self) -> None:
        self._known = self._sized = 0  # entries and number of files whose size is known
        self.unknown = 0
        """The number of files whose size is not known."""

    @property
    def mean(self) -> float:
        """Entries of a file, as far as sizes are known; 0: of none."""
        return self._known / self._sized if self._sized else 0.0

    @property
    def expected(self) -> int:
        """Entries of all files; a file of unknown size counts as many as the others on average."""
        return self._known + int(self.unknown * self.mean)

    def enter(self, entries: int | None) -> None:
        """Adds a file, or a part of one. None: its size is not known."""
        if entries is None:
            self.unknown += 1
        else:
            self._known += entries
            self._sized += 1

    def leave(self, entries: int | None) -> None:
        """Takes out what was added. Its size still counts for the mean."""
        if entries is None:
            self.unknown -= 1
        else:
            self._known -= entries

    def opened(self, entries: int) -> None:
        """Notes the size of a file that was added without one."""
        self.unknown -= 1
        self.enter(entries)
