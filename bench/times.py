"""Minimum, median and maximum of repeated measurements."""

from dataclasses import dataclass
from statistics import median


@dataclass(frozen=True)
class Times:
    """Repeated measurements of one thing, in seconds, in the order taken."""

    seconds: tuple[float, ...]

    @property
    def median(self) -> float:
        return median(self.seconds)

    @property
    def low(self) -> float:
        return min(self.seconds)

    @property
    def high(self) -> float:
        return max(self.seconds)

    def as_dict(self) -> dict[str, object]:
        """For the file of raw numbers."""
        return {
            "min": self.low,
            "median": self.median,
            "max": self.high,
            "seconds": list(self.seconds),
        }
