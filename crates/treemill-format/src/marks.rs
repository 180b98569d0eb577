//! Bits and words by which ROOT marks what it writes.

/// Marks a word as a byte count (`TBufferFile`: `kByteCountMask`).
pub const BYTE_COUNT: u32 = 0x4000_0000;
/// Stands in place of a class whose name follows (`TBufferFile`: `kNewClassTag`).
pub const NEW_CLASS: u32 = 0xffff_ffff;
/// Marks a word as the place of a class's name (`TBufferFile`: `kClassMask`).
pub const CLASS: u32 = 0x8000_0000;
/// Marks the version of a collection that was written member by member (`TBufferFile`: `kStreamedMemberWise`).
pub const MEMBER_WISE: u16 = 1 << 14;
/// Marks a `TObject` that is referenced, and whose process ID follows (`TObject`: `kIsReferenced`).
pub const IS_REFERENCED: u32 = 1 << 4;
