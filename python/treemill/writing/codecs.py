"""The compression of bytes in ROOT files. `query/snapshot_target.py` checks names and levels."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from uproot.compression import Compression

__all__ = ["Codec"]

_CLASSES = {"zlib": "ZLIB", "lzma": "LZMA", "lz4": "LZ4", "zstd": "ZSTD"}


@dataclass(frozen=True)
class Codec:
    """A codec by name, with its level; without a name: no compression."""

    name: str | None = "zstd"
    level: int = 5

    @property
    def uproots(self) -> Compression | None:
        """uproot's object for this codec; None for no compression."""
        import uproot

        return None if self.name is None else getattr(uproot, _CLASSES[self.name])(self.level)

    @property
    def code(self) -> int:
        """ROOT's number for this codec and level."""
        compression = self.uproots
        return 0 if compression is None else int(compression.code)

    def packed(self, data: bytes | bytearray) -> bytes:
        """Compress the data into ROOT's frames; data that do not become shorter stay as they
        are."""
        from uproot.compression import compress

        return bytes(compress(bytes(data), self.uproots))
