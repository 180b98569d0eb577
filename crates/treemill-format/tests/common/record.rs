//! Writes tree records by hand, as ROOT 6 does, so that tests need no file. No streamer info goes with them.
#![allow(dead_code)]

pub const KEY_LEN: usize = 60;

/// Bytes with a byte count and version around them.
pub fn object(version: u16, content: &[u8]) -> Vec<u8> {
    let mut out = (0x4000_0000 | (content.len() as u32 + 2))
        .to_be_bytes()
        .to_vec();
    out.extend(version.to_be_bytes());
    out.extend(content);
    out
}

/// An object in the place of a pointer, with its class.
pub fn pointer(class: &str, body: &[u8]) -> Vec<u8> {
    let mut out = (0x4000_0000 | (class.len() + 5 + body.len()) as u32)
        .to_be_bytes()
        .to_vec();
    out.extend([0xff; 4]);
    out.extend(class.as_bytes());
    out.push(0);
    out.extend(body);
    out
}

/// A pointer to an object that starts at `at` in the record's object.
pub fn reference(at: usize) -> Vec<u8> {
    ((at + KEY_LEN + 2) as u32).to_be_bytes().to_vec()
}

pub fn string(text: &str) -> Vec<u8> {
    let mut out = vec![text.len() as u8];
    out.extend(text.as_bytes());
    out
}

pub fn tobject() -> Vec<u8> {
    vec![0, 1, 0, 0, 0, 0, 3, 0, 0, 0]
}

pub fn named(name: &str, title: &str) -> Vec<u8> {
    object(1, &[tobject(), string(name), string(title)].concat())
}

pub fn array(items: &[Vec<u8>]) -> Vec<u8> {
    let head = [
        tobject(),
        string(""),
        (items.len() as u32).to_be_bytes().to_vec(),
        vec![0; 4],
    ]
    .concat();
    object(3, &[head, items.concat()].concat())
}

pub fn list(items: &[Vec<u8>]) -> Vec<u8> {
    let mut content = [
        tobject(),
        string(""),
        (items.len() as u32).to_be_bytes().to_vec(),
    ]
    .concat();
    for item in items {
        content.extend(item);
        content.push(0);
    }
    object(5, &content)
}

/// A leaf of a class like TLeafF. `counter` is a pointer's bytes.
pub fn leaf(
    class: &str,
    name: &str,
    title: &str,
    len: i32,
    unsigned: bool,
    counter: &[u8],
) -> Vec<u8> {
    let mut content = named(name, title);
    for number in [len, 4, 0] {
        content.extend(number.to_be_bytes());
    }
    content.extend([0, u8::from(unsigned)]);
    content.extend(counter);
    let mut outer = object(2, &content);
    outer.extend([0; 8]); // fMinimum, fMaximum
    pointer(class, &object(1, &outer))
}

pub const NULL: [u8; 4] = [0; 4];

/// What a branch record holds besides its name.
#[derive(Default)]
pub struct BranchRecord {
    pub leaves: Vec<Vec<u8>>,
    pub branches: Vec<Vec<u8>>,
    /// First entry, seek, bytes.
    pub baskets: Vec<(i64, i64, i32)>,
    pub embedded: Vec<Vec<u8>>,
    pub entries: i64,
    pub entry_offset_len: i32,
    pub file: String,
}

