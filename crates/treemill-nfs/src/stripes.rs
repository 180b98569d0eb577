//! Which bytes of a file are read from which data server, and where they lie there. Pure.

use crate::wire::compound::StateId;
use crate::wire::layout::{Content, Device, DeviceId, FlexServer, Segment};
use bytes::Bytes;
use std::net::SocketAddr;
use std::ops::Range;

/// A part of a range that lies on one server.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Piece {
    /// The part, in the file.
    pub range: Range<u64>,
    /// Where its first byte is in the server's file.
    pub offset: u64,
    /// The server's place among those of the layout.
    pub server: usize,
}

/// A data server, and the file on it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The server, as layouts name it: one of a group, or a group of one.
    pub device: DeviceId,
    /// Addresses of the server.
    pub addresses: Vec<SocketAddr>,
    /// The minor version of NFSv4 to speak.
    pub minor: Option<u32>,
    /// The file's handle there; `None`: the one that the metadata server has given.
    pub handle: Option<Bytes>,
    /// The state to read with; `None`: the one of the open file.
    pub state: Option<StateId>,
}

/// How a part of a file is striped.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stripes {
    covered: Range<u64>,
    /// Where the pattern begins.
    from: u64,
    /// Bytes of a stripe, at least one.
    unit: u64,
    is_dense: bool,
    /// The place that has each stripe of the pattern, in order.
    pattern: Vec<usize>,
    /// The places, each with its file there.
    places: Vec<Place>,
}

/// The groups of servers that a part of a layout names, for each of its mirrors, the best one first. What has no mirrors counts
/// as one.
#[must_use]
pub fn devices(segment: &Segment) -> Vec<Vec<DeviceId>> {
    match &segment.content {
        Content::Files { device, .. } => vec![vec![*device]],
        Content::Flex { mirrors, .. } => {
            let named = |mirror: &[FlexServer]| mirror.iter().map(|server| server.device).collect();
            sorted(mirrors).into_iter().map(named).collect()
        }
    }
}

/// Mirrors by their worst servers, the best one first.
fn sorted(mirrors: &[Vec<FlexServer>]) -> Vec<&[FlexServer]> {
    let full = mirrors.iter().filter(|mirror| !mirror.is_empty());
    let mut full: Vec<&[FlexServer]> = full.map(Vec::as_slice).collect();
    full.sort_by_key(|mirror| {
        let worst = mirror.iter().map(|server| server.efficiency).min();
        std::cmp::Reverse(worst)
    });
    full
}

impl Stripes {
    /// Joins a layout's part, one of its mirrors and the devices that this names, in the order of `devices`. `None` if they do
    /// not fit together: then another mirror or the metadata server is read from.
    #[must_use]
    pub fn new(segment: &Segment, mirror: usize, devices: &[Device]) -> Option<Self> {
        match &segment.content {
            Content::Files {
                unit,
                device: id,
                is_dense,
                first,
                offset,
                handles,
            } => {
                let device = devices.first()?;
                let count = device.stripes.len();
                let servers = device
                    .stripes
                    .iter()
                    .map(|index| usize::try_from(*index).ok());
                let mut places = Vec::new();
                for (stripe, server) in servers.enumerate() {
                    let server = server?;
                    // Dense: a handle for each stripe. Sparse: for each server, or one for all, or the metadata server's.
                    let handle = match (is_dense, handles.len()) {
                        (true, _) => Some(handles.get(stripe)?.clone()),
                        (false, 0) => None,
                        (false, 1) => handles.first().cloned(),
                        (false, _) => Some(handles.get(server)?.clone()),
                    };
                    places.push(Place {
                        device: *id,
                        addresses: device.servers.get(server)?.clone(),
                        minor: None,
                        handle,
                        state: None,
                    });
                }
                let first = usize::try_from(*first).ok()?;
                let pattern =
                    (0..count).map(|at| at.saturating_add(first).checked_rem(count).unwrap_or(0));
                Stripes::checked(
                    segment,
                    *offset,
                    *unit,
                    *is_dense,
                    pattern.collect(),
                    places,
                )
            }
            Content::Flex { unit, mirrors, .. } => {
                let servers = *sorted(mirrors).get(mirror)?;
                let mut places = Vec::new();
                for (place, server) in servers.iter().enumerate() {
                    let device = devices.get(place)?;
                    let version = device
                        .versions
                        .iter()
                        .position(|version| version.0 == 4 && version.1 > 0)?;
                    let handle = server
                        .handles
                        .get(version)
                        .or_else(|| server.handles.first())?;
                    places.push(Place {
                        device: server.device,
                        addresses: device.servers.first()?.clone(),
                        minor: device.versions.get(version).map(|version| version.1),
                        handle: Some(handle.clone()),
                        state: Some(server.state),
                    });
                }
                let unit = match (places.len(), *unit) {
                    (1, 0) => u64::MAX,
                    (_, unit) => unit,
                };
                let pattern = (0..places.len()).collect();
                Stripes::checked(segment, 0, unit, false, pattern, places)
            }
        }
    }

    fn checked(
        segment: &Segment,
        from: u64,
        unit: u64,
        is_dense: bool,
        pattern: Vec<usize>,
        places: Vec<Place>,
    ) -> Option<Self> {
        let reachable = places.iter().all(|place| !place.addresses.is_empty());
        (unit > 0 && !pattern.is_empty() && reachable).then(|| Stripes {
            covered: segment.start.max(from)..segment.end,
            from,
            unit,
            is_dense,
            pattern,
            places,
        })
    }

