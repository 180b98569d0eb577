//! Which class the items of TClonesArrays that were stored whole are of: said by nothing but the arrays, so
//! that the first basket of such a branch is read when its tree is opened.

use crate::checks::agreed;
use crate::file::Fetch;
use crate::{ErrorKind, ReadError};
use treemill_format::basket::BasketHeader;
use treemill_format::clones::head;
use treemill_format::layout::{Before, Layout};
use treemill_format::name_clones;
use treemill_format::streamer::StreamerInfos;
use treemill_format::tree::{Branch, Tree};

/// Describes the items of all such branches. Where their first basket cannot be understood, the layout
/// says why.
///
/// # Errors
/// `Source` where bytes could not be had.
pub(crate) fn describe(
    fetch: &Fetch<'_>,
    tree: &mut Tree,
    infos: &StreamerInfos,
) -> Result<(), ReadError> {
    let mut classes = Vec::new();
    for (index, branch) in tree.branches.iter_mut().enumerate() {
        let Layout::Clones(clones) = &branch.layout else {
            continue;
        };
        match first_class(fetch, branch, &clones.before) {
            Ok(Some(class)) => classes.push((index, class)),
            Ok(None) => {}
            Err(e) if e.kind == ErrorKind::Source => return Err(e),
            Err(e) => branch.layout = Layout::Unsupported { reason: e.message },
        }
    }
    name_clones(tree, &classes, infos);
    Ok(())
}

/// The class that the branch's first array names; `None` where there is no array.
fn first_class(
    fetch: &Fetch<'_>,
    branch: &Branch,
    before: &Before,
) -> Result<Option<Vec<u8>>, ReadError> {
    let mut unpacked = Vec::new();
    let record;
    let stored = branch.baskets.iter().find(|b| !b.entries.is_empty());
    let mut data = match stored {
        Some(basket) => {
            let wrong = |e| fetch.wrong(&e, Some(basket.bytes.start));
            record = fetch.bytes(basket.bytes.clone())?;
            let header = BasketHeader::parse(&record).map_err(wrong)?;
            let packed = agreed(&header, &record, basket).map_err(wrong)?;
            let payload = fetch.unpacked(packed, header.uncompressed_len, &mut unpacked);
            header.data(payload.map_err(wrong)?).map_err(wrong)?
        }
        None => {
            let held = branch.embedded.iter().find(|b| !b.data.is_empty());
            held.map_or(&[][..], |basket| &basket.data)
        }
    };
    while !data.is_empty() {
        let array = head(before, &mut data).map_err(|e| fetch.wrong(&e, None))?;
        if let Some(array) = array {
            return Ok(Some(array.class.to_vec()));
        }
    }
    Ok(None)
}
