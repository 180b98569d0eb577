//! Ranges that were asked for, put together from parts that come in any order: the one place where that is done, for files on
//! servers and on mounts. [`Whole`] and [`Wants`] are pure; a [`RangePart`] is of a range whose parts come on several threads. Knows no source and no protocol.

use crate::carrier::Chunk;
use crate::parts::parts;
use bytes::{Bytes, BytesMut};
use std::collections::{BTreeMap, HashMap};
use std::ops::Range;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use treemill_source::{Promise, SourceError, Ticket, is_within};

/// A range, and what of it is here.
///
/// ```
/// use treemill_transfer::{Chunk, Whole};
///
/// let part = |text: &'static str| Chunk::Bytes(text.as_bytes().into());
/// let mut whole = Whole::new(10..15);
/// assert_eq!(whole.came(13, part("de")), None);
/// assert_eq!(whole.came(13, part("de")), None, "it counts once");
/// assert_eq!(whole.missing(), 3);
/// assert_eq!(whole.came(10, part("abc")).unwrap(), "abcde");
/// ```
#[derive(Debug)]
pub struct Whole {
    range: Range<u64>,
    /// Parts by their first bytes' places in the file.
    parts: BTreeMap<u64, Chunk>,
    missing: u64,
    /// Memory for parts that were not asked for yet, side by side; `None` as long as nobody has wanted any.
    rooms: Option<BTreeMap<u64, BytesMut>>,
}

impl Whole {
    /// A range of which nothing is here. It must not be empty.
    #[must_use]
    pub fn new(range: Range<u64>) -> Self {
        Whole {
            missing: length(&range),
            range,
            parts: BTreeMap::new(),
            rooms: None,
        }
    }

    /// The range.
    #[must_use]
    pub fn range(&self) -> &Range<u64> {
        &self.range
    }

    /// Its bytes that are not here.
    #[must_use]
    pub fn missing(&self) -> u64 {
        self.missing
    }

    /// Memory for all of its parts, if there are several.
    fn furnished(&self, most: u64) -> BTreeMap<u64, BytesMut> {
        let parts = parts(self.range.clone(), most);
        if parts.len() < 2 || !self.parts.is_empty() {
            return BTreeMap::new();
        }
        let bytes = usize::try_from(self.missing).unwrap_or(0);
        let starts = parts.iter().map(|part| part.start);
        let all = BytesMut::with_capacity(bytes);
        starts.zip(rooms(&parts, all)).collect()
    }

    /// The memory for a part, or for one that begins like it and is smaller: empty if there is none. The range is cut into parts of
    /// `most` bytes at most.
    fn room(&mut self, part: &Range<u64>, most: u64) -> BytesMut {
        if self.rooms.is_none() {
            self.rooms = Some(self.furnished(most));
        }
        let Some(rooms) = &mut self.rooms else {
            return BytesMut::new();
        };
        let mut room = rooms.remove(&part.start).unwrap_or_default();
        let bytes = usize::try_from(length(part)).unwrap_or(usize::MAX);
        if bytes < room.capacity() {
            rooms.insert(part.end, room.split_off(bytes));
        }
        room
    }

    /// The part that begins at this place of the file is here: the range's bytes, if it was the last one. Parts that were
    /// written into their rooms, side by side in one allocation ([`rooms`]), and a single part are not copied.
    pub fn came(&mut self, start: u64, part: Chunk) -> Option<Bytes> {
        if part.is_empty() || self.parts.contains_key(&start) {
            return None;
        }
        self.missing = self.missing.saturating_sub(part.len() as u64);
        if self.missing > 0 {
            self.parts.insert(start, part);
            return None;
        }
        if self.parts.is_empty() {
            return Some(part.into());
        }
        self.parts.insert(start, part);
        Some(joined(std::mem::take(&mut self.parts)))
    }
}

fn length(range: &Range<u64>) -> u64 {
    range.end.saturating_sub(range.start)
}

/// Parts as one, in order.
fn joined(parts: BTreeMap<u64, Chunk>) -> Bytes {
    let is_placed = |part: &Chunk| matches!(part, Chunk::Placed(_));
    if parts.values().all(is_placed) {
        let mut whole = BytesMut::new();
        for part in parts.into_values() {
            if let Chunk::Placed(part) = part {
                whole.unsplit(part); // without a copy where it lies behind
            }
        }
        return whole.freeze();
    }
    let parts: Vec<Bytes> = parts.into_values().map(Bytes::from).collect();
    Bytes::from(parts.concat())
}

