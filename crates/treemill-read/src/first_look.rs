//! The first look into the data of a tree that is being opened: some branches' classes or versions are stated
//! only in their data. Baskets of all such branches are read together.

use crate::ReadError;
use crate::checks::{agreed, are_starts};
use crate::decode::{Column, look};
use crate::fetch::Fetch;
use crate::limits::{LOOK_BYTES, LOOK_TOGETHER};
use treemill_format::basket::BasketHeader;
use treemill_format::error::FormatError;
use treemill_format::layout::Layout;
use treemill_format::open::{Describer, give_up, is_nameless, leave_out};
use treemill_format::streamer::StreamerInfos;
use treemill_format::tree::{BasketRef, Branch, EmbeddedBasket, Tree};

/// Fills in what the tree's branches leave open. If the first baskets do not say it, another one is looked into. What
/// the data do not say stays open, and is an error if it is needed. If a branch's data contradict themselves, its
/// layout is unsupported and says why.
///
/// # Errors
/// `Source` if bytes could not be had.
pub(crate) fn describe(
    fetch: &Fetch<'_>,
    tree: &mut Tree,
    infos: &StreamerInfos,
) -> Result<(), ReadError> {
    let describer = Describer::new(infos);
    for round in [Round::First, Round::Second] {
        let open = tree.branches.iter_mut().filter(|branch| match round {
            Round::First => describer.is_open(&branch.layout),
            Round::Second => is_nameless(&branch.layout),
        });
        let mut open: Vec<_> = open.map(|b| (round.basket(b).cloned(), b)).collect();
        let mut bytes = 0_u64;
        let together = |_: &(Option<BasketRef>, _), (next, _): &(Option<BasketRef>, _)| {
            let more = next.as_ref().map_or(0, len);
            bytes = bytes.saturating_add(more);
            let fits = bytes <= LOOK_TOGETHER;
            bytes = if fits { bytes } else { more };
            fits
        };
        for some in open.chunk_by_mut(together) {
            look_into(fetch, some, &describer)?;
        }
    }
    for branch in &mut tree.branches {
        leave_out(&mut branch.layout);
    }
    Ok(())
}

fn len(basket: &BasketRef) -> u64 {
    basket.bytes.end.saturating_sub(basket.bytes.start)
}

/// Reads baskets of several branches and looks into them.
fn look_into(
    fetch: &Fetch<'_>,
    some: &mut [(Option<BasketRef>, &mut Branch)],
    describer: &Describer<'_>,
) -> Result<(), ReadError> {
    let baskets = some.iter().filter_map(|(basket, _)| basket.as_ref());
    let ranges = baskets.map(|basket| basket.bytes.clone()).collect();
    let mut records = fetch.all(ranges)?.into_iter();
    for (basket, branch) in some {
        let record = match basket {
            Some(basket) => records.next().map(|record| (&*basket, record)),
            None => None,
        };
        if let Err(e) = into(fetch, branch, record, describer) {
            give_up(&mut branch.layout, &e.message);
        }
    }
    Ok(())
}

/// Baskets are looked into twice at most.
#[derive(Clone, Copy)]
enum Round {
    First,
    /// The baskets that name what the first ones have not named.
    Second,
}

impl Round {
    fn basket(self, branch: &Branch) -> Option<&BasketRef> {
        match self {
            Round::First => branch.baskets.iter().find(|b| !b.entries.is_empty()),
            Round::Second => branch.baskets.get(branch.baskets.len() / 2),
        }
    }
}

/// Looks into a basket of a branch, or into those in the tree's record if there are no others.
fn into(
    fetch: &Fetch<'_>,
    branch: &mut Branch,
    stored: Option<(&BasketRef, Vec<u8>)>,
    describer: &Describer<'_>,
) -> Result<(), ReadError> {
    let Branch {
        layout, embedded, ..
    } = branch;
    match stored {
        Some((basket, record)) => {
            let wrong = |e: FormatError| fetch.wrong(&e, Some(basket.bytes.start));
            let header = BasketHeader::parse(&record).map_err(wrong)?;
            let packed = agreed(&header, &record, basket).map_err(wrong)?;
            let mean = header.data_end.checked_div(header.entries).unwrap_or(0);
            if mean > LOOK_BYTES && is_readable_without(layout) {
                give_up(layout, "entries too long to be looked into");
                return Ok(());
            }
            let mut unpacked = Vec::new();
            let payload = fetch.unpacked(packed, header.uncompressed_len, &mut unpacked);
            let payload = payload.map_err(wrong)?;
            let parts = header.split(payload).map_err(wrong)?;
            let mut starts = Vec::new();
            if !parts.stored_offsets.is_empty() {
                header.entry_starts(parts, &mut starts).map_err(wrong)?;
            }
            let data = header.data(payload).map_err(wrong)?;
            // One entry at least.
            let few = starts.partition_point(|&start| start as usize <= LOOK_BYTES);
            starts.truncate(few.max(2));
            look(layout, data, &starts, describer).map_err(wrong)
        }
        None => embedded
            .iter()
            .filter_map(|basket| Some((&basket.data, sound_starts(basket)?)))
            .try_for_each(|(data, starts)| look(layout, data, starts, describer))
            .map_err(|e| fetch.wrong(&e, None)),
    }
}

/// Whether all but what only data say can be read.
fn is_readable_without(layout: &Layout) -> bool {
    let mut rest = layout.clone();
    give_up(&mut rest, "");
    Column::new(&rest, 0).is_ok()
}

/// Where the entries of such a basket start, if it says so; `None` if the starts are impossible.
fn sound_starts(basket: &EmbeddedBasket) -> Option<&[u32]> {
    let Some(starts) = &basket.offsets else {
        return Some(&[]);
    };
    are_starts(starts, &basket.data).then_some(starts)
}
