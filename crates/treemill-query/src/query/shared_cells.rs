//! Bookings that fill equal axes with the same values: their cells are found once. Knows no data.

use crate::binned::Binned;
use crate::booking::CompiledBooking;
use crate::compile::NodeId;
use std::collections::HashMap;

/// Axes, and the bookings that fill them.
type Users = (Binned, Vec<usize>);

/// Numbers the axes that several bookings at one cut fill with the same values, and tells them. Gives
/// how many there are.
pub(super) fn share_cells(bookings: &mut [(usize, CompiledBooking)]) -> usize {
    let mut groups: HashMap<(usize, Vec<NodeId>), Vec<Users>> = HashMap::new();
    for (i, (cut, booking)) in bookings.iter_mut().enumerate() {
        let Some(binned) = booking.binned() else {
            continue;
        };
        let same_values = groups.entry((*cut, binned.values.clone())).or_default();
        match same_values.iter_mut().find(|(known, _)| known == binned) {
            Some((_, users)) => users.push(i),
            None => same_values.push((binned.clone(), vec![i])),
        }
    }
    let groups = groups.into_values().flatten().map(|(_, users)| users);
    let mut shared = 0;
    for users in groups.filter(|users| users.len() > 1) {
        for user in users {
            if let Some(binned) = bookings
                .get_mut(user)
                .and_then(|(_, booking)| booking.binned())
            {
                binned.shared = Some(shared);
            }
        }
        shared += 1;
    }
    shared
}
