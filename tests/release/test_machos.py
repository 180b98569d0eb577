"""What is found in libraries for macOS, on a small one that zig linked, and in the crates' sources.

`tiny-arm64.dylib.xz` is this, in C: `int PyInit__core(void) { return CFRelease(0) +
PyLong_FromLong(3); }`, by zig 0.17.1 with `cc -target aarch64-macos.11.0 -shared -O2 -s -framework
CoreFoundation -Wl,-undefined,dynamic_lookup -Wl,-install_name,@rpath/tiny.dylib` and a stub of
`write_stubs`.
"""

import lzma
from pathlib import Path

import pytest

from tools.release.frameworks import declared, write_stubs
from tools.release.machos import findings_of_library

TINY = lzma.decompress((Path(__file__).parent / "data" / "tiny-arm64.dylib.xz").read_bytes())
FRAMEWORK = b"/System/Library/Frameworks/CoreFoundation.framework/"
SOURCE = """\
#[cfg_attr(target_vendor = "apple", link(name = "Sums", kind = "framework"))]
extern "C" {
    pub static kSumsNone: u32;
    pub fn SumsAdd(a: u32, b: u32) -> u32;
    #[link_name = "SumsLess$OLD"]
    pub fn SumsLess(a: u32) -> u32;
}
names! { Three => kSumsThree }
pub fn not_apples() {}
"""


def found(library, processor="arm64", macos="11.0"):
    return list(findings_of_library(library, processor, macos))


def test_a_good_library_has_no_findings():
    assert found(TINY) == []


def changed(old, new):
    assert TINY.count(old) == 1
    assert len(old) == len(new)
    return TINY.replace(old, new)


@pytest.mark.parametrize(
    ("library", "said"),
    [
        (changed(FRAMEWORK, b"/Users/me/Brary" + FRAMEWORK[15:]), "needs /Users/me/Brary"),
        (TINY.replace(b"_PyLong_FromLong", b"_GiLong_FromLong"), "names _GiLong_FromLong and no"),
        (TINY.replace(b"PyInit__core", b"PyInit__c0re"), "has no _PyInit__core"),
        (TINY[: 1 << 14], "has a signature that cannot be read"),
        (TINY[:300], "does not say which macOS it needs"),
        (b"text", "is no library"),
        (b"", "is no library"),
    ],
)
def test_what_is_wrong_with_a_library_is_found(library, said):
    assert any(said in each for each in found(library))


def test_the_wheel_and_the_library_agree_on_the_machine():
    assert found(TINY, macos="10.15") == ["needs macOS 11.0.0, its wheel says 10.15"]
    assert found(TINY, processor="x86_64") == ["is for arm64, not x86_64"]


def test_each_signed_page_is_looked_at():
    signed = TINY.index(b"\xfa\xde\x0c\xc0")
    for page in range(signed >> 14):
        library = bytearray(TINY)
        library[(page << 14) + 16383] ^= 1
        assert found(library) == [f"is not what was signed: 1 pages differ, the first is {page}"]


def test_stubs_have_what_crates_declare(tmp_path):
    (tmp_path / "sums" / "src").mkdir(parents=True)
    (tmp_path / "sums" / "src" / "lib.rs").write_text(SOURCE)
    package = {"name": "sums", "manifest_path": str(tmp_path / "sums" / "Cargo.toml")}
    names = declared([package])
    assert names == {"Sums": {"kSumsNone", "kSumsThree", "SumsAdd", "SumsLess", "SumsLess$OLD"}}
    write_stubs(names, tmp_path / "sdk")
    stub = tmp_path / "sdk/System/Library/Frameworks/Sums.framework/Sums.tbd"
    assert "'_SumsAdd', '_SumsLess', '_SumsLess$OLD', '_kSumsNone'" in stub.read_text()
    assert "install-name: '/System/Library/Frameworks/Sums.framework/" in stub.read_text()


def test_a_crate_of_two_frameworks_is_refused(tmp_path):
    (tmp_path / "src").mkdir()
    text = SOURCE + '#[link(name = "More", kind = "framework")]\nextern "C" {}\n'
    (tmp_path / "src" / "lib.rs").write_text(text)
    with pytest.raises(ValueError, match="sums links to More, Sums"):
        declared([{"name": "sums", "manifest_path": str(tmp_path / "Cargo.toml")}])
