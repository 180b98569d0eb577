//! Reads the fields of RNTuples and prints them as lines of JSON, for comparison with other readers:
//! `rntuple_cat [--batch=N] [--remote] [--quiet] FILE [NTUPLE [FIELD [START STOP]]]`.
//!
//! One line for each RNTuple and one for each of its top fields (or the one FIELD, which may be a member:
//! `muons.pt`), with its Arrow type and its values, or the error. `--batch` reads batches of N entries,
//! `--remote` reads as from a distant source, and `--quiet` prints no values.
#![allow(clippy::arithmetic_side_effects)]

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, types as t};
use arrow_schema::{DataType as T, Field};
use std::error::Error;
use std::fmt::Write as _;
use std::ops::Range;
use std::sync::Arc;
use treemill_read::rntuple::{NTupleFile, TUPLE_KEY};
use treemill_read::{ErrorKind, File, Options, ReadError, Reader};
use treemill_source::{Local, Memory, Source};
use treemill_testing::FAR;

struct How {
    options: Options,
    is_quiet: bool,
}

fn main() -> Result<(), Box<dyn Error>> {
    let mut how = How {
        options: Options {
            batch_entries: u64::MAX,
            ..Options::default()
        },
        is_quiet: false,
    };
    let mut is_remote = false;
    let mut rest = Vec::new();
    for arg in std::env::args().skip(1) {
        match arg.split_once('=').unwrap_or((&arg, "")) {
            ("--batch", n) => {
                how.options.batch_entries = n.parse()?;
                how.options.least_entries = how.options.batch_entries;
            }
            ("--remote", _) => is_remote = true,
            ("--quiet", _) => how.is_quiet = true,
            _ => rest.push(arg),
        }
    }
    let rest: Vec<&str> = rest.iter().map(String::as_str).collect();
    let (path, rest) = rest
        .split_first()
        .ok_or("rntuple_cat FILE [NTUPLE [FIELD [START STOP]]]")?;
    let source: Arc<dyn Source> = match is_remote {
        true => Arc::new(Memory::new(*path, std::fs::read(path)?, FAR)),
        false => Arc::new(Local::open(path)?),
    };
    let file = File::open(source)?;
    let names = match rest.first() {
        Some(name) => vec![(*name).to_owned()],
        None => file
            .ntuples()
            .iter()
            .map(|key| format!("{};{}", key.path, key.cycle))
            .collect(),
    };
    for name in names {
        let ntuple = match file.ntuple(&name) {
            Ok(ntuple) => ntuple,
            Err(error) => {
                println!("{{\"ntuple\": {}, {}}}", quoted(&name), failure(&error));
                continue;
            }
        };
        let entries = ntuple.ntuple().entries;
        println!("{{\"ntuple\": {}, \"entries\": {entries}}}", quoted(&name));
        let (field, range) = match rest.get(1..).unwrap_or_default() {
            [] => (None, 0..entries),
            [field] => (Some(*field), 0..entries),
            [field, start, stop, ..] => (Some(*field), start.parse()?..stop.parse()?),
            [field, start] => (Some(*field), start.parse()?..entries),
        };
        for (index, named) in ntuple.fields().iter().enumerate() {
            if field.map_or(named.is_top(), |field| field == named.name) {
                println!("{}", line(&ntuple, index, &named.name, range.clone(), &how));
            }
        }
    }
    Ok(())
}

fn line(file: &Arc<NTupleFile>, index: usize, name: &str, range: Range<u64>, how: &How) -> String {
    let read = || -> Result<(Field, Vec<ArrayRef>), ReadError> {
        let kind = file.arrow_field(index)?;
        let mut reader = Reader::new(Arc::clone(file), &[index])?;
        let mut batches = reader.batches(range, how.options)?;
        let mut arrays = Vec::new();
        while let Some(mut batch) = batches.next_batch() {
            let array = batch.column(0)?;
            if !how.is_quiet {
                arrays.push(array);
            }
        }
        Ok((kind, arrays))
    };
    let mut out = format!("{{\"field\": {}, ", quoted(name));
    match read() {
        Ok((kind, arrays)) => {
            let _ = write!(out, "\"type\": {}", quoted(&kind.data_type().to_string()));
            if !how.is_quiet {
                out.push_str(", \"values\": [");
                let mut separator = "";
                for array in &arrays {
                    assert_eq!(
                        array.data_type(),
                        kind.data_type(),
                        "the array is of the announced type"
                    );
                    for i in 0..array.len() {
                        out.push_str(separator);
                        value(array, &kind, i, &mut out);
                        separator = ", ";
                    }
                }
                out.push(']');
            }
        }
        Err(error) => out.push_str(&failure(&error)),
    }
    out.push('}');
    out
}