/// The memory of a range, divided among its parts.
#[must_use]
pub fn rooms(parts: &[Range<u64>], mut all: BytesMut) -> Vec<BytesMut> {
    let one = |part: &Range<u64>| {
        let bytes = usize::try_from(length(part)).unwrap_or(usize::MAX);
        let after = all.split_off(bytes.min(all.capacity()));
        std::mem::replace(&mut all, after)
    };
    parts.iter().map(one).collect()
}

/// One part of a range that was asked for.
///
/// ```
/// use treemill_source::{Bytes, SourceError, Ticket};
/// use treemill_transfer::range_parts;
///
/// let (ticket, promise) = Ticket::new("f", 0..5);
/// let [first, second] = range_parts(0..5, vec![0..3, 3..5], promise).try_into().unwrap();
/// second.keep(Ok(Bytes::from_static(b"de")));
/// assert!(!ticket.is_ready() && first.is_wanted());
/// first.keep(Ok(Bytes::from_static(b"abc")));
/// assert_eq!(ticket.wait()?, "abcde");
///
/// let (ticket, promise) = Ticket::new("f", 0..5);
/// let [first, second] = range_parts(0..5, vec![0..3, 3..5], promise).try_into().unwrap();
/// second.keep(Err::<Bytes, _>(SourceError::new("f", "gone")));
/// assert!(!first.is_wanted());
/// assert_eq!(ticket.wait().unwrap_err().to_string(), "f: gone (reading bytes 0..5)");
/// # Ok::<(), treemill_source::SourceError>(())
/// ```
#[derive(Debug)]
pub struct RangePart {
    of: Arc<Promised>,
    range: Range<u64>,
}

/// A range, and the promise of it.
#[derive(Debug)]
pub(crate) struct Promised {
    range: Range<u64>,
    /// `None` when the promise was kept or nobody wants it.
    open: Mutex<Option<(Whole, Promise)>>,
}

/// The parts of a range, as they are cut, which share its promise.
#[must_use]
pub fn range_parts(range: Range<u64>, parts: Vec<Range<u64>>, promise: Promise) -> Vec<RangePart> {
    let open = Mutex::new(Some((Whole::new(range.clone()), promise)));
    let of = Arc::new(Promised { range, open });
    let one = |range| RangePart {
        of: Arc::clone(&of),
        range,
    };
    parts.into_iter().map(one).collect()
}

impl RangePart {
    /// The part.
    #[must_use]
    pub fn range(&self) -> &Range<u64> {
        &self.range
    }

    pub(crate) fn of(&self) -> &Arc<Promised> {
        &self.of
    }

    /// Whether the part is waited for: no other one has failed, and nobody has left the range.
    #[must_use]
    pub fn is_wanted(&self) -> bool {
        self.of.open().is_some()
    }

    /// The part is here, or cannot be had. Keeps the promise of the range if it was the last one, or failed.
    pub fn keep(self, answer: Result<impl Into<Chunk>, SourceError>) {
        let mut open = self.of.open();
        let Some((whole, _)) = &mut *open else { return };
        let range = Some(self.of.range.clone());
        let answer = match answer.map(Into::into) {
            Err(error) => Err(SourceError { range, ..error }),
            Ok(part) => match whole.came(self.range.start, part) {
                Some(bytes) => Ok(bytes),
                None => return,
            },
        };
        let kept = open.take();
        drop(open); // whoever waits may do anything, also with this source
        if let Some((_, promise)) = kept {
            promise.keep(answer);
        }
    }

    /// The part was asked for: a thread that waits for a range of one part waits for this.
    pub fn count_with(&self, ticket: &Ticket) {
        if let (true, Some((_, promise))) = (self.range == self.of.range, &*self.of.open()) {
            promise.count_with(ticket);
        }
    }
}

impl Promised {
    fn open(&self) -> MutexGuard<'_, Option<(Whole, Promise)>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn range(&self) -> &Range<u64> {
        &self.range
    }

    /// It is not wanted any more: how many of its bytes are in parts that are not here.
    pub(crate) fn leave(&self) -> u64 {
        let left = self.open().take(); // dropped with its promise when nothing is locked
        left.map_or(0, |(whole, _)| whole.missing())
    }
}

