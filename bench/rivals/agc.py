"""The programs of examples/agc, in the form of the other rivals: `variant` is the module, and after
a colon whether treemill remembers."""

from ..remembering import VARIANT
from . import LIMIT, TREEMILL, Rival

_MODULE = "agc.programs"
READING, REFERENCE, FAST, ROOT = "agc-reading", "agc-coffea", "agc-coffea-fast", "agc-rdf"

AGC_RIVALS = (
    Rival("agc-treemill", TREEMILL, _MODULE, TREEMILL, variant=f"treemill_ttbar:{VARIANT}"),
    Rival(READING, "treemill, nothing remembered", _MODULE, READING, variant="treemill_ttbar"),
    Rival(REFERENCE, "coffea, as its reference", _MODULE, REFERENCE, variant="coffea_ttbar"),
    Rival(FAST, "coffea, for speed", _MODULE, FAST, variant="coffea_fast"),
    Rival(ROOT, "RDataFrame, c++ -O3", _MODULE, ROOT, variant="rdataframe_ttbar"),
)

DECOMPRESSION = Rival("agc-limit", "decompression alone", "unpack", LIMIT)
"""No rival: what reading and decompressing all baskets of the branches takes that are needed."""

TREES, TREES_READING = "agc-trees", "agc-trees-reading"
TREES_REFERENCE, TREES_FAST = "agc-trees-coffea", "agc-trees-coffea-fast"
TREES_ROOT = "agc-trees-rdf"

TREE_RIVALS = (
    Rival(TREES, "treemill, trees", _MODULE, TREES, variant=f"treemill_bdt:{VARIANT}"),
    Rival(
        TREES_READING,
        "treemill, trees, nothing remembered",
        _MODULE,
        TREES_READING,
        variant="treemill_bdt",
    ),
    Rival(
        TREES_REFERENCE,
        "coffea as its reference, XGBoost",
        _MODULE,
        TREES_REFERENCE,
        variant="coffea_bdt_reference",
    ),
    Rival(TREES_FAST, "coffea for speed, XGBoost", _MODULE, TREES_FAST, variant="coffea_bdt"),
    Rival(TREES_ROOT, "RDataFrame, trees", _MODULE, TREES_ROOT, variant="rdataframe_bdt"),
)
"""The version with boosted trees, which fills other histograms."""
