//! How one entry of a branch lies in its basket: the type that drives the decoder. Pure description: the
//! metadata parser makes it, the decoder follows it.

/// A number as stored on disk (big-endian) and as decoded.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Number {
    /// `bool`: one byte, 0 or 1.
    Bool,
    /// Signed integers of 1, 2, 4, 8 bytes.
    I8,
    I16,
    I32,
    I64,
    /// Unsigned integers of 1, 2, 4, 8 bytes.
    U8,
    U16,
    U32,
    U64,
    /// IEEE 754.
    F32,
    F64,
    /// `Float16_t` (decoded to f32) stored by factor or by truncated mantissa.
    Float16(Truncation),
    /// `Double32_t` (decoded to f64) stored as f32, by factor, or by truncated mantissa.
    Double32(Truncation),
}

/// On-disk form of `Float16_t` / `Double32_t` (ROOT: TBufferFile, TStreamerElement::GetRange).
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Truncation {
    /// `Double32_t` with no range and no bits: a plain f32.
    AsF32,
    /// A big-endian u32: value = min + stored / factor.
    Range {
        /// Lower end of the range.
        min: f64,
        /// 2^bits / (max - min), with 2^32 - 1 for 32 bits (ROOT: TStreamerElement::GetRange).
        factor: f64,
    },
    /// One exponent byte and a big-endian u16 holding sign and the mantissa's leading `bits`.
    Mantissa {
        /// Bits of mantissa kept.
        bits: u8,
    },
}

/// How one value lies in the bytes.
///
/// A branch whose layout has a fixed size (numbers, arrays and records of them) must have baskets of exactly
/// entries x size bytes; anything else (`TObject::fBits` of referenced objects) is not to be decoded.
#[derive(Debug, Clone, PartialEq)]
pub enum Layout {
    /// One number.
    Number(Number),
    /// `len` values one after another: C arrays; several dimensions nest, outermost first.
    Array {
        /// What repeats.
        item: Box<Layout>,
        /// How often.
        len: u32,
    },
    /// The rest of the entry is items one after another (a leaf counted by another leaf). Their number follows
    /// from the entry's length in bytes, which the basket's entry offsets give, or from the counter's value.
    /// `header` bytes come before the first item: 0; 1 for counted members of objects; 6 (byte count and
    /// version) if the items are collections without headers of their own, unless the entry has no bytes at
    /// all.
    Counted {
        /// What repeats.
        item: Box<Layout>,
        /// Bytes to skip at the entry's start.
        header: u8,
    },
    /// `header` bytes to skip (6 if the branch is a `std::vector`: byte count and version; 0 inside
    /// another vector), a big-endian i32 count, then the items. (uproot's `header_bytes=10` counts the
    /// 4 bytes of the count as well.) With a header, the version of a vector of objects says whether the
    /// objects lie one after another or member by member (TBufferFile::kStreamedMemberWise).
    Vector {
        /// What repeats.
        item: Box<Layout>,
        /// Bytes to skip before the count.
        header: u8,
    },
    /// A length byte (255: a big-endian i32 length follows), then the bytes: TString, TLeafC (header 0),
    /// `std::string` (header 0 as a top-level branch, 6 bytes of byte count and version as a member).
    /// An entry of no bytes at all is the empty string (old TLeafC).
    String {
        /// Bytes to skip before the length.
        header: u8,
    },
    /// A big-endian i32 length, then the bytes: a `char*` that is a member; one to nothing has none.
    CharStar,
    /// Fields one after another: a leaf list, or a struct's members. Of a string among them nothing is
    /// written if it is empty, which the length of the entry tells.
    Record(Vec<(String, Layout)>),
    /// An object as its class's streamer info says.
    Object(Object),
    /// A part of an object: a byte that says whether an array is there, then as many items as a part before it
    /// has said (`float *x; //[n]`; ROOT: kOffsetP). Without `flag` the byte is not there.
    Sized {
        /// What repeats.
        item: Box<Layout>,
        /// The part that counts them.
        counter: Counter,
        /// Whether the byte is there.
        flag: bool,
    },
    /// A pointer to an object: nothing, or byte count, class and object (ROOT: TBufferFile::WriteObjectAny).
    /// Decoded to a value that may be missing.
    Pointer(Box<Pointer>),
    /// An item of a class that the file does not describe, which means that none was written: collections
    /// of such items are read if they are empty, and an `UnsupportedError` if they are not.
    Absent {
        /// The reason, in words for the user.
        reason: String,
    },
    /// A TClonesArray that was stored whole: its header, then its items (ROOT: TClonesArray::Streamer). Decoded
    /// to a list of them.
    Clones(Box<Clones>),
    /// A TObjArray or TList: its header, then pointers. Decoded to a list of what may be missing.
    Objects(Box<Objects>),
    /// `TObject::fBits`: a u32, followed by a u16 if the object is referenced (bit 4); decoded to the u32.
    Bits,
    /// Known by name only; reading is an `UnsupportedError`.
    Unsupported {
        /// Why, in words for the user.
        reason: String,
    },
}

