"""No message of an error says what opens a door: users, passwords and queries of addresses are left
out."""

import pickle

from treemill.errors import SourceError


def test_addresses_lose_their_users_and_queries():
    error = SourceError(
        "cannot read https://me:secret@host/a.root?X-Amz-Signature=secret (asked twice)",
        file="root://me@host//a.root?authz=Bearer%20secret",
    )
    assert error.file == "root://host//a.root"
    for text in (str(error), repr(error), str(pickle.loads(pickle.dumps(error)))):
        assert "secret" not in text
        assert "https://host/a.root (asked twice)" in text


def test_places_that_are_filled_in_later_are_clean_too():
    error = SourceError("gone")
    error.file = "s3://key:secret@bucket/a.root"
    assert str(error) == "gone (file s3://bucket/a.root)"


def test_other_text_stays_as_it_is():
    assert str(SourceError("what? a:b@c", file="/a?b.root")) == "what? a:b@c (file /a?b.root)"
