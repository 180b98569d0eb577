"""Writes seeds for the fuzz targets: `seeds.py FOLDER FILE.root…` makes FOLDER/<target>/<n>.

Whole small files, and out of all files what each target takes: headers, streamer information,
trees, baskets (uncompressed) and compressed blocks.
"""

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import uproot
from hostile import seeds as hostile

SMALL = 60_000
"""Bytes of the largest seed: larger ones are slow and say no more."""
LONGEST = 1_000_000
"""Bytes of the largest input that a target is given (`make fuzz`)."""
OF_EACH = 12
"""Branches of a tree, and blocks of a file, at most."""
CODECS = {b"ZL": "zlib", b"XZ": "lzma", b"L4": "lz4", b"ZS": "zstd"}

Seed = tuple[str, bytes]


def _unpacked(packed: bytes, full: int) -> bytes:
    """A key's or basket's payload, uncompressed."""
    if len(packed) >= full:
        return packed
    chunk = uproot.source.chunk.Chunk.wrap(None, packed)
    cursor = uproot.source.cursor.Cursor(0)
    return bytes(uproot.compression.decompress(chunk, cursor, {}, len(packed), full).raw_data)


def _record(content: bytes, start: int) -> tuple[bytes, bytes, int]:
    """Of the key at `start`: its header, its payload as it is stored, and its full size."""
    size = int.from_bytes(content[start : start + 4], "big")
    full = int.from_bytes(content[start + 6 : start + 10], "big")
    key_len = int.from_bytes(content[start + 14 : start + 16], "big")
    return content[start : start + key_len], content[start + key_len : start + size], full


def _blocks(packed: bytes) -> Iterator[Seed]:
    """Compressed blocks, without the headers that the targets make themselves."""
    at = 0
    while at + 9 <= len(packed) and packed[at : at + 2] in CODECS:
        size, full = (int.from_bytes(packed[at + i : at + i + 3], "little") for i in (3, 6))
        if full < 2**16 and size < SMALL:
            body = packed[at + 9 : at + 9 + size]
            yield CODECS[packed[at : at + 2]], full.to_bytes(2, "big") + body
        at += 9 + size


def _long_frames() -> Iterator[Seed]:
    """Zstandard's frames of several blocks, of which fronts are wanted."""
    for repeated in (6, 40):
        words = np.repeat(
            np.arange(60_000 // repeated, dtype=np.uint64) * 2654435761 >> 7, repeated
        )
        data = words.astype(">u4").tobytes()[:200_000]
        body = pa.compress(data, codec="zstd", asbytes=True)
        for wanted in (16, 140_000):
            sizes = (size // 16 for size in (len(data), wanted))
            yield "zstd", b"".join(size.to_bytes(2, "big") for size in sizes) + body


def _models() -> Iterator[Seed]:
    """Small models of boosted trees, if their libraries are there."""
    rng = np.random.default_rng(1)
    rows = rng.normal(size=(200, 3))
    rows[:, 2] = rng.integers(0, 9, 200)
    rows[::9, 0] = np.nan
    labels = rng.integers(0, 3, 200)
    try:
        import lightgbm
        import xgboost
    except ImportError:
        return
    types = {"feature_types": ["float", "float", "c"], "enable_categorical": True}
    for booster in ("gbtree", "dart"):
        options = {"objective": "multi:softprob", "num_class": 3, "booster": booster, "nthread": 1}
        model = xgboost.train(options, xgboost.DMatrix(rows, labels, **types), 2)
        yield "models", bytes(model.save_raw("json"))
    for linear in (False, True):
        options = {
            "objective": "regression",
            "linear_tree": linear,
            "num_threads": 1,
            "verbose": -1,
        }
        data = lightgbm.Dataset(rows, labels, categorical_feature=[2])
        yield "models", lightgbm.train(options, data, 2).model_to_string().encode()


def _envelopes(content: bytes, ntuple: Any) -> bytes:
    """Payloads of header, footer and first page list, the first two behind their lengths."""

    def payload(start: int, size: int, full: int) -> bytes:
        return _unpacked(content[start : start + size], full)[8:-8]

    ends = (
        payload(*(ntuple.member(f"f{what}{end}") for what in ("Seek", "NBytes", "Len")))
        for end in ("Header", "Footer")
    )
    link = ntuple.footer.cluster_group_records[0].page_list_link
    pages = payload(link.locator.offset, link.locator.num_bytes, link.env_uncomp_size)
    return b"".join(len(part).to_bytes(2, "big") + part for part in ends) + pages


def _open(info: bytes, payload: bytes, branch: Any) -> Iterator[Seed]:
    """An entry of which only the data say the class, behind the file's streamer information."""
    kinds = ("TClonesArray", "TClonesArray*", "", "vector", "TObjArray", "TList")
    name = branch.typename.removeprefix("std::").partition("<")[0]
    offsets = branch.basket(0).byte_offsets
    if name in kinds and offsets is not None and len(info) < 2**16:
        entry = payload[offsets[0] : offsets[min(2, len(offsets) - 1)]]
        yield "open", len(info).to_bytes(2, "big") + info + bytes([kinds.index(name)]) + entry


def seeds(path: Path) -> Iterator[Seed]:
    """Of one file."""
    content = path.read_bytes()
    yield "header", content[:1024]
    if len(content) < SMALL:
        yield "file", content
    with uproot.open(path) as file:
        _, packed, full = _record(content, file.file.fSeekInfo)
        info = _unpacked(packed, full)
        yield from _blocks(packed)
        yield "streamer", info
        for name, class_name in list(file.classnames().items())[:OF_EACH]:
            if class_name == "ROOT::RNTuple":
                yield "rntuple", _envelopes(content, file[name])
            if class_name != "TTree":
                continue
            _, packed, full = _record(content, file.key(name).fSeekKey)
            if len(info) < 2**16:
                yield "tree", len(info).to_bytes(2, "big") + info + _unpacked(packed, full)
            for branch in list(file[name].itervalues())[:OF_EACH]:
                for start in branch.member("fBasketSeek")[:1]:
                    if start:
                        header, packed, full = _record(content, int(start))
                        yield from _blocks(packed)
                        payload = _unpacked(packed, full)
                        yield "basket", header + payload
                        yield from _open(info, payload, branch)


def main(folder: Path, paths: list[Path]) -> None:
    """Write all seeds that are small; a file that cannot be taken apart gives fewer."""
    made = 0

    def write(name: str, found: Iterator[Seed], largest: int = SMALL) -> None:
        nonlocal made
        for target, data in found:
            if len(data) <= largest:
                made += 1
                (folder / target).mkdir(parents=True, exist_ok=True)
                (folder / target / f"{name}-{made}").write_bytes(data)

    write("long", _long_frames())
    write("models", _models())
    write("hostile", hostile(), LONGEST)
    for path in paths:
        try:
            write(path.stem, seeds(path))
        except Exception as error:
            print(f"{path.name}: {type(error).__name__}: {error}", file=sys.stderr)
    print(f"{made} seeds below {folder}")


if __name__ == "__main__":
    main(Path(sys.argv[1]), [Path(name) for name in sys.argv[2:]])
