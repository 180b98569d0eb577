"""Events of at least three leptons, with a pair of the same flavour and opposite charge: the
transverse mass of the missing momentum and the leading lepton besides the pair closest to 91.2."""


def analysis(events):
    e = events.filter("nElectron + nMuon >= 3").define("ls", "concat(Electron, Muon)")
    same = "(a[0] < nElectron) == (b[0] < nElectron) and a[1].charge != b[1].charge"
    pairs = f"(a[0], b[0], a[1] + b[1]) for a, b in combinations(enumerate(ls), 2) if {same}"
    e = e.define("z", f"min([{pairs}], key=lambda i, j, sum: abs(sum.mass - 91.2))")
    e = e.define("o", "max([l for i, l in enumerate(ls) if z[0] != i != z[1]], key=lambda l: l.pt)")
    return e.hist("sqrt(2 * o.pt * MET_pt * (1 - cos(o.phi - MET_phi)))", bins=(128, 0, 256))


if __name__ == "__main__":
    from run import main

    main(analysis)
