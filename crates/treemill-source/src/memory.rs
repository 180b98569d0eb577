//! A source over bytes in memory: for small files, for tests, and for files inside something else.

use crate::{Costs, Info, Request, Source, SourceError};

/// A source over bytes in memory.
#[derive(Debug, Clone)]
pub struct Memory {
    info: Info,
    bytes: Vec<u8>,
    costs: Costs,
}

impl Memory {
    /// A source of `bytes`, called `name` in messages, and read as one of these `costs` is.
    #[must_use]
    pub fn new(name: impl Into<String>, bytes: Vec<u8>, costs: Costs) -> Self {
        let info = Info::new(name, bytes.len() as u64);
        Memory { info, bytes, costs }
    }

    /// The same bytes, as those of this file. Their number stays the size.
    #[must_use]
    pub fn with_info(self, info: Info) -> Self {
        let size = self.info.size;
        Memory {
            info: Info { size, ..info },
            ..self
        }
    }

    /// All bytes of another source, by one read of it. In all that it says of itself it is the other one.
    ///
    /// ```
    /// use treemill_source::{Costs, Memory, Source};
    ///
    /// let source = Memory::new("ten bytes", b"0123456789".to_vec(), Costs::NEAR);
    /// assert_eq!(Memory::of(&source)?.size(), 10);
    /// # Ok::<(), treemill_source::SourceError>(())
    /// ```
    ///
    /// # Errors
    /// If they cannot be read.
    pub fn of(source: &dyn Source) -> Result<Self, SourceError> {
        let mut all = [Request::new(0..source.size())];
        source.read(&mut all)?;
        let [all] = all;
        Ok(Memory {
            info: source.info().clone(),
            bytes: all.buffer,
            costs: source.costs(),
        })
    }
}

impl Source for Memory {
    fn info(&self) -> &Info {
        &self.info
    }

    fn costs(&self) -> Costs {
        self.costs
    }

    fn read(&self, requests: &mut [Request]) -> Result<(), SourceError> {
        for request in requests {
            let range = request.range.clone();
            let fail = |what: String| SourceError {
                range: Some(range.clone()),
                ..SourceError::new(self.name(), what)
            };
            let len = request.check(self.size()).map_err(fail)?;
            let start = usize::try_from(range.start).unwrap_or(usize::MAX);
            // `check` has seen that the range lies within the bytes.
            let bytes = self.bytes.get(start..).and_then(|rest| rest.get(..len));
            request.buffer.clear();
            request.buffer.extend_from_slice(bytes.unwrap_or_default());
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use crate::Identity;

    #[test]
    fn ranges_are_copied_and_checked() {
        let source = Memory::new(
            "m",
            b"0123456789".to_vec(),
            Costs::far(std::time::Duration::from_millis(1)),
        );
        let mut requests = [Request::new(3..6)];
        source.read(&mut requests).unwrap();
        assert_eq!(requests.each_ref().map(|r| r.buffer.as_slice()), [b"345"]);
        let error = source.read(&mut [Request::new(9..11)]).unwrap_err();
        assert_eq!(error.range, Some(9..11));
    }

    #[test]
    fn a_copy_says_of_itself_what_the_source_does_that_it_is_of() {
        let identity = Some(Identity::of_remote("m", 10, "tag"));
        let info = Info {
            identity,
            ..Info::new("m", 0)
        };
        let inner = Memory::new("another", b"0123456789".to_vec(), Costs::NEAR);
        let copy = Memory::of(&inner.with_info(info)).unwrap();
        assert_eq!((copy.name(), copy.size()), ("m", 10));
        assert_eq!(copy.identity(), identity);
        let mut requests = [Request::new(3..6)];
        copy.read(&mut requests).unwrap();
        assert_eq!(requests.each_ref().map(|r| r.buffer.as_slice()), [b"345"]);
    }
}
