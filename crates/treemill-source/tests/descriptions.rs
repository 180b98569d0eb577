//! What opening files reads, kept in a real folder: other processes' sources find it, damage is as if nothing was there, and
//! whatever goes wrong with the folder, reading goes on.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::single_range_in_vec_init
)]

use std::fs;
use std::ops::Range;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use treemill_source::cache::{Readers, described, describes, set_descriptions, set_shared};
use treemill_source::{Identity, Memory, Request, Source};
use treemill_testing::{FAR, Watched};

/// The cache is one for the process: its tests run one after the other.
static TURN: Mutex<()> = Mutex::new(());

const SIZE: u64 = 3 << 20;

/// A folder that is not there yet, below another one that is not there.
fn folder(test: &str) -> PathBuf {
    let name = format!("treemill-descriptions-{}-{test}", std::process::id());
    // Where nobody else may make folders, as in /tmp.
    let above = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&above);
    above.join("metadata")
}

fn byte(at: u64) -> u8 {
    (at % 251) as u8
}

/// A file in a state, opened anew.
fn open(state: &str) -> (Arc<Watched<Memory>>, Arc<dyn Source>) {
    let memory = Memory::new("m", (0..SIZE).map(byte).collect(), FAR);
    let identity = Identity::of_remote("root://host//a.root", SIZE, state);
    let watched = Arc::new(Watched::new(memory).with_identity(Some(identity)));
    let (source, _) = described(Arc::clone(&watched) as Arc<dyn Source>, false);
    (watched, source)
}

fn read(source: &dyn Source, ranges: &[Range<u64>]) {
    let mut requests: Vec<_> = ranges.iter().cloned().map(Request::new).collect();
    source.read(&mut requests).unwrap();
    for request in requests {
        let expected: Vec<u8> = request.range.map(byte).collect();
        assert_eq!(request.buffer, expected);
    }
}

/// How many reads of the file it took to read these ranges.
fn reads(state: &str, ranges: &[Range<u64>]) -> usize {
    let (watched, source) = open(state);
    read(source.as_ref(), ranges);
    watched.reads().len()
}

fn segments(folder: &Path) -> Vec<PathBuf> {
    let all = fs::read_dir(folder).unwrap();
    all.map(|entry| entry.unwrap().path()).collect()
}

const OPENING: [Range<u64>; 3] = [
    0..1024,
    SIZE - 5000..SIZE - 10,
    SIZE - 1_000_000..SIZE - 400_000,
];

#[test]
fn it_keeps_the_contract_of_sources() {
    let _turn = TURN.lock();
    let folder = folder("contract");
    set_descriptions(Some((&folder, 1 << 26)), Readers::Nobody);
    let bytes: Vec<u8> = (0..SIZE).map(byte).collect();
    // The first one keeps what the second one finds.
    for _ in 0..2 {
        treemill_testing::contract::holds(|| open("1").1, &bytes);
    }
    assert!(folder.exists());
    set_descriptions(None, Readers::Nobody);
}

