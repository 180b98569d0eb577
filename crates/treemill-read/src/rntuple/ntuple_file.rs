//! An RNTuple with the source of its pages, and how one is opened.

use super::types;
use crate::faults::malformed;
use crate::{Inbox, ReadError};
use std::collections::HashMap;
use std::sync::Arc;
use tracing::debug_span;
use treemill_format::compress::Decompressor;
use treemill_format::error::FormatError;
use treemill_format::key::Key;
use treemill_format::rntuple::{Anchor, EnvelopeLink, Metadata, NTuple, NamedField, Page, Shape};
use treemill_source::{Request, Source};

/// An RNTuple that can be read. Shared by any number of readers.
pub struct NTupleFile {
    source: Arc<dyn Source>,
    inbox: Option<Arc<Inbox>>,
    ntuple: NTuple,
    fields: Vec<NamedField>,
    by_name: HashMap<String, usize>,
}

impl std::fmt::Debug for NTupleFile {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NTupleFile")
            .field("source", &self.source.name())
            .field("ntuple", &self.ntuple.metadata.name)
            .finish_non_exhaustive()
    }
}

impl NTupleFile {
    /// Reads all metadata of the RNTuple whose anchor lies at `key`: the anchor, header and footer
    /// in one read, the page lists in one read.
    ///
    /// # Errors
    /// `Format` if metadata is damaged, `Unsupported` for features of later versions, `Source`
    /// if bytes could not be had.
    pub fn open(source: Arc<dyn Source>, key: &Key) -> Result<Self, ReadError> {
        let _span = debug_span!("metadata", table = key.name).entered();
        let name = source.name().to_owned();
        let wrong = |e: &FormatError| ReadError::format(e, &name, None);
        let [packed] = fetch(source.as_ref(), [key.payload()])?;
        let mut decompressor = Decompressor::new();
        let mut object = Vec::new();
        let object = decompressor
            .unpack(&packed, key.object_bytes, &mut object)
            .map_err(|e| ReadError::format(&e, &name, Some(key.payload().start)))?;
        let anchor = Anchor::parse(object).map_err(|e| wrong(&e))?;
        let [header, footer] = fetch(
            source.as_ref(),
            [&anchor.header, &anchor.footer].map(|link| link.locator.bytes()),
        )?;
        let mut unpack = |link: &EnvelopeLink, packed: &[u8]| {
            unpack(&mut decompressor, link, packed)
                .map_err(|e| ReadError::format(&e, &name, Some(link.locator.offset)))
        };
        let header = unpack(&anchor.header, &header)?;
        let footer = unpack(&anchor.footer, &footer)?;
        let metadata = Metadata::parse(&header, &footer).map_err(|e| wrong(&e))?;
        let links: Vec<EnvelopeLink> = metadata.groups.iter().map(|g| g.page_list).collect();
        is_within(&links, source.size()).map_err(|e| wrong(&e))?;
        let mut requests: Vec<Request> = links
            .iter()
            .map(|link| Request::new(link.locator.bytes()))
            .collect();
        source.read(&mut requests).map_err(ReadError::source)?;
        let lists = links
            .iter()
            .zip(&requests)
            .map(|(link, request)| unpack(link, &request.buffer))
            .collect::<Result<Vec<_>, _>>()?;
        let ntuple = NTuple::new(metadata, &lists, source.size()).map_err(|e| wrong(&e))?;
        let fields = ntuple
            .fields
            .named(&ntuple.metadata.schema)
            .map_err(|e| wrong(&e))?;
        let mut by_name = HashMap::with_capacity(fields.len());
        for (index, field) in fields.iter().enumerate() {
            by_name.entry(field.name.clone()).or_insert(index);
        }
        Ok(NTupleFile {
            inbox: Inbox::new(&source),
            source,
            ntuple,
            fields,
            by_name,
        })
    }

    /// The metadata.
    #[must_use]
    pub fn ntuple(&self) -> &NTuple {
        &self.ntuple
    }

    /// Its bytes that were asked for; `None` if the source is a near one.
    #[must_use]
    pub fn inbox(&self) -> Option<&Arc<Inbox>> {
        self.inbox.as_ref()
    }

    /// Where its bytes come from.
    #[must_use]
    pub fn source(&self) -> &Arc<dyn Source> {
        &self.source
    }

    /// The fields that have names: the top ones, and members of records with dots.
    #[must_use]
    pub fn fields(&self) -> &[NamedField] {
        &self.fields
    }

    /// Index in `fields()` of the field of this name.
    #[must_use]
    pub fn field(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }

