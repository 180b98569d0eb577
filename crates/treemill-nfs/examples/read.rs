//! Reads a file of a server of NFS: `cargo run -p treemill-nfs --example read -- nfs://host/export/file`.

use std::time::Instant;
use treemill_source::Source;

fn main() -> Result<(), treemill_source::SourceError> {
    let url = std::env::args().nth(1).unwrap_or_default();
    if url.ends_with('/') {
        for entry in treemill_nfs::list(&url)? {
            println!("{}{}", entry.name, if entry.is_folder { "/" } else { "" });
        }
        return Ok(());
    }
    let source = treemill_nfs::open(&url)?;
    let begun = Instant::now();
    let tickets = source.submit(treemill_transfer::parts(0..source.size(), 8 << 20));
    let mut bytes = 0_usize;
    for ticket in tickets {
        bytes = ticket.wait()?.len().saturating_add(bytes);
    }
    println!("{bytes} bytes in {:?}", begun.elapsed());
    Ok(())
}
