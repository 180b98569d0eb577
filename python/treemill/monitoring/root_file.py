"""Writes a trace to a ROOT file: the TTree `PerfStats`, a row each, and the TTree `PerfAbout`, a
name and a value each. ROOT, uproot and treemill read them."""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from contextlib import closing
from typing import Any

import numpy as np

from ..writing.branches import BranchValues, OutputBranch
from ..writing.file import Codec, RootFile
from ..writing.tree import TreeWriter
from .recorded import COLUMNS, Recorded

__all__ = ["ABOUT", "TREE", "write"]

TREE = "PerfStats"
ABOUT = "PerfAbout"
_LETTERS = {float: "D", int: "L", str: "C", bool: "O"}
_TYPES = {float: np.float64, int: np.int64, bool: np.bool_}


def write(path: str, recorded: Recorded) -> None:
    """Writes the file."""
    with closing(RootFile(path, os.path.basename(path), Codec("zlib", 1))) as file:
        _write(file, recorded)


def _write(file: RootFile, recorded: Recorded) -> None:
    branches = [OutputBranch(name, _LETTERS[kind]) for name, kind in COLUMNS.items()]
    tree = TreeWriter(file, TREE, branches, "events of a query")
    for chunk in recorded.chunks():
        columns = recorded.columns(chunk.start, chunk.stop)
        tree.extend({name: _values(kind, values) for name, kind, values in columns}, len(chunk))
    tree.close()
    about = recorded.about.to_json()
    names = [OutputBranch("name", "C"), OutputBranch("value", "C")]
    facts = TreeWriter(file, ABOUT, names, "the query as a whole")
    values = [json.dumps(value) for value in about.values()]
    facts.extend({"name": _values(str, list(about)), "value": _values(str, values)}, len(about))
    facts.close()


def _values(kind: type, values: Sequence[Any]) -> BranchValues:
    if kind is not str:
        return BranchValues(np.array(values, _TYPES[kind]))
    texts = [value.encode() for value in values]
    offsets = np.cumsum([0, *map(len, texts)], dtype=np.int64)
    return BranchValues(np.frombuffer(b"".join(texts), np.uint8), offsets)
