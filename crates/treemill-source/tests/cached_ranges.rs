//! The cache in a real folder: other handles on the same file see what one has kept, damage is seen, and the limit holds.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects
)]

use std::fs;
use std::ops::Range;
use std::os::unix::fs::PermissionsExt;
use std::path::PathBuf;
use std::sync::Mutex;
use treemill_source::Identity;
use treemill_source::cache::{Readers, cached_ranges, keeps, set, set_shared};

/// The cache is one for the process: its tests run one after the other.
static TURN: Mutex<()> = Mutex::new(());

fn folder(test: &str) -> PathBuf {
    // Where nobody else may make folders, as in /tmp.
    let folder = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    let folder = folder.join(format!("treemill-cache-{}-{test}", std::process::id()));
    let _ = fs::remove_dir_all(&folder);
    folder
}

fn file(state: &str) -> Identity {
    Identity::of_remote("root://host//a.root", 1 << 40, state)
}

fn bytes(range: &Range<u64>) -> Vec<u8> {
    range.clone().map(|at| (at % 251) as u8).collect()
}

/// What lies in a folder, and in those below it.
fn segments(folder: &PathBuf) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for path in fs::read_dir(folder).unwrap().map(|e| e.unwrap().path()) {
        match path.is_dir() {
            true => found.append(&mut segments(&path)),
            false => found.push(path),
        }
    }
    found.sort();
    found
}

