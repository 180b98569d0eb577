"""The files that are read: of the schema "opendata", compressed by zstd or not at all, of about a
wanted size. Knows no link and no server.
"""

import argparse
from collections.abc import Mapping
from pathlib import Path

from treemill.facility.generate import Recipe, paths, write_dataset

from .. import data
from .layouts import TREE

MUONS = ("Muon_pt", "Muon_eta", "Muon_phi", "Muon_mass", "Muon_charge", "nMuon")
_COMPRESSED, _PLAIN = 337, 653
"""Bytes of an event, about."""
_CLUSTER = 10_000


def compressed(options: argparse.Namespace, megabytes: float) -> Path:
    """A file of about this size, as files usually are."""
    return data.make("zstd", int(megabytes * 1e6 / _COMPRESSED), options.data, "opendata")


def uncompressed(options: argparse.Namespace, megabytes: float, name: str) -> Path:
    """A file of about this size, with a name of its own at the servers."""
    events = int(megabytes * 1e6 / _PLAIN)
    recipe = Recipe(1, events, _CLUSTER, "none", schema="opendata")
    folder = options.data / f"io-{name}-{events}"
    for _ in write_dataset(folder, recipe):
        pass
    path = paths(folder, recipe)[0]
    named = path.with_name(f"{name}-{events}.root")
    if not named.exists():
        named.hardlink_to(path)
    return named


def sizes(path: str) -> dict[str, int]:
    """Bytes that each branch has in the file."""
    import treemill as tm

    return {b.name: b.zip_bytes for b in tm.dataset(path, TREE).branches.values()}


def all_and_some(
    options: argparse.Namespace, megabytes: float, name: str
) -> Mapping[str, tuple[Path, tuple[str, ...]]]:
    """Two readings, by what is read: all columns of a file of this size that is not compressed, and
    some of one that is."""
    whole = uncompressed(options, megabytes, name)
    packed = compressed(options, options.megabytes)
    found = {"all columns": (whole, tuple(sizes(str(whole)))), "some columns": (packed, MUONS)}
    for path, _ in found.values():
        data.warm_up(path)
    return found