/// Ranges of a protocol whose requests carry several: those whose bytes are not all here yet. `P` is what the caller wants back
/// with a range's bytes.
#[derive(Debug)]
pub struct Wants<P> {
    next: u64,
    open: HashMap<u64, Wanted<P>>,
}

/// One of them.
#[derive(Debug)]
struct Wanted<P> {
    whole: Whole,
    promise: P,
    /// The bytes that a part has at most.
    most: u64,
}

impl<P> Default for Wants<P> {
    fn default() -> Self {
        Wants {
            next: 0,
            open: HashMap::new(),
        }
    }
}

impl<P> Wants<P> {
    /// Takes a range in, which must not be empty: its number, and its parts, of `most` bytes at most.
    ///
    /// ```
    /// use treemill_transfer::{Chunk, Wants};
    ///
    /// let part = |text: &'static str| Chunk::Bytes(text.as_bytes().into());
    /// let mut wants = Wants::default();
    /// let (number, parts) = wants.add(&(0..5), "mine", 3);
    /// assert_eq!(parts, [0..3, 3..5]);
    /// assert_eq!(wants.fill(number, 3, part("de")), None);
    /// assert_eq!(wants.fill(number, 0, part("abc")), Some(("mine", "abcde".into())));
    /// assert_eq!(wants.missing(number), 0);
    /// ```
    pub fn add(&mut self, range: &Range<u64>, promise: P, most: u64) -> (u64, Vec<Range<u64>>) {
        let number = self.next;
        self.next = self.next.wrapping_add(1);
        let wanted = Wanted {
            whole: Whole::new(range.clone()),
            promise,
            most,
        };
        self.open.insert(number, wanted);
        (number, parts(range.clone(), most))
    }

    /// Memory for a part that is asked for now, of a range that has several: what is written there is not copied when the range is
    /// put together. Empty if there is none, as for a part that is asked for once more.
    pub fn room(&mut self, number: u64, part: &Range<u64>) -> BytesMut {
        let open = self.open.get_mut(&number);
        open.map_or_else(BytesMut::new, |it| it.whole.room(part, it.most))
    }

    /// A part of the range of this number is here: what was given with the range, and its bytes, if they are all here now.
    pub fn fill(&mut self, number: u64, start: u64, part: Chunk) -> Option<(P, Bytes)> {
        let bytes = self.open.get_mut(&number)?.whole.came(start, part)?;
        let promise = self.open.remove(&number)?.promise;
        Some((promise, bytes))
    }

    /// The range will not come: what was given with it, once.
    pub fn give_up(&mut self, number: u64) -> Option<P> {
        self.open.remove(&number).map(|it| it.promise)
    }

    /// No range will come: what was given with each, and the range.
    pub fn give_up_all(&mut self) -> Vec<(P, Range<u64>)> {
        let all = self.open.drain();
        all.map(|(_, it)| (it.promise, it.whole.range)).collect()
    }

    /// Nothing within these ranges is wanted any more: what was given with each range that lies there, and how many of its
    /// bytes are not here.
    pub fn abandon(&mut self, ranges: &[Range<u64>]) -> Vec<(P, u64)> {
        let gone = self
            .open
            .extract_if(|_, it| is_within(it.whole.range(), ranges));
        gone.map(|(_, it)| (it.promise, it.whole.missing()))
            .collect()
    }

    /// Bytes of the range of this number that are waited for: none if it is not.
    #[must_use]
    pub fn missing(&self, number: u64) -> u64 {
        self.open.get(&number).map_or(0, |it| it.whole.missing())
    }

    /// Whether nothing is waited for.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.open.is_empty()
    }
}

