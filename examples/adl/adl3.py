"""The transverse momentum of jets with |eta| < 1."""


def analysis(events):
    return events.hist("Jet_pt[abs(Jet_eta) < 1]", bins=(128, 0, 256))


if __name__ == "__main__":
    from run import main

    main(analysis)
