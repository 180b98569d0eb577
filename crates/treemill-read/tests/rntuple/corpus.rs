//! RNTuples that others wrote. The files are not part of the project: without them the tests skip, and say so.

use crate::values::{by, read};
use std::path::PathBuf;
use std::sync::Arc;
use treemill_read::File;
use treemill_read::rntuple::NTupleFile;
use treemill_source::{Costs, Local, Memory, Source};
use treemill_testing::FAR;

/// A file of the corpus; `None`, with the reason printed, if there is none.
fn file(name: &str, costs: Costs) -> Option<Arc<File>> {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/corpus")
        .join(name);
    if !path.is_file() {
        println!("skipped: {} is not there", path.display());
        return None;
    }
    let source: Arc<dyn Source> = match costs {
        Costs::NEAR => Arc::new(Local::open(path.to_str().unwrap()).unwrap()),
        _ => Arc::new(Memory::new(name, std::fs::read(path).unwrap(), costs)),
    };
    Some(File::open(source).unwrap())
}

fn field(ntuple: &Arc<NTupleFile>, name: &str) -> Vec<String> {
    let field = ntuple
        .field(name)
        .unwrap_or_else(|| panic!("no field {name}"));
    read(ntuple, field, by(u64::MAX)).unwrap()
}

#[test]
fn several_ntuples_in_a_file() {
    let Some(file) = file(
        "rntviewer-testfile-multiple-rntuples-v1-0-0-0.root",
        Costs::NEAR,
    ) else {
        return;
    };
    let names: Vec<String> = file.ntuples().into_iter().map(|key| key.path).collect();
    assert_eq!(names, ["A", "B"]);
    let f = field(&file.ntuple("A").unwrap(), "f");
    assert_eq!((f.len(), f[99].as_str()), (100, "99"));
    let g = field(&file.ntuple("B;1").unwrap(), "g");
    assert_eq!((g.len(), g[99].as_str()), (100, "9900"));
    assert!(file.ntuple("").unwrap_err().to_string().contains("A, B"));
    assert!(file.ntuple("C").unwrap_err().to_string().contains("A, B"));
}

#[test]
fn bits_and_split_columns() {
    if let Some(file) = file("test_bit_rntuple_v1-0-0-0.root", Costs::NEAR) {
        let ntuple = file.ntuple("").unwrap();
        let bits: Vec<bool> = field(&ntuple, "one_bit")
            .iter()
            .map(|b| b == "true")
            .collect();
        assert_eq!(
            bits,
            [
                true, false, false, true, false, false, true, false, false, true
            ]
        );
    }
    if let Some(file) = file("test_split_3e4_rntuple_v1-0-0-0.root", FAR) {
        let ntuple = file.ntuple("ntuple").unwrap();
        assert!(field(&ntuple, "one_int32").iter().all(|v| v == "67305985"));
        assert!(
            field(&ntuple, "two_uint32")
                .iter()
                .all(|v| v == "4293844428")
        );
        let lists = field(&ntuple, "three_vint32");
        assert_eq!(lists.len(), 30_000);
        assert_eq!(lists[2], "[0.099967316, 0.099967316]");
    }
}

#[test]
fn columns_that_came_late() {
    let Some(file) = file("test_extension_columns_rntuple_v1-0-0-0.root", Costs::NEAR) else {
        return;
    };
    let ntuple = file.ntuple("").unwrap();
    assert_eq!(ntuple.ntuple().clusters.len(), 4);
    let floats = field(&ntuple, "float_field");
    assert!(floats[..200].iter().all(|v| v == "0") && floats[201..].iter().all(|v| v != "0"));
    let lists = field(&ntuple, "intvec_field");
    assert!(lists[..400].iter().all(|v| v == "[]") && lists[402..].iter().any(|v| v != "[]"));
}

#[test]
fn members_of_base_classes() {
    let Some(file) = file("test_class_inheritance_rntuple_v1-0-0-1.root", Costs::NEAR) else {
        return;
    };
    let ntuple = file.ntuple("").unwrap();
    let names: Vec<&str> = ntuple
        .fields()
        .iter()
        .map(|field| field.name.as_str())
        .collect();
    for name in [
        "child.child_1",
        "child.base_a1",
        "grandchild.base_a1",
        "multi_parent.base_b",
    ] {
        assert!(names.contains(&name), "{name} in {names:?}");
    }
    assert_eq!(field(&ntuple, "child.base_a1").len(), 10);
}

#[test]
fn all_fields_of_all_files_are_read_and_alike_by_any_batches() {
    for (name, fields) in [
        (
            "cmsopendata2015_ttbar_19980_NANOAOD_RNTupleImporter_rntuple_v1-0-0-1.root",
            969,
        ),
        ("ntpl001_staff_rntuple_v1-0-1-0.root", 11),
        ("test_nested_structs_rntuple_v1-0-0-0.root", 1),
        ("uproot-physlite-rntuple_v1-0-0-0.root", 872),
    ] {
        let (Some(local), Some(remote)) = (file(name, Costs::NEAR), file(name, FAR)) else {
            continue;
        };
        let mut read_fields = 0;
        for key in local.ntuples() {
            let near = local.ntuple(&key.path).unwrap();
            let far = remote.ntuple(&key.path).unwrap();
            for (index, field) in near
                .fields()
                .iter()
                .enumerate()
                .filter(|(_, field)| field.is_top())
            {
                let whole = read(&near, index, by(u64::MAX)).unwrap();
                let parts = read(&far, index, by(7)).unwrap();
                assert_eq!(whole, parts, "{name}: {}", field.name);
                assert_eq!(whole.len() as u64, near.ntuple().entries);
                read_fields += 1;
            }
        }
        assert_eq!(read_fields, fields, "{name}");
    }
}

#[test]
fn metadata_are_read_once() {
    let path = PathBuf::from(env!("CARGO_MANIFEST_DIR"))
        .join("../../../shared/corpus/rntviewer-testfile-multiple-rntuples-v1-0-0-0.root");
    if !path.is_file() {
        println!("skipped: {} is not there", path.display());
        return;
    }
    let source = Arc::new(treemill_testing::Watched::new(Local::open(path).unwrap()));
    let file = File::open(Arc::clone(&source) as Arc<dyn Source>).unwrap();
    let first = file.ntuple("A").unwrap();
    source.reads();
    assert!(Arc::ptr_eq(&first, &file.ntuple("A").unwrap()));
    file.table("A").unwrap();
    assert_eq!(source.reads().len(), 0);
    file.table("B").unwrap();
    assert!(!source.reads().is_empty(), "each has its own");
}
