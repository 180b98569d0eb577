//! Whether a file or a folder is the user's own: whether nobody else but root can have written what is there. One rule for all
//! that is taken from disks without a question: caches, checkpoints, tokens.

use std::ffi::OsString;
use std::fs::Metadata;
use std::os::unix::fs::MetadataExt;
use std::path::{Component, Path, PathBuf};

/// The bits of a mode by which a group and all others may write. Where there are access control lists, the bits of the group
/// are the list's mask: what a list allows to anybody but the owner, these bits allow.
const OTHERS_WRITE: u32 = 0o022;
const GROUP_WRITES: u32 = 0o020;
/// The attribute that holds a file's access control list.
const ACCESS_LIST: &str = "system.posix_acl_access";
/// The bit of a folder in which users rename and remove only what they own.
const STICKY: u32 = 0o1000;
const ROOT: u32 = 0;
/// Links that the system follows for one path.
const MOST_LINKS: u32 = 40;

/// Why something is not the user's own.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NotOwn {
    /// The file or the folder that is not.
    pub path: PathBuf,
    /// Its owner, if that is another user than this one; `None` if others may write to it.
    pub owner: Option<(u32, u32)>,
}

impl NotOwn {
    /// What the user can do.
    #[must_use]
    pub fn advice(&self) -> String {
        match self.owner {
            Some(_) => "use a folder of your own".to_owned(),
            None => format!(
                "if you trust what is there, `chmod go-w {}`; or else use another folder",
                self.path.display()
            ),
        }
    }
}

impl std::fmt::Display for NotOwn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let path = self.path.display();
        match self.owner {
            Some((owner, user)) => write!(
                f,
                "{path} belongs to the user with the number {owner}, and your number is {user}"
            ),
            None => write!(f, "{path} may be written to by other users"),
        }
    }
}

/// The number of the effective user of this process.
#[must_use]
pub fn user() -> u32 {
    rustix::process::geteuid().as_raw()
}

/// Whether what was found at a path is that user's own: it, and the folder that it is in, by whose owner and by others who may
/// write there it could be replaced. In a folder with the sticky bit only the owner can. Where the path is a symbolic link, that
/// holds for the link's folder and for that of what it leads to. The user's private group may write to folders around: where
/// each user has one, new folders have mode 775. `found`: of the file that is open, as the path may lead to another one by now.
///
/// ```
/// let file = std::fs::metadata("/proc/self")?;
/// assert!(treemill_source::own::check("/proc/self".as_ref(), &file, treemill_source::own::user()).is_ok());
/// # Ok::<(), std::io::Error>(())
/// ```
///
/// # Errors
/// What is not the user's own, and why.
pub fn check(path: &Path, found: &Metadata, user: u32) -> Result<(), NotOwn> {
    judged(path, found, user, false)?;
    around(path, user)?;
    match std::fs::read_link(path).and_then(|_| path.canonicalize()) {
        Ok(target) => around(&target, user),
        Err(_) => Ok(()), // no link, or nothing there by now
    }
}

/// Whether nobody but root and one account can have made what is in a folder that other users read: each folder on the way to it,
/// through all links, belongs to root or to the owner of the folder itself, and nobody else may write to it. Neither the sticky
/// bit nor a private group excuses that: where others may make a folder, one that was missing may be theirs. If the folder is
/// missing, that holds for those that there are.
///
/// ```
/// use treemill_source::own::check_account;
///
/// assert!(check_account("/proc/sys".as_ref()).is_ok());
/// ```
///
/// # Errors
/// The first folder on the way that others may write to.
pub fn check_account(folder: &Path) -> Result<(), NotOwn> {
    let way = way_to(folder);
    let account = way.last().map_or(ROOT, |(_, found)| found.uid());
    for (path, found) in way {
        let owner = found.uid();
        let owner = match owner == account || owner == ROOT {
            false => Some((owner, account)),
            true if found.mode() & OTHERS_WRITE != 0 => None,
            true => continue,
        };
        return Err(NotOwn { path, owner });
    }
    Ok(())
}

