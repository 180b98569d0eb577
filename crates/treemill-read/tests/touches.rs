//! Reading touches only the bytes that it needs: of a NanoAOD with many branches, the header, the key list, the
//! streamer info, the tree's record, and the baskets of the branches read, each once. Skips, saying so, if the
//! file is absent.
#![allow(clippy::unwrap_used, clippy::indexing_slicing)]

use std::ops::Range;
use std::path::Path;
use std::sync::Arc;
use treemill_read::{File, Options, Reader};
use treemill_source::{Costs, Edges, Local, Source};
use treemill_testing::{FAR, Watched};

#[test]
fn three_branches_of_a_nanoaod_touch_nothing_of_the_rest() {
    let path =
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus/coffea-nano_dy.root");
    if !path.exists() {
        eprintln!("skipped: no file {}", path.display());
        return;
    }
    // So slow that no byte is read for nothing.
    let slow = Costs {
        bytes_per_second: Some(1.0),
        ..FAR
    };
    for costs in [Costs::NEAR, slow] {
        let source = Arc::new(Watched::new(Local::open(&path).unwrap()).with_costs(costs));
        let edges = Edges::of(Arc::clone(&source) as Arc<dyn Source>);
        let file = File::open(Arc::new(edges)).unwrap();
        let tree = file.tree("Events").unwrap();
        let branches = &tree.tree().branches;
        assert!(branches.len() > 1400, "{} branches", branches.len());
        let opening = source.reads();
        let metadata = opening.concat();
        let all = || branches.iter().flat_map(|b| &b.baskets);
        let touches = |asked: &Range<u64>, basket: &Range<u64>| {
            asked.start < basket.end && basket.start < asked.end
        };
        if costs.is_near() {
            // The first read asks for the header and what may lie after it.
            for asked in &metadata[1..] {
                assert!(
                    !all().any(|basket| touches(asked, &basket.bytes)),
                    "{asked:?}"
                );
            }
            assert!(metadata.len() <= 5, "{metadata:?}");
        } else {
            assert_eq!(
                opening.len(),
                3,
                "all of it by what is asked for at once: {opening:?}"
            );
        }

        // A counted branch without stored offsets would need its counter as well.
        let chosen = ["MET_pt", "nMuon", "Muon_pt"].map(|name| tree.branch(name).unwrap());
        let mut reader = Reader::new(Arc::clone(&tree), &chosen).unwrap();
        let all = 0..tree.tree().entries;
        let mut batches = reader.batches(all, Options::default()).unwrap();
        while let Some(mut batch) = batches.next_batch() {
            for column in 0..chosen.len() {
                batch.column(column).unwrap();
            }
        }
        let mut asked = source.reads().concat();
        asked.sort_by_key(|range| range.start);
        let mut wanted: Vec<_> = chosen
            .iter()
            .flat_map(|&b| {
                branches[b]
                    .baskets
                    .iter()
                    .map(|basket| basket.bytes.clone())
            })
            .collect();
        wanted.sort_by_key(|range| range.start);
        assert_eq!(asked, wanted);
    }
}
