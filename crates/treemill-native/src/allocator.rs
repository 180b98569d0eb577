//! The allocator of the extension module, and for how long it keeps pages that were freed
//! (docs/decisions/0008-allocator.md). Setting mimalloc's options takes `unsafe`. Knows nothing of what is allocated.

pub use mimalloc::MiMalloc;

/// `mi_option_purge_delay` of version 2, of which the bindings have no name.
const PURGE_DELAY: core::ffi::c_int = 15;

/// How long freed pages are kept before the kernel gets them back, in milliseconds. The kernel clears each page that it
/// gives anew, which costs more than decoding into it; a user who looks at a histogram asks for the next one within
/// seconds. The variable `MIMALLOC_PURGE_DELAY` goes before.
///
/// ```
/// treemill_native::allocator::keep_pages(100);
/// ```
pub fn keep_pages(milliseconds: core::ffi::c_long) {
    // SAFETY: the function takes a number of an option, which it checks, and its value, on any thread.
    unsafe { libmimalloc_sys::mi_option_set_default(PURGE_DELAY, milliseconds) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_option_is_the_one_that_is_meant() {
        // SAFETY: as above.
        let told = || unsafe { libmimalloc_sys::mi_option_get(PURGE_DELAY) };
        assert_eq!(
            told(),
            10,
            "mimalloc's default: another version may count its options otherwise"
        );
        keep_pages(100);
        assert_eq!(told(), 100);
    }
}