/// The folders that the system goes through to open a folder, from the root to it, as far as they are there.
fn way_to(folder: &Path) -> Vec<(PathBuf, Metadata)> {
    let names = |path: &Path| -> Vec<OsString> {
        let names = path.components().filter_map(|part| match part {
            Component::Normal(name) => Some(name.to_owned()),
            Component::ParentDir => Some("..".into()),
            _ => None,
        });
        names.rev().collect()
    };
    let mut left = names(&std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned()));
    let mut at = PathBuf::from("/");
    let mut way = Vec::new();
    way.extend(std::fs::symlink_metadata(&at).map(|root| (at.clone(), root)));
    let mut links = 0_u32;
    while let Some(name) = left.pop() {
        if name == ".." {
            at.pop();
            continue;
        }
        let next = at.join(name);
        let Ok(found) = std::fs::symlink_metadata(&next) else {
            break;
        };
        if !found.is_symlink() {
            way.push((next.clone(), found));
            at = next;
            continue;
        }
        links = links.saturating_add(1);
        let Ok(target) = std::fs::read_link(&next) else {
            break;
        };
        if links > MOST_LINKS {
            break; // the system opens nothing by this path either
        }
        if target.is_absolute() {
            at = PathBuf::from("/");
        }
        left.extend(names(&target));
    }
    way
}

/// Whether nobody else can replace what is at a path.
fn around(path: &Path, user: u32) -> Result<(), NotOwn> {
    let folder = match path.parent() {
        Some(folder) if folder.as_os_str().is_empty() => Path::new("."),
        Some(folder) => folder,
        None => return Ok(()),
    };
    match std::fs::metadata(folder) {
        Ok(found) => judged(folder, &found, user, true),
        Err(_) => Ok(()), // gone by now: nothing is read by its path
    }
}

/// `is_around`: a folder that is looked at for what it holds. The system's folders are root's, and the sticky bit keeps others
/// from what is not theirs.
fn judged(path: &Path, found: &Metadata, user: u32, is_around: bool) -> Result<(), NotOwn> {
    let owner = found.uid();
    let is_safe = is_around && found.mode() & STICKY != 0;
    let is_private = is_around && has_private_group(path, found, user);
    let writers = found.mode() & OTHERS_WRITE & if is_private { !GROUP_WRITES } else { !0 };
    let owner = match owner == user || is_around && owner == ROOT {
        false => Some((owner, user)),
        true if writers != 0 && !is_safe => None,
        true => return Ok(()),
    };
    let path = path.to_owned();
    Err(NotOwn { path, owner })
}

/// Whether the group is the user's own, which nobody else is in: it has the user's number, as pam_umask's `usergroups` takes it.
/// Where there is an access control list, the group's bits are of others, too.
fn has_private_group(path: &Path, found: &Metadata, user: u32) -> bool {
    user != ROOT
        && found.gid() == user
        && rustix::fs::getxattr(path, ACCESS_LIST, &mut [0_u8; 0]).is_err()
}

#[cfg(test)]
#[allow(clippy::unwrap_used)]
mod tests {
    use super::*;
    use std::fs::{self, Permissions};
    use std::os::unix::fs::PermissionsExt;

    fn set(path: &Path, mode: u32) {
        fs::set_permissions(path, Permissions::from_mode(mode)).unwrap();
    }

