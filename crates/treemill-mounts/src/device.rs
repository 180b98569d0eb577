//! What this process knows of file systems, by their device numbers. Asks the kernel once for each.

use crate::decision::{FirstReads, Way};
use crate::kernel;
use crate::kind::{Kind, kind};
use crate::limits::MOST_DEVICES;
use crate::plan::step;
use std::collections::HashMap;
use std::fs::File;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// A file system.
pub(crate) struct Device {
    /// Who has its bytes.
    pub(crate) kind: Kind,
    /// What reports call it.
    pub(crate) name: String,
    /// Bytes that one announcement covers.
    pub(crate) step: u64,
    first_reads: Mutex<FirstReads>,
}

static DEVICES: Mutex<Option<HashMap<u64, Arc<Device>>>> = Mutex::new(None);

/// The kind of a file's file system, if its type alone tells that it is this machine's: nothing more is asked then.
pub(crate) fn is_surely_here(file: &File) -> bool {
    let number = kernel::type_number(file);
    kind(number, || None) == Kind::Here
}

/// The file system of a file.
pub(crate) fn device(file: &File) -> Option<Arc<Device>> {
    let number = kernel::device(file)?;
    if let Some(known) = devices().as_ref().and_then(|all| all.get(&number)) {
        return Some(Arc::clone(known));
    }
    let mount = kernel::mount(number);
    let named = || mount.as_ref().map(|mount| mount.name.clone());
    let name = mount
        .as_ref()
        .map(|mount| format!("{} at {}", mount.name, mount.place));
    let found = Arc::new(Device {
        kind: kind(kernel::type_number(file), named),
        name: name.unwrap_or_else(|| "a mount".to_owned()),
        step: step(kernel::read_ahead(number)),
        first_reads: Mutex::default(),
    });
    let mut held = devices();
    let all = held.get_or_insert_default();
    if all.len() >= MOST_DEVICES {
        all.clear(); // they are looked at again
    }
    Some(Arc::clone(all.entry(number).or_insert(found)))
}

fn devices() -> MutexGuard<'static, Option<HashMap<u64, Arc<Device>>>> {
    DEVICES.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Device {
    /// Notes how long a file's first read took, and says how files are to be read.
    pub(crate) fn took(&self, time: Duration) -> Way {
        let mut reads = self
            .first_reads
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        reads.took(time);
        reads.way()
    }
}
