//! Where the bytes of a file lie, as far as it is known: shared by all readers that have the file open, since a server gives
//! a client one layout of a file. Knows no connection.

use crate::laid::Laid;
use bytes::Bytes;
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use tokio::sync::OwnedRwLockReadGuard;

/// Kept as long as layouts are asked for or given back: a recall of several waits for it.
pub(crate) type Going = OwnedRwLockReadGuard<()>;

/// What is known of where the file's bytes lie.
#[derive(Clone)]
pub(crate) enum Layout {
    /// It was not asked for.
    Unknown,
    /// All are read from the server itself.
    None,
    /// They lie at data servers.
    There(Arc<Laid>),
}

/// Where the bytes of one file lie.
pub(crate) struct Placement {
    /// The file.
    pub(crate) handle: Bytes,
    /// The number of its file system.
    pub(crate) file_system: Option<(u64, u64)>,
    /// The layout is asked for, or given back, by one.
    pub(crate) asking: Arc<tokio::sync::Mutex<()>>,
    layout: Mutex<Layout>,
    /// How many layouts were asked for.
    asked: AtomicU32,
    /// Whether an answer with a layout is on its way.
    is_coming: AtomicBool,
    /// Whether small ranges are read from the metadata server, because the data servers are not connected to yet.
    is_beginning: AtomicBool,
}

impl Placement {
    fn new(handle: Bytes, file_system: Option<(u64, u64)>) -> Self {
        Placement {
            handle,
            file_system,
            asking: Arc::default(),
            layout: Mutex::new(Layout::Unknown),
            asked: AtomicU32::new(0),
            is_coming: AtomicBool::new(false),
            is_beginning: AtomicBool::new(false),
        }
    }

    fn place(&self) -> MutexGuard<'_, Layout> {
        self.layout.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What is known of the layout.
    pub(crate) fn layout(&self) -> Layout {
        self.place().clone()
    }

    /// Something else is known of the layout: what was known before.
    pub(crate) fn set(&self, layout: Layout) -> Layout {
        std::mem::replace(&mut self.place(), layout)
    }

    /// The next read asks for another layout: whether this one was the one that is known.
    pub(crate) fn replace(&self, old: &Arc<Laid>) -> bool {
        let mut held = self.place();
        let is_known = matches!(&*held, Layout::There(laid) if Arc::ptr_eq(laid, old));
        if is_known {
            *held = Layout::Unknown;
        }
        is_known
    }

    /// A layout is asked for: how many these are now.
    pub(crate) fn count(&self) -> u32 {
        self.asked.fetch_add(1, Ordering::Relaxed).saturating_add(1)
    }

    /// An answer with a layout is on its way from now on, or it is here (`false`).
    pub(crate) fn set_coming(&self, is_coming: bool) {
        self.is_coming.store(is_coming, Ordering::Relaxed);
    }

    /// Whether an answer with a layout is on its way.
    pub(crate) fn is_coming(&self) -> bool {
        self.is_coming.load(Ordering::Relaxed)
    }

    /// The data servers are connected to from now on, or they are (`false`).
    pub(crate) fn set_beginning(&self, is_beginning: bool) {
        self.is_beginning.store(is_beginning, Ordering::Relaxed);
    }

    /// Whether the data servers are being connected to.
    pub(crate) fn is_beginning(&self) -> bool {
        self.is_beginning.load(Ordering::Relaxed)
    }
}

/// The placements of the files that are open, by handles, and how many have each of them open.
#[derive(Default)]
pub(crate) struct Placements(Mutex<HashMap<Bytes, (usize, Arc<Placement>)>>);

impl Placements {
    fn all_held(&self) -> MutexGuard<'_, HashMap<Bytes, (usize, Arc<Placement>)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A file is open once more.
    pub(crate) fn join(&self, handle: &Bytes, file_system: Option<(u64, u64)>) -> Arc<Placement> {
        let mut all = self.all_held();
        let new = || (0, Arc::new(Placement::new(handle.clone(), file_system)));
        let (holders, placement) = all.entry(handle.clone()).or_insert_with(new);
        *holders = holders.saturating_add(1);
        Arc::clone(placement)
    }

    /// A file is open once less: whether it is closed everywhere now.
    pub(crate) fn leave(&self, placement: &Placement) -> bool {
        let mut all = self.all_held();
        let Some((holders, _)) = all.get_mut(&placement.handle) else {
            return false;
        };
        *holders = holders.saturating_sub(1);
        *holders == 0
    }

    /// Whether the file is closed everywhere.
    pub(crate) fn is_left(&self, placement: &Placement) -> bool {
        let all = self.all_held();
        all.get(&placement.handle)
            .is_none_or(|(holders, _)| *holders == 0)
    }

    /// Drops what is kept of a file that is closed everywhere.
    pub(crate) fn forget(&self, placement: &Placement) {
        let mut all = self.all_held();
        if all
            .get(&placement.handle)
            .is_some_and(|(holders, _)| *holders == 0)
        {
            all.remove(&placement.handle);
        }
    }

    /// The placement of a file.
    pub(crate) fn of(&self, handle: &Bytes) -> Option<Arc<Placement>> {
        self.all_held()
            .get(handle)
            .map(|(_, placement)| Arc::clone(placement))
    }

    /// All placements.
    pub(crate) fn all(&self) -> Vec<Arc<Placement>> {
        let all = self.all_held();
        all.values()
            .map(|(_, placement)| Arc::clone(placement))
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_holder_is_the_one_who_gives_back() {
        let (placements, file) = (Placements::default(), Bytes::from_static(b"f"));
        let first = placements.join(&file, None);
        let second = placements.join(&file, None);
        assert!(Arc::ptr_eq(&first, &second), "both have one layout");
        assert!(!placements.leave(&first));
        placements.forget(&first);
        assert!(!placements.is_left(&first) && placements.of(&file).is_some());
        assert!(placements.leave(&second));
        // It is opened again before the layout is given back: it is kept.
        let third = placements.join(&file, None);
        assert!(Arc::ptr_eq(&first, &third) && !placements.is_left(&third));
        assert!(placements.leave(&third));
        placements.forget(&third);
        assert!(placements.of(&file).is_none() && placements.all().is_empty());
    }
}
