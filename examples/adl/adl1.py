"""The missing transverse momentum of all events."""


def analysis(events):
    return events.hist("MET_pt", bins=(128, 0, 256))


if __name__ == "__main__":
    from run import main

    main(analysis)
