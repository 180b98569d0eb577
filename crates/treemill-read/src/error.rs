//! The one error of reading: what went wrong, where, and what it comes from.

use std::ops::Range;
use treemill_format::error::{FormatError, FormatErrorKind};
use treemill_source::SourceError;

/// Which of the project's errors it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ErrorKind {
    /// The bytes could not be had.
    Source,
    /// The bytes break the format's rules.
    Format,
    /// The file ends before what it says that it has.
    Truncated,
    /// The bytes may be right, but this version cannot read them.
    Unsupported,
    /// The file is fine, but has no tree or branch of that name.
    NotFound,
}

/// The error of a lower crate that a [`ReadError`] comes from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cause {
    /// The bytes could not be had.
    Source(SourceError),
    /// The bytes could not be understood.
    Format(FormatError),
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
    pub branch: Option<Box<str>>,
    /// The entries that were being read (those of the basket).
    pub entries: Option<Range<u64>>,
    /// Byte offset in the file, if known.
    pub offset: Option<u64>,
    /// What it comes from, if it does not begin here. Also given by [`std::error::Error::source`].
    pub cause: Option<Box<Cause>>,
}

impl ReadError {
    /// An error of this crate's own, about a file and no place in it.
    pub(crate) fn new(kind: ErrorKind, message: String, file: &str) -> Self {
        ReadError {
            kind,
            message,
            file: file.to_owned(),
            branch: None,
            entries: None,
            offset: None,
            cause: None,
        }
    }

    /// A source's failure.
    #[must_use]
    pub fn source(error: SourceError) -> Self {
        let message = match &error.range {
            Some(range) => format!(
                "{} (reading bytes {}..{})",
                error.what, range.start, range.end
            ),
            None => error.what.clone(),
        };
        ReadError {
            offset: error.range.as_ref().map(|range| range.start),
            ..ReadError::new(ErrorKind::Source, message, &error.name)
        }
        .caused_by(Cause::Source(error))
    }

    /// Bytes of `file` that could not be understood. If they are stored as they are, `base` is the place in the
    /// file that the error's offset counts from.
    #[must_use]
    pub fn format(error: &FormatError, file: &str, base: Option<u64>) -> Self {
        let (message, offset) = match (error, base) {
            (FormatError::Malformed { what, at }, Some(base)) => {
                (what.clone(), Some(base.saturating_add(*at)))
            }
            (FormatError::Truncated { what, at }, Some(base)) => (
                format!("the file is truncated: {what}"),
                Some(base.saturating_add(*at)),
            ),
            (FormatError::Malformed { .. } | FormatError::Truncated { .. }, None) => {
                (error.to_string(), None)
            }
            (FormatError::Unsupported { .. }, base) => (error.to_string(), base),
        };
        let kind = match error.kind() {
            FormatErrorKind::Malformed => ErrorKind::Format,
            FormatErrorKind::Truncated => ErrorKind::Truncated,
            FormatErrorKind::Unsupported => ErrorKind::Unsupported,
        };
        ReadError {
            offset,
            ..ReadError::new(kind, message, file)
        }
        .caused_by(Cause::Format(error.clone()))
    }

    /// No tree or branch of that name.
    #[must_use]
    pub fn not_found(message: String, file: &str) -> Self {
        ReadError::new(ErrorKind::NotFound, message, file)
    }

    /// What cannot be read, without the words that it cannot, as lists of columns say it; else the message.
    #[must_use]
    pub fn into_reason(self) -> String {
        match self.cause.as_deref() {
            Some(Cause::Format(FormatError::Unsupported { what })) => what.clone(),
            _ => self.message,
        }
    }

    fn caused_by(self, cause: Cause) -> Self {
        ReadError {
            cause: Some(Box::new(cause)),
            ..self
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
        self.branch.get_or_insert_with(|| branch.into());
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

impl std::error::Error for ReadError {
    fn source(&self) -> Option<&(dyn std::error::Error + 'static)> {
        match self.cause.as_deref()? {
            Cause::Source(error) => Some(error),
            Cause::Format(error) => Some(error),
        }
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]
    use super::*;
    use std::error::Error;

    #[test]
    fn an_error_says_what_it_comes_from() {
        let source = SourceError {
            range: Some(3..9),
            ..SourceError::new("a.root", "is gone")
        };
        let error = ReadError::source(source.clone());
        assert_eq!(
            (error.kind, error.offset),
            (ErrorKind::Source, Some(3)),
            "{error}"
        );
        let cause = Error::source(&error).unwrap();
        assert_eq!(cause.downcast_ref(), Some(&source));

        let format = FormatError::Malformed {
            what: "no tree".to_owned(),
            at: 5,
        };
        let error = ReadError::format(&format, "a.root", Some(100));
        assert_eq!((error.kind, error.offset), (ErrorKind::Format, Some(105)));
        assert_eq!(
            error.to_string(),
            "a.root: no tree, at byte 105 of the file"
        );
        let cause = Error::source(&error).unwrap();
        assert_eq!(cause.downcast_ref(), Some(&format));

        let what = "pointers to class A".to_owned();
        let error = ReadError::format(&FormatError::Unsupported { what }, "a.root", None);
        assert_eq!(error.message, "treemill cannot read pointers to class A");
        assert_eq!(error.into_reason(), "pointers to class A");

        let error = ReadError::not_found("no tree 'x'".to_owned(), "a.root");
        assert!(Error::source(&error).is_none());
    }
}
