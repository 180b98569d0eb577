//! Opens ROOT files for the tests, from the corpus beside the repository if it is there.
#![allow(dead_code)]

use std::ops::Range;
use std::path::{Path, PathBuf};
use treemill_format::compress::Decompressor;
use treemill_format::directory::{Directory, parse_key_list};
use treemill_format::header::FileHeader;
use treemill_format::key::Key;
use treemill_format::layout::{Layout, Number};
use treemill_format::reader::Reader;
use treemill_format::streamer::StreamerInfos;

/// The folder of test files, or `None` (said aloud) if it is absent.
pub fn corpus() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    if folder.is_dir() {
        return Some(folder);
    }
    println!("skipped: no corpus at {}", folder.display());
    None
}

/// All ROOT files of the corpus, in order.
pub fn corpus_files() -> Vec<PathBuf> {
    let Some(folder) = corpus() else {
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "root")
        })
        .collect();
    files.sort();
    files
}

/// A tree's record, decompressed, with what `parse_tree` needs.
pub struct Record {
    pub path: String,
    pub key: Key,
    pub object: Vec<u8>,
}

/// A file's streamer info record and its trees' records.
pub struct File {
    pub info_object: Vec<u8>,
    pub info_key_len: usize,
    pub infos: StreamerInfos,
    pub trees: Vec<Record>,
}

fn slice(bytes: &[u8], range: Range<u64>) -> &[u8] {
    &bytes[range.start as usize..range.end as usize]
}

fn object(bytes: &[u8], key: &Key) -> Vec<u8> {
    let mut out = Vec::new();
    Decompressor::new()
        .unpack(slice(bytes, key.payload()), key.object_bytes, &mut out)
        .unwrap()
        .to_vec()
}

pub fn open(path: &Path) -> File {
    let bytes = std::fs::read(path).unwrap();
    let size = bytes.len() as u64;
    let header = FileHeader::parse(&bytes, size).unwrap();
    let record = slice(&bytes, header.streamer_info.clone().unwrap());
    let key = Key::parse(&mut Reader::new(record)).unwrap();
    let info_object = object(&bytes, &key);
    let mut file = File {
        infos: StreamerInfos::parse(&info_object, key.key_len).unwrap(),
        info_object,
        info_key_len: key.key_len,
        trees: Vec::new(),
    };
    directory(&bytes, header.root_directory, "", &mut file.trees);
    file
}

fn directory(bytes: &[u8], place: Range<u64>, path: &str, trees: &mut Vec<Record>) {
    let size = bytes.len() as u64;
    let directory_record = Directory::parse(slice(bytes, place), size).unwrap();
    let Some(list) = directory_record.key_list else {
        return;
    };
    for key in parse_key_list(slice(bytes, list), size).unwrap() {
        if key.is_directory() {
            let path = format!("{path}{}/", key.name);
            directory(bytes, key.payload(), &path, trees);
        } else if key.is_tree() {
            let path = format!("{path}{};{}", key.name, key.cycle);
            let object = object(bytes, &key);
            trees.push(Record { path, key, object });
        }
    }
}

/// A layout in few characters, for tables of expectations.
pub fn short(layout: &Layout) -> String {
    match layout {
        Layout::Number(number @ (Number::Float16(_) | Number::Double32(_))) => {
            format!("{number:?}")
        }
        Layout::Number(number) => format!("{number:?}"),
        Layout::Array { item, len } => format!("[{len}]{}", short(item)),
        Layout::Counted { item, header } => format!("counted{header} {}", short(item)),
        Layout::Vector { item, header } => format!("vector{header} {}", short(item)),
        Layout::String { header } => format!("string{header}"),
        Layout::Record(fields) => {
            let fields: Vec<String> = fields
                .iter()
                .map(|(name, item)| format!("{name}: {}", short(item)))
                .collect();
            format!("{{{}}}", fields.join(", "))
        }
        Layout::Object(object) => format!("object({})", object.class.name),
        Layout::Sized { item, .. } => format!("sized({})", short(item)),
        Layout::Pointer(pointer) => format!("pointer({})", short(&pointer.to)),
        Layout::Objects(objects) => format!("{:?}({})", objects.class, short(&objects.item)),
        Layout::Clones(clones) => format!("clones {}", short(&clones.item)),
        Layout::Absent { reason } => format!("absent: {reason}"),
        Layout::Bits => "bits".to_owned(),
        Layout::CharStar => "char*".to_owned(),
        Layout::Unsupported { reason } => format!("unsupported: {reason}"),
    }
}
