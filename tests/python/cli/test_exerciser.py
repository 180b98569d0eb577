"""The IOExerciser: which branches are chosen, what is read, what is said."""

import awkward as ak
import numpy as np
import pytest
import treemill as tm
import uproot
from click.testing import CliRunner
from hypothesis import given
from hypothesis import strategies as st
from treemill.cli.bench import exercise
from treemill.cli.main import cli
from treemill.facility.exerciser import ORDERS, SWITCHES, Exercise, ExerciseOutcome, Size, chosen

SIZES = [Size("a", 10), Size("b", 20), Size("c", 30), Size("d", 40), Size("e", 0)]


@pytest.mark.parametrize(
    ("order", "share", "names"),
    [
        ("smallest", 0.3, ["e", "a", "b"]),
        ("smallest", 0.31, ["e", "a", "b", "c"]),
        ("largest", 0.3, ["d"]),
        ("largest", 0.7, ["d", "c"]),
        ("roundrobin", 0.3, ["e", "d"]),
        ("roundrobin", 0.6, ["e", "d", "a", "c"]),
        ("largest", 1, ["d", "c", "b", "a"]),
    ],
)
def test_branches_are_taken_until_the_share_is_reached(order, share, names):
    assert chosen(SIZES, share, order) == names


sizes = st.lists(st.integers(0, 1000), max_size=30).map(
    lambda numbers: [Size(f"b{i}", n) for i, n in enumerate(numbers)]
)


@given(sizes, st.floats(0.001, 1), st.sampled_from(ORDERS))
def test_no_branch_more_than_needed(sizes, share, order):
    names = chosen(sizes, share, order)
    bytes_of = {size.branch: size.zip_bytes for size in sizes}
    assert len(set(names)) == len(names)
    wanted = share * sum(bytes_of.values())
    taken = [bytes_of[name] for name in names]
    assert sum(taken) >= wanted
    assert not names or sum(taken[:-1]) < wanted


def test_what_is_read_is_what_was_asked_for(paths):
    """The sum of all values is that of uproot's."""
    outcome = exercise([f"{paths[0]}:Events"], Exercise(0.3, 50, 1000, "roundrobin"))
    tree = uproot.open(paths[0])["Events"]
    branches = tm.dataset(paths[0], "Events").branches.values()
    readable = [b for b in branches if b.kind in ("number", "list", "array")]
    names = chosen([Size(b.name, b.zip_bytes) for b in readable], 0.3, "roundrobin")
    assert (outcome.chosen, outcome.branches) == (len(names), len(readable))
    assert outcome.entries == 1000

    def total(name, entries):
        values = tree[name].array(entry_stop=1000)[entries]
        return float(np.sum(ak.to_numpy(ak.flatten(values, axis=None)), dtype=np.float64))

    expected = sum(total(name, slice(None)) for name in names)
    expected += sum(total(b.name, slice(49, None, 50)) for b in readable if b.name not in names)
    assert outcome.total == pytest.approx(expected, rel=1e-12)


def test_a_prescale_saves_bytes(paths, nothing_remembered):
    def bytes_read(prescale, share):
        recipe = Exercise(share, prescale, 0)
        return exercise([f"{paths[0]}:Events"], recipe).counters["bytes_read"]

    assert bytes_read(0, 0.3) < bytes_read(50, 0.3) <= bytes_read(0, 1)


def test_the_command_prints_what_it_counted(paths):
    done = CliRunner().invoke(cli, ["bench", "io", f"{paths[0]}:Events", "--entries", "100"])
    assert done.exit_code == 0, done.output
    assert done.output.startswith("100 entries, ")
    assert "MB  bytes that sources were asked for" in done.output


@pytest.mark.parametrize("share", ["0", "130%", "much"])
def test_a_share_that_is_none(paths, share):
    done = CliRunner().invoke(cli, ["bench", "io", paths[0], "--branches", share])
    assert done.exit_code == 2
    assert "is no share: write 30% or 0.3" in done.output


@pytest.mark.parametrize("switch", SWITCHES)
def test_what_is_switched_off_changes_no_result(paths, switch):
    whole = exercise([paths[0]], Exercise())
    assert exercise([paths[0]], Exercise(without=frozenset([switch]))).total == whole.total
    exercise([paths[0]], Exercise(entries=1))  # all is on again


def test_lines_have_units():
    counters = {"bytes_read": 2_500_000, "requests": 1234, "waited": 0.5}
    lines = ExerciseOutcome(1.5, 10, 3, 7, 0.0, counters).lines()
    assert lines[0] == "10 entries, 3 of 7 branches: 1.500 s"
    assert [line.strip() for line in lines[1:]] == [
        "2.500 MB  bytes that sources were asked for",
        "1,234  ranges that servers were asked for",
        "0.500 s  time for which workers waited for bytes of servers",
    ]
