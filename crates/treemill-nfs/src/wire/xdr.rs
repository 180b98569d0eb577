//! XDR (RFC 4506): numbers, opaque bytes and lists. Knows no message.

use bytes::{Buf, Bytes};

/// Bytes that are not what the protocol says. The text names what was being read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("the server's answer is malformed: {0}")]
pub struct Malformed(pub String);

impl Malformed {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Malformed(what.into())
    }
}

/// Takes values from the front of an answer. Opaque bytes share the answer's memory.
#[derive(Debug, Clone)]
pub struct Reader {
    bytes: Bytes,
    /// Bytes of data that the answer says, and that are not among its bytes.
    apart: Option<usize>,
}

impl Reader {
    /// Reads from the first byte on.
    #[must_use]
    pub fn new(bytes: Bytes) -> Self {
        Reader { bytes, apart: None }
    }

    /// The same answer, of whose data `data` bytes lie elsewhere.
    #[must_use]
    pub(crate) fn without(self, data: usize) -> Self {
        Reader {
            apart: Some(data),
            ..self
        }
    }

    /// What was not read yet.
    #[must_use]
    pub fn rest(&self) -> &Bytes {
        &self.bytes
    }

    /// An unsigned number.
    ///
    /// # Errors
    /// At the end of the bytes; so do all that follow.
    pub fn u32(&mut self) -> Result<u32, Malformed> {
        self.bytes
            .try_get_u32()
            .map_err(|_| Malformed::new("it ends within a number"))
    }

    /// An unsigned hyper.
    ///
    /// # Errors
    /// See `u32`.
    pub fn u64(&mut self) -> Result<u64, Malformed> {
        self.bytes
            .try_get_u64()
            .map_err(|_| Malformed::new("it ends within a number"))
    }

    /// A truth value: zero or one.
    ///
    /// # Errors
    /// See `u32`; for other numbers.
    pub fn bool(&mut self) -> Result<bool, Malformed> {
        match self.u32()? {
            0 => Ok(false),
            1 => Ok(true),
            other => Err(Malformed::new(format!("{other} is not a truth value"))),
        }
    }

    /// Takes `length` bytes, and what fills them up to a multiple of four.
    ///
    /// # Errors
    /// See `u32`.
    pub fn fixed(&mut self, length: usize) -> Result<Bytes, Malformed> {
        let padded = length.checked_next_multiple_of(4);
        match padded {
            Some(padded) if padded <= self.bytes.len() => {
                let mut taken = self.bytes.split_to(padded);
                taken.truncate(length);
                Ok(taken)
            }
            _ => Err(Malformed::new(format!(
                "{length} bytes are announced, {} are there",
                self.bytes.len()
            ))),
        }
    }

    /// Takes `N` bytes as an array.
    ///
    /// # Errors
    /// See `u32`.
    pub fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        let taken = self.fixed(N)?;
        <[u8; N]>::try_from(&*taken).map_err(|e| Malformed::new(e.to_string()))
    }

    /// Opaque bytes behind their length, `most` at most.
    ///
    /// # Errors
    /// See `u32`; if there are more.
    pub fn opaque(&mut self, most: usize) -> Result<Bytes, Malformed> {
        let length = usize::try_from(self.u32()?).unwrap_or(usize::MAX);
        if length > most {
            return Err(Malformed::new(format!(
                "a text has {length} bytes where at most {most} are possible"
            )));
        }
        self.fixed(length)
    }

    /// Takes opaque bytes behind their length; `None` if these are the data that lie elsewhere.
    ///
    /// # Errors
    /// See `opaque`; if others than were said lie elsewhere.
    pub(crate) fn data(&mut self, most: usize) -> Result<Option<Bytes>, Malformed> {
        let Some(apart) = self.apart.take() else {
            return self.opaque(most).map(Some);
        };
        match usize::try_from(self.u32()?) == Ok(apart) && apart <= most {
            true => Ok(None),
            false => Err(Malformed::new("its bytes are not those that it announces")),
        }
    }

    /// A text; what is not UTF-8 in it is replaced.
    ///
    /// # Errors
    /// See `opaque`.
    pub fn text(&mut self, most: usize) -> Result<String, Malformed> {
        Ok(String::from_utf8_lossy(&self.opaque(most)?).into_owned())
    }

    /// A list behind its length, `most` at most. Each item takes bytes, so that no list is longer than its bytes allow.
    ///
    /// # Errors
    /// See `u32`; if there are more; those of `item`.
    pub fn list<T>(
        &mut self,
        most: usize,
        mut item: impl FnMut(&mut Self) -> Result<T, Malformed>,
    ) -> Result<Vec<T>, Malformed> {
        let length = usize::try_from(self.u32()?).unwrap_or(usize::MAX);
        if length > most {
            return Err(Malformed::new(format!(
                "a list has {length} items where at most {most} are possible"
            )));
        }
        let mut items = Vec::new();
        for _ in 0..length {
            items.push(item(self)?);
        }
        Ok(items)
    }
}

/// Puts values one behind the other.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Writer(Vec<u8>);

impl Writer {
    /// An unsigned number.
    pub fn u32(&mut self, value: u32) -> &mut Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    /// An unsigned hyper.
    pub fn u64(&mut self, value: u64) -> &mut Self {
        self.0.extend(value.to_be_bytes());
        self
    }

    /// A truth value.
    pub fn bool(&mut self, value: bool) -> &mut Self {
        self.u32(u32::from(value))
    }

    /// Bytes whose number is known, filled up to a multiple of four.
    pub fn fixed(&mut self, bytes: &[u8]) -> &mut Self {
        self.0.extend(bytes);
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self
    }

    /// Bytes behind their length.
    pub fn opaque(&mut self, bytes: &[u8]) -> &mut Self {
        self.u32(u32::try_from(bytes.len()).unwrap_or(u32::MAX))
            .fixed(bytes)
    }

    /// What another writer has written.
    pub fn append(&mut self, other: &Writer) -> &mut Self {
        self.0.extend(&other.0);
        self
    }

    /// All that was written.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.0
    }
}
