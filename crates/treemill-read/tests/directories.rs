//! Directories in directories are read level by level. Skips, saying so, if the file is absent.
#![allow(clippy::unwrap_used)]

use std::path::Path;
use std::sync::Arc;
use treemill_read::File;
use treemill_source::{Local, Source};
use treemill_testing::{FAR, Watched};

#[test]
fn what_the_directories_of_a_level_need_is_asked_for_together() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/uproot-nesteddirs.root");
    if !path.exists() {
        eprintln!("skipped: no file {}", path.display());
        return;
    }
    let source = Arc::new(Watched::new(Local::open(&path).unwrap()).with_costs(FAR));
    let file = File::open(Arc::clone(&source) as Arc<dyn Source>).unwrap();
    let paths: Vec<_> = file.tables().into_iter().map(|tree| tree.path).collect();
    assert_eq!(paths, ["one/two/tree", "one/tree", "three/tree"]);
    // The header with the root directory; its keys with the streamer information; the records and the keys of two
    // directories; of one in them.
    let ranges: Vec<usize> = source.reads().iter().map(Vec::len).collect();
    assert_eq!(ranges, [1, 2, 2, 2, 1, 1]);
}
