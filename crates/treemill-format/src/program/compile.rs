//! Streamer info to program: one step per member (codes: TVirtualStreamerInfo::EReadWrite).

use super::{Op, Program, Step};
use crate::layout::Truncation;
use crate::limits::COUNTERS;
use crate::streamer::{Element, ElementKind, StreamerInfo, range};

const OFFSET_L: i32 = 20;
const OFFSET_P: i32 = 40;

/// Bytes of a number by its code; `None` if it is no number of fixed size.
fn size(code: i32, element: &Element) -> Option<usize> {
    Some(match code {
        1 | 10 | 11 | 18 => 1,
        2 | 12 => 2,
        3 | 5 | 6 | 13 => 4,
        4 | 8 | 14 | 16 | 17 => 8,
        9 => stored(element, range::double32),
        19 => stored(element, range::float16),
        _ => return None,
    })
}

fn stored(element: &Element, truncation: fn(f64, f64) -> Truncation) -> usize {
    let (min, factor) = element.range();
    match truncation(min, factor) {
        Truncation::AsF32 | Truncation::Range { .. } => 4,
        Truncation::Mantissa { .. } => 3,
    }
}

/// Items of the TArray classes, which stream themselves without a byte count.
const TARRAYS: [(&str, usize); 8] = [
    ("TArrayC", 1),
    ("TArrayS", 2),
    ("TArrayI", 4),
    ("TArrayL", 8),
    ("TArrayL64", 8),
    ("TArrayF", 4),
    ("TArrayD", 8),
    ("TArray", 0),
];

pub(super) fn compile(info: &StreamerInfo, wanted: &[&str]) -> Program {
    let mut ops: Vec<Op> = Vec::with_capacity(info.elements.len());
    let mut counters: Vec<&str> = Vec::new();
    for element in &info.elements {
        if let ElementKind::CountedBy { member, .. } = &element.kind
            && counters.len() < COUNTERS
            && !counters.contains(&member.as_str())
        {
            counters.push(member);
        }
    }
    for element in &info.elements {
        let (step, repeat) = step(element, &counters);
        let place = wanted.iter().position(|name| *name == element.name);
        let counter = counters.iter().position(|name| *name == element.name);
        ops.push(Op {
            step,
            repeat,
            wanted: place,
            counter,
        });
    }
    let needed = ops
        .iter()
        .rposition(|op| op.wanted.is_some())
        .map_or(0, |last| last.saturating_add(1));
    Program {
        ops,
        needed,
        otherwise: None,
    }
}

/// The step over a member, and how often it is taken.
fn step(element: &Element, counters: &[&str]) -> (Step, u32) {
    let type_name = element.type_name.trim_end_matches('*');
    let repeat = element.array_length.max(1);
    let opaque = || {
        (
            Step::Opaque(format!(
                "member {} of type {}",
                element.name, element.type_name
            )),
            1,
        )
    };
    let code = element.code;
    match code {
        0 | 66 | 67 => match element.name.as_str() {
            "TObject" => (Step::TObject, 1),
            "TNamed" => (Step::Named, 1),
            _ if code == 66 => (Step::TObject, repeat),
            _ if code == 67 => (Step::Named, repeat),
            base => (Step::Base(base.to_owned()), 1),
        },
        7 => (Step::CharStar, 1),
        15 => (Step::Bits, 1),
        1..=19 => match size(code, element) {
            Some(bytes) => (Step::Fixed { code, bytes }, 1),
            None => opaque(),
        },
        21..=39 => {
            let code = code.saturating_sub(OFFSET_L);
            let n = usize::try_from(element.array_length).ok();
            match size(code, element).and_then(|size| size.checked_mul(n?)) {
                // Each step must pass a byte at least: then an object has no more steps than bytes.
                Some(bytes @ 1..) => (Step::Fixed { code, bytes }, 1),
                _ => opaque(),
            }
        }
        41..=59 => {
            let code = code.saturating_sub(OFFSET_P);
            let ElementKind::CountedBy { member, .. } = &element.kind else {
                return opaque();
            };
            let counter = counters.iter().position(|name| name == member);
            match (size(code, element), counter) {
                (Some(item), Some(counter)) => (
                    Step::Counted {
                        code,
                        item,
                        counter,
                        widens: element.name == "fBasketSeek",
                    },
                    1,
                ),
                _ => opaque(),
            }
        }
        65 => (Step::Text, 1),
        61 | 62 | 81 | 82 => match TARRAYS.iter().find(|(name, _)| *name == type_name) {
            Some((_, size)) => (Step::TArray(*size), repeat),
            None if type_name == "TString" => (Step::Text, repeat),
            None if type_name == "TDatime" => (Step::Fixed { code: 13, bytes: 4 }, 1),
            None => (Step::Object(type_name.to_owned()), repeat),
        },
        63 | 68 | 71 | 300 | 365 | 501 => (Step::Object(type_name.to_owned()), 1),
        64 | 69 | 84 | 89 => (Step::Pointer, repeat),
        _ => opaque(),
    }
}
