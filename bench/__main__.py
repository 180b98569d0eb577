"""`python -m bench [MEASUREMENT] [OPTIONS]`: measure, compare, write `bench/results/`.

Measurements, each with options of its own (`--help`):

  rivals      histograms beside RDataFrame and uproot; what runs when none is named
  adl         the eight tasks of the analysis description benchmark
  agc         a whole analysis of top quarks, beside coffea and RDataFrame
  edits       that analysis edited ten times, remembered and run anew
  remembered  what `tm.remember` costs and saves: many histograms over many small files
  sessions    what sessions and selectors cost; a processor beside coffea's runner
  types       every kind of branch, beside uproot
  bookings    many bookings in one pass; what filters save
  variations  what a systematic variation costs beside the nominal histogram
  scale       how cost grows with what there may be many of
  kernels     users' own functions: kernels and callables, beside awkward and RDataFrame
  metadata    opening a file of 1,800 branches, beside ROOT and uproot
  cache       what it costs and gains to remember what was decompressed
  corrections  corrections with arrays, beside correctionlib: a table, no options but [VALUES]
  models      boosted trees with arrays, beside XGBoost and LightGBM
  monitoring  what it costs to count what workers do, beside the same queries without
  facility    this machine by treemill's own benchmark, from the data to the docs' pictures
  io          reading over an emulated link, beside ROOT, uproot and xrdcp; root only
  storages    `bench storage` over four protocols, from 1 to 256 readers; root only
  endurance   `bench hammer` against four storages, one of which is lost for a while; root only
  cluster     sessions on Dask workers, beside coffea and distributed RDataFrame
  pictures    bars of what `io` has measured, for the docs, from its file of results
  comparison  the README's picture and lines, from what `rivals` and `agc` have measured
  before      treemill as it was at another commit beside treemill as it is now
  packetizer  what a request costs the packetizer: one line, no options but [WORKERS FILES]
"""

import importlib
import sys

from . import remembering

# Modules with `main(arguments) -> exit status`; loaded when asked for, since some need ROOT.
MEASUREMENTS = {
    "rivals": "bench.run",
    "adl": "bench.adl.run",
    "agc": "bench.agc.run",
    "edits": "bench.agc.edits",
    "remembered": "bench.remembered",
    "sessions": "bench.sessions.run",
    "types": "bench.types.__main__",
    "bookings": "bench.bookings",
    "variations": "bench.variations",
    "scale": "bench.scale",
    "kernels": "bench.kernels",
    "metadata": "bench.metadata",
    "cache": "bench.cache",
    "corrections": "bench.corrections",
    "models": "bench.models",
    "monitoring": "bench.monitoring",
    "facility": "bench.facility",
    "io": "bench.io.run",
    "storages": "bench.storage.comparison",
    "endurance": "bench.storage.endurance",
    "cluster": "bench.cluster.run",
    "pictures": "bench.pictures",
    "comparison": "bench.comparison",
    "before": "bench.before",
    "packetizer": "bench.packetizer",
}


def main(arguments: list[str]) -> int:
    """Runs the measurement that is named first."""
    named = arguments[:1] if arguments and not arguments[0].startswith("-") else []
    (name,) = named or ["rivals"]
    if name not in MEASUREMENTS or arguments in (["-h"], ["--help"]):
        print(__doc__, file=sys.stderr)
        return 0 if name in MEASUREMENTS else 2
    remembering.off()
    status: int = importlib.import_module(MEASUREMENTS[name]).main(arguments[len(named) :])
    return status


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