#[cfg(test)]
#[allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::cast_possible_truncation,
    clippy::single_range_in_vec_init
)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::sync::mpsc::channel;

    fn content(range: &Range<u64>) -> Vec<u8> {
        range.clone().map(|at| (at % 251) as u8).collect()
    }

    proptest! {
        /// Whatever the order of the parts, and wherever their bytes are: once, and right.
        #[test]
        fn what_is_cut_is_put_together(
            start in 0_u64..1 << 40, length in 1_u64..5000, most in 1_u64..2000,
            placed in prop::collection::vec(any::<bool>(), 1..5), order in any::<prop::sample::Index>(),
        ) {
            let range = start..start + length;
            let cut = parts(range.clone(), most);
            let mut wants = Wants::default();
            let (number, same) = wants.add(&range, 7, most);
            prop_assert_eq!(&same, &cut);
            let all = rooms(&cut, BytesMut::with_capacity(length as usize));
            let mut come: Vec<_> = cut.iter().zip(all).zip(placed.iter().cycle()).collect();
            let first = order.index(come.len());
            come.rotate_left(first);
            let mut found = None;
            for ((part, mut room), is_placed) in come {
                let bytes = content(part);
                prop_assert!(wants.missing(number) >= bytes.len() as u64 && room.capacity() >= bytes.len());
                room.extend_from_slice(&bytes);
                let chunk = if *is_placed { Chunk::Placed(room) } else { Chunk::Bytes(bytes.into()) };
                if let Some(whole) = wants.fill(number, part.start, chunk) {
                    prop_assert!(found.replace(whole).is_none());
                }
            }
            prop_assert_eq!(found, Some((7, content(&range).into())));
            prop_assert!(wants.is_empty());
        }
    }

    /// Else each byte of a large range would be moved once more.
    #[test]
    fn what_was_written_into_its_rooms_is_not_copied() {
        let all = BytesMut::with_capacity(3000);
        let address = all.as_ptr();
        let cut = parts(0..3000, 1000);
        let mut whole = Whole::new(0..3000);
        let come = cut.iter().zip(rooms(&cut, all)).rev();
        let come = come.map(|(part, mut room)| {
            room.extend_from_slice(&content(part));
            whole.came(part.start, room.into())
        });
        let bytes = come.last().unwrap().unwrap();
        assert_eq!(bytes.as_ptr(), address);
        assert_eq!(bytes, content(&(0..3000)));
    }

    /// A request that is made smaller has the front of its room, and what follows it the rest.
    #[test]
    fn rooms_of_ranges_lie_side_by_side_however_parts_are_asked_for() {
        let mut wants = Wants::default();
        let (number, parts) = wants.add(&(100..3100), (), 1000);
        let mut asked = vec![100..400, 400..1100];
        asked.extend_from_slice(&parts[1..]);
        let mut first = None;
        let mut whole = None;
        for part in &asked {
            let mut room = wants.room(number, part);
            assert_eq!(room.capacity() as u64, length(part));
            first.get_or_insert(room.as_ptr());
            room.extend_from_slice(&content(part));
            whole = wants.fill(number, part.start, room.into());
        }
        let (_, bytes) = whole.unwrap();
        assert_eq!(
            (Some(bytes.as_ptr()), &bytes[..]),
            (first, &content(&(100..3100))[..])
        );
        let (number, _) = wants.add(&(0..10), (), 1000);
        assert_eq!(wants.room(number, &(0..10)).capacity(), 0, "it is one part");
    }

    /// Whoever waits may do anything: nothing is locked when it is told.
    #[test]
    fn what_is_told_may_leave_the_range() {
        for gone in [false, true] {
            let (ticket, promise) = Ticket::new("f", 0..1);
            let part = range_parts(0..1, vec![0..1], promise).pop().unwrap();
            let (of, (told, heard)) = (Arc::clone(part.of()), channel());
            ticket.on_ready(move |answer| told.send((of.leave(), answer.is_ok())).unwrap());
            let answer = match gone {
                true => Err(SourceError::new("f", "gone")),
                false => Ok(Bytes::from_static(b"a")),
            };
            std::thread::spawn(move || part.keep(answer));
            let limit = std::time::Duration::from_secs(20);
            assert_eq!(heard.recv_timeout(limit), Ok((0, !gone)));
        }
    }

    #[test]
    fn what_is_left_is_told_how_much_of_it_is_missing() {
        let (ticket, promise) = Ticket::new("f", 0..5);
        let mut all = range_parts(0..5, vec![0..3, 3..5], promise);
        all.pop().unwrap().keep(Ok(Bytes::from_static(b"de")));
        assert_eq!(all[0].of().leave(), 3);
        assert_eq!(all[0].of().leave(), 0);
        assert!(!all[0].is_wanted() && ticket.wait().is_err());
    }
}
