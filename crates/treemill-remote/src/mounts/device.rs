//! What the kernel says of a file's file system, and how long first reads took on it. Numbers of devices are given to other
//! mounts when one goes: what the kernel says is asked again for each file.

use crate::limits::MOST_DEVICES;
use crate::mounts::decision::{FirstReads, Way};
use crate::mounts::kernel;
use crate::mounts::kind::{Kind, kind};
use crate::mounts::plan::step;
use std::collections::BTreeMap;
use std::fs::File;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A file system.
pub(crate) struct Device {
    number: u64,
    /// Where its bytes lie.
    pub(crate) kind: Kind,
    /// What reports call it.
    pub(crate) name: String,
    /// Bytes that one announcement covers.
    pub(crate) step: u64,
}

static FIRST_READS: Mutex<BTreeMap<u64, FirstReads>> = Mutex::new(BTreeMap::new());

/// Whether the type of a file's file system alone tells that it is this machine's: nothing more is asked then.
pub(crate) fn is_surely_here(file: &File) -> bool {
    kind(kernel::type_number(file), || None) == Kind::Here
}

/// The file system of a file.
pub(crate) fn device(file: &File) -> Option<Device> {
    let number = kernel::device(file)?;
    let mount = kernel::mount(number);
    let named = || mount.as_ref().map(|mount| mount.name.clone());
    let kind = kind(kernel::type_number(file), named);
    let name = mount.map(|mount| format!("{} at {}", mount.name, mount.place));
    Some(Device {
        number,
        kind,
        name: name.unwrap_or_else(|| "a mount".to_owned()),
        step: step(kernel::read_ahead(number)),
    })
}

impl Device {
    /// Notes how long a file's first read took, and says how files are to be read.
    pub(crate) fn took(&self, time: Duration) -> Way {
        let mut all = FIRST_READS.lock().unwrap_or_else(PoisonError::into_inner);
        if all.len() >= MOST_DEVICES {
            all.clear(); // they are measured again
        }
        let reads = all.entry(self.number).or_default();
        reads.took(time);
        reads.way()
    }
}
