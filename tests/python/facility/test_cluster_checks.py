"""Verdicts from plain facts, without any cluster."""

import copy
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from treemill.facility import facts
from treemill.facility.cluster_checks import CHECKS, ClusterFacts, check_results
from treemill.facility.facts import gather, look

OPENED = {"size": 100, "error": None, "content": None, "opened": True}
FACTS = gather() | {
    "files": {"/data/a.root": OPENED},
    "treemill": None,
    "proxy": None,
    "token": None,
    "memory": 16 * 2**30,
    "open_files": 65536,
    "scratch": {"path": "/tmp", "free": 2**40, "error": None},
}


def cluster(change=None, workers=3, **about):
    """A cluster of equal workers, of which `change` changes the last one's facts."""
    made = {f"tcp://w:{n}": copy.deepcopy(FACTS) for n in range(workers)}
    if change:
        change(made[f"tcp://w:{workers - 1}"])
    about = {"threads": dict.fromkeys(made, 2), "limits": dict.fromkeys(made, 4 * 2**30)} | about
    return ClusterFacts(copy.deepcopy(FACTS), copy.deepcopy(FACTS), made, **about)


def wrong(made):
    return [verdict for verdict in check_results(made) if not verdict.well]


def test_equal_workers_agree():
    found = check_results(cluster())
    assert all(verdict.well for verdict in found)
    assert [verdict.check for verdict in found] == ["workers", *CHECKS]


def sets(*path_and_value):
    *path, name, value = path_and_value

    def change(facts):
        for step in path:
            facts = facts[step]
        facts[name] = value

    return change


@pytest.mark.parametrize(
    ("change", "check", "found", "todo"),
    [
        (sets("python", "3.9.1"), "Python", "CPython 3.9, and CPython", "same environment"),
        (sets("treemill", "ImportError: no"), "treemill", "cannot be imported: Imp", "pip install"),
        (sets("packages", "numpy", "0.1"), "packages", "numpy 0.1, and ", "pip install numpy=="),
        (sets("packages", "hist", None), "packages", "hist missing, and ", "pip install hist=="),
        (
            sets("files", "/data/a.root", OPENED | {"size": None, "error": "Permission denied"}),
            "files",
            "/data/a.root: Permission denied",
            "give the user the right to read it",
        ),
        (
            sets("files", "/data/a.root", OPENED | {"size": 99}),
            "files",
            "/data/a.root differs: 100 bytes on tcp://w:0, tcp://w:1, 99 bytes on tcp://w:2",
            "copy it again",
        ),
        (
            sets("files", "/data/a.root", OPENED | {"content": "no tree 'Nope'"}),
            "files",
            "/data/a.root: no tree 'Nope'",
            "has this tree",
        ),
        (sets("user", "uid", 7), "users", "uid 7 on tcp://w:2", "as one user"),
        (
            sets("environment", "HOME", "/elsewhere"),
            "environment",
            "/elsewhere on tcp://w:2",
            "give HOME the same value",
        ),
        (
            sets("environment", "BEARER_TOKEN", "set"),
            "environment",
            "BEARER_TOKEN: not set on tcp://w:0, tcp://w:1; set on tcp://w:2",
            "BEARER_TOKEN",
        ),
        (
            sets("scratch", {"path": "/scratch", "free": 0, "error": "Read-only file system"}),
            "scratch",
            "/scratch cannot be written to: Read-only",
            "--local-directory",
        ),
        (sets("scratch", "free", 2**28), "scratch", "only 0.2 GiB", "make room"),
        (sets("open_files", 256), "open files", "only 256 at once", "ulimit -n 1024"),
    ],
)
def test_what_differs_is_named_with_what_to_do(change, check, found, todo):
    about = wrong(cluster(change))
    first = about[0]
    assert first.check == check
    assert found in first.found
    assert todo in first.todo
    assert first.where == ("tcp://w:2",) or "differs" in first.found
    assert len(about) == 1 + (change is not None and "Read-only" in found)


def test_the_client_s_credentials_must_be_there():
    made = cluster()
    made.client["proxy"] = {"path": "/tmp/x509up_u1", "readable": True}
    made.workers["tcp://w:0"]["proxy"] = {"path": "/tmp/x509up_u1", "readable": True}
    made.workers["tcp://w:1"]["proxy"] = {"path": "/tmp/x509up_u1", "readable": False}
    (verdict,) = wrong(made)
    assert verdict.check == "credentials"
    assert verdict.where == ("tcp://w:1", "tcp://w:2")
    assert "X509_USER_PROXY" in verdict.todo


