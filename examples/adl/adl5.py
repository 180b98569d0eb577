"""The missing transverse momentum of events with an opposite-charge muon pair of 60 to 120 GeV."""


def analysis(events):
    pair = "60 < (a + b).mass < 120 for a, b in combinations(Muon, 2) if a.charge != b.charge"
    return events.filter("nMuon >= 2").filter(f"any({pair})").hist("MET_pt", bins=(128, 0, 256))


if __name__ == "__main__":
    from run import main

    main(analysis)
