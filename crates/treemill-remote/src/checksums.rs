//! Which checksums of files the user wants to be compared, and whether an open file is the one that a document describes.
//! Knows no protocol.

use treemill_source::{Checksums, Source, SourceError, WantedChecksums};

/// The checksums that users want: `TREEMILL_REPLICA_CHECKSUMS` is `told`, `stored` (by default) or `computed`.
pub(crate) fn wanted() -> WantedChecksums {
    match std::env::var("TREEMILL_REPLICA_CHECKSUMS").as_deref() {
        Ok("told") => WantedChecksums::Told,
        Ok("computed") => WantedChecksums::Computed,
        _ => WantedChecksums::Stored,
    }
}

/// What a document says of a file.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Description {
    /// The document's name, for messages.
    pub(crate) document: String,
    pub(crate) size: Option<u64>,
    pub(crate) checksums: Checksums,
}

impl Description {
    /// How a file differs from this, in words. Its server is asked for its checksums only if the document has one.
    pub(crate) fn difference(&self, source: &dyn Source) -> Option<String> {
        let (document, found) = (&self.document, source.size());
        if let Some(size) = self.size.filter(|size| *size != found) {
            return Some(format!(
                "the file has {found} bytes, and {size} as its Metalink document {document} says"
            ));
        }
        if self.checksums.is_empty() {
            return None;
        }
        let found = source.checksums().difference(&self.checksums)?;
        let (algorithm, this, other) = (found.algorithm, found.this, found.other);
        Some(format!(
            "the file's checksum {algorithm} is {this}, and {other} as its Metalink document {document} says"
        ))
    }

    /// # Errors
    /// If a file differs from this.
    pub(crate) fn check(&self, source: &dyn Source) -> Result<(), SourceError> {
        let wrong = |what| Err(SourceError::new(source.name(), what));
        self.difference(source).map_or(Ok(()), wrong)
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::ops::Range;
    use treemill_source::{Costs, Info, Memory, Request, Ticket};

    /// Ten bytes of which a server tells this checksum.
    struct Telling(Memory, Checksums);

    impl Source for Telling {
        fn info(&self) -> &Info {
            self.0.info()
        }
        fn costs(&self) -> Costs {
            self.0.costs()
        }
        fn checksums(&self) -> Checksums {
            self.1.clone()
        }
        fn read(&self, requests: &mut [Request]) -> Result<(), SourceError> {
            self.0.read(requests)
        }
        fn submit(&self, ranges: Vec<Range<u64>>) -> Vec<Ticket> {
            self.0.submit(ranges)
        }
    }

    fn sums(adler: &str) -> Checksums {
        let mut all = Checksums::default();
        all.add("adler32", adler);
        all
    }

    #[test]
    fn a_file_must_be_the_one_that_the_document_describes() {
        let file = |adler| Telling(Memory::new("f", vec![0; 10], Costs::NEAR), sums(adler));
        let of = |size, adler| Description {
            document: "f.meta4".to_owned(),
            size,
            checksums: sums(adler),
        };
        let size = of(Some(11), "2").difference(&file("2")).unwrap();
        assert_eq!(
            size,
            "the file has 10 bytes, and 11 as its Metalink document f.meta4 says"
        );
        let error = of(Some(10), "2").check(&file("1")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "f: the file's checksum adler32 is 00000001, and 00000002 as its Metalink document f.meta4 says"
        );
        for (size, document, told) in [
            (Some(10), "2", "00000002"),
            (None, "2", "no checksum"),
            (None, "no checksum", "2"),
        ] {
            assert_eq!(of(size, document).difference(&file(told)), None);
        }
    }
}
