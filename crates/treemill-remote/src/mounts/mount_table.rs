//! The kernel's list of mounts (`/proc/self/mountinfo`, proc(5)), read as text. Pure.

/// A mount.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mount {
    /// Where it is mounted.
    pub place: String,
    /// What the kernel calls its file system, such as `nfs4` or `fuse.sshfs`.
    pub name: String,
}

/// The mount whose files have this device number; of several, the first one.
///
/// ```
/// let text = "36 35 0:49 / /pnfs/site\\040org ro,noatime shared:1 - nfs4 se:/ rw,vers=4.1\n";
/// let mount = treemill_remote::mounts::mount_of(text, 0, 49).unwrap();
/// assert_eq!((mount.place.as_str(), mount.name.as_str()), ("/pnfs/site org", "nfs4"));
/// ```
#[must_use]
pub fn mount_of(text: &str, major: u32, minor: u32) -> Option<Mount> {
    let device = format!("{major}:{minor}");
    text.lines().find_map(|line| {
        let mut words = line.split(' ');
        let found = words.nth(2)? == device;
        let place = words.nth(1)?;
        // Optional words follow, and a hyphen ends them.
        let name = words.skip_while(|word| *word != "-").nth(1)?;
        found.then(|| Mount {
            place: unescaped(place),
            name: name.to_owned(),
        })
    })
}

/// Blanks and the like are written as a backslash and three octal digits.
fn unescaped(text: &str) -> String {
    let mut parts = text.split('\\');
    let mut whole = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let sign = part.get(..3).and_then(|d| u8::from_str_radix(d, 8).ok());
        match (sign, part.get(3..)) {
            (Some(sign), Some(rest)) if sign.is_ascii() => {
                whole.push(char::from(sign));
                whole.push_str(rest);
            }
            _ => {
                whole.push('\\');
                whole.push_str(part);
            }
        }
    }
    whole
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_device_is_looked_for_in_its_place() {
        let text = "1 0 8:1 / / rw - ext4 /dev/sda1 rw\n2 1 0:30 / /m rw shared:3 master:2 - fuse.sshfs h:/ rw\n";
        let found = mount_of(text, 0, 30).map(|mount| mount.name);
        assert_eq!(found.as_deref(), Some("fuse.sshfs"));
        assert_eq!(mount_of(text, 0, 31), None);
        assert_eq!(mount_of(text, 1, 0), None);
    }

    #[test]
    fn what_is_no_escape_stays() {
        assert_eq!(unescaped("/a\\040b\\z\\777"), "/a b\\z\\777");
    }

    proptest! {
        #[test]
        fn any_text_is_borne(text in "[ -~\\n\\\\é]{0,200}", major in 0_u32..9, minor in 0_u32..9) {
            let _ = mount_of(&text, major, minor);
        }
    }
}