    /// What is not the user's own of a file or a folder in a folder, with these modes.
    fn culprit(is_folder: bool, inner: u32, outer: u32) -> Option<&'static str> {
        let place = tempfile::tempdir().unwrap();
        let around = place.path().join("around");
        let path = around.join("it");
        fs::create_dir(&around).unwrap();
        match is_folder {
            true => fs::create_dir(&path).unwrap(),
            false => fs::write(&path, "x").unwrap(),
        }
        set(&path, inner);
        set(&around, outer);
        let found = fs::metadata(&path).unwrap();
        let why = check(&path, &found, user()).err()?;
        assert!(why.owner.is_none() && why.advice().contains("chmod go-w"));
        Some(if why.path == path { "it" } else { "around" })
    }

    #[test]
    fn what_others_may_write_to_or_replace_is_not_own() {
        for is_folder in [false, true] {
            for mode in [0o700, 0o744, 0o755] {
                assert_eq!(culprit(is_folder, mode, mode), None);
                assert_eq!(culprit(is_folder, mode, 0o1777), None);
                for others in [0o777, 0o702] {
                    assert_eq!(culprit(is_folder, others, mode), Some("it"));
                    assert_eq!(culprit(is_folder, mode, others), Some("around"));
                    assert_eq!(culprit(is_folder, others, 0o1777), Some("it"));
                }
                assert_eq!(culprit(is_folder, 0o770, mode), Some("it"));
            }
        }
    }

    #[test]
    fn what_another_user_owns_is_not_own() {
        let place = tempfile::tempdir().unwrap();
        let found = fs::metadata(place.path()).unwrap();
        let other = user().wrapping_add(1);
        let why = check(place.path(), &found, other).unwrap_err();
        assert_eq!(why.owner, Some((user(), other)));
    }

    #[test]
    fn a_link_is_own_where_its_folder_and_that_of_its_target_are() {
        let place = tempfile::tempdir().unwrap();
        let [links, files] = ["links", "files"].map(|name| place.path().join(name));
        fs::create_dir(&links).unwrap();
        fs::create_dir(&files).unwrap();
        let file = files.join("it");
        fs::write(&file, "x").unwrap();
        set(&file, 0o600);
        let path = links.join("it");
        std::os::unix::fs::symlink(&file, &path).unwrap();
        let culprit = |of_links, of_files| {
            set(&links, of_links);
            set(&files, of_files);
            check(&path, &fs::metadata(&path).unwrap(), user())
        };
        assert_eq!(culprit(0o755, 0o755), Ok(()));
        assert_eq!(culprit(0o1777, 0o1777), Ok(()));
        assert_eq!(culprit(0o777, 0o755).unwrap_err().path, links);
        let target = files.canonicalize().unwrap();
        assert_eq!(culprit(0o755, 0o777).unwrap_err().path, target);
    }

    /// Only root gives files away; without, there is nothing to see.
    #[test]
    fn a_folder_is_own_by_its_owner_too() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("it");
        fs::write(&path, "x").unwrap();
        if user() != ROOT {
            return eprintln!("skipped: not root");
        }
        let [own, other] = [1234, 4321];
        let owned = |file, folder, mode| {
            std::os::unix::fs::chown(&path, Some(file), None).unwrap();
            std::os::unix::fs::chown(place.path(), Some(folder), None).unwrap();
            set(place.path(), mode);
            let why = check(&path, &fs::metadata(&path).unwrap(), own).err();
            why.map(|why| (why.path == path, why.owner.map(|(owner, _)| owner)))
        };
        for mode in [0o755, 0o1777] {
            assert_eq!(owned(own, own, mode), None);
            assert_eq!(owned(own, ROOT, mode), None);
            // Also with the sticky bit: a folder's owner can replace all that it holds.
            assert_eq!(owned(own, other, mode), Some((false, Some(other))));
            assert_eq!(owned(ROOT, own, mode), Some((true, Some(ROOT))));
            assert_eq!(owned(other, own, mode), Some((true, Some(other))));
        }
        assert_eq!(owned(own, ROOT, 0o777), Some((false, None)));
        let of_group = |group, mode| {
            std::os::unix::fs::chown(place.path(), None, Some(group)).unwrap();
            owned(own, own, mode)
        };
        assert_eq!(of_group(own, 0o775), None, "the user's private group");
        assert_eq!(of_group(own, 0o777), Some((false, None)));
        assert_eq!(of_group(other, 0o775), Some((false, None)));
    }

    #[test]
    fn what_an_access_control_list_lets_others_write_is_not_own() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("it");
        fs::write(&path, "x").unwrap();
        set(&path, 0o600);
        let check = || check(&path, &fs::metadata(&path).unwrap(), user());
        assert!(check().is_ok());
        for (entry, is_own) in [("u:12345:r", true), ("u:12345:rw", false)] {
            let command = std::process::Command::new("setfacl")
                .args(["-m", entry])
                .arg(&path)
                .status();
            if !command.is_ok_and(|status| status.success()) {
                return eprintln!("skipped: no setfacl, or a file system without lists");
            }
            assert_eq!(check().is_ok(), is_own, "{entry}");
        }
    }
}
