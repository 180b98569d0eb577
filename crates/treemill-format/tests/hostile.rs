//! Records of at most 1 MB whose parts lie in one another, or in several others at once. A parser that reads
//! them as often as they are named takes far more memory than they have bytes.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap
)]

#[path = "common/elements.rs"]
mod elements;
#[path = "common/record.rs"]
mod record;

use elements::*;
use record::*;
use treemill_format::error::FormatError;
use treemill_format::parse_tree;
use treemill_format::streamer::StreamerInfos;
use treemill_testing::{Counting, peak_of};

#[global_allocator]
static ALLOCATOR: Counting = Counting;

const LARGEST: usize = 1 << 20;
/// Memory for each byte of a record. A basket's row in the tables has 12 bytes, and 48 in memory.
const TIMES: usize = 20;

/// Bytes that begin with a byte count which covers `more` bytes after them.
fn reaching(bytes: &[u8], more: usize) -> Vec<u8> {
    let count = 0x4000_0000 | (bytes.len() - 4 + more) as u32;
    [&count.to_be_bytes(), &bytes[4..]].concat()
}

fn check(what: &str, record: &[u8], read: impl FnOnce(&[u8]) -> Option<FormatError>) {
    assert!(record.len() <= LARGEST, "{what}: {} bytes", record.len());
    let (error, taken) = peak_of(|| read(record));
    let most = record.len() * TIMES;
    assert!(taken <= most, "{what}: {taken} bytes of {most}");
    let error = error.map(|error| error.to_string()).unwrap_or_default();
    assert!(
        error.contains("before its members do")
            || error.contains("bytes are needed")
            || error.contains("an object announces"),
        "{what}: {error}"
    );
}

/// Items whose names reach to one tail, as far as each of them can see.
fn to_one_tail(item: impl Fn(usize) -> Vec<u8>, tail: &[u8], n: usize) -> Vec<u8> {
    // Behind each item is the option that it was added with.
    let len = item(0).len() + 1;
    let items = (0..n).flat_map(|i| [item((n - 1 - i) * len + 1), vec![0]].concat());
    let mut bytes: Vec<u8> = items.collect();
    bytes.extend(tail);
    bytes
}

#[test]
fn streamer_infos_that_share_their_elements() {
    let member = Member {
        class: "TStreamerBasicType",
        name: "x",
        comment: "",
        code: 3,
        length: 0,
        type_name: "int",
    };
    let members: Vec<Member> = (0..4_000).map(|_| Member { ..member }).collect();
    let whole = streamer_info("Shared", 3, &members);
    // What follows the name of that one: checksum, version, elements.
    let info = named("Shared", "");
    let start = whole.windows(info.len()).position(|w| w == info).unwrap() + info.len();
    let tail = &whole[start..];
    let item = |more: usize| {
        let name = reaching(&named("a", ""), more);
        pointer("TStreamerInfo", &object(9, &name))
    };
    let n = 10_000;
    let items = to_one_tail(item, tail, n);
    let head = [tobject(), string(""), (n as u32).to_be_bytes().to_vec()].concat();
    let record = object(5, &[head, items].concat());
    assert!(record.len() > 10_000 * 30);
    check("streamer infos", &record, |record| {
        StreamerInfos::parse(record, KEY_LEN).err()
    });
}

/// A list whose items' texts each cover all items after them.
fn list_of_long_texts(item: impl Fn(usize) -> Vec<u8>, n: usize) -> Vec<u8> {
    let len = item(0).len();
    let items: Vec<Vec<u8>> = (0..n).map(|i| item((n - 1 - i) * (len + 1))).collect();
    pointer("TList", &list(&items))
}

/// A TNamed whose name is as long, and reaches past it.
fn long_name(more: usize) -> Vec<u8> {
    let mut content = tobject();
    content.push(255);
    content.extend((more as u32).to_be_bytes());
    object(1, &content)
}

#[test]
fn aliases_and_friends_whose_names_cover_one_another() {
    let n = 12_000;
    let aliases = list_of_long_texts(|more| pointer("TNamed", &long_name(more)), n);
    let record = tree("t", 0, 0, &[], &[], &aliases);
    let infos = StreamerInfos::default();
    check("aliases", &record, |record| {
        parse_tree("TTree", record, KEY_LEN, &infos).err()
    });

    let class = streamer_info(
        "TFriendElement",
        2,
        &[
            member("TStreamerBase", "TNamed", 67, "BASE"),
            member("TStreamerString", "fTreeName", 65, "TString"),
        ],
    );
    let infos = StreamerInfos::parse(&list(&[class]), KEY_LEN).unwrap();
    let friend = |more: usize| {
        let mut content = named("f", "f.root");
        content.push(255);
        content.extend((more as u32).to_be_bytes());
        pointer("TFriendElement", &object(2, &content))
    };
    let friends = list_of_long_texts(friend, 10_000);
    let mut record = tree("t", 0, 0, &[], &[], &NULL);
    // fFriends is the third pointer from the end; the tree's own byte count grows with it.
    let at = record.len() - 12;
    record.splice(at..at + 4, friends);
    let count = 0x4000_0000 | (record.len() - 4) as u32;
    record[..4].copy_from_slice(&count.to_be_bytes());
    check("friends", &record, |record| {
        parse_tree("TTree", record, KEY_LEN, &infos).err()
    });
}

#[test]
fn embedded_baskets_that_cover_one_another() {
    let n = 6_000;
    let item = |more: usize| {
        let mut bytes = basket(1, &[], None);
        // fLast, which is in front of the flag and the key's copy.
        let at = key_start(&bytes) - 5;
        let last = i32::from_be_bytes(bytes[at..at + 4].try_into().unwrap()) + more as i32;
        bytes[at..at + 4].copy_from_slice(&last.to_be_bytes());
        bytes
    };
    let len = item(0).len();
    let baskets = (0..n).map(|i| item((n - 1 - i) * len)).collect();
    let x = BranchRecord {
        leaves: vec![leaf("TLeafF", "x", "x", 1, false, &NULL)],
        embedded: baskets,
        entries: n as i64,
        ..BranchRecord::default()
    };
    let branches = [pointer("TBranch", &branch("x", "x/F", &x))];
    let record = tree("t", n as i64, 0, &[], &branches, &NULL);
    let infos = StreamerInfos::default();
    check("embedded baskets", &record, |record| {
        parse_tree("TTree", record, KEY_LEN, &infos).err()
    });
}

/// Where the copy of the key in a basket without data begins: it is zeros up to the end.
fn key_start(basket: &[u8]) -> usize {
    let strings = 8 + 2 + 2;
    basket.len() - (26 + strings + 19)
}
