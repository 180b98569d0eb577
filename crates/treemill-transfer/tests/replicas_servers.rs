//! Two real `xrootd`, of which one is killed in the middle of reads. Skipped, with the reason printed, where there is none.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing,
    clippy::cast_possible_truncation
)]

#[allow(dead_code)]
#[path = "../../treemill-xrootd/tests/common/mod.rs"]
mod common;

use common::{Xrootd, content};
use std::ops::Range;
use std::sync::Arc;
use treemill_source::{Source, SourceError};
use treemill_transfer::replicas::{Opener, Replicas};
use treemill_xrootd::{Client, Options, XrootdSource};

const SIZE: usize = 8 << 20;

fn opener(client: &Arc<Client>, server: &Xrootd) -> Opener {
    let (client, url) = (Arc::clone(client), server.address("/a.root"));
    Opener {
        name: url.clone(),
        open: Box::new(move || -> Result<Arc<dyn Source>, SourceError> {
            Ok(Arc::new(XrootdSource::open(&client, &url)?))
        }),
    }
}

#[test]
fn a_server_that_is_killed_in_mid_read_changes_no_byte() {
    let bytes = content(SIZE);
    let start = |name| Xrootd::start(name, &[("a.root", &bytes)]);
    let (Some(mut first), Some(second)) = (start("replica-1"), start("replica-2")) else {
        return;
    };
    let client = Arc::new(Client::new(Options::default()));
    let openers = vec![opener(&client, &first), opener(&client, &second)];
    let warn = Box::new(|message: &str| panic!("{message}"));
    let file = Replicas::open("/store/a.root", openers, warn).unwrap();
    while file.active().len() < 2 {
        std::thread::yield_now(); // nothing says that the second one is open
    }
    let small = (0..1500_u64).map(|i| i * 5000..i * 5000 + 100 + i % 50);
    let large = std::iter::repeat_n(0..SIZE as u64, 32);
    let ranges: Vec<Range<u64>> = small.chain(large).collect();
    let tickets = file.submit(ranges.clone());
    tickets[0].wait().unwrap();
    first.kill();
    for (range, ticket) in ranges.iter().zip(tickets) {
        let expected = &bytes[range.start as usize..range.end as usize];
        assert!(ticket.wait().unwrap() == expected, "{range:?}");
    }
}
