//! Finds members in objects by programs compiled from streamer info. A program says how to pass over each
//! member; members that somebody wants are noted with their place, the rest is never looked at. So one
//! parser reads every version of a class, and knows nothing about any class by itself.

mod builtin;
mod compile;

use crate::error::Result;
use crate::object::{header, named, pointer, skip_object, skip_tobject};
use crate::reader::{Reader, malformed, unsupported};
use crate::streamer::StreamerInfos;
use std::rc::Rc;
use std::slice;

/// The members that somebody wants: an enum of slots in `Fields`, and their names as `WANTED`. Base
/// classes that hold wanted members are named too; others are passed over whole.
macro_rules! wanted {
    (bases $($base:literal),*; $($slot:ident = $name:literal),* $(,)?) => {
        #[derive(Debug, Clone, Copy)]
        enum Wanted { $($slot),* }
        const WANTED: &[&str] = &[$($name,)* $($base),*];
        impl crate::program::Slot for Wanted {
            fn index(self) -> usize {
                self as usize
            }
        }
        const _: () = assert!(WANTED.len() <= crate::program::MAX_WANTED);
    };
}
pub(crate) use wanted;

/// A slot of `Fields`, made by `wanted!`.
pub(crate) trait Slot: Copy {
    fn index(self) -> usize;
}

/// Most members that one table may ask for.
pub(crate) const MAX_WANTED: usize = 32;

/// Base classes within base classes; ROOT's own metadata needs four.
const MAX_BASES: usize = 16;

/// Most counters (`fMaxBaskets`) in one class.
const MAX_COUNTERS: usize = 4;

/// A class at one version, as steps over its bytes.
#[derive(Debug)]
struct Program {
    ops: Vec<Op>,
    /// Ops to run where the object's end is known: nothing wanted comes after them.
    needed: usize,
}

#[derive(Debug)]
struct Op {
    step: Step,
    /// How often, for arrays of objects.
    repeat: u32,
    /// Where the member's place is noted.
    wanted: Option<usize>,
    /// Where the member's value is noted, as the length of later members.
    counter: Option<usize>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Step {
    /// A number or array of fixed size: EReadWrite code of one, bytes of all.
    Fixed {
        code: i32,
        bytes: usize,
    },
    /// TObject::fBits: two more bytes where kIsReferenced is set.
    Bits,
    /// `char*`: an i32 length, then the bytes.
    CharStar,
    Text,
    TObject,
    Named,
    Base(String),
    /// An object with a byte count, passed over whole.
    Object(String),
    /// A TArray: a count, then items of this size.
    TArray(usize),
    Pointer,
    /// One byte, then as many numbers as the counter says. `widens`: a first byte of 2 says that they
    /// are 64-bit (fBasketSeek of old files beyond 2 GB).
    Counted {
        code: i32,
        item: usize,
        counter: usize,
        widens: bool,
    },
    /// Nobody knows how long it is.
    Opaque(String),
}

/// Where a wanted member lies.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Field {
    /// Offset of its first byte (of the items, for counted arrays).
    pub at: usize,
    /// EReadWrite code of a number.
    pub code: i32,
    /// Numbers in a counted array.
    pub count: usize,
}

/// The places of the wanted members of one object.
#[derive(Debug)]
pub(crate) struct Fields<'a> {
    bytes: &'a [u8],
    fields: [Option<Field>; MAX_WANTED],
}

impl<'a> Fields<'a> {
    /// The place of a member; `None` where this version of the class has no such member.
    pub fn get(&self, wanted: impl Slot) -> Option<Field> {
        self.fields.get(wanted.index()).copied().flatten()
    }

