//! Bits and words by which ROOT marks what it writes.

/// In a word: it is a byte count (`TBufferFile`: `kByteCountMask`).
pub const BYTE_COUNT: u32 = 0x4000_0000;
/// Instead of a class: its name follows (`TBufferFile`: `kNewClassTag`).
pub const NEW_CLASS: u32 = 0xffff_ffff;
/// In a word: it is the place of a class's name (`TBufferFile`: `kClassMask`).
pub const CLASS: u32 = 0x8000_0000;
/// In a version: a collection was written member by member (`TBufferFile`: `kStreamedMemberWise`).
pub const MEMBER_WISE: u16 = 1 << 14;
/// In a `TObject`'s bits: it is referenced, and its process ID follows (`TObject`: `kIsReferenced`).
pub const IS_REFERENCED: u32 = 1 << 4;
