//! Messages as they are built are read again, and no bytes panic.
#![allow(
    clippy::unwrap_used,
    clippy::indexing_slicing,
    clippy::arithmetic_side_effects,
    clippy::panic
)]

use super::apart::front;
use super::callback::{Order, Recall, Recalled, Said, answer};
use super::compound::{Failure, Operations, Results, StateId};
use super::layout::LayoutType;
use super::open::Claim;
use super::rpc::{Credential, Message, Procedure, Records, call, message, reply};
use super::session::{CALLBACK, Slot};
use super::xdr::{Reader, Writer};
use bytes::{Bytes, BytesMut};
use proptest::prelude::*;
use std::cell::Cell;

fn reader(bytes: &[u8]) -> Reader {
    Reader::new(Bytes::copy_from_slice(bytes))
}

/// Everything that reads what a server sends.
fn read_all(bytes: &[u8]) {
    let _ = message(Bytes::copy_from_slice(bytes));
    let _ = front(bytes);
    let each: [fn(&mut Results); 14] = [
        |r| drop(r.bound()),
        |r| drop(r.exchanged()),
        |r| drop(r.created()),
        |r| drop(r.sequenced()),
        |r| drop(r.opened()),
        |r| drop(r.attributes()),
        |r| drop(r.read(1000)),
        |r| drop(r.list()),
        |r| drop(r.got_handle()),
        |r| drop(r.link()),
        |r| drop(r.layout(LayoutType::Files)),
        |r| drop(r.layout(LayoutType::Flex)),
        |r| drop(r.device(LayoutType::Files)),
        |r| drop(r.device(LayoutType::Flex)),
    ];
    for one in each {
        if let Ok(mut results) = Results::new(reader(bytes)) {
            one(&mut results);
        }
    }
    let procedure = Procedure {
        program: CALLBACK,
        version: 1,
        number: 1,
    };
    let _ = answer(procedure, &reader(bytes), |_| Said::Done);
}

proptest! {
    #[test]
    fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..300)) {
        read_all(&bytes);
    }

    /// Numbers of operations, small lengths and statuses are what gets far into the readers.
    #[test]
    fn no_words_panic(words in proptest::collection::vec(prop_oneof![0_u32..70, any::<u32>()], 0..80)) {
        let bytes: Vec<u8> = [0, 0, 1].into_iter().chain(words).flat_map(u32::to_be_bytes).collect();
        read_all(&bytes);
    }

    /// Records come whole, in whatever pieces and fragments they are sent.
    #[test]
    fn records_are_put_together(
        bodies in proptest::collection::vec(proptest::collection::vec(any::<u8>(), 0..40), 0..6),
        fragment in 1_usize..20, piece in 1_usize..30,
    ) {
        let mut stream = Vec::new();
        for body in &bodies {
            let count = body.len().div_ceil(fragment).max(1);
            for number in 0..count {
                let part = body.chunks(fragment).nth(number).unwrap_or_default();
                let last = u32::from(number + 1 == count) << 31;
                stream.extend((last | part.len() as u32).to_be_bytes());
                stream.extend(part);
            }
        }
        let (mut records, mut buffer, mut found) = (Records::new(100), BytesMut::new(), Vec::new());
        for piece in stream.chunks(piece) {
            buffer.extend_from_slice(piece);
            while let Some(record) = records.next(&mut buffer).unwrap() {
                found.push(record.to_vec());
            }
        }
        prop_assert_eq!(found, bodies);
    }
}

#[test]
fn a_record_that_is_too_large_is_refused_before_it_comes() {
    let mut buffer = BytesMut::from(&(1_u32 << 30).to_be_bytes()[..]);
    assert!(Records::new(1 << 20).next(&mut buffer).is_err());
}

