"""python tools/streamers.py: makes python/treemill/writing/file.py anew, from a tree with
every kind of leaf that the ROOT of this environment writes, objects included."""

import base64
import struct
import tempfile
import zlib
from array import array
from pathlib import Path

MODULE = Path(__file__).parents[1] / "python" / "treemill" / "writing" / "streamers.py"
_BEGIN = "_PACKED = (\n"


def written() -> bytes:
    """The list of TStreamerInfo that ROOT puts into such a file."""
    import ROOT

    with tempfile.TemporaryDirectory() as folder:
        path = f"{folder}/all.root"
        file = ROOT.TFile(path, "RECREATE", "", 0)
        tree = ROOT.TTree("t", "")
        count = array("i", [0])
        tree.Branch("n", count, "n/I")
        kept = []
        for letter, code in zip("BSILGFDO", "bhiqqfdb", strict=True):
            kept.append(array(code, [0]))
            tree.Branch(f"x{letter}", kept[-1], f"x{letter}[n]/{letter}")
        text, numbers = ROOT.std.string("a"), ROOT.std.vector("float")()
        tree.Branch("s", text)
        tree.Branch("v", numbers)
        tree.Fill()
        tree.Write()
        file.Close()
        again = ROOT.TFile(path)
        at, length = again.GetSeekInfo(), again.GetNbytesInfo()
        again.Close()
        data = Path(path).read_bytes()[at : at + length]
    (header,) = struct.unpack(">h", data[14:16])
    return data[header:]


def main() -> None:
    """Writes the module."""
    packed = base64.b85encode(zlib.compress(written(), 9)).decode()
    pieces = [packed[i : i + 92] for i in range(0, len(packed), 92)]
    lines = "\n".join(f'    b"{piece}"' for piece in pieces)
    text = MODULE.read_text()
    MODULE.write_text(f"{text[: text.index(_BEGIN)]}{_BEGIN}{lines}\n)\n")


if __name__ == "__main__":
    main()
