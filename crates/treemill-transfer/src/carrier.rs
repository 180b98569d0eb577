//! What a protocol must be able to do. Knows no protocol.

use crate::trouble::Trouble;
use bytes::{Bytes, BytesMut};
use std::ops::Range;
use std::time::Duration;
use treemill_source::Checksums;

/// Asks one server for ranges of one file.
pub trait Carrier: Send + Sync + 'static {
    /// The bytes of an answer as they come.
    type Body: Body;

    /// The server's name, which all of its files share.
    fn server(&self) -> &str;

    /// The connections to the server, together with its other files, over which ranges are asked for at the same time.
    fn connections(&self) -> usize {
        1
    }

    /// The network's round trip to the server, if it is known apart from the time that the server takes to answer.
    fn distance(&self) -> Option<Duration> {
        None
    }

    /// Whether the server has answered other requests within this time: what waits then is in a queue, and asking again would make the
    /// queue longer. A carrier that says so has deadlines of its own for what gets no answer.
    fn is_busy(&self, within: Duration) -> bool {
        let _ = within;
        false
    }

    /// The file's checksums, as [`treemill_source::Source::checksums`] has them. May wait; it is called from no task.
    fn checksums(&self) -> Checksums {
        Checksums::default()
    }

    /// Asks for `range`, once. The future ends with the first byte of the answer. Bytes of a version of the file other
    /// than that which was opened are an error.
    fn ask(
        &self,
        range: Range<u64>,
    ) -> impl Future<Output = Result<Part<Self::Body>, Trouble>> + Send;

    /// Asks like `ask`. `room` is memory for the range: a carrier may take it, and give it back piece by piece with
    /// the bytes in it ([`Chunk::Placed`]), so that they are not copied.
    fn ask_into(
        &self,
        range: Range<u64>,
        room: &mut BytesMut,
    ) -> impl Future<Output = Result<Part<Self::Body>, Trouble>> + Send {
        let _ = room;
        self.ask(range)
    }
}

/// Bytes of an answer.
#[derive(Debug)]
pub enum Chunk {
    /// Bytes anywhere.
    Bytes(Bytes),
    /// Bytes in the room that the carrier was given.
    Placed(BytesMut),
}

impl Chunk {
    /// How many bytes they are.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Chunk::Bytes(bytes) => bytes.len(),
            Chunk::Placed(placed) => placed.len(),
        }
    }

    /// Whether they are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl From<Bytes> for Chunk {
    fn from(bytes: Bytes) -> Self {
        Chunk::Bytes(bytes)
    }
}

impl From<BytesMut> for Chunk {
    fn from(placed: BytesMut) -> Self {
        Chunk::Placed(placed)
    }
}

impl From<Chunk> for Bytes {
    fn from(chunk: Chunk) -> Self {
        match chunk {
            Chunk::Bytes(bytes) => bytes,
            Chunk::Placed(placed) => placed.freeze(),
        }
    }
}

/// The bytes of an answer as they come.
pub trait Body: Send {
    /// The next bytes; `None` at the end.
    fn chunk(&mut self) -> impl Future<Output = Result<Option<Bytes>, Trouble>> + Send;

    /// The chunk that `chunk` gives, of an answer to [`Carrier::ask_into`].
    fn next(&mut self) -> impl Future<Output = Result<Option<Chunk>, Trouble>> + Send {
        async { Ok(self.chunk().await?.map(Chunk::Bytes)) }
    }

    /// All bytes that were asked for have come.
    fn satisfied(&mut self) {}
}

/// An answer. It may begin before the range that was asked for, or end early; not begin after it.
#[derive(Debug)]
pub struct Part<B> {
    /// Where in the file the body's first byte is.
    pub start: u64,
    /// The bytes.
    pub body: B,
}
