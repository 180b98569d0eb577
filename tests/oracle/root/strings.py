"""Writes a tree `Events` with a string, a number and no more: `strings.py FILE`."""

import sys

import ROOT


def main(file: str) -> None:
    names = '(std::vector<std::string>{"ee", "mumu", "", "emu"})[rdfentry_ % 4]'
    data = ROOT.RDataFrame(1000).Define("name", names).Define("x", "double(rdfentry_ % 60)")
    data.Snapshot("Events", file, ["name", "x"])


if __name__ == "__main__":
    main(*sys.argv[1:])
