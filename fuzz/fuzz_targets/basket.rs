//! A basket's header, the parts of its payload, and the starts of its entries.
#![no_main]

use libfuzzer_sys::fuzz_target;
use treemill_format::basket::BasketHeader;

fuzz_target!(|data: &[u8]| {
    let Ok(header) = BasketHeader::parse(data) else {
        return;
    };
    let payload = data.get(header.key_len..).unwrap_or_default();
    if let Ok(parts) = header.split(payload) {
        let _ = header.entry_starts(parts, &mut Vec::new());
    }
});
