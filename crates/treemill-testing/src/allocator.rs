//! An allocator that counts each thread's bytes, for tests that bound memory. Has unsafe code, because
//! `GlobalAlloc` requires it.

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

thread_local! {
    static TAKEN: Cell<isize> = const { Cell::new(0) };
    static PEAK: Cell<isize> = const { Cell::new(0) };
}

/// The system's allocator, with a count for each thread.
pub struct Counting;

/// Runs `f` and says how many bytes this thread held more than before, at most.
pub fn peak_of<T>(f: impl FnOnce() -> T) -> (T, usize) {
    let before = TAKEN.get();
    PEAK.set(before);
    let value = f();
    let more = PEAK.get().saturating_sub(before);
    (value, usize::try_from(more).unwrap_or(0))
}

fn count(bytes: usize, sign: isize) {
    // While a thread ends its counters may be gone.
    let _ = TAKEN.try_with(|taken| {
        let bytes = isize::try_from(bytes).unwrap_or(isize::MAX);
        let now = taken.get().saturating_add(bytes.saturating_mul(sign));
        taken.set(now);
        let _ = PEAK.try_with(|peak| peak.set(peak.get().max(now)));
    });
}

// SAFETY: every call is handed on to `System` as it is; counting takes no memory.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 1);
        // SAFETY: the caller's promises are those that `System` asks for.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        count(layout.size(), -1);
        // SAFETY: as above.
        unsafe { System.dealloc(at, layout) }
    }

    unsafe fn alloc_zeroed(&self, layout: Layout) -> *mut u8 {
        count(layout.size(), 1);
        // SAFETY: as above.
        unsafe { System.alloc_zeroed(layout) }
    }

    unsafe fn realloc(&self, at: *mut u8, layout: Layout, size: usize) -> *mut u8 {
        // Both may be held for a moment.
        count(size, 1);
        count(layout.size(), -1);
        // SAFETY: as above.
        unsafe { System.realloc(at, layout, size) }
    }
}
