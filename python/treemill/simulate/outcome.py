"""What a simulated query came to, and the numbers that a packetizer is judged by."""

from __future__ import annotations

from dataclasses import dataclass, field

__all__ = ["Outcome", "Span"]


@dataclass(frozen=True, slots=True)
class Span:
    """A worker's time with one packet."""

    worker: int
    began: float
    ended: float
    events: int


@dataclass(frozen=True)
class Outcome:
    """Times in seconds from the query's start; `seconds` is when its result was complete."""

    scenario: str
    strategy: str
    workers: int
    seconds: float
    ideal: float
    """If every worker read from its own node and none waited; no noise, no faults."""
    entries: int
    """Events in the result; `expected` is how many there are."""
    expected: int
    attended: float
    """Seconds that workers were there, summed."""
    spans: list[Span] = field(repr=False)
    """Packets that count."""
    thrown_away: list[Span] = field(repr=False)
    """Packets that were done in vain: of workers that died, or that were not first."""
    at_the_end: set[int] = field(repr=False)
    """Workers that were there when the query ended."""

    @property
    def idle_at_end(self) -> float:
        """From the end of the last packet of the worker that had nothing to do first, to the
        query's end. A packet done in vain is something to do, but see `wasted`."""
        last: dict[int, float] = {}
        for span in (*self.spans, *self.thrown_away):
            last[span.worker] = max(span.ended, last.get(span.worker, 0.0))
        return self.seconds - min(last.get(worker, 0.0) for worker in self.at_the_end)

    @property
    def wasted(self) -> float:
        """Part of the workers' time that went into no packet that counts: idle, asking, opening
        files, committing, done in vain."""
        return 1.0 - sum(span.ended - span.began for span in self.spans) / self.attended

    @property
    def last_packet(self) -> float:
        """Seconds that the packet took that ended last."""
        last = max(self.spans, key=lambda span: span.ended)
        return last.ended - last.began

    def activity(self, points: int = 400) -> tuple[list[float], list[int]]:
        """Times, and how many workers were at a packet (whether it counted or not) at each."""
        times = [self.seconds * i / points for i in range(points + 1)]
        change = [0] * (points + 2)
        for span in (*self.spans, *self.thrown_away):
            change[min(int(span.began / self.seconds * points) + 1, points + 1)] += 1
            change[min(int(span.ended / self.seconds * points) + 1, points + 1)] -= 1
        active, now = [], 0
        for i in range(points + 1):
            now += change[i]
            active.append(now)
        return times, active
