//! What passes see of files, and which are found to have changed.
#![allow(clippy::restriction)]

use super::*;
use std::collections::HashSet;
use treemill_format::tree::Tree;
use treemill_read::TreeFile;
use treemill_source::Costs;

fn identity(size: u64) -> Identity {
    Identity {
        place: [1, 2],
        size,
        state: [3, 4, 5, 6],
    }
}

fn is(size: u64) -> Is {
    Is {
        identity: identity(size),
        uuid: Some([7; 16]),
    }
}

/// Files whose sizes are their numbers, but for some.
struct Numbered(HashSet<usize>);

impl Files for Numbered {
    fn open(&self, path: &str) -> Result<Arc<dyn Source>, SourceError> {
        panic!("{path} is not to be opened")
    }

    fn identity(&self, path: &str) -> Option<Identity> {
        self.state(path)
    }

    fn state(&self, path: &str) -> Option<Identity> {
        let number: usize = path.parse().unwrap();
        let is_other = self.0.contains(&number);
        (!is_other || number.is_multiple_of(2))
            .then(|| identity((number + usize::from(is_other)) as u64))
    }

    fn ends(&self, path: &str) -> Option<(Identity, u128)> {
        Some((self.state(path)?, path.len() as u128))
    }
}

fn files(count: usize) -> NearFiles {
    let paths: Vec<String> = (0..count).map(|number| number.to_string()).collect();
    NearFiles::new(paths.iter().map(|path| Some(Place { path, table: "t" })))
}

#[test]
fn the_first_look_of_a_pass_holds() {
    let (all, pass) = (files(3), files(3).pinned());
    assert_eq!(pass.note(1, identity(10)), identity(10));
    assert_eq!(pass.note(1, identity(11)), identity(10));
    assert!(!pass.opened(1, is(11)));
    assert!(pass.opened(1, is(10)));
    assert_eq!(pass.seen(1).unwrap().uuid, Some([7; 16]));
    assert_eq!(pass.note(1, identity(11)), identity(10));
    assert!(pass.seen(1).unwrap().is_open);
    assert_eq!(pass.all_seen(), [1]);
    assert_eq!(pass.pinned().seen(1), None, "each pass looks by itself");
    assert!(
        all.opened(1, is(10)) && all.opened(1, is(11)),
        "outside of passes files may change"
    );
    assert_eq!(all.seen(1), None);
}

#[test]
fn a_pass_that_forgets_a_file_looks_again() {
    let pass = files(2).pinned();
    pass.note(0, identity(1));
    pass.forget(0);
    assert_eq!(pass.note(0, identity(2)), identity(2));
}

#[test]
fn files_that_are_not_there_are_left_out_of_a_look() {
    let pass = files(6).pinned();
    pass.look(&Numbered([3].into()), &[1, 2, 3, 9]);
    assert_eq!(pass.all_seen(), [1, 2]);
}

#[test]
fn what_has_changed_is_found_by_any_number_of_threads() {
    let count = 2 * LOOKED_AT + 10;
    let pass = files(count).pinned();
    let all: Vec<usize> = (0..count).collect();
    pass.look(&Numbered(HashSet::new()), &all);
    let other = [0, 7, LOOKED_AT, count - 1];
    let now = Numbered(other.into());
    for threads in [0, 1, 2, 3, 100] {
        assert_eq!(pass.changed(&now, None, threads), other);
        assert_eq!(pass.changed(&now, Some(&all), threads), other);
        assert_eq!(pass.changed(&now, Some(&[9, 8, 7, 6]), threads), [7]);
        assert_eq!(
            pass.changed(&now, Some(&[count + 5]), threads),
            [0; 0],
            "never seen"
        );
    }
}

#[test]
fn ends_are_of_files_as_the_pass_has_seen_them() {
    let pass = files(12).pinned();
    pass.note(4, identity(44));
    let now = Numbered([5, 6].into());
    let found = pass.ends(&now, &[4, 5, 6, 11, 99], 1);
    let of = |number: u64, digest| Some((identity(number), digest));
    assert_eq!(found, [None, None, of(7, 1), of(11, 2), None]);
    assert_eq!(pass.all_seen(), [4, 6, 11], "they are noted");
}

#[test]
fn files_are_unchanged_that_are_what_they_were() {
    let count = LOOKED_AT + 10;
    let pass = files(count).pinned();
    let known: Vec<_> = (0..count).map(|n| (n, identity(n as u64))).collect();
    let now = Numbered([3, 4, LOOKED_AT].into());
    let same: Vec<_> = (0..count)
        .filter(|n| ![3, 4, LOOKED_AT].contains(n))
        .collect();
    for threads in [0, 1, 2] {
        assert_eq!(pass.unchanged(&now, &known, threads), same);
    }
    assert_eq!(
        pass.unchanged(&now, &[(count, identity(count as u64))], 1),
        [0; 0]
    );
}

/// A tree of so many entries, without branches.
fn table(entries: u64) -> Table {
    let tree = Tree {
        name: "t".to_owned(),
        title: String::new(),
        entries,
        clusters: vec![0],
        aliases: Vec::new(),
        index: None,
        friends: Vec::new(),
        weight: 1.0,
        is_reshuffled: false,
        branches: Vec::new(),
    };
    let source = Arc::new(Memory::new("memory", Vec::new(), Costs::NEAR));
    Table::from(Arc::new(TreeFile::new(source, tree)))
}

#[test]
fn tables_are_known_of_files_that_are_what_they_were() {
    let all = files(5);
    for number in [0, 1, 2, 3] {
        assert!(all.found(number, is(number as u64), &table(10), number != 1));
    }
    assert_eq!(all.unknown(), [4]);
    let now = Numbered([2, 3].into()); // of which one is another and one is gone
    let (ordered, unordered) = (Some((10, true)), Some((10, false)));
    for threads in [0, 1, 2] {
        let found = all.tables(&now, threads);
        assert_eq!(found, [ordered, unordered, None, None, None]);
    }
    let pass = all.pinned();
    pass.note(0, identity(99));
    pass.note(2, identity(2));
    let found = pass.tables(&now, 1);
    assert_eq!(
        found,
        [None, unordered, ordered, None, None],
        "as it has seen them"
    );
    assert_eq!(pass.all_seen(), [0, 1, 2], "what it looks at is noted");
}

#[test]
fn files_with_the_same_clusters_share_them() {
    let all = files(3);
    for number in 0..3 {
        assert!(all.found(number, is(1), &table(10), true));
    }
    let [one, _, other] = [0, 1, 2].map(|number| all.known(number).unwrap().clusters);
    assert_eq!(*one, [0]);
    assert!(Arc::ptr_eq(&one, &other));
}

#[test]
fn a_look_that_panics_says_nothing_of_its_files() {
    let all: Vec<usize> = (0..3 * LOOKED_AT).collect();
    let look = |part: &[usize]| {
        assert!(!part.contains(&LOOKED_AT), "as it is to be");
        Vec::<usize>::new()
    };
    let found = at_once(&all, 3, look, <[usize]>::to_vec);
    assert_eq!(found, (LOOKED_AT..2 * LOOKED_AT).collect::<Vec<_>>());
}
