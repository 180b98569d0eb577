"""The tt̄ analysis of coffea_fast.py with coffea-workflow, which keeps what it has filled of each
sample: `python examples/agc/coffea_workflow_ttbar.py FOLDER`.

coffea-workflow tells steps apart by the names of their functions and by their parameters; it does
not look at code or at files. So the content of what a step depends on is among its parameters, the
sources of the analysis, too: else an edited program would have the histograms of before.
"""

import hashlib
import json
from pathlib import Path

from coffea import processor
from coffea_fast import FastAnalysis
from coffea_ttbar import by_name, main
from coffea_ttbar import run as run_processor
from coffea_workflow import Analysis, ExecutorConfig, Fileset, RunConfig, Step, Workflow, run

SOURCES = [Path(__file__).with_name(name) for name in ("coffea_fast.py", "coffea_ttbar.py")]


def fileset(described):
    """What is run over, in coffea's form."""
    return json.loads(Path(described).read_text())


def analysis(fileset, executor, folder):
    """Runs the analysis over a part of the files."""
    how = {"use_result_type": True, "skipbadfiles": (OSError,)}
    return run_processor(fileset, executor, FastAnalysis, folder, **how)


def content(*paths):
    """What tells the contents of files from others."""
    return hashlib.sha256(b"".join(path.read_bytes() for path in paths)).hexdigest()


def histograms(folder):
    """By name, as the fit has them: region, process and variation."""
    folder = Path(folder)
    described, corrections = folder / "fileset.json", folder / "corrections.json"
    files = Step(
        "files",
        Fileset,
        builder=fileset,
        builder_params={"described": str(described), "content": content(described)},
    )
    filled = Step(
        "filled",
        Analysis,
        builder=analysis,
        builder_params={"folder": str(folder), "content": content(corrections, *SOURCES)},
    )
    workflow = Workflow()
    workflow.add(files)
    workflow.add(filled, depends_on=[files])
    executor = ExecutorConfig(executor=processor.IterativeExecutor(status=False))
    how = RunConfig("by_dataset", cache_dir=folder / ".cache", executor_config=executor)
    results = run(workflow, how)["results"]
    if failures := results["filled"]["failures"]:
        raise OSError(f"not all samples could be read: {failures}")
    found, _ = results["filled"]["processor_result"]
    return by_name(results["files"], found)


if __name__ == "__main__":
    main(histograms, "coffea_workflow.root")
