//! Numbers: EReadWrite codes, leaf classes and C++ names, as tables.

use crate::layout::Number;
use crate::streamer::range;

/// EReadWrite code, the number, its C++ name. `Double32_t` and `Float16_t` also need their range.
const NUMBERS: [(i32, Number, &str); 16] = [
    (1, Number::I8, "char"),
    (2, Number::I16, "short"),
    (3, Number::I32, "int"),
    (4, Number::I64, "long"),
    (5, Number::F32, "float"),
    (6, Number::I32, "int"), // a counter
    (8, Number::F64, "double"),
    (11, Number::U8, "unsigned char"),
    (12, Number::U16, "unsigned short"),
    (13, Number::U32, "unsigned int"),
    (14, Number::U64, "unsigned long"),
    (15, Number::U32, "unsigned int"), // TObject::fBits
    (16, Number::I64, "long long"),
    (17, Number::U64, "unsigned long long"),
    (18, Number::Bool, "bool"),
    (0x7fff, Number::I8, "signed char"),
];

const DOUBLE32: i32 = 9;
const FLOAT16: i32 = 19;

/// Leaf class, code where signed, code where unsigned.
const LEAVES: [(&str, i32, i32); 10] = [
    ("TLeafB", 1, 11),
    ("TLeafS", 2, 12),
    ("TLeafI", 3, 13),
    ("TLeafG", 4, 14),
    ("TLeafL", 16, 17),
    ("TLeafF", 5, 5),
    ("TLeafD", 8, 8),
    ("TLeafO", 18, 18),
    ("TLeafF16", FLOAT16, FLOAT16),
    ("TLeafD32", DOUBLE32, DOUBLE32),
];

/// Other spellings of C++ types.
const SPELLINGS: [(&str, &str); 24] = [
    ("Bool_t", "bool"),
    ("Char_t", "char"),
    ("int8_t", "signed char"),
    ("UChar_t", "unsigned char"),
    ("uint8_t", "unsigned char"),
    ("Short_t", "short"),
    ("int16_t", "short"),
    ("UShort_t", "unsigned short"),
    ("uint16_t", "unsigned short"),
    ("Int_t", "int"),
    ("int32_t", "int"),
    ("UInt_t", "unsigned int"),
    ("unsigned", "unsigned int"),
    ("uint32_t", "unsigned int"),
    ("Long_t", "long"),
    ("ULong_t", "unsigned long"),
    ("Long64_t", "long long"),
    ("int64_t", "long long"),
    ("ULong64_t", "unsigned long long"),
    ("uint64_t", "unsigned long long"),
    ("Float_t", "float"),
    ("Double_t", "double"),
    ("short int", "short"),
    ("long int", "long"),
];

/// A number and its C++ name by its code. `range` is asked for fXmin and fFactor, and `None` from it means
/// that they are not known.
pub(super) fn by_code(
    code: i32,
    range: impl FnOnce() -> Option<(f64, f64)>,
) -> Option<(Number, &'static str)> {
    match code {
        DOUBLE32 => range()
            .map(|(min, factor)| (Number::Double32(range::double32(min, factor)), "Double32_t")),
        FLOAT16 => {
            range().map(|(min, factor)| (Number::Float16(range::float16(min, factor)), "Float16_t"))
        }
        code => NUMBERS
            .iter()
            .find(|(c, _, _)| *c == code)
            .map(|(_, number, name)| (*number, *name)),
    }
}

/// C++ name by the code alone.
pub(super) fn name(code: i32) -> Option<&'static str> {
    by_code(code, || Some((0.0, 0.0))).map(|(_, name)| name)
}

/// The code of a leaf class's numbers.
pub(super) fn code_of_leaf(class: &str, unsigned: bool) -> Option<i32> {
    let (_, signed_code, unsigned_code) = LEAVES.iter().find(|(name, _, _)| *name == class)?;
    Some(if unsigned {
        *unsigned_code
    } else {
        *signed_code
    })
}

/// A number by its C++ name, in any spelling.
pub(super) fn by_name(name: &str) -> Option<Number> {
    let name = SPELLINGS
        .iter()
        .find(|(spelling, _)| *spelling == name)
        .map_or(name, |(_, name)| name);
    NUMBERS
        .iter()
        .find(|(_, _, n)| *n == name)
        .map(|(_, number, _)| *number)
}
