"""The missing transverse momentum of events with at least two jets of pT > 40."""


def analysis(events):
    return events.filter("sum(Jet_pt > 40) >= 2").hist("MET_pt", bins=(128, 0, 256))


if __name__ == "__main__":
    from run import main

    main(analysis)