    /// How the field at `index` is made of columns, if it can be read.
    ///
    /// # Errors
    /// `Unsupported` with the reason; `NotFound` if there is no such index.
    pub fn shape(&self, index: usize) -> Result<Shape, ReadError> {
        let file = self.source.name();
        let field = self.fields.get(index).ok_or_else(|| {
            let name = &self.ntuple.metadata.name;
            ReadError::not_found(format!("RNTuple {name} has no field number {index}"), file)
        })?;
        let schema = &self.ntuple.metadata.schema;
        self.ntuple
            .fields
            .shape(schema, &field.path)
            .map_err(|e| ReadError {
                branch: Some(field.name.as_str().into()),
                ..ReadError::format(&e, file, None)
            })
    }

    /// The Arrow field of the field at `index`: what a reader's arrays of it are.
    ///
    /// # Errors
    /// As [`NTupleFile::shape`].
    pub fn arrow_field(&self, index: usize) -> Result<arrow_schema::Field, ReadError> {
        let shape = self.shape(index)?;
        let name = self.fields.get(index).map_or("", |field| &field.name);
        types::field(name, &shape).map_err(|e| ReadError {
            branch: Some(name.into()),
            ..ReadError::format(&e, self.source.name(), None)
        })
    }

    /// Bytes of all pages of the field at `index` and below it: uncompressed, and as stored; and
    /// how many pages they are. Zero for fields that cannot be read.
    #[must_use]
    pub fn bytes(&self, index: usize) -> (u64, u64, usize) {
        let pages = self.pages(index).into_iter();
        pages.fold((0, 0, 0), |(whole, stored, pages), (length, page)| {
            (
                u64::saturating_add(whole, length),
                u64::saturating_add(stored, page.locator.size),
                usize::saturating_add(pages, 1),
            )
        })
    }

    /// All pages of the field at `index` and below it, and how many bytes each has uncompressed. None of
    /// fields that cannot be read.
    pub(crate) fn pages(&self, index: usize) -> Vec<(u64, &Page)> {
        let mut columns: Vec<usize> = Vec::new();
        if let Ok(shape) = self.shape(index) {
            shape.visit_columns(&mut |of| columns.extend(of.representations.iter().flatten()));
        }
        let mut found = Vec::new();
        for id in columns {
            let column = self.ntuple.metadata.schema.columns.get(id);
            let Some(Ok(encoding)) = column.map(|column| &column.encoding) else {
                continue;
            };
            let ranges = self
                .ntuple
                .clusters
                .iter()
                .filter_map(|c| Some((c, c.columns.get(id)?)));
            let pages = ranges.flat_map(|(cluster, range)| cluster.pages_of(range));
            found.extend(pages.map(|page| (encoding.page_bytes(page.elements) as u64, page)));
        }
        found
    }
}

/// Whether page lists are no longer together than the file: groups may not name the same bytes, and read
/// them over and over.
fn is_within(links: &[EnvelopeLink], file_size: u64) -> Result<(), FormatError> {
    let sizes = links.iter().map(|link| link.locator.size);
    let all = sizes.fold(0, u64::saturating_add);
    match all <= file_size {
        true => Ok(()),
        false => Err(malformed(
            0,
            format!("the page lists announce {all} bytes in a file of {file_size} bytes"),
        )),
    }
}

/// Some ranges by one read.
fn fetch<const N: usize>(
    source: &dyn Source,
    ranges: [std::ops::Range<u64>; N],
) -> Result<[Vec<u8>; N], ReadError> {
    let mut requests = ranges.map(Request::new);
    source.read(&mut requests).map_err(ReadError::source)?;
    Ok(requests.map(|request| request.buffer))
}

/// An envelope's uncompressed bytes.
fn unpack(
    decompressor: &mut Decompressor,
    link: &EnvelopeLink,
    packed: &[u8],
) -> Result<Vec<u8>, FormatError> {
    let length = usize::try_from(link.length).unwrap_or(usize::MAX);
    if packed.len() == length {
        return Ok(packed.to_vec());
    }
    if packed.len() > length {
        let what = format!(
            "an envelope of {length} bytes is stored in {} bytes",
            packed.len()
        );
        return Err(malformed(0, what));
    }
    let mut out = Vec::new();
    decompressor.decompress(packed, length, &mut out)?;
    Ok(out)
}

#[cfg(test)]
mod tests {
    use super::*;
    use treemill_format::rntuple::Locator;

    #[test]
    fn page_lists_are_no_longer_together_than_the_file() {
        let link = EnvelopeLink {
            locator: Locator {
                offset: 0,
                size: 100_000,
            },
            length: 100_000,
        };
        assert!(is_within(&[link; 10], 1_000_000).is_ok());
        // Groups that name the same bytes.
        assert!(is_within(&[link; 11], 1_000_000).is_err());
        assert!(is_within(&vec![link; 100_000], 1_000_000).is_err());
    }
}
