//! What is asked of the kernel beside reading: the kind of a file system, and to read bytes before they are needed. Decides
//! nothing. Where a system cannot do it, nothing is done.

use crate::mounts::mount_table::Mount;
#[cfg(target_os = "linux")]
use crate::mounts::mount_table::mount_of;
use std::fs::File;
#[cfg(target_os = "linux")]
use std::num::NonZeroU64;
use std::ops::Range;
use std::os::unix::fs::MetadataExt;

/// The number of the type of a file's file system.
#[cfg(target_os = "linux")]
pub(crate) fn type_number(file: &File) -> Option<u32> {
    let found = rustix::fs::fstatfs(file).ok()?;
    // The field's type differs between processors; the numbers have 32 bits.
    #[allow(clippy::cast_possible_truncation, clippy::cast_sign_loss)]
    Some(found.f_type as u32)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn type_number(_: &File) -> Option<u32> {
    None
}

/// The device number of a file's file system.
pub(crate) fn device(file: &File) -> Option<u64> {
    file.metadata().ok().map(|metadata| metadata.dev())
}

/// Where a device is mounted.
#[cfg(target_os = "linux")]
pub(crate) fn mount(device: u64) -> Option<Mount> {
    let text = std::fs::read_to_string("/proc/self/mountinfo").ok()?;
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    mount_of(&text, major, minor)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn mount(_: u64) -> Option<Mount> {
    None
}

/// The kernel's read-ahead for files of a device, in bytes.
#[cfg(target_os = "linux")]
pub(crate) fn read_ahead(device: u64) -> Option<u64> {
    let (major, minor) = (rustix::fs::major(device), rustix::fs::minor(device));
    let path = format!("/sys/class/bdi/{major}:{minor}/read_ahead_kb");
    let text = std::fs::read_to_string(path).ok()?;
    text.trim().parse::<u64>().ok()?.checked_mul(1 << 10)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn read_ahead(_: u64) -> Option<u64> {
    None
}

/// Tells the kernel that ranges of a file are read in no order: it reads what is asked for, and nothing after it.
#[cfg(target_os = "linux")]
pub(crate) fn expect_ranges(file: &File) {
    let _ = rustix::fs::fadvise(file, 0, None, rustix::fs::Advice::Random);
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn expect_ranges(_: &File) {}

/// Advises the kernel to begin to read a range. A file system that does not take the advice reads later.
#[cfg(target_os = "linux")]
pub(crate) fn announce(file: &File, range: &Range<u64>) {
    // No length would mean: up to the end.
    if let Some(length) = NonZeroU64::new(range.end.saturating_sub(range.start)) {
        let _ = rustix::fs::fadvise(
            file,
            range.start,
            Some(length),
            rustix::fs::Advice::WillNeed,
        );
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn announce(_: &File, _: &Range<u64>) {}
