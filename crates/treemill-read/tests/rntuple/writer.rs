//! Writes small RNTuples, uncompressed, from the format's specification: also what no real writer would write.

use treemill_format::key::Key;
use xxhash_rust::xxh3::xxh3_64;

#[derive(Clone, Default)]
pub struct Field {
    pub parent: u32,
    pub role: u16,
    pub repetition: Option<u64>,
    pub projected_from: Option<u32>,
    pub name: &'static str,
    pub type_name: &'static str,
}

#[derive(Clone, Copy, Default)]
pub struct Column {
    pub kind: u16,
    pub bits: u16,
    pub field: u32,
    pub representation: u16,
    pub first: Option<i64>,
}

/// A column's pages in a cluster: elements and bytes of each. `None` if it is suppressed.
pub type Pages = Option<Vec<(u32, Vec<u8>)>>;

#[derive(Clone, Default)]
pub struct Cluster {
    pub entries: u64,
    /// The columns that the cluster has pages of; columns that came later are not among them.
    pub columns: Vec<Pages>,
}

#[derive(Clone, Default)]
pub struct NTuple {
    pub fields: Vec<Field>,
    pub columns: Vec<Column>,
    pub aliases: Vec<(u32, u32)>,
    pub clusters: Vec<Cluster>,
    pub feature_flags: u64,
}

/// The part that is written, for tests that damage it before its checksum is made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Header,
    PageList,
    Footer,
    Page,
}

impl NTuple {
    /// Adds a field; returns its ID.
    pub fn field(
        &mut self,
        parent: Option<u32>,
        role: u16,
        name: &'static str,
        type_name: &'static str,
    ) -> u32 {
        let id = self.fields.len() as u32;
        self.fields.push(Field {
            parent: parent.unwrap_or(id),
            role,
            name,
            type_name,
            ..Field::default()
        });
        id
    }

    /// Adds a column; returns its ID.
    pub fn column(&mut self, field: u32, kind: u16, bits: u16) -> u32 {
        self.columns.push(Column {
            kind,
            bits,
            field,
            ..Column::default()
        });
        self.columns.len() as u32 - 1
    }

    /// The file's bytes and the anchor's key.
    pub fn write(&self) -> (Vec<u8>, Key) {
        self.write_damaged(&mut |_, _| ())
    }

    /// Writes like `write`, with each part shown to `damage` before its checksum is made.
    pub fn write_damaged(&self, damage: &mut dyn FnMut(Part, &mut Vec<u8>)) -> (Vec<u8>, Key) {
        let mut file = b"root, or not".to_vec();
        let mut header = self.feature_flags.to_le_bytes().to_vec();
        for text in ["ntuple", "a description", "treemill's tests"] {
            header.extend(string(text));
        }
        header.extend(list(self.fields.iter().map(Field::record)));
        header.extend(list(self.columns.iter().map(Column::record)));
        header.extend(list(self.aliases.iter().map(|(column, field)| {
            record(&[column.to_le_bytes(), field.to_le_bytes()].concat())
        })));
        header.extend(list([].into_iter()));
        damage(Part::Header, &mut header);
        let (header, header_checksum) = envelope(1, &header);

        let mut summaries = Vec::new();
        let mut clusters = Vec::new();
        let mut first_entry = 0_u64;
        for cluster in &self.clusters {
            summaries.push(record(
                &[first_entry.to_le_bytes(), cluster.entries.to_le_bytes()].concat(),
            ));
            first_entry += cluster.entries;
            let columns: Vec<Vec<u8>> = cluster
                .columns
                .iter()
                .map(|pages| place(&mut file, pages, damage))
                .collect();
            clusters.push(list(columns.into_iter()));
        }
        let n = summaries.len() as u32;
        let mut page_list = header_checksum.to_le_bytes().to_vec();
        page_list.extend(list(summaries.into_iter()));
        page_list.extend(list(clusters.into_iter()));
        damage(Part::PageList, &mut page_list);
        let (page_list, _) = envelope(3, &page_list);
        let at = append(&mut file, &page_list);

        let mut footer = 0_u64.to_le_bytes().to_vec();
        footer.extend(header_checksum.to_le_bytes());
        footer.extend(record(&[]));
        let mut group = 0_u64.to_le_bytes().to_vec();
        group.extend(first_entry.to_le_bytes());
        group.extend(n.to_le_bytes());
        group.extend((page_list.len() as u64).to_le_bytes());
        group.extend((page_list.len() as u32).to_le_bytes());
        group.extend(at.to_le_bytes());
        footer.extend(list([record(&group)].into_iter()));
        damage(Part::Footer, &mut footer);
        let (footer, _) = envelope(2, &footer);

        let mut anchor: Vec<u8> = [1_u16, 0, 1, 0]
            .iter()
            .flat_map(|v| v.to_be_bytes())
            .collect();
        for envelope in [&header, &footer] {
            let at = append(&mut file, envelope);
            for number in [at, envelope.len() as u64, envelope.len() as u64] {
                anchor.extend(number.to_be_bytes());
            }
        }
        anchor.extend((1_u64 << 30).to_be_bytes());
        let mut object = (0x4000_0000 | (anchor.len() as u32 + 2))
            .to_be_bytes()
            .to_vec();
        object.extend(2_u16.to_be_bytes());
        object.extend(&anchor);
        object.extend(xxh3_64(&anchor).to_be_bytes());
        let seek = append(&mut file, &object);
        let key = Key {
            seek,
            record_bytes: object.len() as u64,
            key_len: 0,
            object_bytes: object.len(),
            cycle: 1,
            parent: 0,
            class: "ROOT::RNTuple".to_owned(),
            name: "ntuple".to_owned(),
            title: String::new(),
        };
        (file, key)
    }
}

