//! Where entries start in baskets that do not say so: from the counter's values, or by reading.

use super::column::fixed_size;
use super::size::size_of;
use super::walk::skip_value;
use crate::faults::{malformed, unsupported};
use treemill_format::error::Result;
use treemill_format::layout::Layout;

/// Starts of counted entries from the number of items of each: one value more than counts,
/// replacing the contents of `starts`. The last is the end of the data, `data_len`.
///
/// # Errors
/// `Malformed` if the items do not fill the data exactly.
pub fn from_counts(
    item: &Layout,
    header: u8,
    counts: &[u32],
    data_len: usize,
    starts: &mut Vec<u32>,
) -> Result<()> {
    let size = fixed_size(item)? as u64;
    starts.clear();
    starts.reserve(counts.len().saturating_add(1));
    starts.push(0);
    let mut end = 0_u64;
    for &count in counts {
        // Below 2^32 * 2^32: the sum is looked at before it can overflow.
        let len = u64::from(count)
            .saturating_mul(size)
            .saturating_add(u64::from(header));
        end = end.saturating_add(len);
        match u32::try_from(end) {
            Ok(end) if end as usize <= data_len => starts.push(end),
            _ => break,
        }
    }
    if end == data_len as u64 && starts.len() == counts.len().saturating_add(1) {
        return Ok(());
    }
    Err(malformed(
        0,
        format!("the counter's values ask for {end} bytes or more, and the basket has {data_len}"),
    ))
}

/// Starts of `count` entries whose values say themselves where they end; as [`from_counts`].
///
/// # Errors
/// `Malformed` if the values do not fill the data exactly.
pub fn by_reading(layout: &Layout, data: &[u8], count: usize, starts: &mut Vec<u32>) -> Result<()> {
    if let Layout::Record(members) = layout
        && has_string_first(members)
    {
        return Err(unsupported(
            "a leaf list with a string before other leaves, in a basket that does not say where its entries are",
        ));
    }
    // Every value has bytes, so their number is bounded before memory is taken for the starts.
    let least = size_of(layout)?.least();
    if least == 0 || count.saturating_mul(least) > data.len() {
        return Err(malformed(
            0,
            format!(
                "the basket announces {count} entries in {} bytes",
                data.len()
            ),
        ));
    }
    starts.clear();
    starts.push(0);
    let mut rest = data;
    for _ in 0..count {
        skip_value(layout, &mut rest)?;
        let at = data.len().saturating_sub(rest.len());
        starts.push(u32::try_from(at).map_err(|e| malformed(at, e.to_string()))?);
    }
    if rest.is_empty() {
        return Ok(());
    }
    Err(malformed(
        data.len().saturating_sub(rest.len()),
        format!(
            "{} bytes are left after the basket's last entry",
            rest.len()
        ),
    ))
}

/// Whether a string is before something else, so that only an entry's end tells whether it was written.
pub(super) fn has_string_first(members: &[(String, Layout)]) -> bool {
    let before = members.split_last().map_or(&[][..], |(_, before)| before);
    let is_string = |(_, member): &(String, Layout)| matches!(member, Layout::String { .. });
    before.iter().any(is_string)
}
