//! What a client tells a metadata server of data servers with flex_files (RFC 8435, section 9; RFC 7862, sections 15.6 and
//! 15.7): what has failed, and how much was read in which time. Knows no connection.

use super::compound::{Failure, Operations, READ, Results, StateId};
use super::layout::{DeviceId, LayoutType};
use super::xdr::Writer;
use bytes::Bytes;
use std::net::{IpAddr, SocketAddr};
use std::ops::Range;
use std::time::Duration;

const LAYOUTERROR: u32 = 64;
const LAYOUTSTATS: u32 = 65;

/// A range that a data server did not give.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fault {
    /// The range, in the file.
    pub range: Range<u64>,
    /// The server.
    pub device: DeviceId,
    /// The status of its READ, or what comes nearest to it.
    pub status: u32,
}

/// What was read from a data server.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// READs that were sent, and the bytes that they asked for.
    pub asked: (u64, u64),
    /// READs that brought bytes, and the bytes.
    pub brought: (u64, u64),
    /// Bytes that READs asked for which have failed.
    pub missed: u64,
    /// The sum of the times from READs to their answers.
    pub waited: Duration,
}

/// A data server, and what was read from it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Counted {
    /// The server.
    pub device: DeviceId,
    /// The address that it was read at.
    pub address: SocketAddr,
    /// The file's handle there.
    pub handle: Bytes,
    /// What was read.
    pub tally: Tally,
    /// The time in which it was read.
    pub time: Duration,
}

/// The report that a server gets when a layout is given back.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Report {
    /// What has failed.
    pub faults: Vec<Fault>,
    /// What was read.
    pub counts: Vec<Counted>,
}

impl Report {
    /// `ff_layoutreturn4`.
    pub(crate) fn body(&self, state: StateId) -> Writer {
        let mut out = Writer::default();
        out.u32(count(&self.faults));
        for fault in &self.faults {
            fault.write(state, &mut out);
        }
        out.u32(count(&self.counts));
        for counted in &self.counts {
            counted.write_front(state, &mut out);
            out.append(&counted.update());
        }
        out
    }
}

fn count<T>(all: &[T]) -> u32 {
    u32::try_from(all.len()).unwrap_or(0)
}

impl Fault {
    fn write(&self, state: StateId, out: &mut Writer) {
        let length = self.range.end.saturating_sub(self.range.start);
        state.write(out.u64(self.range.start).u64(length));
        out.u32(1).fixed(&self.device).u32(self.status).u32(READ);
    }
}

impl Counted {
    /// What LAYOUTSTATS and LAYOUTRETURN have in common: of all of the file, reads and (no) writes.
    fn write_front(&self, state: StateId, out: &mut Writer) {
        state.write(out.u64(0).u64(u64::MAX));
        out.u64(self.tally.brought.0).u64(self.tally.brought.1);
        out.u64(0).u64(0).fixed(&self.device);
    }

    /// `ff_layoutupdate4`.
    fn update(&self) -> Writer {
        let mut out = Writer::default();
        let (network, address) = universal(&self.address);
        out.opaque(network.as_bytes()).opaque(address.as_bytes());
        out.opaque(&self.handle);
        latency(&self.tally, &mut out);
        latency(&Tally::default(), &mut out); // of writes
        time(self.time, &mut out).bool(false);
        out
    }
}

/// `ff_io_latency4`. The time in which a server was busy is not known here: that of all requests is told for it.
fn latency(tally: &Tally, out: &mut Writer) {
    out.u64(tally.asked.0).u64(tally.asked.1);
    out.u64(tally.brought.0).u64(tally.brought.1);
    out.u64(tally.missed);
    time(tally.waited, out);
    time(tally.waited, out);
}

fn time(time: Duration, out: &mut Writer) -> &mut Writer {
    out.u64(time.as_secs()).u32(time.subsec_nanos())
}

/// An address as RPC names it (RFC 5665).
fn universal(address: &SocketAddr) -> (&'static str, String) {
    let network = match address.ip() {
        IpAddr::V4(_) => "tcp",
        IpAddr::V6(_) => "tcp6",
    };
    let [high, low] = address.port().to_be_bytes();
    (network, format!("{}.{high}.{low}", address.ip()))
}

impl Operations {
    /// Tells what has failed, of the current file's layout (4.2).
    #[must_use]
    pub fn layout_error(mut self, state: StateId, fault: &Fault) -> Self {
        fault.write(state, self.operation(LAYOUTERROR));
        self
    }

    /// Tells what was read from a data server, by the current file's layout (4.2).
    #[must_use]
    pub fn layout_stats(mut self, state: StateId, counted: &Counted) -> Self {
        let out = self.operation(LAYOUTSTATS);
        counted.write_front(state, out);
        out.u32(LayoutType::Flex.number());
        out.opaque(counted.update().bytes());
        self
    }
}

impl Results {
    /// Reads the result of LAYOUTERROR.
    ///
    /// # Errors
    /// If the operation has failed; if the answer is malformed. So does `stats_told`.
    pub fn error_told(&mut self) -> Result<(), Failure> {
        self.next(LAYOUTERROR).map(|_| ())
    }

    /// Reads the result of LAYOUTSTATS.
    ///
    /// # Errors
    /// See `error_told`.
    pub fn stats_told(&mut self) -> Result<(), Failure> {
        self.next(LAYOUTSTATS).map(|_| ())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::super::layout;
    use super::*;

    #[test]
    fn addresses_are_written_as_they_are_read() {
        for text in ["10.0.0.7:2049", "[::1]:2049", "[fe80::7]:65535"] {
            let address: SocketAddr = text.parse().unwrap();
            assert_eq!(layout::universal(&universal(&address).1), Some(address));
        }
    }

    #[test]
    fn a_report_of_nothing_is_two_empty_lists() {
        assert_eq!(Report::default().body(StateId::default()).bytes(), [0; 8]);
    }
}
