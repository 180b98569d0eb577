//! The schema: records of fields, columns and alias columns, as header and footer list them. Reads the records;
//! `shape` puts fields together.
//!
//! Source: RNTuple binary format specification 1.0, sections "Header Envelope" and "Schema
//! Extension Record Frame".

use super::cursor::Cursor;
use super::element::Encoding;
use crate::error::Result;

/// The role of a field in the tree of fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The field has values of its own, or repeats or wraps one other field.
    Leaf,
    /// The field has items: `std::vector`, `std::map`, `std::optional`, ….
    Collection,
    /// The field has members: classes, `std::pair`, `std::tuple`.
    Record,
    /// The field is one of several: `std::variant`.
    Variant,
    /// Objects serialised by ROOT's streamer.
    Streamer,
    /// A role of a later version of the format.
    Unknown(u16),
}

/// A field's record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Field {
    /// Index of the parent; its own index for fields at the top.
    pub parent: usize,
    /// Its role.
    pub role: Role,
    /// How often the item repeats: fixed-size arrays and bitsets.
    pub repetition: Option<u64>,
    /// Index of the field that this one shows in another way.
    pub projected_from: Option<usize>,
    /// Name.
    pub name: String,
    /// Normalised C++ type; empty for untyped collections and records.
    pub type_name: String,
    /// The type as it was written in the class, if that differs.
    pub type_alias: String,
    /// Description.
    pub description: String,
}

/// A column's record.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// Index of the field that it belongs to.
    pub field: usize,
    /// How its elements are stored; an error of kind `Unsupported` for types of later versions.
    pub encoding: Result<Encoding>,
    /// Index of the first element that is stored; those before are zero. `None` if the column
    /// was there from the start.
    pub first_element: Option<u64>,
    /// Whether the column, coming late, was suppressed at first.
    pub first_suppressed: bool,
    /// Which of the field's alternative representations it belongs to.
    pub representation: u16,
}

/// A physical column's second use, by a projected field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Alias {
    /// Index of the column.
    pub column: usize,
    /// Index of the projected field.
    pub field: usize,
}

/// All records, in the file's order: indices are the format's IDs.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Schema {
    /// Fields.
    pub fields: Vec<Field>,
    /// Physical columns.
    pub columns: Vec<Column>,
    /// Alias columns.
    pub aliases: Vec<Alias>,
}

/// Flags of a field.
const REPETITIVE: u16 = 0x01;
const PROJECTED: u16 = 0x02;

/// Flags of a column.
const DEFERRED: u16 = 0x01;
const RANGE: u16 = 0x02;

impl Schema {
    /// Reads the four lists of a schema description, and adds them to what is here.
    pub(super) fn extend(&mut self, cursor: &mut Cursor<'_>) -> Result<()> {
        let (n, mut list) = cursor.list_frame()?;
        reserve(&mut self.fields, n, list.remaining(), 40);
        for _ in 0..n {
            self.fields.push(Field::parse(list.record_frame()?)?);
        }
        let (n, mut list) = cursor.list_frame()?;
        reserve(&mut self.columns, n, list.remaining(), 20);
        for _ in 0..n {
            self.columns.push(Column::parse(list.record_frame()?)?);
        }
        let (n, mut list) = cursor.list_frame()?;
        reserve(&mut self.aliases, n, list.remaining(), 16);
        for _ in 0..n {
            let mut record = list.record_frame()?;
            self.aliases.push(Alias {
                column: id(&mut record)?,
                field: id(&mut record)?,
            });
        }
        // Streamer information of fields with the streamer role, which are not read.
        cursor.list_frame().map(|_| ())
    }
}

/// Makes room for `n` records where `bytes` can hold as many of at least `least` bytes.
fn reserve<T>(records: &mut Vec<T>, n: usize, bytes: usize, least: usize) {
    records.reserve(n.min(bytes.checked_div(least).unwrap_or(0)));
}

fn id(cursor: &mut Cursor<'_>) -> Result<usize> {
    Ok(usize::try_from(cursor.u32()?).unwrap_or(usize::MAX))
}

impl Field {
    fn parse(mut record: Cursor<'_>) -> Result<Field> {
        let _field_version = record.u32()?;
        let _type_version = record.u32()?;
        let parent = id(&mut record)?;
        let role = match record.u16()? {
            0 => Role::Leaf,
            1 => Role::Collection,
            2 => Role::Record,
            3 => Role::Variant,
            4 => Role::Streamer,
            other => Role::Unknown(other),
        };
        let flags = record.u16()?;
        let name = record.string()?;
        let type_name = record.string()?;
        let type_alias = record.string()?;
        let description = record.string()?;
        let repetition = match flags & REPETITIVE {
            0 => None,
            _ => Some(record.u64()?),
        };
        let projected_from = match flags & PROJECTED {
            0 => None,
            _ => Some(id(&mut record)?),
        };
        Ok(Field {
            parent,
            role,
            repetition,
            projected_from,
            name,
            type_name,
            type_alias,
            description,
        })
    }
}

impl Column {
    fn parse(mut record: Cursor<'_>) -> Result<Column> {
        let number = record.u16()?;
        let bits = record.u16()?;
        let field = id(&mut record)?;
        let flags = record.u16()?;
        let representation = record.u16()?;
        let first = match flags & DEFERRED {
            0 => None,
            _ => Some(record.i64()?),
        };
        let range = match flags & RANGE {
            0 => None,
            _ => Some((record.f64()?, record.f64()?)),
        };
        Ok(Column {
            field,
            encoding: Encoding::of(number, bits, range),
            first_element: first.map(i64::unsigned_abs),
            first_suppressed: first.is_some_and(i64::is_negative),
            representation,
        })
    }
}
