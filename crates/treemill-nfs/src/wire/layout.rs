//! Layouts of pNFS: where the bytes of a file lie (RFC 8881, sections 13, 18.40 and 18.43; RFC 8435), and the servers that
//! have them. Knows no connection; which bytes are read from which server, `stripes.rs` says.

use super::callback::{Recall, Recalled};
use super::compound::{Failure, Operations, Results, StateId};
use super::report::Report;
use super::xdr::{Malformed, Reader};
use crate::limits::{MOST_DEVICE, MOST_HANDLE, MOST_NAME, MOST_PARTS, MOST_STRIPES};
use bytes::Bytes;
use std::net::{IpAddr, SocketAddr};

const GETDEVICEINFO: u32 = 47;
const LAYOUTGET: u32 = 50;
const LAYOUTRETURN: u32 = 51;
const FOR_READING: u32 = 1;
/// LAYOUTIOMODE4_RW: layouts for writing, of which there are none here.
pub const FOR_WRITING: u32 = 2;
const OF_A_FILE: u32 = 1;
const OF_A_FILE_SYSTEM: u32 = 2;
const OF_ALL: u32 = 3;
const DENSE: u32 = 1;
/// FF_FLAGS_NO_IO_THRU_MDS: what the data servers do not give should not be read from the metadata server.
pub const NOT_THROUGH_METADATA: u32 = 2;
/// The bits of `nfl_util` that are the length of a stripe.
const UNIT: u32 = !0x3f;

/// What kind of layout it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum LayoutType {
    /// `LAYOUT4_NFSV4_1_FILES`.
    Files,
    /// `LAYOUT4_FLEX_FILES`.
    Flex,
}

impl LayoutType {
    /// The type that has this number in the protocol; `None` for those that are not read.
    ///
    /// ```
    /// use treemill_nfs::wire::layout::LayoutType;
    ///
    /// assert_eq!(LayoutType::of(4), Some(LayoutType::Flex));
    /// assert_eq!(LayoutType::of(3), None); // blocks
    /// ```
    #[must_use]
    pub fn of(number: u32) -> Option<Self> {
        match number {
            1 => Some(LayoutType::Files),
            4 => Some(LayoutType::Flex),
            _ => None,
        }
    }

    /// Its number in the protocol.
    #[must_use]
    pub fn number(self) -> u32 {
        match self {
            LayoutType::Files => 1,
            LayoutType::Flex => 4,
        }
    }
}

/// Names a group of servers.
pub type DeviceId = [u8; 16];

impl Operations {
    /// Asks where all of the current file lies, for reading.
    #[must_use]
    pub fn get_layout(self, kind: LayoutType, state: StateId) -> Self {
        self.layout_from(kind, state, 0, 0)
    }

    /// Asks where the current file lies from a byte on. `state`: of the layout that there is.
    #[must_use]
    pub fn more_layout(self, kind: LayoutType, state: StateId, from: u64) -> Self {
        self.layout_from(kind, state, from, 1)
    }

    fn layout_from(mut self, kind: LayoutType, state: StateId, from: u64, least: u64) -> Self {
        let out = self.operation(LAYOUTGET);
        out.bool(false).u32(kind.number()).u32(FOR_READING);
        out.u64(from).u64(u64::MAX.saturating_sub(from)).u64(least);
        state.write(out);
        out.u32(MOST_DEVICE as u32);
        self
    }

    /// Asks for a group's servers.
    #[must_use]
    pub fn get_device(mut self, device: &DeviceId, kind: LayoutType) -> Self {
        let out = self.operation(GETDEVICEINFO);
        out.fixed(device)
            .u32(kind.number())
            .u32(MOST_DEVICE as u32)
            .u32(0);
        self
    }

    /// Gives the layout of the current file back. Layouts of flex_files are given back with the report.
    #[must_use]
    pub fn return_layout(mut self, kind: LayoutType, state: StateId, report: &Report) -> Self {
        let out = self.operation(LAYOUTRETURN);
        out.bool(false).u32(kind.number()).u32(FOR_READING);
        out.u32(OF_A_FILE).u64(0).u64(u64::MAX);
        state.write(out);
        match kind {
            LayoutType::Files => out.u32(0),
            LayoutType::Flex => out.opaque(report.body(state).bytes()),
        };
        self
    }

