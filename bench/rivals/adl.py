"""The rivals on the eight tasks of bench/adl, in the form of the other table."""

from ..remembering import VARIANT
from . import LIMIT, ROOT_1, ROOT_2, TREEMILL, TREEMILL_2, Rival

AWKWARD, AWKWARD_READING = "awkward", "adl-awkward"
READING, READING_2 = "treemill, nothing remembered", "treemill, nothing remembered, 2 threads"
ONE_THREAD = "adl-reading"
"""Its key: treemill on one thread, which remembers nothing and says where its time goes."""

_OURS = "adl.treemill_"

ADL_RIVALS = (
    Rival("adl-treemill", "treemill", _OURS, TREEMILL, variant=VARIANT),
    Rival("adl-treemill-2", "treemill, 2 threads", _OURS, TREEMILL_2, 2, VARIANT),
    Rival(ONE_THREAD, READING, _OURS, READING),
    Rival("adl-reading-2", READING_2, _OURS, READING_2, threads=2),
    Rival("adl-rdf", "RDataFrame, c++ -O3", "adl.rdataframe", ROOT_1, variant="native"),
    Rival("adl-rdf-2", "RDataFrame, c++ -O3, 2 threads", "adl.rdataframe", ROOT_2, 2, "native"),
    Rival("adl-cling", "RDataFrame, cling -O3", "adl.rdataframe", ROOT_1, variant="cling"),
    Rival(AWKWARD_READING, "awkward + vector", "adl.awkward_", AWKWARD),
    Rival(
        "adl-awkward-kept",
        "awkward + vector, tree and arrays kept",
        "adl.awkward_",
        AWKWARD,
        variant="kept",
    ),
)

DECOMPRESSION = Rival("adl-limit", "decompression alone", "unpack", LIMIT)
"""No rival: what reading and decompressing all baskets of the task's branches takes, of which
nothing is made."""

MEASURED = (*ADL_RIVALS, DECOMPRESSION)