#[test]
fn what_one_has_kept_others_find_and_another_state_of_the_file_does_not() {
    let _turn = TURN.lock();
    let folder = folder("kept");
    set(Some((&folder, 1 << 20)), Readers::Nobody).unwrap();
    let one = cached_ranges(&file("1")).unwrap();
    let ranges = [0..100, 5000..9000, 100..101];
    for range in &ranges {
        assert!(!one.has(range));
        one.put(range, &bytes(range));
        one.put(range, &bytes(range)); // once is enough
    }
    let length: u64 = segments(&folder)
        .iter()
        .map(|p| p.metadata().unwrap().len())
        .sum();
    assert_eq!(length, 100 + 4000 + 1 + 3 * 24);
    for found in [one, cached_ranges(&file("1")).unwrap()] {
        for range in &ranges {
            assert_eq!(found.get(range).unwrap(), bytes(range));
        }
        assert!(found.get(&(0..99)).is_none());
    }
    assert!(!cached_ranges(&file("2")).unwrap().has(&ranges[0]));
    set(None, Readers::Nobody).unwrap();
    assert!(cached_ranges(&file("1")).is_none());
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn damage_and_records_in_part_are_as_if_nothing_was_kept() {
    let _turn = TURN.lock();
    let folder = folder("damage");
    set(Some((&folder, 1 << 20)), Readers::Nobody).unwrap();
    let ranges = [0..1000, 2000..3000];
    let one = cached_ranges(&file("1")).unwrap();
    for range in &ranges {
        one.put(range, &bytes(range));
    }
    let path = &segments(&folder)[0];
    let whole = fs::read(path).unwrap();
    for length in [0, 10, 24, 500, 1024, 1030, 2000] {
        fs::write(path, &whole[..length]).unwrap();
        let found = cached_ranges(&file("1")).unwrap();
        assert_eq!(found.get(&ranges[0]).is_some(), length >= 1024);
        assert!(found.get(&ranges[1]).is_none());
    }
    for place in [0, 9, 20, 500] {
        let mut damaged = whole.clone();
        damaged[place] ^= 1;
        fs::write(path, damaged).unwrap();
        let found = cached_ranges(&file("1")).unwrap();
        assert!(found.get(&ranges[0]).is_none(), "{place}");
        found.put(&ranges[0], &bytes(&ranges[0]));
        assert_eq!(found.get(&ranges[0]).unwrap(), bytes(&ranges[0]));
        for other in segments(&folder).iter().filter(|other| *other != path) {
            fs::remove_file(other).unwrap();
        }
    }
    set(None, Readers::Nobody).unwrap();
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn the_folder_stays_within_its_limit_and_what_is_in_use_stays() {
    let _turn = TURN.lock();
    let folder = folder("limit");
    set(Some((&folder, 100_000)), Readers::Nobody).unwrap();
    fs::write(folder.join("notes.txt"), [0; 1000]).unwrap();
    let keep = |states: Range<u32>| {
        for state in states {
            let cached_ranges = cached_ranges(&file(&state.to_string())).unwrap();
            let range = 0..10_000;
            cached_ranges.put(&range, &bytes(&range));
        }
        let held: u64 = segments(&folder)
            .iter()
            .map(|p| p.metadata().unwrap().len())
            .sum();
        assert!(held <= 100_000 + 10_000 + 1000, "{held}");
    };
    // Passes over more than fits find what does.
    let found = [(); 2].map(|()| {
        keep(0..50);
        let has = |state: &u32| {
            cached_ranges(&file(&state.to_string()))
                .unwrap()
                .has(&(0..10_000))
        };
        (0..50_u32).filter(has).collect::<Vec<_>>()
    });
    assert_eq!(found[0].len(), 9);
    assert_eq!(found[0], found[1]);
    // To a process that begins later they are old.
    set(Some((&folder, 100_000)), Readers::Nobody).unwrap();
    keep(50..58);
    assert!(folder.join("notes.txt").exists());
    assert!(cached_ranges(&file("57")).unwrap().has(&(0..10_000)));
    // Folders of files that are forgotten are removed, and made again when something is kept.
    let folders = fs::read_dir(&folder).unwrap().count() - 1;
    assert_eq!(folders, segments(&folder).len() - 1);
    let first = cached_ranges(&file("49")).unwrap();
    assert!(!first.has(&(0..10_000)));
    first.put(&(0..10), &bytes(&(0..10)));
    assert!(cached_ranges(&file("49")).unwrap().has(&(0..10)));
    set(None, Readers::Nobody).unwrap();
    fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_folder_that_cannot_be_made_is_an_error() {
    let _turn = TURN.lock();
    assert!(set(Some((&PathBuf::from("/proc/none"), 1000)), Readers::Nobody).is_err());
}

#[test]
fn a_folder_that_others_may_write_to_is_refused() {
    let _turn = TURN
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner);
    let place = folder("others");
    fs::create_dir_all(&place).unwrap();
    let mode = |bits| fs::set_permissions(&place, fs::Permissions::from_mode(bits)).unwrap();
    for bits in [0o777, 0o770, 0o702] {
        mode(bits);
        assert!(
            set(Some((&place, 1 << 20)), Readers::Nobody).is_err(),
            "{bits:o}"
        );
    }
    mode(0o755);
    set(Some((&place, 1 << 20)), Readers::Nobody).unwrap();
    assert!(cached_ranges(&file("1")).is_some());
    mode(0o777);
    assert!(
        cached_ranges(&file("1")).is_none(),
        "nothing is taken from there"
    );
    set(None, Readers::Nobody).unwrap();
}

fn mode(path: &PathBuf) -> u32 {
    fs::metadata(path).unwrap().permissions().mode() & 0o777
}

#[test]
fn what_is_kept_is_read_by_those_that_its_account_lets() {
    let _turn = TURN.lock();
    let modes = [
        (Readers::Nobody, 0o700, 0o600),
        (Readers::Group, 0o750, 0o640),
        (Readers::All, 0o755, 0o644),
    ];
    for (readers, of_folders, of_segments) in modes {
        let folder = folder("readers");
        set(Some((&folder, 1 << 20)), readers).unwrap();
        cached_ranges(&file("1"))
            .unwrap()
            .put(&(0..9), &bytes(&(0..9)));
        let segment = &segments(&folder)[0];
        let of_file = segment.parent().unwrap().to_owned();
        assert_eq!([mode(&folder), mode(&of_file)], [of_folders; 2]);
        assert_eq!(mode(segment), of_segments);
        fs::remove_dir_all(folder).unwrap();
    }
    set(None, Readers::Nobody).unwrap();
}

/// A folder that another account has filled with a range of a file, and an empty one.
fn filled(test: &str) -> [PathBuf; 2] {
    let [theirs, own] = ["theirs", "own"].map(|which| folder(&format!("{test}-{which}")));
    set(Some((&theirs, 1 << 20)), Readers::All).unwrap();
    cached_ranges(&file("1"))
        .unwrap()
        .put(&(0..100), &bytes(&(0..100)));
    set(None, Readers::Nobody).unwrap();
    assert!(cached_ranges(&file("1")).is_none() && !keeps(&file("1")));
    [theirs, own]
}

#[test]
fn what_another_account_has_kept_is_read_beside_ones_own_and_never_written_to() {
    let _turn = TURN.lock();
    let [theirs, own] = filled("shared");
    let before = segments(&theirs);
    let written = || fs::metadata(&before[0]).unwrap().modified().unwrap();
    fs::File::open(&before[0])
        .unwrap()
        .set_modified(std::time::UNIX_EPOCH)
        .unwrap();
    set_shared(Some((&theirs, &theirs.join("metadata")))).unwrap();
    assert!(keeps(&file("1")) && !keeps(&file("2")), "another state");
    let found = cached_ranges(&file("1")).unwrap();
    assert_eq!(found.get(&(0..100)).unwrap(), bytes(&(0..100)));
    found.put(&(200..300), &bytes(&(200..300)));
    assert!(!found.has(&(200..300)), "nothing of its own is kept");

    set(Some((&own, 1 << 20)), Readers::Nobody).unwrap();
    let found = cached_ranges(&file("1")).unwrap();
    for range in [0..100, 200..300] {
        found.put(&range, &bytes(&range));
    }
    let kept = segments(&own)[0].metadata().unwrap().len();
    assert_eq!(kept, 100 + 24, "what is there is not kept twice");
    let found = cached_ranges(&file("1")).unwrap();
    for range in [0..100, 200..300] {
        assert_eq!(found.get(&range).unwrap(), bytes(&range));
    }
    assert_eq!(segments(&theirs), before);
    assert_eq!(written(), std::time::UNIX_EPOCH);
    set(None, Readers::Nobody).unwrap();
    set_shared(None).unwrap();
    assert!(cached_ranges(&file("1")).is_none());
    for folder in [theirs, own] {
        fs::remove_dir_all(folder).unwrap();
    }
}

/// What others may write to on the way to a folder, by the modes of the folders on it.
fn culprit(test: &str, modes: [u32; 3], change: impl Fn(&[PathBuf; 3])) -> Option<PathBuf> {
    let first = folder(test);
    let second = first.join("second");
    let way = [first.clone(), second.clone(), second.join("third")];
    fs::create_dir_all(&way[2]).unwrap();
    for (folder, mode) in way.iter().zip(modes) {
        fs::set_permissions(folder, fs::Permissions::from_mode(mode)).unwrap();
    }
    change(&way);
    let found = treemill_source::own::check_account(&way[2]);
    fs::remove_dir_all(first).unwrap();
    found
        .err()
        .map(|why| why.path.strip_prefix(&way[0]).unwrap().to_owned())
}

#[test]
fn a_shared_folder_is_such_that_others_could_not_have_made_it() {
    let target = PathBuf::from(env!("CARGO_TARGET_TMPDIR"));
    if let Err(why) = treemill_source::own::check_account(&target) {
        return eprintln!("skipped: {why}");
    }
    let same = |_: &[PathBuf; 3]| ();
    let remove = |way: &[PathBuf; 3]| fs::remove_dir(&way[2]).unwrap();
    let is = |path: &str| Some(PathBuf::from(path));
    assert_eq!(culprit("fine", [0o755; 3], same), None);
    assert_eq!(culprit("fine", [0o755; 3], remove), None);
    for open in [0o777, 0o1777, 0o775] {
        for change in [&same as &dyn Fn(&[PathBuf; 3]), &remove] {
            assert_eq!(culprit("far", [open, 0o755, 0o755], change), is(""));
            assert_eq!(culprit("near", [0o755, open, 0o755], change), is("second"));
        }
        assert_eq!(
            culprit("it", [0o755, 0o755, open], same),
            is("second/third")
        );
        // third -> aside/link -> second/real
        let links = |way: &[PathBuf; 3]| {
            let (aside, real) = (way[0].join("aside"), way[1].join("real"));
            fs::rename(&way[2], &real).unwrap();
            fs::create_dir(&aside).unwrap();
            fs::set_permissions(&aside, fs::Permissions::from_mode(open)).unwrap();
            std::os::unix::fs::symlink(&real, aside.join("link")).unwrap();
            std::os::unix::fs::symlink("../aside/link", &way[2]).unwrap();
        };
        assert_eq!(culprit("links", [0o755; 3], links), is("aside"));
    }
    let circle = |way: &[PathBuf; 3]| {
        fs::remove_dir(&way[2]).unwrap();
        std::os::unix::fs::symlink("third", &way[2]).unwrap();
    };
    assert_eq!(culprit("circle", [0o755; 3], circle), None);
    // A folder of a third account could be moved away by it.
    if treemill_source::own::user() == 0 {
        let gives = |way: &[PathBuf; 3]| {
            std::os::unix::fs::chown(&way[1], Some(4321), None).unwrap();
            std::os::unix::fs::chown(&way[2], Some(1234), None).unwrap();
        };
        assert_eq!(culprit("owners", [0o755; 3], gives), is("second"));
    }
}

#[test]
fn readers_can_enter_what_was_made_before_and_what_is_made_around_it() {
    let _turn = TURN.lock();
    let first = folder("opened");
    let deep = first.join("deep");
    let mode = |path: &PathBuf| path.metadata().unwrap().permissions().mode() & 0o777;
    set(Some((&deep, 1 << 20)), Readers::All).unwrap();
    assert_eq!([&first, &deep].map(mode), [0o755; 2]);
    fs::remove_dir_all(&first).unwrap();
    set(Some((&deep, 1 << 20)), Readers::Nobody).unwrap();
    assert_eq!([&first, &deep].map(mode), [0o700; 2]);
    set(Some((&deep, 1 << 20)), Readers::Group).unwrap();
    assert_eq!([&first, &deep].map(mode), [0o700, 0o750]);
    assert_eq!(
        fs::read_dir(&deep).unwrap().count(),
        0,
        "nothing was left there"
    );
    if treemill_source::own::user() == 0 {
        // What is made in a folder of another group without g+s has this user's.
        std::os::unix::fs::chown(&deep, None, Some(4321)).unwrap();
        fs::set_permissions(&deep, fs::Permissions::from_mode(0o750)).unwrap();
        let why = set(Some((&deep, 1 << 20)), Readers::Group).unwrap_err();
        assert!(why.to_string().contains("4321"), "{why}");
        fs::set_permissions(&deep, fs::Permissions::from_mode(0o2750)).unwrap();
        set(Some((&deep, 1 << 20)), Readers::Group).unwrap();
    }
    set(None, Readers::Nobody).unwrap();
    fs::remove_dir_all(&first).unwrap();
}

#[test]
fn a_shared_folder_is_its_owners_alone() {
    let _turn = TURN.lock();
    let [theirs, _] = filled("poisoned");
    let name = || set_shared(Some((&theirs, &theirs.join("metadata"))));
    let allow = |bits| fs::set_permissions(&theirs, fs::Permissions::from_mode(bits)).unwrap();
    let (others, root) = (4321, 0);
    if treemill_source::own::user() == root {
        std::os::unix::fs::chown(&theirs, Some(others), None).unwrap();
    }
    for bits in [0o777, 0o775, 0o1777] {
        allow(bits);
        let why = name().unwrap_err().to_string();
        assert!(
            why.contains("others than root and the folder's owner"),
            "{why}"
        );
        assert!(cached_ranges(&file("1")).is_none());
    }
    allow(0o755);
    name().unwrap();
    assert!(cached_ranges(&file("1")).unwrap().has(&(0..100)));
    allow(0o777);
    assert!(cached_ranges(&file("1")).is_none(), "from now on");
    set_shared(None).unwrap();
    fs::remove_dir_all(theirs).unwrap();
    set_shared(Some((
        &PathBuf::from("/none"),
        &PathBuf::from("/none/metadata"),
    )))
    .unwrap();
    let found = cached_ranges(&file("1")).unwrap();
    assert!(!found.has(&(0..100)), "a node without it");
    set_shared(None).unwrap();
}
