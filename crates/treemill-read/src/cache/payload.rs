//! The payloads of the cache: baskets of trees, pages of RNTuples, and records of metadata. Each says how it was read from its bytes,
//! so a reader that would read them otherwise can tell.

use std::sync::Arc;
use treemill_format::basket::BasketHeader;
use treemill_format::error::FormatError;
use treemill_format::rntuple::Encoding;
use treemill_format::rntuple::decode::decode_ends;
use treemill_source::Bytes;

/// A tree's basket without its compression.
#[derive(Debug)]
pub(crate) struct Basket {
    pub(crate) header: BasketHeader,
    /// What follows the key, as far as it is `filled`.
    bytes: Vec<u8>,
    filled: usize,
}

impl Basket {
    /// `filled`: how many of the payload's `bytes` there are, from the front.
    pub(crate) fn new(header: BasketHeader, bytes: Vec<u8>, filled: usize) -> Self {
        Basket {
            header,
            bytes,
            filled,
        }
    }

    /// What follows the key: all of it, or only as much from its front as was needed.
    pub(crate) fn payload(&self) -> &[u8] {
        self.bytes.get(..self.filled).unwrap_or_default()
    }

    /// The entries' bytes.
    pub(crate) fn data(&self) -> &[u8] {
        self.payload()
            .get(..self.header.data_end)
            .unwrap_or_default()
    }

    /// Memory for another one.
    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes
    }
}

/// An RNTuple's page without its compression.
#[derive(Debug)]
pub(crate) struct Page {
    pub(crate) kind: PageKind,
    pub(crate) elements: Elements,
}

/// What a page was taken for: the file's metadata may mean the same bytes otherwise elsewhere.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct PageKind {
    pub(crate) encoding: Encoding,
    pub(crate) elements: u32,
    pub(crate) has_checksum: bool,
}

impl PageKind {
    /// Bytes of the elements as they are encoded.
    pub(crate) fn length(&self) -> usize {
        self.encoding.page_bytes(self.elements)
    }

    /// Bytes that remembering it takes.
    pub(crate) fn memory(&self) -> usize {
        match self.encoding.is_index() {
            true => (self.elements as usize).saturating_mul(size_of::<u32>()),
            false => self.length(),
        }
    }

    /// The elements as ends, if they are such: the first, and in `above` what each is above it.
    pub(crate) fn ends(&self, elements: &[u8], above: &mut Vec<u32>) -> Result<u64, FormatError> {
        decode_ends(&self.encoding, elements, self.elements as usize, above)
    }
}

/// A page's elements.
#[derive(Debug)]
pub(crate) enum Elements {
    /// Values as they are encoded.
    Encoded(Vec<u8>),
    /// Ends of collections' items: the first, and what each is above it. They are decoded page by page
    /// only, and are smaller so.
    Ends(u64, Vec<u32>),
}

/// Bytes that opening a distant file has read, as they are there.
#[derive(Debug)]
pub(crate) struct Record(pub(crate) Bytes);

/// One of them.
#[derive(Debug)]
pub(crate) enum Payload {
    Basket(Arc<Basket>),
    Page(Arc<Page>),
    Record(Arc<Record>),
}

/// What [`Payload`] may be.
pub(crate) trait Kept: Sized {
    /// Gives memory back that it does not need.
    fn fit(&mut self);
    fn payload(self: Arc<Self>) -> Payload;
    fn of(payload: &Payload) -> Option<&Arc<Self>>;
}

impl Kept for Basket {
    fn fit(&mut self) {
        self.bytes.truncate(self.filled);
        self.bytes.shrink_to_fit();
    }

    fn payload(self: Arc<Self>) -> Payload {
        Payload::Basket(self)
    }

    fn of(payload: &Payload) -> Option<&Arc<Self>> {
        match payload {
            Payload::Basket(basket) => Some(basket),
            _ => None,
        }
    }
}

impl Kept for Page {
    fn fit(&mut self) {
        match &mut self.elements {
            Elements::Encoded(bytes) => bytes.shrink_to_fit(),
            Elements::Ends(_, above) => above.shrink_to_fit(),
        }
    }

    fn payload(self: Arc<Self>) -> Payload {
        Payload::Page(self)
    }

    fn of(payload: &Payload) -> Option<&Arc<Self>> {
        match payload {
            Payload::Page(page) => Some(page),
            _ => None,
        }
    }
}

impl Kept for Record {
    fn fit(&mut self) {}

    fn payload(self: Arc<Self>) -> Payload {
        Payload::Record(self)
    }

    fn of(payload: &Payload) -> Option<&Arc<Self>> {
        match payload {
            Payload::Record(record) => Some(record),
            _ => None,
        }
    }
}

impl Page {
    /// The elements; none of ends.
    pub(crate) fn encoded(&self) -> &[u8] {
        match &self.elements {
            Elements::Encoded(bytes) => bytes,
            Elements::Ends(..) => &[],
        }
    }

    /// The elements that are ends: the first, and what each is above it.
    pub(crate) fn ends(&self) -> (u64, &[u32]) {
        match &self.elements {
            Elements::Encoded(_) => (0, &[]),
            Elements::Ends(first, above) => (*first, above),
        }
    }
}

impl Payload {
    /// Bytes of memory.
    pub(super) fn bytes(&self) -> usize {
        match self {
            Payload::Basket(basket) => basket.bytes.capacity(),
            Payload::Page(page) => match &page.elements {
                Elements::Encoded(bytes) => bytes.capacity(),
                Elements::Ends(_, above) => above.capacity().saturating_mul(size_of::<u32>()),
            },
            Payload::Record(record) => record.0.len(),
        }
    }
}
