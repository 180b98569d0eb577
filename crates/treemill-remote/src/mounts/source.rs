//! A file on a mount as a source: ranges that are asked for are announced to the kernel at once, and read by several threads.
//! Decides nothing: `plan.rs` says what is announced and read, `pace.rs` what that costs.

use crate::limits::MOUNT_THREADS;
use crate::mounts::device::Device;
use crate::mounts::kernel;
use crate::mounts::pace::Pace;
use crate::mounts::plan::{announced, reads};
use bytes::BytesMut;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use treemill_source::{
    Costs, Identity, Local, Promise, Request, Source, SourceError, Ticket, read_by_tickets, tickets,
};
use treemill_transfer::{Job, RangePart, Threads, range_parts, rooms};

static READING: Threads = Threads::new("treemill-mount", MOUNT_THREADS);

/// A file that is read as planned.
pub(crate) struct Mounted(Arc<Shared>);

struct Shared {
    file: Local,
    step: u64,
    begun: Instant,
    pace: Mutex<Pace>,
}

impl Mounted {
    pub(crate) fn new(file: Local, device: &Device) -> Self {
        kernel::expect_ranges(file.file());
        Mounted(Arc::new(Shared {
            file,
            step: device.step,
            begun: Instant::now(),
            pace: Mutex::default(),
        }))
    }
}

impl Source for Mounted {
    fn name(&self) -> &str {
        self.0.file.name()
    }

    fn size(&self) -> u64 {
        self.0.file.size()
    }

    fn costs(&self) -> Costs {
        self.0.pace().costs()
    }

    fn identity(&self) -> Option<Identity> {
        self.0.file.identity()
    }

    fn read(&self, requests: &mut [Request]) -> Result<(), SourceError> {
        read_by_tickets(self, requests)
    }

    fn submit(&self, ranges: Vec<Range<u64>>) -> Vec<Ticket> {
        let (mut jobs, mut wanted) = (Vec::new(), Vec::new());
        let tickets = tickets(self.name(), self.size(), ranges, |range, _, promise| {
            jobs.extend(jobs_of(&self.0, range.clone(), promise));
            wanted.push(range);
        });
        if !wanted.is_empty() {
            let shared = Arc::clone(&self.0);
            let announcing = move || shared.announce(&wanted);
            READING.perform(Box::new(announcing), jobs);
        }
        tickets
    }
}

impl Shared {
    fn pace(&self) -> MutexGuard<'_, Pace> {
        self.pace.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn now(&self) -> Duration {
        self.begun.elapsed()
    }

    fn announce(&self, ranges: &[Range<u64>]) {
        for range in announced(ranges, self.step) {
            kernel::announce(self.file.file(), &range);
        }
    }

    /// One positioned read.
    fn read(&self, start: u64, buffer: &mut [u8]) -> Result<(), SourceError> {
        let before = self.now();
        self.pace().began(before);
        let read = self.file.read_at(buffer, start);
        let now = self.now();
        let mut pace = self.pace();
        match &read {
            Ok(()) => pace.came(buffer.len(), now.saturating_sub(before), now),
            Err(_) => pace.failed(),
        }
        read
    }
}

/// The reads of a range, whose parts share one allocation.
fn jobs_of(shared: &Arc<Shared>, range: Range<u64>, promise: Promise) -> Vec<Job> {
    let parts = reads(&range);
    // It lies within the file, and was bounded by the caller.
    let bytes = usize::try_from(range.end.saturating_sub(range.start));
    let rooms = rooms(&parts, BytesMut::zeroed(bytes.unwrap_or(usize::MAX)));
    let parts = range_parts(range, parts, promise).into_iter().zip(rooms);
    let job = |(part, mut buffer): (RangePart, BytesMut)| -> Job {
        let shared = Arc::clone(shared);
        Box::new(move || {
            if part.is_wanted() {
                let read = shared.read(part.range().start, &mut buffer);
                part.keep(read.map(|()| buffer));
            }
        })
    };
    parts.map(job).collect()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use treemill_testing::contract::{fails, holds};

    #[test]
    fn it_keeps_the_contract_of_sources() {
        let name = format!("treemill-mounted-{}", std::process::id());
        let path = std::env::temp_dir().join(name);
        // Several reads of the kernel's for one range.
        let bytes: Vec<u8> = (0..3_000_000_u32).map(|at| at.to_le_bytes()[1]).collect();
        std::fs::write(&path, &bytes).unwrap();
        let device = crate::mounts::device::device(&std::fs::File::open(&path).unwrap()).unwrap();
        let open = || Mounted::new(Local::open(&path).unwrap(), &device);
        holds(|| Arc::new(open()), &bytes);
        let source = open();
        std::fs::write(&path, bytes.get(..1_000_000).unwrap()).unwrap();
        let all = 0..source.size();
        for error in fails(&source, &[all.clone(), 2_000_000..2_000_010]) {
            assert!(error.what.contains("shorter"), "{error}");
        }
        std::fs::remove_file(&path).unwrap();
    }
}
