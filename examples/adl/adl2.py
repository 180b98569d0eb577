"""The transverse momentum of all jets."""


def analysis(events):
    return events.hist("Jet_pt", bins=(128, 0, 256))


if __name__ == "__main__":
    from run import main

    main(analysis)
