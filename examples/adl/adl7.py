"""The sum of the transverse momenta of jets of pT > 30 that are farther than 0.4 in (eta, phi) from
any lepton of pT > 10."""


def analysis(events):
    leptons = events.define("leptons", "[l for l in concat(Electron, Muon) if l.pt > 10]")
    clean = "j.pt > 30 and not any(j.deltaR(l) < 0.4 for l in leptons)"
    return leptons.hist(f"sum(j.pt for j in Jet if {clean})", bins=(128, 0, 512))


if __name__ == "__main__":
    from run import main

    main(analysis)
