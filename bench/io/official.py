"""Reads ranges by the official Python client of XRootD, one vector read at a time; a process of its
own. Takes and prints what crates/treemill-remote/examples/read_ranges.rs does.

`python -m bench.io.official URL REPEAT START:LENGTH…`
"""

import importlib
import json
import sys
import time
from typing import Any


def main(url: str, repeat: int, ranges: list[tuple[int, int]]) -> None:
    """Reads; prints seconds and a checksum."""
    import xxhash

    client: Any = importlib.import_module("XRootD.client")
    began = time.perf_counter()
    file = client.File()
    status, _ = file.open(url)
    if not status.ok:
        raise SystemExit(status.message)
    opened = time.perf_counter() - began
    seconds = []
    for _ in range(repeat):
        start = time.perf_counter()
        status, answer = file.vector_read(chunks=ranges)
        if not status.ok:
            raise SystemExit(status.message)
        seconds.append(time.perf_counter() - start)
    digest = xxhash.xxh3_64()
    for chunk in answer.chunks:
        digest.update(chunk.buffer)
    size = sum(len(chunk.buffer) for chunk in answer.chunks)
    told = {"open": opened, "reads": seconds, "bytes": size, "checksum": digest.hexdigest()}
    print(json.dumps(told))
    file.close()


if __name__ == "__main__":
    pairs = (word.split(":") for word in sys.argv[3:])
    main(sys.argv[1], int(sys.argv[2]), [(int(start), int(length)) for start, length in pairs])
