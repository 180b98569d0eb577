"""What treemill asks the storage of files, by address."""

import os

import pytest
from treemill.data import source
from treemill.data.location import expand
from treemill.errors import SourceError, UnsupportedError

from tests.raising import raises


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "a.root"
    path.write_bytes(b"1234")
    return str(path)


def test_addresses(monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    assert source.address("~/a.root") == "/home/me/a.root"
    assert source.address("a/b.root") == "a/b.root"
    assert source.address("file:///a/b.root") == "/a/b.root"
    assert source.address("root://host//a.root") == "root://host//a.root"
    with raises(UnsupportedError, said="not supported"):
        source.address("gopher://host//a.root")


@pytest.mark.parametrize(
    ("text", "server"),
    [
        ("root://host:1094//a.root:T", "root://host:1094"),
        ("s3://bucket/a.root", "s3://bucket"),
        ("a/b.root:T", ""),
        ("C:/a.root", ""),
        ("a/x://b.root", ""),
    ],
)
def test_servers(text, server):
    assert source.server(text) == server
    assert source.is_url(text) is bool(server)


QUESTIONS = [source.exists, source.is_directory, source.identity, source.matching, source.content]


@pytest.mark.parametrize("ask", QUESTIONS)
def test_every_question_refuses_a_scheme_that_has_no_storage_yet(ask):
    with raises(UnsupportedError, said="gopher:// is not supported root://") as caught:
        ask("gopher://host/a.root")
    assert caught.value.file == "gopher://host/a.root"


def test_a_storage_is_a_line_in_the_table(monkeypatch, file):
    class Memory:
        def exists(self, path):
            return path == "memory://here/a.root"

        def beside(self, given, file):
            return f"{file.rpartition('/')[0]}/{given}"

    monkeypatch.setattr(source, "_STORAGES", {**source._STORAGES, "memory": Memory()})
    assert source.exists("memory://here/a.root")
    assert not source.exists("memory://here/b.root")
    assert source.exists(file)
    assert source.beside("c.root", "MEMORY://here/a.root") == "MEMORY://here/c.root"
    assert source.beside(file, file) == file
    assert source.beside("memory://there/c.root", file) == "memory://there/c.root"


def test_an_identity_changes_with_the_file(file):
    first = source.identity(file)
    assert first.size == 4
    assert first == source.identity(file)
    os.utime(file, ns=(0, 0))
    second = source.identity(file)
    assert second != first
    with open(file, "ab") as opened:
        opened.write(b"5")
    os.utime(file, ns=(0, 0))
    assert source.identity(file).size == 5
    assert second.changed >= first.changed, (
        "the inode has changed, whatever the time of the content"
    )


def test_what_is_not_there_says_so(tmp_path):
    path = str(tmp_path / "none.root")
    assert not source.exists(path)
    for ask in (source.identity, source.content):
        with raises(SourceError, said="no such file") as caught:
            ask(path)
        assert caught.value.file == path
    assert source.matching(str(tmp_path / "*.root")) == []
    with raises(SourceError, about="directory"):
        source.content(str(tmp_path))


def test_addresses_on_servers_are_not_asked_for_before_they_are_opened():
    assert source.is_far("root://host//a.root")
    assert not source.is_far("/a.root")
    assert source.exists("root://nowhere.invalid//a.root")
    assert not source.exists("root://nowhere.invalid//*.root")
    assert not source.exists("root://nowhere.invalid//folder/")


@pytest.mark.parametrize(
    ("address", "is_glob"),
    [
        ("root://host//a*.root", True),
        ("root://host//a?.root", True),
        ("root://host//a.root?xrd.wantprot=unix", False),
        ("https://host/a.root?X-Amz-Signature=1", False),
        ("https://host/[ab].root", True),
    ],
)
def test_globs_and_queries_of_addresses(address, is_glob):
    assert source.is_glob(address) is is_glob


def test_beside_on_servers():
    file = "root://host//data/a.root?token=1"
    assert source.beside("b.root", file) == "root://host//data/b.root?token=1"
    assert source.beside("/other/b.root", file) == "root://host//other/b.root?token=1"
    assert source.beside("root://there//b.root", file) == "root://there//b.root"


def test_beside(monkeypatch):
    monkeypatch.setenv("HOME", "/home/me")
    assert source.beside("b.root", "/data/a.root") == "/data/b.root"
    assert source.beside("b.root", "a.root") == "b.root"
    assert source.beside("../b.root", "x/a.root") == "x/../b.root"
    assert source.beside("/b.root", "/data/a.root") == "/b.root"
    assert source.beside("~/b.root", "/data/a.root") == "/home/me/b.root"


def test_one_file_of_several_names(file, tmp_path, monkeypatch):
    link = tmp_path / "link.root"
    link.symlink_to(file)
    monkeypatch.chdir(tmp_path)
    assert source.is_same(file, str(link))
    assert source.is_same("a.root", file)
    assert not source.is_same("b.root", file)
    assert not source.is_same("root://host//a.root", file)


def test_a_folder_with_a_slash_is_the_root_files_in_it(tmp_path):
    folder = tmp_path / "a[1]"
    folder.mkdir()
    for name in ("b.root", "a.root", "notes.txt"):
        (folder / name).touch()
    found = [location.path for location in expand(f"{folder}/", "Events")]
    assert found == [str(folder / "a.root"), str(folder / "b.root")]
    with raises(SourceError, said="no file matches"):
        expand(f"{tmp_path}/", "Events")
