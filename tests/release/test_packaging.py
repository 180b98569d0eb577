"""What operators begin with (packaging/): units that systemd takes, files of Kubernetes that name
what there is, an image that is made of what is there."""

import json
import re
import shlex
import shutil
import subprocess
from pathlib import Path

import click
import pytest
from treemill.backends.dask.rules import rules_of

PACKAGING = Path(__file__).parents[2] / "packaging"
UNITS = sorted((PACKAGING / "systemd").glob("*.service"))


def documents(name):
    yaml = pytest.importorskip("yaml", reason="PyYAML is not installed")
    return yaml.safe_load((PACKAGING / "kubernetes" / name).read_text())


@pytest.mark.parametrize("unit", UNITS, ids=lambda path: path.stem)
def test_systemd_takes_the_units(unit, tmp_path):
    if shutil.which("systemd-analyze") is None:
        pytest.skip("there is no systemd-analyze")
    dask = tmp_path / "dask"
    dask.write_text("#!/bin/sh\n")
    dask.chmod(0o755)
    mine = tmp_path / unit.name
    mine.write_text(unit.read_text().replace("/opt/treemill/bin/dask", str(dask)))
    words = ["systemd-analyze", "verify", "--man=no", str(mine)]
    said = subprocess.run(words, capture_output=True, text=True, timeout=60, check=False)
    wrong = [line for line in said.stderr.splitlines() if unit.name in line]
    assert not wrong, said.stderr


def commands():
    """The programs of Dask that the files start, each with its words."""
    for unit in UNITS:
        (line,) = re.findall(r"^ExecStart=(.*)$", unit.read_text(), re.M)
        yield unit.stem, shlex.split(line)[1:]
    spec = documents("dask-cluster.yaml")["spec"]
    for part in ("scheduler", "worker"):
        (container,) = spec[part]["spec"]["containers"]
        yield f"{part} in Kubernetes", container["args"][1:]


def test_daskss_programs_have_these_options():
    from distributed.cli.dask_scheduler import main as scheduler
    from distributed.cli.dask_worker import main as worker

    seen = 0
    for name, (which, *words) in commands():
        command = {"scheduler": scheduler, "worker": worker}[which]
        there = {option for each in command.params for option in [*each.opts, *each.secondary_opts]}
        options = {each for each in words if each.startswith("--")} - {"--rules"}  # of our preload
        assert options <= there, name
        seen += len(options)
        assert isinstance(command, click.Command)
    assert seen > 8


def test_what_kubernetes_gets_is_what_treemill_reads():
    cluster, gateway = documents("dask-cluster.yaml"), documents("dask-gateway.yaml")
    (container,) = cluster["spec"]["scheduler"]["spec"]["containers"]
    variables = {each["name"]: each["value"] for each in container["env"]}
    code = gateway["gateway"]["extraConfig"]["treemill"]
    made = {}
    exec(re.sub(r"^c\.KubeClusterConfig\.", "made_", code, flags=re.M), made)
    for each in (variables, made["made_environment"]):
        rules_of(json.loads(each["DASK_TREEMILL__RULES"]))
        assert each["DASK_TREEMILL__LOG_FORMAT"] == "json"
    preload = json.loads(made["made_environment"]["DASK_DISTRIBUTED__SCHEDULER__PRELOAD"])
    assert preload == ["treemill.backends.dask.preload"]
    ports = {each["name"] for each in container["ports"]}
    assert {
        each["targetPort"] for each in cluster["spec"]["scheduler"]["service"]["ports"]
    } <= ports


def test_the_image_is_made_of_what_there_is():
    text = (PACKAGING / "container" / "Dockerfile").read_text()
    lines = re.sub(r"\\\n", " ", re.sub(r"^#.*\n", "", text, flags=re.M)).splitlines()
    words = [line.split()[0] for line in lines if line.strip()]
    assert words[0] == "FROM"
    assert set(words) <= {
        *("FROM", "RUN", "COPY", "USER", "WORKDIR", "STOPSIGNAL", "EXPOSE", "ENTRYPOINT", "CMD")
    }
    assert words.index("USER") < words.index("ENTRYPOINT"), "it does not run as root"
    assert ":latest" not in lines[0]
    for line in lines:  # in these forms no shell is between the program and its signals
        if line.startswith(("ENTRYPOINT", "CMD")):
            json.loads(line.split(maxsplit=1)[1])
