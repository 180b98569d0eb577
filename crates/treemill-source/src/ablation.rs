//! What may be switched off in this process, one by one, to measure what it gains (`treemill bench io --without`). Results
//! never depend on it. Everything is on at first.

use std::sync::atomic::{AtomicU8, Ordering};

/// A part of reading from distant sources.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Part {
    /// The first and last bytes of a file are asked for when it is opened.
    Startup,
    /// Columns after a filter are asked for only where entries pass.
    Trigger,
    /// Near ranges are asked for as one.
    Coalescing,
    /// Several sources of a file are read at once.
    Multisource,
    /// Later packets are asked for while one is computed.
    Prefetch,
}

impl Part {
    /// All of them, by the names that users write.
    pub const ALL: [(&'static str, Part); 5] = [
        ("startup", Part::Startup),
        ("trigger", Part::Trigger),
        ("coalescing", Part::Coalescing),
        ("multisource", Part::Multisource),
        ("prefetch", Part::Prefetch),
    ];

    fn bit(self) -> u8 {
        match self {
            Part::Startup => 1,
            Part::Trigger => 2,
            Part::Coalescing => 4,
            Part::Multisource => 8,
            Part::Prefetch => 16,
        }
    }
}

static OFF: AtomicU8 = AtomicU8::new(0);

/// Switches these parts off, and all others on.
///
/// ```
/// use treemill_source::{Part, is_off, switch_off};
///
/// switch_off(&[Part::Prefetch]);
/// assert!(is_off(Part::Prefetch) && !is_off(Part::Trigger));
/// switch_off(&[]);
/// assert!(!is_off(Part::Prefetch));
/// ```
pub fn switch_off(parts: &[Part]) {
    let bits = parts.iter().fold(0, |bits, part| bits | part.bit());
    OFF.store(bits, Ordering::Relaxed);
}

/// Whether a part is switched off.
#[must_use]
pub fn is_off(part: Part) -> bool {
    OFF.load(Ordering::Relaxed) & part.bit() != 0
}
