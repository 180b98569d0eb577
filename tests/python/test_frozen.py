"""Classes of fields that do not change: they do what frozen dataclasses with slots do."""

import copy
import pickle
from dataclasses import field

import pytest
from treemill.frozen import frozen, replaced


@frozen
class Place:
    """Where something is."""

    file: int
    entry: int = 0
    names: tuple[str, ...] = ()


@frozen
class Seen:
    what: int
    seconds: float = field(default=0.0, compare=False)
    also: list[int] = field(default_factory=list)

    @property
    def double(self) -> int:
        return 2 * self.what


@frozen
class Nothing:
    """Has no fields."""


@frozen
class Other:
    file: int
    entry: int = 0
    names: tuple[str, ...] = ()

    def __repr__(self) -> str:
        return "other"


def test_fields_are_given_by_place_or_by_name():
    assert Place(1, names=("a",)) == Place(1, 0, ("a",))
    assert repr(Place(1)) == "Place(file=1, entry=0, names=())"
    assert repr(Nothing()) == "Nothing()"
    assert Nothing()
    assert Place.__doc__ == "Where something is."
    assert Place.__module__ == __name__
    with pytest.raises(TypeError, match="file"):
        Place()
    with pytest.raises(TypeError, match="place"):
        Place(1, place=2)


def test_each_instance_has_its_own_default():
    one, two = Seen(1), Seen(1)
    one.also.append(3)
    assert two.also == []
    assert Seen(1, also=[5]).also == [5]
    assert one.double == 2


def test_equal_fields_of_one_class_are_equal():
    assert Place(1) == Place(1)
    assert hash(Place(1)) == hash(Place(1))
    assert Place(1) != Place(2)
    assert Place(1) != Other(1)
    assert Nothing() == Nothing()
    assert Seen(1, 2.0) == Seen(1, 3.0)
    assert Seen(1) != Seen(2)
    assert len({Place(1), Place(1), Place(1, 2)}) == 2
    assert repr(Other(1)) == "other"


def test_fields_do_not_change():
    place = Place(1)
    with pytest.raises(AttributeError, match=r"Place\.file does not change"):
        place.file = 2
    with pytest.raises(AttributeError):
        del place.file
    with pytest.raises(AttributeError):
        place.more = 2
    assert not hasattr(place, "__dict__")


def test_a_copy_has_other_fields():
    assert replaced(Place(1, 2), entry=3) == Place(1, 3)
    assert replaced(Seen(1, 2.0), what=3).seconds == 2.0
    with pytest.raises(TypeError, match="more"):
        replaced(Place(1), more=2)


@pytest.mark.parametrize("protocol", range(2, pickle.HIGHEST_PROTOCOL + 1))
def test_instances_are_pickled_and_copied(protocol):
    for made in (Place(1, 2, ("a",)), Seen(1, 2.0, [3]), Nothing()):
        for again in (pickle.loads(pickle.dumps(made, protocol)), copy.deepcopy(made)):
            assert again == made
            assert type(again) is type(made)
    assert pickle.loads(pickle.dumps(Seen(1, 2.0))).seconds == 2.0


def test_patterns_match_by_position():
    match Place(1, 2):
        case Place(file, 2):
            assert file == 1
        case _:
            pytest.fail("it has the entry 2")
