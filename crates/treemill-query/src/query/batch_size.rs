//! How many events a batch may have, so that what is kept of them until it ends is not too much. Knows no data.

use super::cuts::Cut;
use crate::booking::CompiledBooking;
use crate::compile::NodeId;
use crate::limits::{BATCH_EVENTS, BATCH_VALUE_BYTES, LIST_BYTES_MOST};
use std::collections::HashSet;

/// Bytes of a number of an event.
const NUMBER: u64 = 8;
/// Bytes of a fill in a list: its cell and its weight.
const FILL: u64 = 12;

/// The most values that are kept at the same time: those that are booked at a cut and at the cuts above it. `cuts`: from 1 on,
/// parents first.
pub(super) fn kept_values(cuts: &[Cut], bookings: &[(usize, CompiledBooking)]) -> usize {
    let mut own: Vec<HashSet<NodeId>> = vec![HashSet::new(); cuts.len().saturating_add(1)];
    for (cut, booking) in bookings {
        if let Some(own) = own.get_mut(*cut) {
            own.extend(booking.nodes());
        }
    }
    let mut kept: Vec<usize> = Vec::with_capacity(own.len());
    for (number, own) in own.iter().enumerate() {
        let cut = number.checked_sub(1).and_then(|i| cuts.get(i));
        let above = cut.and_then(|cut| kept.get(cut.parent));
        kept.push(own.len().saturating_add(above.copied().unwrap_or(0)));
    }
    kept.into_iter().max().unwrap_or(0)
}

/// The most events of a batch that keeps this many values, and fills lists of as many large histograms.
pub(super) fn most_events(values: usize, large: usize) -> u64 {
    let of =
        |number: usize, bytes: u64| bytes.saturating_mul(u64::try_from(number).unwrap_or(u64::MAX));
    let fitting = BATCH_VALUE_BYTES.checked_div(of(values, NUMBER));
    let listed = (LIST_BYTES_MOST as u64).checked_div(of(large, FILL));
    let most = fitting.unwrap_or(u64::MAX).min(listed.unwrap_or(u64::MAX));
    most.max(BATCH_EVENTS)
}