    /// Gives back all layouts that a recall of several names, of the current file's file system or of all files: the answer to
    /// such a recall (RFC 8881, section 12.5.5.2.1). A recall of one file is not answered by it.
    #[must_use]
    pub fn return_layouts(mut self, recall: &Recall) -> Self {
        let out = self.operation(LAYOUTRETURN);
        out.bool(false).u32(recall.kind).u32(recall.mode);
        out.u32(match recall.of {
            Recalled::All => OF_ALL,
            Recalled::File { .. } | Recalled::FileSystem(_) => OF_A_FILE_SYSTEM,
        });
        self
    }
}

/// A layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Layout {
    /// Its state, with which it is given back.
    pub state: StateId,
    /// Its parts.
    pub segments: Vec<Segment>,
}

/// Where a part of a file lies.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segment {
    /// The first byte.
    pub start: u64,
    /// The byte behind the last one.
    pub end: u64,
    /// The servers that have it, as the layout's type says it.
    pub content: Content,
}

/// What each kind of layout says.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Content {
    /// `nfsv4_1_file_layout4`.
    Files {
        /// The group of servers.
        device: DeviceId,
        /// Bytes of a stripe.
        unit: u64,
        /// Whether a server's file has its stripes one behind the other.
        is_dense: bool,
        /// The stripe that the pattern begins with.
        first: u32,
        /// Where the pattern begins.
        offset: u64,
        /// The handles at the servers.
        handles: Vec<Bytes>,
    },
    /// `ff_layout4`: mirrors, each with its servers in the order of stripes.
    Flex {
        /// Bytes of a stripe; zero if there are none.
        unit: u64,
        /// The mirrors.
        mirrors: Vec<Vec<FlexServer>>,
        /// What the client should do and leave (`FF_FLAGS_*`).
        flags: u32,
        /// The seconds between two reports of what was read; zero: the server does not say.
        pause: u32,
    },
}

/// A server of a mirror.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FlexServer {
    /// The server, as a group of one.
    pub device: DeviceId,
    /// Higher is better.
    pub efficiency: u32,
    /// What to read with.
    pub state: StateId,
    /// The file's handles, by the versions that the server speaks.
    pub handles: Vec<Bytes>,
}

/// The servers of a group.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Device {
    /// The place of each stripe among the servers; flex_files have one server.
    pub stripes: Vec<u32>,
    /// The servers, each with the addresses that it can be reached by.
    pub servers: Vec<Vec<SocketAddr>>,
    /// NFS's versions, minor versions, and the most bytes of a READ; flex_files alone have them.
    pub versions: Vec<(u32, u32, u32)>,
}

impl Results {
    /// Reads the result of LAYOUTGET.
    ///
    /// # Errors
    /// If the operation has failed; if the answer is malformed, or of another kind. So do all that follow.
    pub fn layout(&mut self, kind: LayoutType) -> Result<Layout, Failure> {
        let reader = self.next(LAYOUTGET)?;
        reader.bool()?;
        let state = StateId::read(reader)?;
        let segments = reader.list(MOST_PARTS, |reader| segment(reader, kind))?;
        Ok(Layout { state, segments })
    }

    /// Reads the result of GETDEVICEINFO.
    ///
    /// # Errors
    /// See `layout`.
    pub fn device(&mut self, kind: LayoutType) -> Result<Device, Failure> {
        let reader = self.next(GETDEVICEINFO)?;
        expect(reader, kind)?;
        let mut body = Reader::new(reader.opaque(MOST_DEVICE)?);
        Ok(match kind {
            LayoutType::Files => Device {
                stripes: body.list(MOST_STRIPES, Reader::u32)?,
                servers: body.list(MOST_STRIPES, addresses)?,
                versions: Vec::new(),
            },
            LayoutType::Flex => Device {
                stripes: vec![0],
                servers: vec![addresses(&mut body)?],
                versions: body.list(MOST_PARTS, |reader| {
                    let found = (reader.u32()?, reader.u32()?, reader.u32()?);
                    let _ = (reader.u32()?, reader.bool()?);
                    Ok(found)
                })?,
            },
        })
    }