impl Field {
    fn record(&self) -> Vec<u8> {
        let mut bytes = [
            0_u32.to_le_bytes(),
            0_u32.to_le_bytes(),
            self.parent.to_le_bytes(),
        ]
        .concat();
        let flags =
            u16::from(self.repetition.is_some()) | u16::from(self.projected_from.is_some()) << 1;
        bytes.extend(self.role.to_le_bytes());
        bytes.extend(flags.to_le_bytes());
        for text in [self.name, self.type_name, "", ""] {
            bytes.extend(string(text));
        }
        bytes.extend(self.repetition.iter().flat_map(|n| n.to_le_bytes()));
        bytes.extend(self.projected_from.iter().flat_map(|n| n.to_le_bytes()));
        record(&bytes)
    }
}

impl Column {
    fn record(&self) -> Vec<u8> {
        let mut bytes = [self.kind.to_le_bytes(), self.bits.to_le_bytes()].concat();
        bytes.extend(self.field.to_le_bytes());
        bytes.extend(u16::from(self.first.is_some()).to_le_bytes());
        bytes.extend(self.representation.to_le_bytes());
        bytes.extend(self.first.iter().flat_map(|n| n.to_le_bytes()));
        record(&bytes)
    }
}

/// Puts pages into the file; returns their list.
fn place(file: &mut Vec<u8>, pages: &Pages, damage: &mut dyn FnMut(Part, &mut Vec<u8>)) -> Vec<u8> {
    let mut descriptions = Vec::new();
    let mut n = 0_u32;
    for (elements, bytes) in pages.iter().flatten() {
        let mut bytes = bytes.clone();
        damage(Part::Page, &mut bytes);
        let at = append(file, &bytes);
        append(file, &xxh3_64(&bytes).to_le_bytes());
        descriptions.extend((-(*elements as i32)).to_le_bytes());
        descriptions.extend((bytes.len() as u32).to_le_bytes());
        descriptions.extend(at.to_le_bytes());
        n += 1;
    }
    if pages.is_none() {
        descriptions.extend(i64::MIN.to_le_bytes());
    } else {
        descriptions.extend(0_i64.to_le_bytes());
        descriptions.extend(505_u32.to_le_bytes());
    }
    counted(n, &descriptions)
}

fn append(file: &mut Vec<u8>, bytes: &[u8]) -> u64 {
    let at = file.len() as u64;
    file.extend(bytes);
    at
}

fn string(text: &str) -> Vec<u8> {
    [&(text.len() as u32).to_le_bytes(), text.as_bytes()].concat()
}

fn record(bytes: &[u8]) -> Vec<u8> {
    [&(bytes.len() as i64 + 8).to_le_bytes(), bytes].concat()
}

fn list(items: impl Iterator<Item = Vec<u8>>) -> Vec<u8> {
    let items: Vec<Vec<u8>> = items.collect();
    counted(items.len() as u32, &items.concat())
}

pub fn counted(n: u32, bytes: &[u8]) -> Vec<u8> {
    [
        &(-(bytes.len() as i64 + 12)).to_le_bytes(),
        &n.to_le_bytes()[..],
        bytes,
    ]
    .concat()
}

fn envelope(kind: u64, payload: &[u8]) -> (Vec<u8>, u64) {
    let mut bytes = ((payload.len() as u64 + 16) << 16 | kind)
        .to_le_bytes()
        .to_vec();
    bytes.extend(payload);
    let checksum = xxh3_64(&bytes);
    bytes.extend(checksum.to_le_bytes());
    (bytes, checksum)
}
