//! What kind of storage a file system is, by the number of its type (statfs) and by what the kernel calls it. Pure: knows
//! no file.

/// Where the bytes of a file system lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// This machine.
    Here,
    /// A server, as a rule.
    There,
    /// Either: only measuring tells.
    Unknown,
}

/// Types of Linux by their numbers, of `statfs(2)` and of the kernel's `magic.h` where that has them.
const TYPES: &[(u32, Kind)] = &[
    (0x6969, Kind::There),      // NFS
    (0x517B, Kind::There),      // SMB
    (0xFF53_4D42, Kind::There), // CIFS
    (0xFE53_4D42, Kind::There), // SMB 2
    (0x0BD0_0BD0, Kind::There), // Lustre
    (0x00C3_6400, Kind::There), // Ceph
    (0x4750_4653, Kind::There), // GPFS, Spectrum Scale
    (0x1983_0326, Kind::There), // BeeGFS
    (0x2003_0528, Kind::There), // OrangeFS
    (0xAAD7_AAEA, Kind::There), // PanFS
    (0x5346_414F, Kind::There), // AFS
    (0x6B41_4653, Kind::There), // AFS of the kernel
    (0x7375_7245, Kind::There), // Coda
    (FUSE, Kind::There),
    (0xEF53, Kind::Here),      // ext2, ext3, ext4
    (0x5846_5342, Kind::Here), // XFS
    (0x9123_683E, Kind::Here), // Btrfs
    (0x2FC1_2FC1, Kind::Here), // ZFS
    (0xCA45_1A4E, Kind::Here), // bcachefs
    (0xF2F5_2010, Kind::Here), // F2FS
    (0x0102_1994, Kind::Here), // tmpfs
    (0x8584_58F6, Kind::Here), // ramfs
    (0x794C_7630, Kind::Here), // overlay
    (0xE0F5_E1E2, Kind::Here), // EROFS
    (0x7371_7368, Kind::Here), // squashfs
    (0x9660, Kind::Here),      // ISO 9660
    (0x4D44, Kind::Here),      // FAT
    (0x2011_BAB0, Kind::Here), // exFAT
    (0x7366_746E, Kind::Here), // NTFS
];

/// The number of all file systems in user space, of whatever kind.
const FUSE: u32 = 0x6573_5546;

/// File systems in user space, by the kernel's names, that are disks of this machine, or whose bytes may be anywhere.
const NOT_BY_NUMBER: &[(&str, Kind)] = &[
    ("fuseblk", Kind::Here),
    ("fuse.fuse-overlayfs", Kind::Here),
    ("fuse.mergerfs", Kind::Unknown),
    ("fuse.bindfs", Kind::Unknown),
    ("fuse.cvmfs2", Kind::Unknown), // it has a cache on disk
    ("virtiofs", Kind::Unknown),
];

/// The kind of a file system. `named` says what the kernel calls it, and is asked only where the number does not tell.
///
/// ```
/// use treemill_remote::mounts::{Kind, kind};
///
/// assert_eq!(kind(Some(0x6969), || None), Kind::There); // NFS
/// assert_eq!(kind(Some(0xEF53), || None), Kind::Here); // ext4
/// assert_eq!(kind(Some(0x6573_5546), || Some("fuseblk".to_owned())), Kind::Here);
/// assert_eq!(kind(Some(1), || None), Kind::Unknown);
/// ```
pub fn kind(number: Option<u32>, named: impl FnOnce() -> Option<String>) -> Kind {
    let Some(number) = number else {
        return Kind::Unknown;
    };
    let known = TYPES.iter().find(|(known, _)| *known == number);
    let by_number = known.map_or(Kind::Unknown, |(_, kind)| *kind);
    if number != FUSE {
        return by_number;
    }
    let Some(name) = named() else {
        return by_number;
    };
    let by_name = NOT_BY_NUMBER.iter().find(|(known, _)| *known == name);
    by_name.map_or(by_number, |(_, kind)| *kind)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_number_stands_once() {
        let mut numbers: Vec<u32> = TYPES.iter().map(|(number, _)| *number).collect();
        numbers.sort_unstable();
        numbers.dedup();
        assert_eq!(numbers.len(), TYPES.len());
    }

    #[test]
    fn file_systems_in_user_space_are_servers_unless_their_name_says_otherwise() {
        let of = |name: &str| kind(Some(FUSE), || Some(name.to_owned()));
        assert_eq!(of("fuse.sshfs"), Kind::There);
        assert_eq!(of("fuse"), Kind::There);
        assert_eq!(of("virtiofs"), Kind::Unknown);
        assert_eq!(kind(Some(FUSE), || None), Kind::There);
    }

    #[test]
    fn the_name_is_not_asked_for_where_the_number_tells() {
        let mut is_asked = false;
        let _ = kind(Some(0xEF53), || {
            is_asked = true;
            None
        });
        assert!(!is_asked);
    }
}