fn failure(error: &ReadError) -> String {
    let kind = match error.kind {
        ErrorKind::Source => "source",
        ErrorKind::Format | ErrorKind::Truncated => "format",
        ErrorKind::Unsupported => "unsupported",
        ErrorKind::NotFound => "not found",
    };
    format!(
        "\"kind\": \"{kind}\", \"error\": {}",
        quoted(&error.to_string())
    )
}

/// A JSON string.
fn quoted(text: &str) -> String {
    let mut out = String::from('"');
    for c in text.chars() {
        match c {
            '"' | '\\' => out.extend(['\\', c]),
            c if c < ' ' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
    out
}

/// A JSON number, as Python reads it: singles by the digits of the double of the same value.
fn real(value: f64, out: &mut String) {
    match value {
        _ if value.is_nan() => out.push_str("NaN"),
        _ if value.is_infinite() && value > 0.0 => out.push_str("Infinity"),
        _ if value.is_infinite() => out.push_str("-Infinity"),
        _ => {
            let _ = write!(out, "{value:?}");
        }
    }
}

fn list(items: &ArrayRef, of: &Field, out: &mut String) {
    out.push('[');
    for i in 0..items.len() {
        if i > 0 {
            out.push_str(", ");
        }
        value(items, of, i, out);
    }
    out.push(']');
}

/// Value `i` of an array as JSON; tuples are lists.
fn value(array: &ArrayRef, of: &Field, i: usize, out: &mut String) {
    if array.is_null(i) {
        out.push_str("null");
        return;
    }
    macro_rules! number {
        ($type:ty) => {{
            let _ = write!(out, "{}", array.as_primitive::<$type>().value(i));
        }};
    }
    match array.data_type() {
        T::Null => out.push_str("null"),
        T::Boolean => {
            let _ = write!(out, "{}", array.as_boolean().value(i));
        }
        T::Int8 => number!(t::Int8Type),
        T::UInt8 => number!(t::UInt8Type),
        T::Int16 => number!(t::Int16Type),
        T::UInt16 => number!(t::UInt16Type),
        T::Int32 => number!(t::Int32Type),
        T::UInt32 => number!(t::UInt32Type),
        T::Int64 => number!(t::Int64Type),
        T::UInt64 => number!(t::UInt64Type),
        T::Float32 => real(
            f64::from(array.as_primitive::<t::Float32Type>().value(i)),
            out,
        ),
        T::Float64 => real(array.as_primitive::<t::Float64Type>().value(i), out),
        T::Binary => {
            let bytes = array.as_binary::<i32>().value(i);
            out.push_str(&quoted(&String::from_utf8_lossy(bytes)));
        }
        T::List(item) => list(&array.as_list::<i32>().value(i), item, out),
        T::FixedSizeList(item, _) => list(&array.as_fixed_size_list().value(i), item, out),
        T::Struct(fields) => {
            let is_tuple = of.metadata().contains_key(TUPLE_KEY);
            out.push(if is_tuple { '[' } else { '{' });
            for (k, (field, member)) in fields.iter().zip(array.as_struct().columns()).enumerate() {
                let separator = if k > 0 { ", " } else { "" };
                out.push_str(separator);
                if !is_tuple {
                    let _ = write!(out, "{}: ", quoted(field.name()));
                }
                value(member, field, i, out);
            }
            out.push(if is_tuple { ']' } else { '}' });
        }
        T::Union(fields, _) => {
            let union = array.as_union();
            let fields = fields.iter().map(|(_, field)| field);
            if let Some(field) = fields.into_iter().nth(union.type_id(i) as usize) {
                value(&union.value(i), field, 0, out);
            }
        }
        other => {
            let _ = write!(out, "\"{other}\"");
        }
    }
}
