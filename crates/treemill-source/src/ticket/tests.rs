#![allow(clippy::unwrap_used)]

use super::*;
use std::sync::mpsc::channel;

#[test]
fn each_caller_is_called_once_before_and_after_the_answer() {
    let (ticket, promise) = Ticket::new("f", 0..1);
    let (sender, receiver) = channel();
    let note = |number: u8| {
        let sender = sender.clone();
        move |answer: Answer| sender.send((number, answer.is_ok())).unwrap()
    };
    ticket.on_ready(note(1));
    ticket.clone().on_ready(note(2));
    assert!(receiver.try_recv().is_err());
    promise.keep(Ok(Bytes::from_static(b"a")));
    ticket.on_ready(note(3));
    drop(sender);
    let called: Vec<_> = receiver.iter().collect();
    assert_eq!(called, [(1, true), (2, true), (3, true)]);
}

#[test]
fn an_answer_is_noted_before_it_is_handed_out() {
    let (ticket, promise) = Ticket::new("f", 0..1);
    let (sender, noted) = channel();
    let same = sender.clone();
    ticket.on_answer(move |answer| sender.send(answer.is_ok()).unwrap());
    let waiting = std::thread::spawn(move || {
        ticket.wait().unwrap();
        let noted = noted.try_recv();
        ticket.on_answer(move |answer| same.send(answer.is_ok()).unwrap());
        (noted, ticket.is_ready())
    });
    promise.keep(Ok(Bytes::from_static(b"a")));
    assert_eq!(waiting.join().unwrap(), (Ok(true), true));
}

#[test]
fn a_promise_that_is_dropped_calls_with_its_error_and_a_caller_may_ask_the_ticket() {
    let (ticket, promise) = Ticket::new("f", 0..1);
    let (sender, receiver) = channel();
    let same = ticket.clone();
    ticket.on_ready(move |answer| sender.send((same.is_ready(), answer)).unwrap());
    drop(promise);
    let (is_ready, answer) = receiver.recv().unwrap();
    assert!(is_ready && answer.is_err());
}
