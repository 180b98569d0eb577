//! Reads branches and prints their values, for comparison with other readers:
//! `cat FILE [TREE [BRANCH [START STOP]]]`.
//!
//! Without BRANCH: one line for each branch of the tree (all trees without TREE), with its type, number of entries and
//! a checksum over its decoded values, or the error. With BRANCH: its values, one entry a line; with `*` those of all
//! branches, each after its line.
#![allow(clippy::arithmetic_side_effects)]

use arrow_array::cast::AsArray;
use arrow_array::{Array, ArrayRef, types as t};
use arrow_schema::DataType as T;
use std::error::Error;
use std::fmt::Write as _;
use std::io::Write as _;
use std::sync::Arc;
use treemill_read::{File, Options, Reader, TreeFile};
use treemill_source::Local;

fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let args: Vec<&str> = args.iter().map(String::as_str).collect();
    let (path, rest) = args
        .split_first()
        .ok_or("cat FILE [TREE [BRANCH [START STOP]]]")?;
    let file = File::open(Arc::new(Local::open(path)?))?;
    match rest {
        [] => {
            for key in file.trees() {
                let name = format!("{};{}", key.path, key.cycle);
                println!("# {name} {}", key.class);
                match file.tree(&name) {
                    Ok(tree) => summary(&tree, false),
                    Err(error) => println!("# error {error}"),
                }
            }
        }
        [tree] => summary(&file.tree(tree)?, false),
        [tree, "*"] => summary(&file.tree(tree)?, true),
        [tree, branch, range @ ..] => {
            let tree = file.tree(tree)?;
            let index = tree.branch(branch).ok_or("no such branch")?;
            let range = match range {
                [start, stop] => start.parse()?..stop.parse()?,
                _ => 0..tree.tree().entries,
            };
            let array = Reader::new(tree, &[index])?.read(0, range)?;
            for i in 0..array.len() {
                let mut line = String::new();
                print(&array, i, &mut line);
                println!("{line}");
            }
        }
    }
    Ok(())
}

/// One line for each branch: its index, name, type, entries, and checksum of the values; and the values.
fn summary(tree: &Arc<TreeFile>, values: bool) {
    let mut out = std::io::BufWriter::new(std::io::stdout().lock());
    for (index, branch) in tree.tree().branches.iter().enumerate() {
        let mut lines = String::new();
        let line = match sum(tree, index, &mut lines) {
            Ok((kind, rows, sum)) => format!("{kind}\t{rows}\t{sum:016x}"),
            Err(error) => format!("{}\terror\t{error}", branch.cpp_type),
        };
        if !values || line.contains("\terror\t") {
            lines.clear();
        }
        // A reader that has seen enough closes the pipe.
        if write!(out, "{index}\t{}\t{line}\n{lines}", branch.name).is_err() {
            return;
        }
    }
}

/// Type, entries and checksum of a branch, whose values are appended to `lines`.
fn sum(
    tree: &Arc<TreeFile>,
    index: usize,
    lines: &mut String,
) -> Result<(String, u64, u64), Box<dyn Error>> {
    // Branches that were made later have fewer entries than their tree.
    let branch = tree.tree().branches.get(index).map_or(0, |b| b.entries);
    let entries = tree.tree().entries.min(branch);
    let mut reader = Reader::new(Arc::clone(tree), &[index])?;
    let kind = reader.read(0, 0..0)?.data_type().to_string();
    let mut batches = reader.batches(0..entries, Options::default())?;
    let (mut rows, mut sum) = (0, 0_u64);
    while let Some(mut batch) = batches.next_batch() {
        let column = batch.column(0)?;
        rows += column.len() as u64;
        let from = lines.len();
        for i in 0..column.len() {
            print(&column, i, lines);
            lines.push('\n');
        }
        for byte in lines.bytes().skip(from) {
            sum = (sum ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    Ok((kind, rows, sum))
}

/// Value `i` in JSON's form, but for floats, which are shown by their bits.
fn print(array: &ArrayRef, i: usize, out: &mut String) {
    macro_rules! number {
        ($type:ty) => {
            drop(write!(out, "{}", array.as_primitive::<$type>().value(i)))
        };
    }
    let many = |items: ArrayRef, out: &mut String| {
        out.push('[');
        for i in 0..items.len() {
            if i > 0 {
                out.push(',');
            }
            print(&items, i, out);
        }
        out.push(']');
    };
    match array.data_type() {
        T::Boolean => out.push(if array.as_boolean().value(i) {
            '1'
        } else {
            '0'
        }),
        T::Int8 => number!(t::Int8Type),
        T::Int16 => number!(t::Int16Type),
        T::Int32 => number!(t::Int32Type),
        T::Int64 => number!(t::Int64Type),
        T::UInt8 => number!(t::UInt8Type),
        T::UInt16 => number!(t::UInt16Type),
        T::UInt32 => number!(t::UInt32Type),
        T::UInt64 => number!(t::UInt64Type),
        T::Float32 => drop(write!(
            out,
            "\"{:08x}\"",
            array.as_primitive::<t::Float32Type>().value(i).to_bits()
        )),
        T::Float64 => drop(write!(
            out,
            "\"{:016x}\"",
            array.as_primitive::<t::Float64Type>().value(i).to_bits()
        )),
        T::Binary => {
            out.push('"');
            for byte in array.as_binary::<i32>().value(i) {
                let _ = write!(out, "{byte:02x}");
            }
            out.push('"');
        }
        T::List(_) => many(array.as_list::<i32>().value(i), out),
        T::FixedSizeList(..) => many(array.as_fixed_size_list().value(i), out),
        T::Struct(_) => {
            out.push('[');
            for (n, column) in array.as_struct().columns().iter().enumerate() {
                if n > 0 {
                    out.push(',');
                }
                print(column, i, out);
            }
            out.push(']');
        }
        other => drop(write!(out, "{other}")),
    }
}
