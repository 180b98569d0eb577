//! Trees in memory, and queries as data, for the tests.
#![allow(dead_code)] // each test program uses a part of it

use serde_json::{Value, json};
use std::sync::Arc;
use treemill_engine::{Catalog, Specification};
use treemill_format::layout::Layout;
use treemill_format::tree::{BasketRef, Branch, Tree};
use treemill_read::{Table, TreeFile};
use treemill_source::{Costs, Memory, Source};
use treemill_testing::Watched;

/// A branch whose entries have a fixed size, in baskets of these bytes.
pub struct Stored {
    pub name: &'static str,
    pub layout: Layout,
    pub baskets: Vec<Vec<u8>>,
    /// TIOFeatures; a basket with unknown ones is `Unsupported` when it is read.
    pub features: Option<u8>,
}

impl Stored {
    pub fn new(name: &'static str, layout: Layout, baskets: Vec<Vec<u8>>) -> Self {
        let features = None;
        Self {
            name,
            layout,
            baskets,
            features,
        }
    }
}

/// A basket's record head as ROOT writes it.
fn head(entries: i32, data: i32, features: Option<u8>) -> Vec<u8> {
    let mut tail = Vec::new();
    for s in ["TBasket", "x", "Events"] {
        tail.push(s.len() as u8);
        tail.extend(s.bytes());
    }
    tail.extend(3_i16.to_be_bytes());
    tail.extend(32_000_i32.to_be_bytes());
    match features {
        Some(features) => {
            tail.extend((-1000_i32).to_be_bytes());
            tail.push(features);
        }
        None => tail.extend(1000_i32.to_be_bytes()),
    }
    tail.extend(entries.to_be_bytes());
    let key_len = 26 + tail.len() as i32 + 5;
    tail.extend((key_len + data).to_be_bytes());
    tail.push(0);
    let mut out = (key_len + data).to_be_bytes().to_vec();
    out.extend(4_i16.to_be_bytes());
    out.extend(data.to_be_bytes());
    out.extend([0; 4]);
    out.extend((key_len as i16).to_be_bytes());
    out.extend(1_i16.to_be_bytes());
    out.extend([0; 8]);
    out.extend(tail);
    out
}

/// A tree with such branches, whose baskets have `per_basket` entries each.
pub fn catalog(per_basket: usize, stored: Vec<Stored>) -> Catalog {
    far(per_basket, stored, Costs::NEAR).0
}

/// The table that `catalog` gives, at these costs, and its source, watched.
pub fn far(
    per_basket: usize,
    stored: Vec<Stored>,
    costs: Costs,
) -> (Catalog, Arc<Watched<Memory>>) {
    let mut bytes = Vec::new();
    let mut branches = Vec::new();
    for of in stored {
        let mut baskets = Vec::new();
        for (n, data) in of.baskets.iter().enumerate() {
            let start = bytes.len() as u64;
            bytes.extend(head(per_basket as i32, data.len() as i32, of.features));
            bytes.extend(data);
            baskets.push(BasketRef {
                entries: (n * per_basket) as u64..((n + 1) * per_basket) as u64,
                bytes: start..bytes.len() as u64,
            });
        }
        branches.push(Branch {
            name: of.name.to_owned(),
            title: String::new(),
            parent: None,
            children: Vec::new(),
            cpp_type: "anything".to_owned(),
            counter: None,
            is_base: false,
            layout: of.layout,
            entries: (baskets.len() * per_basket) as u64,
            has_entry_offsets: false,
            baskets,
            embedded: Vec::new(),
            total_bytes: 0,
            zip_bytes: 0,
        });
    }
    let entries = branches[0].entries;
    let tree = Tree {
        name: "Events".to_owned(),
        title: String::new(),
        entries,
        clusters: (0..entries).step_by(per_basket).collect(),
        aliases: Vec::new(),
        index: None,
        friends: Vec::new(),
        weight: 1.0,
        is_reshuffled: false,
        branches,
    };
    let source = Arc::new(Watched::new(Memory::new("memory", bytes, costs)));
    let file = TreeFile::new(Arc::clone(&source) as Arc<dyn Source>, tree);
    (Catalog::new(Table::from(Arc::new(file))), source)
}

/// Numbers as baskets of a number of entries have them.
pub fn doubles(per_basket: usize, values: impl IntoIterator<Item = f64>) -> Vec<Vec<u8>> {
    let values: Vec<f64> = values.into_iter().collect();
    let baskets = values.chunks(per_basket);
    baskets
        .map(|basket| basket.iter().flat_map(|x| x.to_be_bytes()).collect())
        .collect()
}

/// `name`, as an expression.
pub fn column(name: &str) -> Value {
    json!({"text": name, "tree": {"kind": "name", "id": name, "at": [0, name.len()]}})
}

/// `name > than`, as an expression.
pub fn above(name: &str, than: f64) -> Value {
    let at = json!([0, 1]);
    json!({"text": format!("{name} > {than}"), "tree": {
        "kind": "compare",
        "left": {"kind": "name", "id": name, "at": at},
        "ops": [">"],
        "rights": [{"kind": "const", "value": than, "at": at}],
        "at": at,
    }})
}

/// A query of one booking after these filters.
pub fn query(filters: &[Value], result: Value) -> Specification {
    let steps: Vec<Value> = (0..)
        .zip(filters)
        .map(|(i, expr)| {
            let parent = if i == 0 { Value::Null } else { json!(i - 1) };
            json!({"parent": parent, "action": {"kind": "filter", "expr": expr, "name": null}})
        })
        .collect();
    let at = steps.len().checked_sub(1);
    let spec = json!({
        "version": 1, "steps": steps, "bookings": [{"at": at, "result": result}],
    });
    Specification::parse(&spec.to_string()).unwrap()
}

/// The sum of `name`.
pub fn sum(name: &str) -> Value {
    json!({"kind": "sum", "expr": column(name)})
}
