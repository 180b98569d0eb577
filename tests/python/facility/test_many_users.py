"""What users of a load test do, and what is said of a run."""

from collections import Counter

import pytest
from treemill.facility.load_tests.many_users import (
    Course,
    QueryEnd,
    Sample,
    Script,
    User,
    drawn,
    findings,
    users,
)


def test_a_script_is_the_same_for_the_same_seed_and_has_all_sizes():
    user = User("ada", "thinks")
    ones, others = (Script(user, 20, 7, 10.0) for _ in range(2))
    asked = [ones.next() for _ in range(2000)]
    assert asked == [others.next() for _ in range(2000)]
    sizes = Counter(each.size for each in asked)
    assert sizes["short"] > sizes["middle"] > sizes["long"] > 0
    assert sum(each.pause for each in asked) / len(asked) == pytest.approx(10.0, rel=0.1)
    assert {file for each in asked for file in each.files} == set(range(20))
    assert all(len(set(each.files)) == len(each.files) for each in asked)
    steady = Script(User("bob", "steady"), 20, 7, 10.0)
    assert {(each.size, each.pause) for each in (steady.next() for _ in range(9))} == {("long", 0)}


def test_there_are_all_kinds_of_users_however_many():
    assert Counter(each.kind for each in users(50)) == {
        "thinks": 46,
        "steady": 2,
        "hog": 1,
        "hangs": 1,
    }
    assert len({each.name for each in users(50)}) == 50
    assert len(users(1)) == 1


def course(problem=None, grows=0.0, more=1.0):
    made = Course(90.0)
    made.queries = [QueryEnd("ada", "thinks", "short", 10.0 * i, 0.5, 100) for i in range(8)]
    made.queries.append(QueryEnd("ada", "thinks", "middle", 80.0, 2.5, 100, problem))
    for i in range(18):
        bytes_ = int(1e8 * (1 + grows * i))
        entries = {"hog": int(100 * more * i), "bob": 100 * i, "eve": 100 * i}
        made.samples.append(Sample(5.0 * i, 3, 10**7, bytes_, 4, entries))
    return made


def test_what_is_said_of_a_run():
    said = "\n".join(findings(course()))
    assert "9 queries in 90 s, 0 workers killed: all results exact" in said
    assert "short queries of users that think: median 0.50 s" in said
    assert "hog 33.3%" in said
    assert "workers: 100 MB, +0.0%" in said
    assert course().well()
    assert len(drawn(course())) == 1


def test_what_is_wrong_is_said():
    wrong = course(problem="the result is 3", grows=0.02, more=2.0)
    assert not wrong.well()
    said = "\n".join(findings(wrong))
    assert "1 LOST OR WRONG" in said
    assert "ada, middle, at 80 s: the result is 3" in said
    assert wrong.shares() == {"hog": 0.5, "bob": 0.25, "eve": 0.25}
    assert wrong.growth("worker_bytes") > 0.05
    assert not Course(10.0).well(), "nothing was asked"
