"""Trees as RNTuples, by the ways that ROOT has: `write_converted.py TREE.root NAME FOLDER` writes
`imported.root` (RNTupleImporter) and `snapshot.root` (RDataFrame) into the folder.
"""

import sys
from pathlib import Path

import ROOT


def main(tree: str, name: str, folder: Path) -> None:
    importer = ROOT.Experimental.RNTupleImporter.Create(tree, name, str(folder / "imported.root"))
    importer.SetIsQuiet(True)
    importer.Import()
    options = ROOT.RDF.RSnapshotOptions()
    options.fOutputFormat = ROOT.RDF.ESnapshotOutputFormat.kRNTuple
    ROOT.RDataFrame(name, tree).Snapshot(name, str(folder / "snapshot.root"), ".*", options)


if __name__ == "__main__":
    main(sys.argv[1], sys.argv[2], Path(sys.argv[3]))
