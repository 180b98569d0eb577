//! Writes streamer info and TBranchElement records by hand, on top of `record`.
#![allow(dead_code)]

use super::record::*;

/// A member: element class, name, comment, code, array length, type.
pub struct Member {
    pub class: &'static str,
    pub name: &'static str,
    pub comment: &'static str,
    pub code: i32,
    pub length: i32,
    pub type_name: &'static str,
}

/// A member without a comment, no array.
pub fn member(
    class: &'static str,
    name: &'static str,
    code: i32,
    type_name: &'static str,
) -> Member {
    Member {
        class,
        name,
        comment: "",
        code,
        length: 0,
        type_name,
    }
}

fn element(member: &Member) -> Vec<u8> {
    let mut base = named(member.name, member.comment);
    for number in [
        member.code,
        4,
        member.length,
        i32::from(member.length > 0),
        member.length,
        0,
        0,
        0,
        0,
    ] {
        base.extend(number.to_be_bytes());
    }
    base.extend(string(member.type_name));
    let mut content = object(4, &base);
    match member.class {
        "TStreamerBase" => content.extend(1i32.to_be_bytes()),
        "TStreamerSTL" => content.extend([0, 0, 0, 1, 0, 0, 0, 5]),
        "TStreamerSTLstring" => {
            content.extend([0, 0, 1, 0x6d, 0, 0, 1, 0x6d]);
            content = object(3, &content);
        }
        "TStreamerBasicPointer" => {
            content.extend(1i32.to_be_bytes());
            content.extend([string("n"), string("Ev")].concat());
        }
        _ => {}
    }
    pointer(member.class, &object(2, &content))
}

/// The list of streamer infos with one class at version 3.
pub fn streamer_infos(class: &str, members: &[Member]) -> Vec<u8> {
    list(&[streamer_info(class, 3, members)])
}

/// One class, after its pointer.
pub fn streamer_info(class: &str, version: i32, members: &[Member]) -> Vec<u8> {
    let elements: Vec<Vec<u8>> = members.iter().map(element).collect();
    let mut info = named(class, "");
    info.extend(0xabcd_u32.to_be_bytes());
    info.extend(version.to_be_bytes());
    info.extend(pointer("TObjArray", &array(&elements)));
    pointer("TStreamerInfo", &object(9, &info))
}

/// A TBranchElement at version 10. `kind`, `id` and `code` are fType, fID and fStreamerType.
pub fn element_branch(
    name: &str,
    record: &BranchRecord,
    class: &str,
    [kind, id, code]: [i32; 3],
    counter: &[u8],
) -> Vec<u8> {
    let mut b = branch(name, name, record);
    b.extend([string(class), string(class), string("")].concat());
    b.extend(0xabcd_u32.to_be_bytes());
    b.extend(3i16.to_be_bytes());
    for number in [id, kind, code, 0] {
        b.extend(number.to_be_bytes());
    }
    b.extend(counter);
    b.extend(NULL);
    pointer("TBranchElement", &object(10, &b))
}

/// A TLeafElement's pointer.
pub fn leaf_element(title: &str, len: i32, code: i32) -> Vec<u8> {
    let mut leaf = named(title, title);
    for number in [len, 4, 0] {
        leaf.extend(number.to_be_bytes());
    }
    leaf.extend([0; 6]);
    let mut content = object(2, &leaf);
    content.extend([0; 4]);
    content.extend(code.to_be_bytes());
    pointer("TLeafElement", &object(1, &content))
}
