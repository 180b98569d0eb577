"""The fit of the tt̄ cross section by cabinetry and pyhf: `python examples/agc/fit.py FOLDER` reads
`shapes.root`, which treemill_ttbar.py writes there; it prints the result, and draws the model and
what the fit made of its parameters.
"""

import logging
import sys
from pathlib import Path

import cabinetry

SAMPLES = {
    "ttbar": "ttbar",
    "single top, s channel": "single_top_s_chan",
    "single top, t channel": "single_top_t_chan",
    "tW": "single_top_tW",
    "W+jets": "wjets",
}
TWO_SIDED = {f"b tag {i + 1}": f"btag_var_{i}" for i in range(4)}
ONE_SIDED = {"jet energy scale": "pt_scale_up", "jet energy resolution": "pt_res_up"}


def _systematic(name: str, up: str, down: str | None = None, sample: str | None = None):
    lower = {"VariationPath": f"_{down}"} if down else {"Symmetrize": True}
    known = {"Name": name, "Up": {"VariationPath": f"_{up}"}, "Down": lower}
    return known | {"Type": "NormPlusShape"} | ({"Samples": sample} if sample else {})


def configuration(folder: Path) -> dict[str, object]:
    """As cabinetry's configuration files have it."""
    samples = [{"Name": name, "SamplePath": path} for name, path in SAMPLES.items()]
    luminosity = {"Up": {"Normalization": 0.03}, "Down": {"Normalization": -0.03}}
    return {
        "General": {
            "Measurement": "CMS_ttbar",
            "POI": "ttbar_norm",
            "HistogramFolder": str(folder / "cabinetry"),
            "InputPath": f"{folder}/shapes.root:{{RegionPath}}_{{SamplePath}}{{VariationPath}}",
            "VariationPath": "",
        },
        "Regions": [
            {"Name": "4j1b CR", "RegionPath": "4j1b", "Variable": "$H_T$ [GeV]"},
            {"Name": "4j2b SR", "RegionPath": "4j2b", "Variable": "$m_{bjj}$ [GeV]"},
        ],
        "Samples": [{"Name": "Pseudodata", "SamplePath": "data", "Data": True}, *samples],
        "Systematics": [
            _systematic("ME variation", "ME_var", sample="ttbar"),
            _systematic("PS variation", "PS_var", sample="ttbar"),
            _systematic("ttbar scale", "scaleup", "scaledown", "ttbar"),
            *(_systematic(name, path) for name, path in ONE_SIDED.items()),
            *(_systematic(name, f"{p}_up", f"{p}_down") for name, p in TWO_SIDED.items()),
            _systematic("W+jets scale", "scale_var_up", "scale_var_down", "W+jets"),
            {"Name": "luminosity", "Type": "Normalization", **luminosity},
        ],
        "NormFactors": [
            {"Name": "ttbar_norm", "Samples": "ttbar", "Nominal": 1.0, "Bounds": [0, 10]}
        ],
    }


def modelled(folder: Path) -> tuple[object, object]:
    """The model and the data."""
    known = configuration(folder)
    cabinetry.templates.collect(known)
    cabinetry.templates.postprocess(known)
    return cabinetry.model_utils.model_and_data(cabinetry.workspace.build(known))


def main(folder: Path) -> None:
    model, data = modelled(folder)
    # With minuit's usual tolerance it stops early, and takes errors for far too small.
    result = cabinetry.fit.fit(model, data, tolerance=1e-3)
    for label, value, error in zip(result.labels, result.bestfit, result.uncertainty, strict=True):
        if not label.startswith("staterror"):
            print(f"{label:>22}: {value:7.3f} ± {error:.3f}")
    pictures = {"close_figure": True, "figure_folder": str(folder)}
    cabinetry.visualize.pulls(result, exclude="ttbar_norm", **pictures)
    after = cabinetry.model_utils.prediction(model, fit_results=result)
    cabinetry.visualize.data_mc(after, data, config=configuration(folder), **pictures)


if __name__ == "__main__":
    logging.getLogger("cabinetry").setLevel(logging.ERROR)
    main(Path(sys.argv[1]))
