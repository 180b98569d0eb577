"""Made-up corrections in correctionlib's form: pile-up, efficiencies of muons, b tags, and what is
uncertain in jets' energies. Knows no file.
"""

from itertools import product

MUONS = ("muon_id", "muon_iso", "muon_trigger")
BTAG = ("hf", "lf", "hfstats1", "hfstats2", "lfstats1", "lfstats2", "cferr1", "cferr2")
JES = [f"Source{i}" for i in range(27)]
"""As many uncertainties of jets' energies as in the challenge."""


def corrections(years, share=1.0):
    """The document, with a share of the uncertainties of jets' energies."""
    muon = {"year": "string", "abseta": "real", "pt": "real", "systematic": "string"}
    tag = {"systematic": "string", "flavor": "int", "abseta": "real", "pt": "real", "disc": "real"}
    pileup = {"year": "string", "nTrueInt": "real", "systematic": "string"}
    ways = ("down", "nominal", "up")
    made = [correction("pileup", pileup, by_year(years, ways, "0.7+0.01*x", 0.03, "nTrueInt"))]
    for i, name in enumerate(MUONS):
        syst = ("systdown", "nominal", "systup")
        data = by_year(years, syst, f"0.97-0.0{i + 1}*x", 0.004, "abseta")
        made.append(correction(name, muon, data))
    systematics = ["central", *(f"{way}_{of}" for way, of in product(("up", "down"), BTAG))]
    data = category("systematic", {each: tagged(each) for each in systematics})
    made.append(correction("btag", tag, data))
    for i, source in enumerate(JES[: max(1, round(share * len(JES)))]):
        data = formula(f"0.00{i % 9 + 1}+0.002*abs(x)+0.1/max(y,20)", "eta", "pt")
        made.append(correction(f"jes{source}", {"eta": "real", "pt": "real"}, data))
    return {"schema_version": 2, "corrections": made}


def by_year(years, ways, text, step, variable):
    """A formula for each year and direction, which differ by a step."""
    return category(
        "year",
        {
            year: category(
                "systematic",
                {
                    way: formula(f"{text}+({sign * step * (1 + n)})", variable)
                    for way, sign in zip(ways, (-1, 0, 1), strict=True)
                },
            )
            for n, year in enumerate(years)
        },
    )


def tagged(systematic):
    """The factor of a jet, by its flavour; each source changes those of one flavour."""
    way, _, source = systematic.partition("_")
    changed = {"h": 5, "l": 0, "c": 4}.get(source[:1])
    shift = {"up": 1, "down": -1}.get(way, 0) * 0.0075 * (1 + len(source))
    moved = f"+({shift})*(x+0.0001*min(y,500))"
    return category(
        "flavor",
        {
            flavour: formula(f"1+0.02*(x-0.5){moved if flavour == changed else ''}", "disc", "pt")
            for flavour in (0, 4, 5)
        },
    )


def correction(name, inputs, data):
    """A correction; `inputs` maps names to types."""
    listed = [{"name": key, "type": kind} for key, kind in inputs.items()]
    output = {"name": "value", "type": "real"}
    return {"name": name, "version": 1, "inputs": listed, "output": output, "data": data}


def category(name, content):
    """A choice by an input."""
    listed = [{"key": key, "value": value} for key, value in content.items()]
    return {"nodetype": "category", "input": name, "content": listed}


def formula(text, *variables):
    """A formula of real inputs, which it calls x and y."""
    return {
        "nodetype": "formula",
        "parser": "TFormula",
        "expression": text,
        "variables": [*variables],
    }
