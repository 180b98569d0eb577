//! Open files in whichever process they are wanted: a forked child has its parent's memory, but neither its threads nor
//! connections of its own, so it opens a file anew when it first reads it. Knows no protocol.

use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use treemill_source::{
    Checksums, Costs, Info, Request, Source, SourceError, SourceErrorKind, Ticket,
};

/// A file that one process has opened, and others that are forked from it may read.
pub(crate) struct Inherited {
    url: String,
    process: u32,
    first: Arc<dyn Source>,
    /// The file as another process has opened it.
    anew: Mutex<Option<(u32, Arc<dyn Source>)>>,
    open: fn(&str) -> Result<Arc<dyn Source>, SourceError>,
}

impl Inherited {
    /// A file that this process has just opened by `open`.
    pub(crate) fn new(
        url: &str,
        first: Arc<dyn Source>,
        open: fn(&str) -> Result<Arc<dyn Source>, SourceError>,
    ) -> Self {
        Inherited {
            url: url.to_owned(),
            process: std::process::id(),
            first,
            anew: Mutex::default(),
            open,
        }
    }

    fn is_ours(&self) -> bool {
        self.process == std::process::id()
    }

    /// The file as this process has opened it, or opens it now. It must be the same as before.
    fn own(&self) -> Result<Arc<dyn Source>, SourceError> {
        if self.is_ours() {
            return Ok(Arc::clone(&self.first));
        }
        let process = std::process::id();
        let mut anew = self.anew.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, source)) = anew.as_ref().filter(|(owner, _)| *owner == process) {
            return Ok(Arc::clone(source));
        }
        let source = (self.open)(&self.url)?;
        let (then, now) = (self.first.identity(), source.identity());
        let differs = then.is_some_and(|then| now.is_some_and(|now| then != now));
        if source.size() != self.first.size() || (differs && !source.info().may_move) {
            let what = "the file has changed since the parent of this process opened it";
            let name = self.first.name();
            return Err(SourceError::of(SourceErrorKind::Changed, name, what));
        }
        // What this process's parent has opened is the parent's to close.
        std::mem::forget(anew.replace((process, Arc::clone(&source))));
        Ok(source)
    }
}

impl Drop for Inherited {
    fn drop(&mut self) {
        if !self.is_ours() {
            // Its end would wait for threads that are not in this process, or close the parent's file.
            std::mem::forget(Arc::clone(&self.first));
        }
    }
}

impl Source for Inherited {
    fn info(&self) -> &Info {
        self.first.info()
    }

    /// Of the connections of another process nothing is known here.
    fn costs(&self) -> Costs {
        let costs = self.first.costs();
        Costs {
            is_lost: costs.is_lost && self.is_ours(),
            ..costs
        }
    }

    fn server(&self) -> String {
        self.first.server()
    }

    fn checksums(&self) -> Checksums {
        let own = self.own();
        own.map_or_else(|_| Checksums::default(), |source| source.checksums())
    }

    fn read(&self, requests: &mut [Request]) -> Result<(), SourceError> {
        self.own()?.read(requests)
    }

    /// Reads of a file that is opened anew wait.
    fn will_read(&self, ranges: &[Range<u64>]) -> Vec<Ticket> {
        match self.is_ours() {
            true => self.first.will_read(ranges),
            false => Vec::new(),
        }
    }

    /// What was not opened has nothing on its way.
    fn abandon(&self, ranges: &[Range<u64>]) {
        if self.is_ours() {
            return self.first.abandon(ranges);
        }
        // Another thread has it while it opens the file.
        let anew = self.anew.try_lock().ok().and_then(|anew| anew.clone());
        if let Some((_, source)) = anew.filter(|(owner, _)| *owner == std::process::id()) {
            source.abandon(ranges);
        }
    }

    /// Waits for the server once, where the file is opened anew.
    fn submit(&self, ranges: Vec<Range<u64>>) -> Vec<Ticket> {
        match self.own() {
            Ok(source) => source.submit(ranges),
            Err(error) => {
                let failed = |_| Ticket::ready(Err(error.clone()));
                ranges.into_iter().map(failed).collect()
            }
        }
    }
}