/// A TClonesArray that was stored whole.
#[derive(Debug, Clone, PartialEq)]
pub struct Clones {
    /// The header of the array.
    pub before: Before,
    /// The items' class as the arrays name it, `Hit;3`; empty if none has been looked at. The tree's
    /// descriptions do not say it.
    pub class: Vec<u8>,
    /// The items: [`Layout::Object`], or [`Layout::Absent`] as long as their class is not known
    /// ([`crate::open`]).
    pub item: Layout,
}

/// A pointer.
#[derive(Debug, Clone, PartialEq)]
pub struct Pointer {
    /// The target: [`Layout::Object`], or [`Layout::Absent`] as long as its class is not known
    /// ([`crate::open`]).
    pub to: Layout,
    /// How the data say its class.
    pub says: Says,
}

/// How the class of an object that a pointer leads to is said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Says {
    /// The pointer's declaration, for no other class derives from the declared one.
    Declaration,
    /// The data alone say it.
    Data {
        /// Whether an object that gives only the place of an earlier class name can be of no other class.
        alone: bool,
    },
}

/// A collection of pointers that streams itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Objects {
    /// Its header.
    pub before: Before,
    /// Its own class.
    pub class: Collection,
    /// The items: [`Layout::Pointer`].
    pub item: Layout,
}

/// ROOT's collections of pointers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Collection {
    TObjArray,
    TList,
}

/// The header of an object that fills its entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Before {
    /// Nothing is skipped.
    Nothing,
    /// These bytes: its class's name.
    Exactly(Vec<u8>),
    /// Byte count and class of a pointer, which may be null (ROOT: TBufferFile::WriteObjectAny).
    Pointer,
}

/// The part that counts the items of another part of the same object.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Counter {
    /// Index of the part: a number, or the base class that has it.
    pub part: usize,
    /// The index of the number among a base class's parts, if it belongs to one.
    pub inherited: Option<usize>,
    /// The number is n of a triangle's n (n + 1) / 2 items.
    pub triangle: bool,
}

impl Counter {
    /// The part that has said the number itself, if it is one.
    #[must_use]
    pub fn own(self) -> Option<usize> {
        (self.inherited.is_none() && !self.triangle).then_some(self.part)
    }
}

impl From<usize> for Counter {
    /// A number among the object's own parts.
    fn from(part: usize) -> Self {
        Counter {
            part,
            inherited: None,
            triangle: false,
        }
    }
}

/// An object of a class: bases and members in the order of its streamer info.
///
/// Decoded to a struct of its fields, with the fields of its bases as its own (as uproot shows them); the
/// members of TObject are skipped.
#[derive(Debug, Clone, PartialEq)]
pub struct Object {
    /// The class and what the file says of it.
    pub class: Class,
    /// The header of each object.
    pub form: Form,
    /// The parts after it.
    pub parts: Vec<Part>,
}

impl Object {
    /// Whether it has data members of its own or of a base.
    #[must_use]
    pub fn has_fields(&self) -> bool {
        self.parts.iter().any(|part| match part {
            Part::Field(..) => true,
            Part::Base(base) => base.has_fields(),
            Part::Hidden(_) => false,
        })
    }
}

/// The headers of an object, and of the collections and `std::string`s among its fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// Byte count and version, before both.
    Framed,
    /// Nothing before the object, which fills its entry or has a form of its own.
    Bare,
    /// Nothing, and the members of all of an entry's objects lie member by member: the first of each, the
    /// second of each, and so on. Bases that were not split off the items of a split collection.
    Shared,
    /// No headers at all: key and value of a map. (Maps that were written member by member have the headers
    /// that the fields' layouts say.)
    Pair,
}

/// The header that an object must have (ROOT: TBufferFile::ReadVersion).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Class {
    /// Name of the class, for messages.
    pub name: String,
    /// fClassVersion that the parts were made for.
    pub version: i32,
    /// fCheckSum, which stands in for the version of classes without ClassDef.
    pub checksum: u32,
}

/// Something in an object.
#[derive(Debug, Clone, PartialEq)]
pub enum Part {
    /// A data member.
    Field(String, Layout),
    /// A base class, with its own header.
    Base(Object),
    /// Bytes that no column needs.
    Hidden(Hidden),
}

/// Bytes that are passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Hidden {
    /// A TObject: version, fUniqueID, fBits, and a process ID where fBits says so (TObject::Streamer).
    RootObject,
    /// TObject's version, with a byte count before it if there is one.
    RootVersion,
    /// A pointer and all that was written after it.
    Pointer,
    /// An object, whatever it is, by its byte count.
    Framed,
    /// This many bytes.
    Bytes(u8),
    /// These bytes and no others, for they say what follows.
    Exactly(Vec<u8>),
    /// A u32 in which none of these bits may be set, for what follows would be something else.
    Clear(u32),
}
