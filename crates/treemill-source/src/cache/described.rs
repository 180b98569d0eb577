//! A distant source whose description is kept: what opening a known file reads comes from the disk. Knows no format: it
//! takes what is read ([`Source::read`]) for the description, and what is asked for ahead ([`Source::submit`]) for data.

use crate::cache::Places;
use crate::cache::description::Description;
use crate::{Edges, Request, Source, SourceError, Ticket};
use std::ops::Range;
use std::sync::Arc;

/// A source, and what is kept of its file.
struct Described {
    source: Edges,
    description: Description,
}

/// The file of a distant source, known or not. The first and last bytes of one that is not known are on their way; of one
/// that is known nothing is asked for, nor of one that `is_remembered` elsewhere. What is asked for is given, too. A file without an identity is never known, and none is while
/// [`set_descriptions`](crate::cache::set_descriptions) has named no folder.
///
/// ```
/// use std::sync::Arc;
/// use treemill_source::{Costs, Memory, Request, Source};
///
/// let memory = Memory::new("m", vec![7; 1000], Costs::NEAR);
/// let (source, _) = treemill_source::cache::described(Arc::new(memory), false);
/// let mut request = [Request::new(900..1000)];
/// source.read(&mut request)?;
/// assert_eq!(request[0].buffer, [7; 100]);
/// # Ok::<(), treemill_source::SourceError>(())
/// ```
#[must_use]
pub fn described(source: Arc<dyn Source>, is_remembered: bool) -> (Arc<dyn Source>, Vec<Ticket>) {
    let known = Places::of_descriptions().zip(source.identity());
    let known = known.map(|(places, identity)| Description::open(places, &identity));
    let is_known = is_remembered || known.as_ref().is_some_and(|it| !it.is_empty());
    let source = match is_known {
        true => Edges::later(source),
        false => Edges::of(source),
    };
    let asked = source.asked();
    match known {
        None => (Arc::new(source), asked),
        Some(description) => {
            let described = Described {
                source,
                description,
            };
            (Arc::new(described), asked)
        }
    }
}

impl Source for Described {
    crate::described_by!(self => self.source);

    fn read(&self, requests: &mut [Request]) -> Result<(), SourceError> {
        let mut missing = Vec::new();
        for request in requests.iter_mut() {
            match self.description.get(&request.range) {
                Some(kept) => {
                    request.buffer.clear();
                    request.buffer.extend_from_slice(&kept);
                }
                None => missing.push(request),
            }
        }
        if missing.is_empty() {
            return Ok(());
        }
        let mut rest: Vec<Request> = missing.iter_mut().map(|r| std::mem::take(*r)).collect();
        let read = self.source.read(&mut rest);
        if read.is_ok() {
            let found = rest.iter().map(|r| (&r.range, r.buffer.as_slice()));
            self.description.put(found);
        }
        for (place, request) in missing.into_iter().zip(rest) {
            *place = request;
        }
        read
    }

    fn submit(&self, ranges: Vec<Range<u64>>) -> Vec<Ticket> {
        let tickets = self.source.submit(ranges);
        self.description.release();
        tickets
    }

    fn will_read(&self, ranges: &[Range<u64>]) -> Vec<Ticket> {
        let is_kept = |range: &&Range<u64>| self.description.get(range).is_some();
        let missing: Vec<Range<u64>> = ranges.iter().filter(|r| !is_kept(r)).cloned().collect();
        self.source.will_read(&missing)
    }
}
