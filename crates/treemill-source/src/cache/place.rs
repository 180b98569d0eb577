//! A folder of segments and its limit: the names that segments have, and when the folder is looked through. Knows no records.

use crate::Identity;
use crate::cache::sweep;
use crate::limits::{FULL, IN_USE, SWEEPS};
use crate::own::NotOwn;
use std::fs::{DirBuilder, File, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt, MetadataExt, OpenOptionsExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Instant, SystemTime};

/// Which other users may read what is kept. Whoever can read a folder has all that is in it without asking a server, so that
/// must be those who may read all that its account may. Nobody else ever writes there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Readers {
    /// None.
    #[default]
    Nobody,
    /// Those of the group of what is made in the folder: its own one, if it has the bit for that (`chmod g+s`).
    Group,
    /// All users of the machine.
    All,
}

impl Readers {
    /// The bits of a mode that let them read files and look into folders.
    const fn bits(self) -> u32 {
        match self {
            Readers::Nobody => 0,
            Readers::Group => 0o050,
            Readers::All => 0o055,
        }
    }
}

/// The bits of a mode that concern folders only.
const ENTER: u32 = 0o111;

/// The folder and its limit. Shared by all files of the process.
#[derive(Debug)]
pub(crate) struct Place {
    pub(crate) folder: PathBuf,
    pub(crate) limit: u64,
    readers: Readers,
    /// Bytes that this process may write before it looks at what the folder holds.
    unseen: AtomicU64,
    /// Segments that this process has begun here.
    begun: AtomicU64,
    /// The time at which this process began to use the folder.
    since: SystemTime,
    /// The time of its first segment, by the file system's clock. That ticks more rarely, so it may be before `since`.
    first: OnceLock<SystemTime>,
    /// When it was found to be full of what is in use.
    full: Mutex<Option<Instant>>,
}

impl Place {
    pub(crate) fn new(folder: &Path, limit: u64, readers: Readers) -> Self {
        Place {
            folder: folder.to_owned(),
            limit,
            readers,
            unseen: AtomicU64::new(0),
            begun: AtomicU64::new(0),
            since: SystemTime::now(),
            first: OnceLock::new(),
            full: Mutex::new(None),
        }
    }

    /// A new segment in a folder, which is made if need be, with a name that no other process gives.
    pub(crate) fn begin(&self, folder: &Path, stem: &str) -> io::Result<(PathBuf, File)> {
        let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        let now = now.map_or(0, |since| since.as_nanos());
        let process = std::process::id();
        let number = self.begun.fetch_add(1, Ordering::Relaxed);
        let name = format!("{stem}-{process}-{now:x}-{number}{}", sweep::ENDING);
        let mut options = OpenOptions::new();
        options.read(true).append(true).create_new(true).mode(0o600);
        let path = folder.join(name);
        let file = options.open(&path).or_else(|_| {
            make_folder(folder, self.readers)?; // it was not there, or another process has removed it
            options.open(&path)
        })?;
        let found = file.metadata()?;
        let mut mode = found.permissions();
        if self.readers != Readers::Nobody {
            // Whatever the process's mask says.
            mode.set_mode(mode.mode() | self.readers.bits() & !ENTER);
            file.set_permissions(mode)?;
        }
        let made = found.modified()?;
        self.first.get_or_init(|| made);
        Ok((path, file))
    }

    /// Notes how many bytes were written. Now and then, and at a process's first bytes, the folder is brought
    /// within its limit: processes that write little must not exceed it either.
    pub(crate) fn wrote(&self, bytes: u64) {
        let before = self.unseen.load(Ordering::Relaxed);
        let is_due = bytes > before;
        let next = match is_due {
            true => self.limit / SWEEPS,
            false => before.saturating_sub(bytes),
        };
        // Of threads that write at once one looks; that the others' bytes are forgotten does no harm.
        let swapped =
            self.unseen
                .compare_exchange(before, next, Ordering::Relaxed, Ordering::Relaxed);
        if is_due && swapped.is_ok() {
            // What this process has used in its last passes stays for the next one.
            let lately = SystemTime::now().checked_sub(IN_USE);
            let first = self.first.get().unwrap_or(&self.since);
            let since = self.since.min(*first);
            let since = lately.map_or(since, |lately| lately.max(since));
            let is_full = sweep::sweep(&self.folder, self.limit, since);
            *self.full() = is_full.then(Instant::now);
        }
    }