def test_clocks_memory_and_the_scheduler():
    (late,) = wrong(cluster(clocks={"tcp://w:0": 0.5, "tcp://w:1": -75.0}))
    assert (late.check, late.where) == ("clocks", ("tcp://w:1",))
    assert "75.0 s" in late.found
    (little,) = wrong(cluster(threads=dict.fromkeys(["tcp://w:0", "tcp://w:1", "tcp://w:2"], 64)))
    assert (little.check, little.found) == ("memory", "0.1 GiB for a thread")
    promised = dict.fromkeys(["tcp://w:0", "tcp://w:1", "tcp://w:2"], 8 * 2**30)
    (much,) = wrong(cluster(limits=promised))
    assert "may take 24.0 GiB, and it has 16.0 GiB" in much.found
    made = cluster()
    made.scheduler["packages"]["distributed"] = "2020.1"
    made.scheduler["treemill"] = "ModuleNotFoundError: No module named 'treemill'"
    assert [verdict.check for verdict in wrong(made)] == ["scheduler", "scheduler"]


def test_no_workers_is_wrong():
    (verdict,) = check_results(ClusterFacts(FACTS, FACTS, {}))
    assert "dask worker" in verdict.todo
    (verdict,) = check_results(
        ClusterFacts(FACTS, FACTS, {}, untold={"tcp://w:0": "no answer within 5 s"})
    )
    assert verdict.where == ("tcp://w:0",)


def test_workers_that_tell_nothing_are_named_by_what_went_wrong():
    silence = {"tcp://w:9": "no answer", "tcp://w:7": "no answer", "tcp://w:8": "OSError: gone"}
    first, second = wrong(cluster(untold=silence))
    assert (first.found, first.where) == ("2 workers: no answer", ("tcp://w:7", "tcp://w:9"))
    assert (second.found, second.where) == ("1 worker: OSError: gone", ("tcp://w:8",))


def test_a_package_that_is_asked_for_must_be_somewhere():
    def without(facts):
        facts["packages"] |= {"coffea": None, "nosuchpkg": None}

    made = cluster(without, workers=1, asked=("coffea", "nosuchpkg"))
    without(made.client)
    found = [verdict.found for verdict in wrong(made)]
    assert found == ["coffea is installed nowhere", "nosuchpkg is installed nowhere"]


def test_files_that_were_not_opened_are_not_called_the_same():
    def without(facts):
        facts["treemill"] = "ModuleNotFoundError: No module named 'treemill'"
        facts["files"]["/data/a.root"]["opened"] = False

    (files,) = (verdict for verdict in check_results(cluster(without)) if verdict.check == "files")
    assert files.found.startswith("1 file of the same size for all; workers without treemill")


def test_what_a_process_finds_of_files(paths, tmp_path, monkeypatch):
    (tmp_path / "program.py").write_text("import treemill")
    missing, program = str(tmp_path / "missing.root"), str(tmp_path / "program.py")
    named = [(paths[0], None), (paths[0], "Events"), (paths[0], "Nope")]
    found = look([*named, (missing, None), (program, None)])
    whole, events, nope, none, text = found.values()
    assert list(found)[:3] == [paths[0], f"{paths[0]}:Events", f"{paths[0]}:Nope"]
    assert whole == events == OPENED | {"size": Path(paths[0]).stat().st_size}
    assert nope == whole | {
        "content": "the file has no tree 'Nope'; it has Events",
        "opened": False,
    }
    assert none["error"] == "No such file or directory"
    assert "not a ROOT file" in text["content"]
    monkeypatch.setattr(facts, "_treemill", lambda: "ImportError: no")
    assert list(look(named[2:]).values()) == [whole | {"opened": False}], "bytes alone"


VALUES = st.none() | st.integers() | st.text(max_size=3)


@given(st.dictionaries(st.sampled_from(sorted(FACTS["packages"])), st.none() | st.text(max_size=4)))
def test_any_versions_give_verdicts_about_workers_that_there_are(versions):
    made = cluster(lambda facts: facts["packages"].update(versions))
    for verdict in check_results(made):
        assert set(verdict.where) <= set(made.workers)
        assert verdict.found


def test_facts_tell_no_secret(monkeypatch):
    monkeypatch.setenv("BEARER_TOKEN", "s3cr3t")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "s3cr3t")
    facts = gather()
    assert "s3cr3t" not in repr(facts)
    assert facts["environment"]["BEARER_TOKEN"] == "set"
