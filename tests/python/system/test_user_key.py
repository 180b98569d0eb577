"""The user's own key."""

import os
import stat

import pytest
from treemill._system.files import user_key
from treemill.errors import SourceError

from tests.raising import raises

pytestmark = pytest.mark.skipif(os.name != "posix", reason="files have no owners")


def test_it_is_made_once_and_only_its_user_may_read_it(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "one"))
    key = user_key()
    assert user_key() == key
    assert len(key) >= 40
    (path,) = (tmp_path / "one").rglob("*key*")
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "two"))
    assert user_key() != key


def test_one_that_others_may_read_is_refused(tmp_path, monkeypatch):
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path))
    user_key()
    (tmp_path / "treemill" / "key").chmod(0o640)
    with raises(SourceError, about="treemill/key", said="other users may read your key"):
        user_key()


def test_without_a_home_the_process_has_one(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "file"))
    assert user_key() == user_key()