    /// The files on data servers; a piece names one by its place.
    #[must_use]
    pub fn places(&self) -> &[Place] {
        &self.places
    }

    /// Where the bytes of a range lie; `None` if the layout does not cover it.
    #[must_use]
    pub fn pieces(&self, range: Range<u64>) -> Option<Vec<Piece>> {
        if range.start < self.covered.start || range.end > self.covered.end {
            return None;
        }
        let count = self.pattern.len() as u64;
        let (mut pieces, mut at) = (Vec::new(), range.start);
        while at < range.end {
            let along = at.checked_sub(self.from)?;
            let stripe = along.checked_div(self.unit)?;
            let within = along.checked_rem(self.unit)?;
            let end = at
                .saturating_add(self.unit.saturating_sub(within))
                .min(range.end);
            let place = usize::try_from(stripe.checked_rem(count)?).ok()?;
            let row = stripe.checked_div(count)?;
            let piece = Piece {
                range: at..end,
                offset: match self.is_dense {
                    true => row.checked_mul(self.unit)?.checked_add(within)?,
                    false => at,
                },
                server: *self.pattern.get(place)?,
            };
            pieces.push(piece);
            at = end;
        }
        Some(pieces)
    }
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::arithmetic_side_effects,
    clippy::indexing_slicing
)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn device(stripes: Vec<u32>, servers: usize) -> Device {
        let servers = (0..servers)
            .map(|_| vec!["10.0.0.1:2049".parse().unwrap()])
            .collect();
        Device {
            stripes,
            servers,
            versions: vec![(4, 1, 1 << 20)],
        }
    }

    proptest! {
        /// A file that was written in stripes is put together again, from any range, dense or sparse.
        #[test]
        fn what_was_striped_is_found(
            size in 1_usize..600, units in 1_u64..4, count in 1_usize..5, first in 0_u32..7, is_dense in any::<bool>(),
            cut in (0_usize..600, 0_usize..600),
        ) {
            let unit = units * 64;
            let file: Vec<u8> = (0..size).map(|at| (at % 251) as u8).collect();
            // Written as the standard says, byte by byte.
            let mut servers = vec![vec![0_u8; 2000]; count];
            for (at, byte) in file.iter().enumerate() {
                let stripe = at as u64 / unit;
                let index = (stripe as usize + first as usize) % count;
                let place = match is_dense {
                    true => stripe / count as u64 * unit + at as u64 % unit,
                    false => at as u64,
                };
                servers[index][place as usize] = *byte;
            }
            let segment = Segment {
                start: 0,
                end: u64::MAX,
                content: Content::Files {
                    device: [0; 16],
                    unit,
                    is_dense,
                    first,
                    offset: 0,
                    handles: (0..count).map(|_| Bytes::from_static(b"h")).collect(),
                },
            };
            let all = (0..count as u32).collect();
            let stripes = Stripes::new(&segment, 0, &[device(all, count)]).unwrap();
            let (start, end) = (cut.0.min(cut.1).min(size), cut.0.max(cut.1).min(size));
            let mut found: Vec<u8> = Vec::new();
            for piece in stripes.pieces(start as u64..end as u64).unwrap() {
                prop_assert_eq!(piece.range.start, (start + found.len()) as u64);
                let length = (piece.range.end - piece.range.start) as usize;
                found.extend(&servers[piece.server][piece.offset as usize..piece.offset as usize + length]);
            }
            prop_assert_eq!(&found[..], &file[start..end]);
        }

        #[test]
        fn no_layout_panics(
            unit in any::<u64>(), first in any::<u32>(), offset in any::<u64>(), stripes in proptest::collection::vec(0_u32..4, 0..5),
            servers in 0_usize..4, handles in 0_usize..4, is_dense in any::<bool>(), at in any::<u64>(),
        ) {
            let content = Content::Files {
                device: [0; 16],
                unit: unit & !0x3f,
                is_dense,
                first,
                offset,
                handles: (0..handles).map(|_| Bytes::new()).collect(),
            };
            let segment = Segment { start: 0, end: u64::MAX, content };
            if let Some(stripes) = Stripes::new(&segment, 0, &[device(stripes, servers)]) {
                for piece in stripes.pieces(at..at.saturating_add(100)).unwrap_or_default() {
                    prop_assert!(piece.server < stripes.places().len());
                }
            }
        }
    }

    #[test]
    fn of_mirrors_the_best_is_first() {
        let server = |efficiency| FlexServer {
            device: [efficiency as u8; 16],
            efficiency,
            state: StateId::default(),
            handles: vec![Bytes::from_static(b"h")],
        };
        let content = Content::Flex {
            unit: 0,
            mirrors: vec![vec![server(1)], vec![server(9)], vec![]],
            flags: 0,
            pause: 0,
        };
        let segment = Segment {
            start: 0,
            end: u64::MAX,
            content,
        };
        assert_eq!(devices(&segment), [[[9; 16]], [[1; 16]]]);
        let stripes = Stripes::new(&segment, 1, &[device(vec![0], 1)]).unwrap();
        assert_eq!(stripes.places()[0].device, [1; 16]);
        let pieces = stripes.pieces(5..1 << 40).unwrap();
        assert_eq!((pieces.len(), pieces[0].offset), (1, 5));
        // A server of NFSv3 alone is left to the metadata server.
        let old = Device {
            versions: vec![(3, 0, 1 << 20)],
            ..device(vec![0], 1)
        };
        assert_eq!(Stripes::new(&segment, 0, std::slice::from_ref(&old)), None);
        assert_eq!(Stripes::new(&segment, 2, &[old]), None, "there are two");
    }
}