#[test]
fn calls_say_who_asks() {
    let user = Credential::System {
        machine: "host".to_owned(),
        uid: 7,
        gid: 8,
        gids: (0..40).collect(),
    };
    let procedure = Procedure {
        program: 100_003,
        version: 4,
        number: 1,
    };
    let slot = Slot {
        number: 3,
        sequence: 9,
        highest: 5,
    };
    let before = Operations::default().sequence(&[1; 16], slot);
    let arguments = Operations::default().root().arguments(1, &before);
    let sent = call(5, procedure, &user, &arguments);
    assert_eq!(
        sent.len() - 4,
        usize::from(sent[2]) * 256 + usize::from(sent[3])
    );
    let Message::Call {
        xid,
        procedure: found,
        mut body,
    } = message(Bytes::copy_from_slice(&sent[4..])).unwrap()
    else {
        panic!("it is a call");
    };
    assert_eq!((xid, found), (5, procedure));
    assert_eq!(body.opaque(10).unwrap().len(), 0);
    assert_eq!(
        (
            body.u32().unwrap(),
            body.u32().unwrap(),
            body.u32().unwrap()
        ),
        (1, 2, 53)
    );
}

/// The results of a read, and of a file whose opening is refused.
#[test]
fn results_are_read_in_order_up_to_the_first_failure() {
    let mut out = Writer::default();
    out.u32(2).opaque(b"").u32(3);
    out.u32(22).u32(0);
    out.u32(25).u32(0).bool(true).opaque(b"abc");
    out.u32(18).u32(2);
    let Message::Reply { body, .. } =
        message(Bytes::copy_from_slice(&reply(1, &out)[4..])).unwrap()
    else {
        panic!("it is a reply");
    };
    let mut results = Results::new(body.unwrap()).unwrap();
    results.handle().unwrap();
    assert_eq!(results.read(3).unwrap(), (true, Bytes::from_static(b"abc")));
    let failure = results.opened().unwrap_err();
    assert_eq!(
        failure,
        Failure::Status {
            place: 2,
            status: 2
        }
    );
    assert_eq!(
        failure.to_string(),
        "no such file or folder (NFS4ERR_NOENT)"
    );
    let mut more = Results::new(reader(out.bytes())).unwrap();
    more.handle().unwrap();
    assert!(more.read(2).is_err(), "more bytes than were asked for");
}

#[test]
fn files_are_opened_by_their_handles() {
    let asked = Operations::default()
        .handle(b"abcd")
        .open(Claim::Here, 1, b"x");
    assert_eq!(asked.count(), 2);
    let mut out = Writer::default();
    out.u32(0).opaque(b"").u32(1).u32(18).u32(0);
    out.u32(4).fixed(&[9; 12]); // the state
    out.bool(true).u64(1).u64(2).u32(0).u32(0);
    out.u32(3).u32(1).bool(false); // no delegation, by contention
    let state = Results::new(reader(out.bytes())).unwrap().opened().unwrap();
    let expected = StateId {
        sequence: 4,
        other: [9; 12],
    };
    assert_eq!(state, expected);
}

#[test]
fn what_the_server_recalls_is_answered() {
    let mut out = Writer::default();
    out.opaque(b"tag").u32(1).u32(0).u32(2);
    out.u32(11)
        .fixed(&[3; 16])
        .u32(1)
        .u32(0)
        .u32(0)
        .bool(false)
        .u32(0);
    out.u32(5).u32(1).u32(1).bool(false).u32(3);
    let procedure = Procedure {
        program: CALLBACK,
        version: 1,
        number: 1,
    };
    let said = |said| {
        let orders = Cell::new(Vec::new());
        let answered = answer(procedure, &reader(out.bytes()), |order| {
            orders.set(vec![order.clone()]);
            said
        });
        (orders.into_inner(), reader(answered.bytes()))
    };
    let (orders, mut done) = said(Said::Done);
    let recall = Recall {
        kind: 1,
        mode: 1,
        of: Recalled::All,
    };
    assert_eq!(orders, [Order::Layouts(recall)]);
    assert_eq!(
        (
            done.u32().unwrap(),
            done.text(9).unwrap().as_str(),
            done.u32().unwrap()
        ),
        (0, "tag", 2)
    );
    assert_eq!(said(Said::NoLayout).1.u32().unwrap(), 10060);
    assert_eq!(said(Said::Later).1.u32().unwrap(), 10008);
}