    /// A cursor at a member.
    pub fn reader(&self, wanted: impl Slot) -> Option<Reader<'a>> {
        self.get(wanted)
            .map(|field| Reader::at(self.bytes, field.at))
    }

    /// An integer member, whatever its size (counts were floating-point numbers once).
    pub fn integer(&self, wanted: impl Slot) -> Result<Option<i64>> {
        match self.get(wanted) {
            Some(field) => integer(&mut Reader::at(self.bytes, field.at), field.code).map(Some),
            None => Ok(None),
        }
    }

    /// The first `limit` items of a counted array of integers; empty where there is no such member.
    pub fn integers<S: Slot>(&self, wanted: S, limit: usize) -> Integers<'a> {
        let Some(field) = self.get(wanted) else {
            return Integers::I32([].iter());
        };
        let rest = self.bytes.get(field.at..).unwrap_or_default();
        let count = field.count.min(limit);
        match field.code {
            3 | 6 => Integers::I32(first(rest.as_chunks().0, count)),
            4 | 16 => Integers::I64(first(rest.as_chunks().0, count)),
            code => Integers::Any {
                rest: Reader::at(self.bytes, field.at),
                code,
                left: count,
            },
        }
    }

    /// A TString member.
    pub fn string(&self, wanted: impl Slot) -> Result<&'a [u8]> {
        self.reader(wanted).map_or(Ok(&[]), |mut r| r.string())
    }

    /// Name and title, where `wanted` is the TNamed base.
    pub fn named(&self, wanted: impl Slot) -> Result<(&'a [u8], &'a [u8])> {
        self.reader(wanted)
            .map_or(Ok((&[], &[])), |mut r| named(&mut r))
    }
}

/// Items of a counted array. Trees have tens of thousands of baskets, so the usual types go without a
/// look at the code for each item.
#[derive(Debug)]
pub(crate) enum Integers<'a> {
    I32(slice::Iter<'a, [u8; 4]>),
    I64(slice::Iter<'a, [u8; 8]>),
    Any {
        rest: Reader<'a>,
        code: i32,
        left: usize,
    },
}

impl Iterator for Integers<'_> {
    type Item = Result<i64>;

    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Integers::I32(items) => items.next().map(|b| Ok(i64::from(i32::from_be_bytes(*b)))),
            Integers::I64(items) => items.next().map(|b| Ok(i64::from_be_bytes(*b))),
            Integers::Any { rest, code, left } => {
                *left = left.checked_sub(1)?;
                Some(integer(rest, *code))
            }
        }
    }
}

/// The first `count` of the items: all of them were seen to be there when the member was located.
fn first<const N: usize>(items: &[[u8; N]], count: usize) -> slice::Iter<'_, [u8; N]> {
    items.get(..count).unwrap_or(items).iter()
}

/// Reads a number by its EReadWrite code as an integer.
fn integer(r: &mut Reader, code: i32) -> Result<i64> {
    Ok(match code {
        1 => i64::from(r.i8()?),
        2 => i64::from(r.i16()?),
        3 | 6 => i64::from(r.i32()?),
        11 | 18 => i64::from(r.u8()?),
        12 => i64::from(r.u16()?),
        13 => i64::from(r.u32()?),
        4 | 16 => r.i64()?,
        14 | 17 => r.u64()?.cast_signed(),
        5 => r.f32()? as i64,
        8 => r.f64()? as i64,
        _ => {
            return Err(malformed(
                format!("a member of type code {code} where an integer is expected"),
                r.position(),
            ));
        }
    })
}

/// Compiles programs as they are needed and runs them, for one table of wanted members.
#[derive(Debug)]
pub(crate) struct Programs<'i> {
    infos: &'i StreamerInfos,
    wanted: &'static [&'static str],
    compiled: Vec<(String, i32, Rc<Program>)>,
}