/// A TBranch at version 13, without its pointer.
pub fn branch(name: &str, title: &str, record: &BranchRecord) -> Vec<u8> {
    let mut b = named(name, title);
    b.extend(object(2, &[0, 0, 3, 0xe9]));
    let written = record.baskets.len() as i32;
    for number in [505, 32_000, record.entry_offset_len, written] {
        b.extend(number.to_be_bytes());
    }
    b.extend(record.entries.to_be_bytes());
    b.extend(object(0, &[0x1a, 0xa1, 0x2f, 0x10, 0]));
    for number in [0, written + 1, 0] {
        b.extend(number.to_be_bytes());
    }
    for number in [record.entries, 0, 1234, 567] {
        b.extend(number.to_be_bytes());
    }
    b.extend(array(&record.branches));
    b.extend(array(&record.leaves));
    let mut embedded = vec![NULL.to_vec(); record.baskets.len()];
    embedded.extend(record.embedded.clone());
    b.extend(array(&embedded));
    let stored: i64 = if record.embedded.is_empty() {
        record.entries
    } else {
        0
    };
    b.push(1);
    b.extend(
        record
            .baskets
            .iter()
            .flat_map(|(_, _, bytes)| bytes.to_be_bytes()),
    );
    b.extend(0i32.to_be_bytes());
    b.push(1);
    b.extend(
        record
            .baskets
            .iter()
            .flat_map(|(first, _, _)| first.to_be_bytes()),
    );
    b.extend(stored.to_be_bytes());
    b.push(1);
    b.extend(
        record
            .baskets
            .iter()
            .flat_map(|(_, seek, _)| seek.to_be_bytes()),
    );
    b.extend(0i64.to_be_bytes());
    b.extend(string(&record.file));
    object(13, &b)
}

/// A TTree at version 20.
pub fn tree(
    name: &str,
    entries: i64,
    auto_flush: i64,
    ranges: &[(i64, i64)],
    branches: &[Vec<u8>],
    aliases: &[u8],
) -> Vec<u8> {
    let mut t = named(name, "by hand");
    for attributes in [6, 4, 8] {
        t.extend(object(2, &vec![0; attributes]));
    }
    for number in [entries, 1234, 567, 0, 0] {
        t.extend(number.to_be_bytes());
    }
    t.extend(1f64.to_be_bytes());
    for number in [0, 25, 0, 1000, ranges.len() as i32] {
        t.extend(number.to_be_bytes());
    }
    for number in [0, 0, 0, -300_000_000, auto_flush, 1_000_000] {
        t.extend(number.to_be_bytes());
    }
    t.push(1);
    t.extend(ranges.iter().flat_map(|(end, _)| end.to_be_bytes()));
    t.push(1);
    t.extend(ranges.iter().flat_map(|(_, size)| size.to_be_bytes()));
    t.extend(object(0, &[0x1a, 0xa1, 0x2f, 0x10, 0]));
    t.extend(array(branches));
    t.extend(array(&[]));
    t.extend(aliases);
    // fIndexValues and fIndex; fTreeIndex, fFriends, fUserInfo and fBranchRef.
    t.extend([0; 8]);
    t.extend([NULL; 4].concat());
    object(20, &t)
}

/// An unflushed basket of `entries` entries, with entry offsets if given.
pub fn basket(entries: i32, data: &[u8], offsets: Option<&[i32]>) -> Vec<u8> {
    let strings = [string("TBasket"), string("x"), string("t")].concat();
    let key_len = (26 + strings.len() + 19) as i32;
    let last = key_len + data.len() as i32;
    let mut b = 0i32.to_be_bytes().to_vec();
    b.extend(4u16.to_be_bytes());
    b.extend((data.len() as i32).to_be_bytes());
    b.extend([0; 4]);
    b.extend((key_len as u16).to_be_bytes());
    b.extend([0; 2]);
    b.extend([0; 8]);
    b.extend(strings);
    b.extend(3u16.to_be_bytes());
    for number in [32_000, 1000, entries, last] {
        b.extend(number.to_be_bytes());
    }
    match offsets {
        // As ROOT: without entries the flag says that there are offsets, and there are none.
        Some([]) => b.push(11),
        Some(offsets) => {
            b.push(11);
            b.extend((offsets.len() as i32).to_be_bytes());
            b.extend(
                offsets
                    .iter()
                    .flat_map(|offset| (offset + key_len).to_be_bytes()),
            );
        }
        None => b.push(12),
    }
    b.extend(vec![0; key_len as usize]);
    b.extend(data);
    pointer("TBasket", &b)
}
