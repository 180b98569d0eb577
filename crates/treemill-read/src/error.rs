//! The one error of reading: what went wrong, and where.

use std::ops::Range;
use treemill_format::error::FormatError;
use treemill_source::SourceError;

/// Which of the project's errors it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The bytes could not be had.
    Source,
    /// The bytes break the format's rules.
    Format,
    /// The bytes may be right, but this version cannot read them.
    Unsupported,
    /// The file is fine, but has no tree or branch of that name.
    NotFound,
}

/// Reading failed. `Display` gives the message and every place that is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    /// What kind.
    pub kind: ErrorKind,
    /// What went wrong, without the places below.
    pub message: String,
    /// The source's name.
    pub file: String,
    /// The branch, if one was being read.
    pub branch: Option<String>,
    /// The entries that were being read (those of the basket).
    pub entries: Option<Range<u64>>,
    /// Byte offset in the file, if known.
    pub offset: Option<u64>,
}

impl ReadError {
    /// A source's failure.
    #[must_use]
    pub fn source(error: SourceError) -> Self {
        ReadError {
            kind: ErrorKind::Source,
            message: match &error.range {
                Some(range) => format!(
                    "{} (reading bytes {}..{})",
                    error.what, range.start, range.end
                ),
                None => error.what,
            },
            file: error.name,
            branch: None,
            entries: None,
            offset: error.range.map(|range| range.start),
        }
    }

    /// Bytes of `file` that could not be understood. `base` is where in the file the bytes begin
    /// that the error counts its offset from, if they were stored as they are.
    #[must_use]
    pub fn format(error: &FormatError, file: &str, base: Option<u64>) -> Self {
        let (kind, message, offset) = match error {
            FormatError::Malformed { what, at } => match base {
                Some(base) => (
                    ErrorKind::Format,
                    what.clone(),
                    Some(base.saturating_add(*at)),
                ),
                None => (ErrorKind::Format, error.to_string(), None),
            },
            FormatError::Unsupported { what } => (ErrorKind::Unsupported, what.clone(), base),
        };
        ReadError {
            kind,
            message,
            file: file.to_owned(),
            branch: None,
            entries: None,
            offset,
        }
    }

    /// No tree or branch of that name.
    #[must_use]
    pub fn not_found(message: String, file: &str) -> Self {
        ReadError {
            kind: ErrorKind::NotFound,
            message,
            file: file.to_owned(),
            branch: None,
            entries: None,
            offset: None,
        }
    }

    /// The same error with an offset, if it has none yet.
    #[must_use]
    pub(crate) fn at(mut self, offset: u64) -> Self {
        self.offset.get_or_insert(offset);
        self
    }

    /// The same error with the branch and entries that were being read, if it has none yet,
    /// and `offset` if it has none.
    #[must_use]
    pub fn within(mut self, branch: &str, entries: Range<u64>, offset: Option<u64>) -> Self {
        self.branch.get_or_insert_with(|| branch.to_owned());
        self.entries.get_or_insert(entries);
        self.offset = self.offset.or(offset);
        self
    }
}

impl std::fmt::Display for ReadError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}", self.file, self.message)?;
        if let Some(branch) = &self.branch {
            write!(f, ", branch {branch}")?;
        }
        if let Some(entries) = &self.entries {
            write!(f, ", entries {}..{}", entries.start, entries.end)?;
        }
        if let Some(offset) = &self.offset {
            write!(f, ", at byte {offset} of the file")?;
        }
        Ok(())
    }
}

impl std::error::Error for ReadError {}
