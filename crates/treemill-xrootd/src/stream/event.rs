//! What a connection's state machine says, and how long things may take. Data only.

use crate::limits;
use bytes::BytesMut;
use std::ops::Range;
use std::time::Duration;

/// How a request ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The whole data of the response.
    Data(BytesMut),
    /// The data of an answer with checksums, and the ranges of the file in which they are not what their checksums say.
    Pages {
        data: BytesMut,
        damaged: Vec<Range<u64>>,
    },
    /// The server refused it.
    Refused { code: u32, message: String },
    /// Another server is to be asked.
    Redirect {
        host: String,
        port: Option<u16>,
        opaque: String,
        token: String,
    },
    /// The server wants more credentials.
    MoreAuth(Vec<u8>),
    /// The server asked for more patience than there is, or its promised answer did not come while there was some.
    Busy,
    /// No byte came for too long, neither of it nor of a request before it.
    Neglected,
}

/// What is to be done about the connection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Event {
    /// A request has ended; its stream may stand for another from now on.
    Done { stream: u16, outcome: Outcome },
    /// These bytes are to be sent.
    Send(Vec<u8>),
    /// The connection has been silent for too long: close it, every request has failed.
    Silent,
    /// Nothing has used the connection for long: close it.
    Idle,
}

/// How long things may take.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Deadlines {
    /// A connection brings no byte, though an answer is due.
    pub silence: Duration,
    /// Neither a request nor one sent before it gets a byte.
    pub neglect: Duration,
    /// A server makes one request wait, in all.
    pub patience: Duration,
    /// Nothing uses a connection.
    pub idle: Duration,
}

impl Default for Deadlines {
    fn default() -> Self {
        Deadlines {
            silence: limits::SILENCE,
            neglect: limits::NEGLECT,
            patience: limits::PATIENCE,
            idle: limits::IDLE,
        }
    }
}
