"""The rivals on the eight tasks of bench/adl, in the form of the other table."""

from . import LIMIT, ROOT_1, ROOT_2, TREEMILL, TREEMILL_2, Rival

AWKWARD = "awkward"

ADL_RIVALS = (
    Rival("adl-treemill", "treemill", "adl.treemill_", TREEMILL),
    Rival("adl-treemill-2", "treemill, 2 threads", "adl.treemill_", TREEMILL_2, threads=2),
    Rival("adl-rdf", "RDataFrame, c++ -O3", "adl.rdataframe", ROOT_1, variant="native"),
    Rival("adl-rdf-2", "RDataFrame, c++ -O3, 2 threads", "adl.rdataframe", ROOT_2, 2, "native"),
    Rival("adl-cling", "RDataFrame, cling -O3", "adl.rdataframe", ROOT_1, variant="cling"),
    Rival("adl-awkward", "awkward + vector", "adl.awkward_", AWKWARD),
)

DECOMPRESSION = Rival("adl-limit", "decompression alone", "unpack", LIMIT)
"""No rival: what reading and decompressing all baskets of the task's branches takes, of which
nothing is made."""

MEASURED = (*ADL_RIVALS, DECOMPRESSION)
