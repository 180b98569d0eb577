//! Prints the trees and branches of a ROOT file: `dump FILE...`. One tab-separated line per tree and per
//! branch, which can be compared with other readers' views. Does the I/O that the crate itself never does.

use std::fmt::Write;
use std::time::Instant;
use treemill_format::compress::Decompressor;
use treemill_format::directory::{Directory, parse_key_list};
use treemill_format::header::FileHeader;
use treemill_format::key::Key;
use treemill_format::layout::{Layout, Number};
use treemill_format::parse_tree;
use treemill_format::reader::Reader;
use treemill_format::streamer::StreamerInfos;
use treemill_format::tree::{Branch, Tree};

type Error = Box<dyn std::error::Error>;

fn main() {
    for path in std::env::args().skip(1) {
        println!("FILE\t{path}");
        if let Err(error) = file(&path) {
            println!("ERROR\t{error}");
        }
    }
}

fn range(bytes: &[u8], range: std::ops::Range<u64>) -> Result<&[u8], Error> {
    let (start, end) = (usize::try_from(range.start)?, usize::try_from(range.end)?);
    bytes
        .get(start..end)
        .ok_or_else(|| format!("no bytes {start}..{end}").into())
}

fn object(bytes: &[u8], key: &Key) -> Result<Vec<u8>, Error> {
    let payload = range(bytes, key.payload())?;
    let mut out = Vec::new();
    Ok(Decompressor::new()
        .unpack(payload, key.object_bytes, &mut out)?
        .to_vec())
}

fn file(path: &str) -> Result<(), Error> {
    let bytes = std::fs::read(path)?;
    let size = u64::try_from(bytes.len())?;
    let header = FileHeader::parse(&bytes, size)?;
    let infos = match header.streamer_info {
        Some(info) => {
            let record = range(&bytes, info)?;
            let key = Key::parse(&mut Reader::new(record))?;
            StreamerInfos::parse(&object(&bytes, &key)?, key.key_len)?
        }
        None => StreamerInfos::default(),
    };
    directory(&bytes, size, header.root_directory, "", &infos)
}

fn directory(
    bytes: &[u8],
    size: u64,
    place: std::ops::Range<u64>,
    path: &str,
    infos: &StreamerInfos,
) -> Result<(), Error> {
    let Some(list) = Directory::parse(range(bytes, place)?, size)?.key_list else {
        return Ok(());
    };
    for key in parse_key_list(range(bytes, list)?, size)? {
        if key.is_directory() {
            directory(
                bytes,
                size,
                key.payload(),
                &format!("{path}{}/", key.name),
                infos,
            )?;
        } else if key.is_tree() {
            let object = object(bytes, &key)?;
            let start = Instant::now();
            let parsed = parse_tree(&key.class, &object, key.key_len, infos);
            let time = start.elapsed();
            match parsed {
                Ok(tree) => {
                    println!(
                        "TREE\t{path}{};{}\t{}\t{time:?}",
                        key.name, key.cycle, key.class
                    );
                    print(&tree);
                }
                Err(error) => println!("TREEERROR\t{path}{};{}\t{error}", key.name, key.cycle),
            }
        }
    }
    Ok(())
}

fn print(tree: &Tree) {
    println!(
        "ENTRIES\t{}\tclusters\t{:?}\taliases\t{:?}",
        tree.entries, tree.clusters, tree.aliases
    );
    for branch in &tree.branches {
        let Branch {
            name,
            title,
            cpp_type,
            counter,
            entries,
            total_bytes,
            zip_bytes,
            ..
        } = branch;
        let baskets: String = branch.baskets.iter().fold(String::new(), |mut s, b| {
            let _ = write!(s, "{:?}@{:?} ", b.entries, b.bytes);
            s
        });
        let embedded: String = branch.embedded.iter().fold(String::new(), |mut s, b| {
            let offsets = b.offsets.as_ref().map(Vec::len);
            let _ = write!(s, "{:?}={}/{offsets:?} ", b.entries, b.data.len());
            s
        });
        let counting = counter.and_then(|index| tree.branches.get(index));
        println!(
            "BRANCH\t{name}\t{}\t{cpp_type}\t{}\t{}\t{entries}\t{}\t{baskets}\t{embedded}\t{total_bytes}\t{zip_bytes}\t{:?}",
            title.replace(['\t', '\n'], " "),
            short(&branch.layout),
            counting.map_or("-", |branch| branch.name.as_str()),
            branch.has_entry_offsets,
            branch.parent,
        );
    }
}

fn short(layout: &Layout) -> String {
    match layout {
        Layout::Number(number @ (Number::Float16(_) | Number::Double32(_))) => {
            format!("{number:?}")
        }
        Layout::Number(number) => format!("{number:?}").to_lowercase(),
        Layout::Array { item, len } => format!("[{len}]{}", short(item)),
        Layout::Counted { item, header } => format!("counted{header}({})", short(item)),
        Layout::Vector { item, header } => format!("vector{header}({})", short(item)),
        Layout::String { header } => format!("string{header}"),
        Layout::Record(fields) => {
            let fields: Vec<_> = fields
                .iter()
                .map(|(name, item)| format!("{name}:{}", short(item)))
                .collect();
            format!("record{{{}}}", fields.join(","))
        }
        Layout::Object(object) => format!("object({})", object.class.name),
        Layout::Sized { item, .. } => format!("sized({})", short(item)),
        Layout::Pointer(pointer) => format!("pointer({})", short(&pointer.to)),
        Layout::Objects(objects) => format!("{:?}({})", objects.class, short(&objects.item)),
        Layout::Clones(clones) => format!("clones({})", clones.class.escape_ascii()),
        Layout::Absent { reason } => format!("absent({reason})"),
        Layout::Bits => "bits".to_owned(),
        Layout::CharStar => "char*".to_owned(),
        Layout::Unsupported { reason } => format!("unsupported({reason})"),
    }
}
