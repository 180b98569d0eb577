"""examples/agc: from made-up files to a fit, in small. Rivals' histograms are compared in
tests/oracle/test_agc_rivals.py.
"""

import importlib
import json
import logging
from pathlib import Path

import pytest
import uproot

AGC = Path(__file__).parents[2] / "examples" / "agc"


@pytest.fixture(scope="module")
def example():
    """The example's programs by name, which are no package."""
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(AGC))
        yield importlib.import_module


@pytest.fixture(scope="module")
def folder(example, tmp_path_factory):
    folder = tmp_path_factory.mktemp("agc")
    example("generate").generate(folder, 2_500)
    return folder


@pytest.fixture(scope="module")
def found(example, folder):
    return example("treemill_ttbar").histograms(folder)


def test_every_process_has_its_variations(found):
    weights = {f"btag_var_{i}:{way}" for i in range(4) for way in ("up", "down")}
    common = {"nominal", "pt:scale_up", "pt:res_up"} | weights
    simulations = {"ME_var", "PS_var", "scaleup", "scaledown"}
    more = {"ttbar": simulations, "wjets": {"scale_var:up", "scale_var:down"}}
    for region in ("4j1b", "4j2b"):
        assert list(found[region]) == [
            *("ttbar", "single_top_s_chan", "single_top_t_chan", "single_top_tW", "wjets")
        ]
        for process, varied in found[region].items():
            assert set(varied) == common | more.get(process, set())


def test_the_top_is_there(found, folder):
    metadata = json.loads((folder / "fileset.json").read_text())["ttbar__nominal"]["metadata"]
    mass = found["4j2b"]["ttbar"].nominal
    assert 100 < mass.axes[0].centers[mass.values().argmax()] < 220
    share = mass.sum(flow=True).value / (metadata["xsec"] * 3378)
    assert 0.02 < share < 0.2
    up = found["4j2b"]["wjets"]["scale_var:up"].sum(flow=True).value
    assert up == pytest.approx(1.03 * found["4j2b"]["wjets"].nominal.sum(flow=True).value)


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::RuntimeWarning")
def test_the_fit_finds_what_was_put_in(example, folder, found):
    reason = "cabinetry is not installed (dependency group `dev`)"
    cabinetry = pytest.importorskip("cabinetry", reason=reason)
    logging.getLogger("cabinetry").setLevel(logging.ERROR)
    example("treemill_ttbar").write(found, folder, merged=11)
    with uproot.open(folder / "shapes.root") as file:
        assert len([*file.keys()]) == 2 * (5 * 11 + 4 + 2 + 1)
    model, data = example("fit").modelled(folder)
    # So few events decide on no other parameter.
    names = model.config.par_names
    result = cabinetry.fit.fit(model, data, fix_pars=[name != "ttbar_norm" for name in names])
    assert result.bestfit[names.index("ttbar_norm")] == pytest.approx(1, abs=0.3)
