"""Writes files of two versions of classes (`versions.C`) with real ROOT, each in a process of its
own, and puts their trees into one file as they are: `write_versions.py FOLDER 1|2|merge`."""

import sys
from pathlib import Path

import ROOT
from compiling import HERE, compile_macro

ENTRIES = 40
TREES = {"1": "old", "2": "new"}


def merge(folder: Path) -> None:
    merged = ROOT.TFile(str(folder / "merged.root"), "RECREATE")
    for tree in TREES.values():
        file = ROOT.TFile(str(folder / f"{tree}.root"))
        merged.cd()
        file.Get(tree).CloneTree(-1, "fast").Write()
        file.Close()
    chain = ROOT.TChain("both")
    for tree in TREES.values():
        chain.Add(str(folder / f"{tree}.root"))
    merged.cd()
    chain.CloneTree(-1, "fast").Write()
    merged.Close()


def main(folder: Path, what: str) -> None:
    if what == "merge":
        merge(folder)
        return
    source = folder / f"versions{what}.C"
    text = (HERE / "versions.C").read_text()
    source.write_text(f"#define GENERATION {what}\n{text}")
    compile_macro(source, folder)
    ROOT.versions.write(str(folder / f"{TREES[what]}.root"), TREES[what], ENTRIES)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2])
