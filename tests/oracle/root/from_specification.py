"""What RDataFrame finds by a specification of samples, entries and sums of each sample, which its
metadata tell apart: `from_specification.py SPEC.json OUTPUT.json`."""

import json
import sys

import ROOT


def main(specification: str, output: str) -> None:
    frame = ROOT.RDF.Experimental.FromSpec(specification)
    frame = frame.DefinePerSample("xsec", 'rdfsampleinfo_.GetD("xsec")')
    frame = frame.DefinePerSample("number", 'rdfsampleinfo_.GetI("number")')
    booked = {}
    with open(specification) as text:
        samples = json.load(text)["samples"]
    for name, sample in samples.items():
        own = frame.Filter(f"number == {sample['metadata']['number']}")
        weighted = own.Define("w", "xsec * MET_pt")
        booked[name] = own.Count(), own.Sum("MET_pt"), weighted.Sum("w")
    found = {name: [each.GetValue() for each in values] for name, values in booked.items()}
    found["all"] = [frame.Count().GetValue(), frame.Sum("MET_pt").GetValue()]
    with open(output, "w") as out:
        json.dump(found, out)


if __name__ == "__main__":
    main(*sys.argv[1:])
