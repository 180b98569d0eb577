"""The three jets whose mass is closest to 172.5 GeV: their transverse momentum, and the highest of
their b-tags."""


def analysis(events):
    mass = "lambda t: abs((t[0] + t[1] + t[2]).mass - 172.5)"
    top = events.define("top", f"min(combinations(Jet, 3), key={mass})")
    pt = top.hist("(top[0] + top[1] + top[2]).pt", bins=(128, 0, 256))
    return pt, top.hist("max(top[0].btag, top[1].btag, top[2].btag)", bins=(128, 0, 1))


if __name__ == "__main__":
    from run import main

    main(analysis)
