//! Collections and pointers whose class only the data say, completed by streamer info and decoded: a u16 says
//! where the streamer info ends, a byte what the entries are.
#![no_main]

use libfuzzer_sys::fuzz_target;
use treemill_format::layout::{Before, Class, Clones, Collection, Form, Layout, Object, Objects, Part, Pointer, Says};
use treemill_format::open::{Describer, give_up};
use treemill_format::streamer::StreamerInfos;
use treemill_read::decode::{Column, Entries, append, look};

fn absent() -> Layout {
    Layout::Absent {
        reason: "nobody knows it".to_owned(),
    }
}

fn clones(before: Before) -> Layout {
    Layout::Clones(Box::new(Clones {
        before,
        class: Vec::new(),
        item: absent(),
    }))
}

fn pointer() -> Layout {
    Layout::Pointer(Box::new(Pointer {
        to: absent(),
        says: Says::Data { alone: false },
    }))
}

fn objects(class: Collection) -> Layout {
    Layout::Objects(Box::new(Objects {
        before: Before::Nothing,
        class,
        item: pointer(),
    }))
}

/// One of each kind, or all of them as an object's members.
fn layout(kind: u8) -> Layout {
    let all = || {
        vec![
            clones(Before::Nothing),
            clones(Before::Pointer),
            pointer(),
            Layout::Vector {
                item: Box::new(pointer()),
                header: 6,
            },
            objects(Collection::TObjArray),
            objects(Collection::TList),
        ]
    };
    let kind = usize::from(kind);
    all().into_iter().nth(kind % 8).unwrap_or_else(|| {
        let field = |layout| Part::Field("member".to_owned(), layout);
        Layout::Object(Object {
            class: Class {
                name: "Owner".to_owned(),
                version: 1,
                checksum: 0,
            },
            form: Form::Bare,
            parts: all().into_iter().map(field).collect(),
        })
    })
}

fuzz_target!(|data: &[u8]| {
    let Some((len, rest)) = data.split_first_chunk::<2>() else {
        return;
    };
    let len = usize::from(u16::from_be_bytes(*len)).min(rest.len());
    let (infos, rest) = rest.split_at(len);
    let Some((kind, data)) = rest.split_first() else {
        return;
    };
    let infos = StreamerInfos::parse(infos, 64).unwrap_or_default();
    let mut layout = layout(*kind);
    if look(&mut layout, data, &[], &Describer::new(&infos)).is_err() {
        give_up(&mut layout, "the data contradict themselves");
    }
    let Ok(mut column) = Column::new(&layout, 0) else {
        return;
    };
    let Ok(end) = u32::try_from(data.len()) else {
        return;
    };
    let entries = Entries {
        data,
        starts: &[0, end],
        count: 1,
    };
    if append(&mut column, &layout, entries).is_ok() {
        assert_eq!(column.len(), 1);
        assert!(column.finish(&layout).is_ok());
    }
});