    /// Reads the result of LAYOUTRETURN.
    ///
    /// # Errors
    /// See `layout`.
    pub fn layout_returned(&mut self) -> Result<(), Failure> {
        self.next(LAYOUTRETURN).map(|_| ())
    }
}

fn expect(reader: &mut Reader, kind: LayoutType) -> Result<(), Malformed> {
    match reader.u32()? {
        found if LayoutType::of(found) == Some(kind) => Ok(()),
        other => Err(Malformed::new(format!(
            "a layout has the unknown kind {other}"
        ))),
    }
}

fn segment(reader: &mut Reader, kind: LayoutType) -> Result<Segment, Malformed> {
    let (start, length) = (reader.u64()?, reader.u64()?);
    let _ = reader.u32()?;
    expect(reader, kind)?;
    let mut body = Reader::new(reader.opaque(MOST_DEVICE)?);
    Ok(Segment {
        start,
        end: start.saturating_add(length),
        content: match kind {
            LayoutType::Files => files(&mut body)?,
            LayoutType::Flex => flex(&mut body)?,
        },
    })
}

fn handle(reader: &mut Reader) -> Result<Bytes, Malformed> {
    reader.opaque(MOST_HANDLE)
}

fn files(reader: &mut Reader) -> Result<Content, Malformed> {
    let device = reader.array()?;
    let util = reader.u32()?;
    Ok(Content::Files {
        device,
        unit: u64::from(util & UNIT),
        is_dense: util & DENSE != 0,
        first: reader.u32()?,
        offset: reader.u64()?,
        handles: reader.list(MOST_STRIPES, handle)?,
    })
}

fn flex(reader: &mut Reader) -> Result<Content, Malformed> {
    let unit = reader.u64()?;
    let mirrors = reader.list(MOST_PARTS, |reader| reader.list(MOST_STRIPES, flex_server))?;
    let (flags, pause) = (reader.u32()?, reader.u32()?);
    Ok(Content::Flex {
        unit,
        mirrors,
        flags,
        pause,
    })
}

fn flex_server(reader: &mut Reader) -> Result<FlexServer, Malformed> {
    let server = FlexServer {
        device: reader.array()?,
        efficiency: reader.u32()?,
        state: StateId::read(reader)?,
        handles: reader.list(MOST_PARTS, handle)?,
    };
    let _ = (reader.opaque(MOST_NAME)?, reader.opaque(MOST_NAME)?); // user and group
    Ok(server)
}

/// The addresses of one server; those of other networks than TCP are left out.
fn addresses(reader: &mut Reader) -> Result<Vec<SocketAddr>, Malformed> {
    let all = reader.list(MOST_PARTS, |reader| {
        let (network, address) = (reader.text(16)?, reader.text(MOST_NAME)?);
        Ok(matches!(network.as_str(), "tcp" | "tcp6")
            .then(|| universal(&address))
            .flatten())
    })?;
    Ok(all.into_iter().flatten().collect())
}

/// A universal address (RFC 5665): an IP address, and the port as two bytes.
///
/// ```
/// use treemill_nfs::wire::layout::universal;
///
/// assert_eq!(universal("10.0.0.7.8.1"), "10.0.0.7:2049".parse().ok());
/// assert_eq!(universal("::1.8.1"), "[::1]:2049".parse().ok());
/// assert_eq!(universal("10.0.0.7"), None);
/// ```
#[must_use]
pub fn universal(text: &str) -> Option<SocketAddr> {
    let (rest, low) = text.rsplit_once('.')?;
    let (host, high) = rest.rsplit_once('.')?;
    let port = u16::from_be_bytes([high.parse().ok()?, low.parse().ok()?]);
    let host: IpAddr = host.parse().ok()?;
    Some(SocketAddr::new(host, port))
}
