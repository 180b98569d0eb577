"""What a request costs the packetizer: `python -m bench packetizer [WORKERS FILES]`.

Workers that take no time at all ask one after another until the query is over; the time is all
spent in the packetizer. Prints microseconds of CPU per event (a request is one) and per packet.
"""

from __future__ import annotations

import heapq
import sys
import time

from treemill.scheduling import (
    Commit,
    Committed,
    Discard,
    Discarded,
    Event,
    FileOpened,
    OpenFile,
    PacketDone,
    Packetizer,
    Policy,
    Process,
    Sizing,
    WorkerJoined,
)

EVENTS, CLUSTER_EVENTS, NODE_FILES, RATE = 200_000, 10_000, 400, 20_000.0


def measure(workers: int, files: int) -> tuple[int, int, float, float]:
    """Events, packets, seconds in all, seconds of the costliest event."""
    cuts = tuple(range(CLUSTER_EVENTS, EVENTS, CLUSTER_EVENTS))
    nodes = max(files // NODE_FILES, 1)
    packetizer = Packetizer(
        [None] * files,
        Policy(commit_seconds=10.0, speculate=True),
        nodes=[f"root://n{i % nodes}/" for i in range(files)],
        max_foreign=40,
        sizing=Sizing(shortest=3.0),
    )
    due: list[tuple[float, int, Event]] = [
        (0.0, i, WorkerJoined(i, f"root://n{i % nodes}/")) for i in range(workers)
    ]
    events = packets = 0
    spent = worst = 0.0
    order = workers
    while due:
        now, _, event = heapq.heappop(due)
        began = time.process_time()
        actions = packetizer.handle(event, now)
        took = time.process_time() - began
        spent += took
        worst = max(worst, took)
        events += 1
        for action in actions:
            answer: Event
            wait = 0.001
            if isinstance(action, Process):
                packet = action.packet
                speed = RATE * (1.0 + 0.5 * (action.worker % 3))
                wait = (packet.stop - packet.start) / speed
                answer = PacketDone(action.worker, packet.number, packet.stop, wait)
                packets += 1
            elif isinstance(action, OpenFile):
                answer = FileOpened(action.worker, action.file, EVENTS, cuts)
            elif isinstance(action, Commit):
                answer = Committed(action.worker)
            elif isinstance(action, Discard):
                answer = Discarded(action.worker)
            else:
                continue
            order += 1
            heapq.heappush(due, (now + wait, order, answer))
    assert packetizer.over
    assert packetizer.committed_entries == files * EVENTS
    return events, packets, spent, worst


def main(arguments: list[str]) -> int:
    """Measures and prints one line."""
    workers, files = (int(a) for a in (arguments or ["5000", "100000"]))
    events, packets, spent, worst = measure(workers, files)
    print(
        f"{workers:,} workers, {files:,} files: {events:,} events, {packets:,} packets; "
        f"{1e6 * spent / events:.1f} us per event, {1e6 * spent / packets:.1f} us per packet, "
        f"the longest {1e3 * worst:.1f} ms"
    )
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
