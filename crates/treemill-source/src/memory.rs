//! A source over bytes in memory: for tests, and for files inside something else.

use crate::{Costs, Request, Source, SourceError};

/// A source over bytes in memory.
#[derive(Debug, Clone)]
pub struct Memory {
    name: String,
    bytes: Vec<u8>,
    costs: Costs,
}

impl Memory {
    /// A source of `bytes`, called `name` in messages, and read as one of these `costs` is.
    #[must_use]
    pub fn new(name: impl Into<String>, bytes: Vec<u8>, costs: Costs) -> Self {
        Memory {
            name: name.into(),
            bytes,
            costs,
        }
    }
}

impl Source for Memory {
    fn name(&self) -> &str {
        &self.name
    }

    fn size(&self) -> u64 {
        self.bytes.len() as u64
    }

    fn costs(&self) -> Costs {
        self.costs
    }

    fn read(&self, requests: &mut [Request]) -> Result<(), SourceError> {
        for request in requests {
            let range = request.range.clone();
            let fail = |what: String| SourceError {
                range: Some(range.clone()),
                ..SourceError::new(&self.name, what)
            };
            let start = usize::try_from(range.start).unwrap_or(usize::MAX);
            let buffer = request.prepare(self.size()).map_err(fail)?;
            // `prepare` has seen that the range lies within the bytes.
            for (to, from) in buffer.iter_mut().zip(self.bytes.iter().skip(start)) {
                *to = *from;
            }
        }
        Ok(())
    }
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;

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
}