    /// Whether there is no room: all that the folder holds is in use. That is looked at again after a while.
    pub(crate) fn is_full(&self) -> bool {
        self.full().is_some_and(|when| when.elapsed() < FULL)
    }

    fn full(&self) -> std::sync::MutexGuard<'_, Option<Instant>> {
        self.full.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Makes a folder that only its owner and `readers` may use, unless it is there, and those around it that are missing.
pub(crate) fn make_folder(folder: &Path, readers: Readers) -> io::Result<()> {
    let is_missing = |it: &&Path| !it.as_os_str().is_empty() && !it.exists();
    let missing: Vec<&Path> = folder.ancestors().take_while(is_missing).collect();
    for each in missing.into_iter().rev() {
        match DirBuilder::new().mode(0o700).create(each) {
            // One that somebody else has made meanwhile, or a link, stays as it is.
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(error),
            Ok(()) => let_in(each, readers)?,
            Err(_) => {}
        }
    }
    match folder.is_dir() {
        true => Ok(()),
        false => Err(io::ErrorKind::NotADirectory.into()),
    }
}

/// Lets readers look into a folder of this user's.
pub(crate) fn let_in(folder: &Path, readers: Readers) -> io::Result<()> {
    let mut mode = std::fs::metadata(folder)?.permissions();
    if mode.mode() & readers.bits() == readers.bits() {
        return Ok(());
    }
    mode.set_mode(mode.mode() | readers.bits());
    std::fs::set_permissions(folder, mode)
}

/// Whether what is made in a folder has the folder's group, which is to read it. It has not, if the folder does not hand its group
/// on, or if this user is not in that group: then the system takes the bit for that from folders that the user makes.
pub(crate) fn check_group(folder: &Path) -> io::Result<()> {
    let inner = folder.join(format!(".probe-{}", std::process::id()));
    let probe = Place::new(folder, 1, Readers::Group).begin(&inner, ".probe");
    let gid = probe.and_then(|(path, file)| {
        let _ = std::fs::remove_file(path);
        Ok(file.metadata()?.gid())
    });
    let _ = std::fs::remove_dir(&inner);
    let (gid, wanted) = (gid?, std::fs::metadata(folder)?.gid());
    if gid == wanted {
        return Ok(());
    }
    let what = format!(
        "what is kept there gets the group with the number {gid}, and the folder's has {wanted}: make this account a member of that \
         group, and let the folder hand it on (`chmod g+s`)"
    );
    Err(io::Error::new(io::ErrorKind::PermissionDenied, what))
}

/// Whether nobody else may write to a folder: what others have put there would be taken for a file's bytes. One that is not
/// there yet is made so.
pub(crate) fn check_own(folder: &Path) -> Result<(), NotOwn> {
    std::fs::metadata(folder).map_or(Ok(()), |it| {
        crate::own::check(folder, &it, crate::own::user())
    })
}

/// The name of a file's folder of data, and of its description but for the ending.
pub(crate) fn stem(identity: &Identity) -> String {
    let mut stem = String::from(sweep::START);
    let numbers = identity.place.iter().chain(&identity.state);
    for number in numbers.chain(std::iter::once(&identity.size)) {
        stem.push_str(&format!("-{number:x}"));
    }
    stem
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::io::Write;
    use std::time::Duration;

    #[test]
    fn what_this_process_has_written_stays_though_the_file_system_has_another_clock() {
        let folder = std::env::temp_dir().join(format!("treemill-place-{}", std::process::id()));
        let mut place = Place::new(&folder, 100, Readers::Nobody);
        place.since += Duration::from_secs(1);
        let paths: Vec<PathBuf> = (0..2)
            .map(|_| {
                let (path, mut file) = place.begin(&folder, "a").unwrap();
                file.write_all(&[0; 60]).unwrap();
                place.wrote(60);
                path
            })
            .collect();
        let there: Vec<bool> = paths.iter().map(|path| path.exists()).collect();
        std::fs::remove_dir_all(&folder).unwrap();
        assert_eq!(there, [true, false]);
    }
}
