//! Opens a replica and looks at its file. Waits for the network.

use crate::agreement::{Look, sample};
use std::sync::Arc;
use treemill_source::{Source, SourceError, Ticket};

/// One replica: its address without credentials, and the function that opens it.
pub struct Opener {
    /// For messages.
    pub name: String,
    /// May be called again after the replica failed, from any thread.
    pub open: Box<dyn Fn() -> Result<Arc<dyn Source>, SourceError> + Send + Sync>,
}

/// Opens a replica and reads the bytes in which all must agree.
pub(crate) fn open(opener: &Opener) -> Result<(Arc<dyn Source>, Look), SourceError> {
    let source = (opener.open)()?;
    let tickets = source.submit(sample(source.size()));
    let bytes = tickets.iter().map(Ticket::wait);
    let look = Look {
        size: source.size(),
        bytes: bytes.collect::<Result<_, _>>()?,
        identity: source.identity(),
    };
    Ok((source, look))
}
