//! A file on a mount as a source: ranges that are asked for are announced to the kernel at once, and read by several threads.
//! `plan.rs` says what is announced and read. The costs are those of the reads that tell something of the mount.

use crate::limits::{FROM_MEMORY, MOUNT_THREADS, MOUNT_TRIP, MOUNT_WINDOW};
use crate::mounts::device::Device;
use crate::mounts::kernel;
use crate::mounts::plan::{announced, reads};
use bytes::BytesMut;
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};
use treemill_source::{
    Costs, Info, Local, Promise, Request, Source, SourceError, Ticket, read_by_tickets, tickets,
};
use treemill_transfer::{Job, Meter, RangePart, Threads, range_parts, rooms};

static READING: Threads = Threads::new("treemill-mount", MOUNT_THREADS);

/// A file that is read as planned.
pub(crate) struct Mounted(Arc<Shared>);

struct Shared {
    file: Local,
    /// What reports call the mount.
    server: String,
    step: u64,
    begun: Instant,
    meter: Mutex<Meter>,
}

impl Mounted {
    pub(crate) fn new(file: Local, device: &Device) -> Self {
        kernel::expect_ranges(file.file());
        Mounted(Arc::new(Shared {
            file,
            server: device.name.clone(),
            step: device.step,
            begun: Instant::now(),
            meter: Mutex::new(Meter::typical(MOUNT_TRIP)),
        }))
    }
}

impl Source for Mounted {
    fn info(&self) -> &Info {
        self.0.file.info()
    }

    fn costs(&self) -> Costs {
        Costs {
            window: MOUNT_WINDOW,
            ..self.0.meter().costs()
        }
    }

    fn server(&self) -> String {
        self.0.server.clone()
    }

    fn read(&self, requests: &mut [Request]) -> Result<(), SourceError> {
        read_by_tickets(self, requests)
    }

    fn submit(&self, ranges: Vec<Range<u64>>) -> Vec<Ticket> {
        let (mut jobs, mut wanted) = (Vec::new(), Vec::new());
        let tickets = tickets(self.info(), ranges, |range, _, promise| {
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
    fn meter(&self) -> MutexGuard<'_, Meter> {
        self.meter.lock().unwrap_or_else(PoisonError::into_inner)
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
        self.meter().started(before);
        let read = self.file.read_at(buffer, start);
        let now = self.now();
        note(&mut self.meter(), read.is_ok(), buffer.len(), before, now);
        read
    }
}

/// A read of a mount has ended. One from the system's memory tells nothing of the mount, nor does one that failed.
fn note(meter: &mut Meter, is_read: bool, bytes: usize, began: Duration, now: Duration) {
    let took = now.saturating_sub(began);
    if is_read && took >= FROM_MEMORY {
        meter.answered(took);
        meter.arrived(bytes, now);
    }
    meter.ended();
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
    fn reads_from_memory_tell_nothing() {
        let mut meter = Meter::typical(MOUNT_TRIP);
        for read in 0..1000 {
            let began = Duration::from_micros(50 * read);
            meter.started(began);
            let now = began + Duration::from_micros(50);
            note(&mut meter, true, 1 << 20, began, now);
        }
        let costs = meter.costs();
        assert_eq!(
            (costs.round_trip, costs.bytes_per_second),
            (MOUNT_TRIP, None)
        );
    }

    #[test]
    fn the_speed_of_reads_that_overlap_is_theirs_together() {
        let (mut meter, ms) = (Meter::typical(MOUNT_TRIP), Duration::from_millis);
        let begin = |meter: &mut Meter, at| (0..4).for_each(|_| meter.started(at));
        begin(&mut meter, ms(0));
        for round in 0..100 {
            let (began, now) = (ms(10 * round), ms(10 * round + 10));
            begin(&mut meter, began); // before the last ones have ended
            (0..4).for_each(|_| note(&mut meter, true, 1 << 20, began, now));
        }
        let costs = meter.costs();
        assert!(costs.round_trip > ms(9), "{:?}", costs.round_trip);
        let speed = costs.bytes_per_second.unwrap_or_default();
        assert!((300e6..900e6).contains(&speed), "{speed}");
    }

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
