"""How bytes are compressed in ROOT files. Names and levels come from `snapshot_format`."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

__all__ = ["Codec"]

_CLASSES = {"zlib": "ZLIB", "lzma": "LZMA", "lz4": "LZ4", "zstd": "ZSTD"}


@dataclass(frozen=True)
class Codec:
    """A codec by name, None for none, with its level."""

    name: str | None = "zstd"
    level: int = 5

    @property
    def uproots(self) -> Any:
        """The same as uproot has it; None for none."""
        import uproot

        return None if self.name is None else getattr(uproot, _CLASSES[self.name])(self.level)

    @property
    def code(self) -> int:
        """ROOT's number for it."""
        made = self.uproots
        return 0 if made is None else int(made.code)

    def packed(self, data: bytes | bytearray) -> bytes:
        """The data in ROOT's frames, or as they are where that is not shorter."""
        from uproot.compression import compress

        return bytes(compress(bytes(data), self.uproots))
