//! Opening a distant file: one submission after it is open if it is not known, none if it is.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::sync::Arc;
use treemill_read::{File, Options, Reader};
use treemill_source::cache::{Readers, described, set_descriptions};
use treemill_source::{Identity, Local, Source};
use treemill_testing::{FAR, Watched};

#[test]
fn a_known_file_is_opened_without_a_question() {
    let folder = std::env::temp_dir().join(format!("treemill-known-{}", std::process::id()));
    set_descriptions(Some((&folder, 1 << 26)), Readers::Nobody);
    let files = ["muons.root", "deep.root"].map(|name| format!("tests/data/{name}"));
    for path in files
        .iter()
        .filter(|path| std::path::Path::new(path).exists())
    {
        let mut found = Vec::new();
        for is_known in [false, true] {
            let local = Local::open(path).unwrap();
            let identity = Identity::of_remote(path, local.size(), "1");
            let watched = Watched::new(local).with_costs(FAR);
            let watched = Arc::new(watched.with_identity(Some(identity)));
            let (source, _) = described(Arc::clone(&watched) as Arc<dyn Source>, false);
            let file = File::open(source).unwrap();
            let tables: Vec<_> = file.tables().into_iter().map(|table| table.path).collect();
            let table = file.table(&tables[0]).unwrap();
            let reads = watched.reads();
            assert_eq!(reads.is_empty(), is_known, "{path}: {reads:?}");
            assert!(reads.len() <= 2, "{path}: {reads:?}");
            let entries = table.entries();
            let mut reader = Reader::new(table, &[0]).unwrap();
            let mut batches = reader.batches(0..entries, Options::default()).unwrap();
            let first = batches.next_batch().unwrap().column(0).unwrap();
            found.push((tables, entries, format!("{first:?}")));
        }
        assert_eq!(found[0].0, found[1].0);
        assert_eq!(found[0].1, found[1].1);
        assert_eq!(&found[0].2, &found[1].2);
    }
    set_descriptions(None, Readers::Nobody);
    std::fs::remove_dir_all(folder).unwrap();
}
