"""What RDataFrame takes for available in a snapshot with variations, rows of such a snapshot in an
RNTuple by the bits of its mask, and lists that are larger than baskets:
`read_varied.py VARIED VARIED_NTUPLE LARGE NTUPLE OUTPUT.json`."""

import json
import sys

import ROOT

LISTS = ["Jet_pt", "Jet_pt__jes_up"]
VARIED = ["MET_pt", "MET_pt__met_up", "MET_pt__met_down", "ht__jes_up", "nMuon"]


def by_bits(path: str) -> list[dict[str, list[float]]]:
    """For each bit of the mask, the values of the rows that have it: numbers, and lists' sums."""
    columns = [*VARIED, "sums"]
    frame = ROOT.RDataFrame("Events", path).Define("sums", "Sum(Jet_pt__jes_up)")
    found = []
    for bit in range(4):
        own = frame.Filter(f"(R_rdf_mask_Events_0 >> {bit}) % 2 == 1").AsNumpy(columns)
        found.append({name: [float(x) for x in own[name]] for name in columns})
    return found


def types(path: str) -> dict[str, str]:
    frame = ROOT.RDataFrame("Events", path)
    return {str(name): frame.GetColumnType(name) for name in frame.GetColumnNames()}


def main(varied: str, varied_ntuple: str, large: str, ntuple: str, output: str) -> None:
    frame = ROOT.RDataFrame("Events", varied)
    sums = {}
    for name in VARIED:
        there = frame.FilterAvailable(name)
        sums[name] = there.Count(), there.Sum(name)
    for name in LISTS:
        there = frame.FilterAvailable(name).Define("own", f"Sum({name})")
        sums[name] = there.Count(), there.Sum("own")
    there = frame.FilterAvailable("label__jes_up").Define("own", "(double)label__jes_up.size()")
    sums["label__jes_up"] = there.Count(), there.Sum("own")
    found = {name: [each.GetValue() for each in pair] for name, pair in sums.items()}

    lists = {}
    file = ROOT.TFile.Open(large)
    tree = file.Get("Events")
    leaves = {name: tree.GetLeaf(name) for name in ("small", "big", "tail")}
    for entry in range(tree.GetEntries()):
        tree.GetEntry(entry)
        for name, leaf in leaves.items():
            values = [leaf.GetValue(i) for i in range(0, leaf.GetLen(), 1009)]
            lists.setdefault(name, []).append([leaf.GetLen(), sum(values)])
    baskets = {name: tree.GetBranch(name).GetWriteBasket() for name in leaves}
    total = ROOT.RDataFrame("Events", large).Sum("big").GetValue()
    fields = ROOT.RDataFrame("Events", ntuple)
    summed = fields.Sum("big")
    counts = [int(n) for n in fields.AsNumpy(["R_rdf_sizeof_big"])["R_rdf_sizeof_big"]]
    read = {
        "varied": found,
        "types": types(varied),
        "bits": by_bits(varied_ntuple),
        "lists": lists,
        "baskets": baskets,
        "total": total,
    }
    with open(output, "w") as out:
        json.dump(read | {"ntuple": [counts, summed.GetValue()]}, out)


if __name__ == "__main__":
    main(*sys.argv[1:])