impl<'i> Programs<'i> {
    pub fn new(infos: &'i StreamerInfos, wanted: &'static [&'static str]) -> Self {
        Programs {
            infos,
            wanted,
            compiled: Vec::new(),
        }
    }

    /// Finds the wanted members of an object of `class` whose header is at `body`.
    /// `key_len` as for `object::pointer`.
    pub fn locate<'a>(
        &mut self,
        bytes: &'a [u8],
        class: &str,
        body: usize,
        key_len: usize,
    ) -> Result<Fields<'a>> {
        let mut fields = Fields {
            bytes,
            fields: [None; MAX_WANTED],
        };
        self.object(
            &mut Reader::at(bytes, body),
            class,
            key_len,
            MAX_BASES,
            &mut fields,
        )?;
        Ok(fields)
    }

    fn object(
        &mut self,
        r: &mut Reader,
        class: &str,
        key_len: usize,
        depth: usize,
        fields: &mut Fields,
    ) -> Result<()> {
        let Some(depth) = depth.checked_sub(1) else {
            return Err(malformed(
                format!("base classes of {class} nest too deeply"),
                r.position(),
            ));
        };
        let head = header(r)?;
        if head.memberwise {
            return Err(unsupported(format!("{class} stored member by member")));
        }
        let program = self.program(class, i32::from(head.version))?;
        let ops = if head.end.is_some() {
            program.ops.get(..program.needed)
        } else {
            None
        };
        let mut counters = [0usize; MAX_COUNTERS];
        for op in ops.unwrap_or(&program.ops) {
            let start = r.position();
            let mut field = Field {
                at: start,
                code: 0,
                count: 0,
            };
            match &op.step {
                Step::Fixed { code, bytes } => {
                    r.skip(*bytes)?;
                    field.code = *code;
                }
                Step::Base(base) => {
                    let end = if op.wanted.is_none() {
                        header(&mut r.clone())?.end
                    } else {
                        None
                    };
                    match end {
                        Some(end) => r.seek(end)?,
                        None => self.object(r, base, key_len, depth, fields)?,
                    }
                }
                Step::Counted {
                    code,
                    item,
                    counter,
                    widens,
                } => {
                    let wide = match r.u8()? {
                        0 => None,
                        flag => Some(*widens && flag == 2),
                    };
                    if let Some(wide) = wide {
                        let (code, item) = if wide { (16, 8) } else { (*code, *item) };
                        let count = counters.get(*counter).copied().unwrap_or(0);
                        field = Field {
                            at: r.position(),
                            code,
                            count,
                        };
                        r.skip(count.saturating_mul(item))?;
                    }
                }
                step => (0..op.repeat).try_for_each(|_| pass_over(r, step, key_len))?,
            }
            if let Some(slot) = op.wanted.and_then(|wanted| fields.fields.get_mut(wanted)) {
                slot.get_or_insert(field);
            }
            if let Some(counter) = op.counter.and_then(|counter| counters.get_mut(counter)) {
                let value = integer(&mut Reader::at(r.bytes(), start), field.code)?;
                *counter = usize::try_from(value)
                    .map_err(|_| malformed(format!("a count of {value}"), start))?;
            }
        }
        head.end.map_or(Ok(()), |end| r.seek(end))
    }

    fn program(&mut self, class: &str, version: i32) -> Result<Rc<Program>> {
        if let Some((_, _, program)) = self
            .compiled
            .iter()
            .find(|(c, v, _)| *v == version && c == class)
        {
            return Ok(Rc::clone(program));
        }
        let program = match self.infos.find(class, version, None) {
            Some(info) => compile::compile(info, self.wanted),
            None => match builtin::find(class, version) {
                Some(info) => compile::compile(&info, self.wanted),
                None => {
                    return Err(unsupported(format!(
                        "{class} version {version}, which the file does not describe"
                    )));
                }
            },
        };
        let program = Rc::new(program);
        self.compiled
            .push((class.to_owned(), version, Rc::clone(&program)));
        Ok(program)
    }
}

/// Passes over a member that needs no program.
fn pass_over(r: &mut Reader, step: &Step, key_len: usize) -> Result<()> {
    match step {
        Step::Text => r.string().map(|_| ()),
        Step::TObject => skip_tobject(r),
        Step::Named => named(r).map(|_| ()),
        Step::Object(what) => skip_object(r, what),
        Step::Pointer => pointer(r, key_len).map(|_| ()),
        Step::TArray(item) => {
            let n = r.count()?;
            r.skip(n.saturating_mul(*item))
        }
        Step::CharStar => {
            let n = r.count()?;
            r.skip(n)
        }
        Step::Bits => {
            let bits = r.u32()?;
            r.skip(if bits & (1 << 4) != 0 { 2 } else { 0 })
        }
        Step::Opaque(what) => Err(unsupported(what.clone())),
        Step::Fixed { .. } | Step::Base(_) | Step::Counted { .. } => Ok(()),
    }
}