#[test]
fn what_one_has_read_others_need_not_ask_for() {
    let _turn = TURN.lock();
    let folder = folder("known");
    set_descriptions(Some((&folder, 1 << 26)), Readers::Nobody);
    let (watched, one) = open("1");
    assert!(!folder.exists(), "nothing is made before something is kept");
    read(one.as_ref(), &OPENING[..1]);
    read(one.as_ref(), &OPENING[1..]);
    assert_eq!(
        watched.reads().len(),
        3,
        "the edges by two requests, and what lies before them"
    );
    // One file, which says nothing of the address, for its owner only.
    let [path] = &segments(&folder)[..] else {
        panic!("{:?}", segments(&folder))
    };
    assert!(!path.to_string_lossy().contains("host"));
    assert_eq!(path.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(
        folder.metadata().unwrap().permissions().mode() & 0o777,
        0o700
    );

    assert_eq!(reads("1", &OPENING), 0);
    assert_eq!(reads("2", &OPENING), 3, "another state of the file");
    // Data do not count, and what is read after them does.
    let (watched, source) = open("1");
    source.submit(vec![1_500_000..1_500_100])[0].wait().unwrap();
    read(source.as_ref(), &OPENING);
    read(source.as_ref(), &[1_500_000..1_500_100]);
    assert_eq!(watched.reads().len(), 2);
    assert_eq!(reads("1", &[0..1024, 1_500_000..1_500_100]), 0);

    set_descriptions(None, Readers::Nobody);
    assert_eq!(reads("1", &OPENING), 3);
    fs::remove_dir_all(folder.parent().unwrap()).unwrap();
}

#[test]
fn two_that_open_at_once_keep_what_both_have_read() {
    let _turn = TURN.lock();
    let folder = folder("two");
    set_descriptions(Some((&folder, 1 << 26)), Readers::Nobody);
    let ((_, one), (_, other)) = (open("1"), open("1"));
    read(one.as_ref(), &OPENING[..1]);
    read(other.as_ref(), &OPENING[1..]);
    read(one.as_ref(), &OPENING[1..2]);
    assert_eq!(segments(&folder).len(), 1);
    assert!(reads("1", &OPENING) <= 3, "the last one's segment is whole");
    assert_eq!(reads("1", &OPENING), 0);
    set_descriptions(None, Readers::Nobody);
    fs::remove_dir_all(folder.parent().unwrap()).unwrap();
}

#[test]
fn damage_is_as_if_nothing_was_kept_and_is_mended() {
    let _turn = TURN.lock();
    let folder = folder("damage");
    set_descriptions(Some((&folder, 1 << 26)), Readers::Nobody);
    reads("1", &OPENING);
    let path = &segments(&folder)[0];
    let whole = fs::read(path).unwrap();
    for place in [0, 9, 20, 500, 2000, whole.len() / 2, whole.len() - 1] {
        let mut damaged = whole.clone();
        damaged[place] ^= 1;
        for bytes in [damaged, whole[..place].to_vec()] {
            fs::write(path, bytes).unwrap();
            assert!(reads("1", &OPENING) > 0, "{place}");
            assert_eq!(reads("1", &OPENING), 0, "{place}");
        }
    }
    set_descriptions(None, Readers::Nobody);
    fs::remove_dir_all(folder.parent().unwrap()).unwrap();
}

#[test]
fn a_folder_that_cannot_be_made_or_read_costs_nothing_but_the_reads() {
    let _turn = TURN.lock();
    for folder in ["/proc/none/metadata", "/dev/null"] {
        set_descriptions(Some((Path::new(folder), 1 << 20)), Readers::Nobody);
        assert_eq!(reads("1", &OPENING), 3);
        assert_eq!(reads("1", &OPENING), 3);
    }
    set_descriptions(None, Readers::Nobody);
}

#[test]
fn the_limit_holds_over_many_small_files() {
    let _turn = TURN.lock();
    let folder = folder("limit");
    let limit = 1 << 20;
    set_descriptions(Some((&folder, limit)), Readers::Nobody);
    for state in 0..200 {
        reads(&state.to_string(), &[0..10_000]);
    }
    let held = || -> u64 {
        let sizes = segments(&folder).into_iter();
        sizes.map(|path| path.metadata().unwrap().len()).sum()
    };
    assert!(held() <= limit + limit / 16 + 20_000, "{}", held());
    assert_eq!(reads("0", &[0..10_000]), 0);
    // Another process, with a lower limit, whatever little it writes.
    set_descriptions(Some((&folder, 100_000)), Readers::Nobody);
    reads("new", &[0..1000]);
    assert!(held() <= 100_000, "{}", held());
    set_descriptions(None, Readers::Nobody);
    fs::remove_dir_all(folder.parent().unwrap()).unwrap();
}

#[test]
fn what_another_account_has_read_need_not_be_asked_for() {
    let _turn = TURN.lock();
    let [theirs, own] = ["theirs", "own"].map(folder);
    set_descriptions(Some((&theirs, 1 << 26)), Readers::All);
    read(open("1").1.as_ref(), &OPENING);
    let modes = [&theirs, &segments(&theirs)[0]].map(|path| path.metadata().unwrap().permissions());
    assert_eq!(modes.map(|mode| mode.mode() & 0o777), [0o755, 0o644]);
    set_descriptions(None, Readers::Nobody);
    set_shared(Some((theirs.parent().unwrap(), &theirs))).unwrap();
    let identity = |state| Identity::of_remote("root://host//a.root", SIZE, state);
    assert!(describes(&identity("1")) && !describes(&identity("2")));
    assert_eq!(reads("1", &OPENING), 0);
    assert!(reads("1", &[SIZE / 2..SIZE / 2 + 10]) > 0);
    // What is asked for beside that is the user's own.
    set_descriptions(Some((&own, 1 << 26)), Readers::Nobody);
    assert_eq!(reads("1", &OPENING), 0);
    assert!(!own.exists());
    let beside = [OPENING[0].clone(), SIZE / 2..SIZE / 2 + 10];
    assert!(reads("1", &beside) > 0);
    assert_eq!(reads("1", &beside), 0);
    assert_eq!((segments(&theirs).len(), segments(&own).len()), (1, 1));
    set_shared(None).unwrap();
    assert_eq!(reads("1", &beside[1..]), 0);
    assert!(
        reads("1", &beside[..1]) > 0,
        "what is in the shared folder is not in the own one"
    );
    set_descriptions(None, Readers::Nobody);
}
