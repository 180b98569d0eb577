"""`python -m bench.agc.first PROGRAM FOLDER PICTURE`: a new process, from its start to the first
picture: the mass of the top quark in tt̄ and what the jets' energy changes."""

import sys

from .programs import make


def main(program: str, folder: str, picture: str) -> None:
    found = make(1, program).filled(folder)
    import matplotlib

    matplotlib.use("agg")
    import matplotlib.pyplot as plt

    (mass,) = found.keys() & {"4j2b_ttbar", "mass_top_ttbar"}
    for name in (mass, f"{mass}_pt_scale_up", f"{mass}_pt_res_up"):
        plt.stairs(found[name][1:-1], label=name)
    plt.legend()
    plt.savefig(picture)


if __name__ == "__main__":
    main(*sys.argv[1:])
