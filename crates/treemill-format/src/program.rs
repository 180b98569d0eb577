//! Finds members in objects by programs compiled from streamer info. A program says how to pass each member;
//! the wanted members' places are noted, and the others' bytes are never read. So one parser reads every
//! version of a class, and knows no class by itself.

mod builtin;
mod compile;
mod fields;

use crate::error::{Result, malformed, unsupported};
use crate::limits::{BASE_DEPTH, COUNTERS, MEMBERS_WANTED};
use crate::object::{header, named, pointer, skip_object, skip_tobject};
use crate::reader::Reader;
use crate::streamer::StreamerInfos;
use fields::integer;
pub(crate) use fields::{Field, Fields};
use std::sync::Arc;

/// The wanted members: an enum of slots in `Fields`, and their names as `WANTED`. Base classes that hold wanted
/// members are named too; others are skipped whole.
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
        const _: () = assert!(WANTED.len() <= crate::limits::MEMBERS_WANTED);
    };
}
pub(crate) use wanted;

/// A slot of `Fields`, made by `wanted!`.
pub(crate) trait Slot: Copy {
    fn index(self) -> usize;
}

/// A class at one version, as steps over its bytes.
#[derive(Debug)]
struct Program {
    ops: Vec<Op>,
    /// Ops to run if the object's end is known: nothing wanted comes after them.
    needed: usize,
    /// ROOT's own program for this class and version, if the file's description has other lengths.
    otherwise: Option<Arc<Program>>,
}

#[derive(Debug)]
struct Op {
    step: Step,
    /// How often, for arrays of objects.
    repeat: u32,
    /// The slot that gets the member's place.
    wanted: Option<usize>,
    /// The counter that gets the member's value, as the length of later members.
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
    /// Its length is unknown.
    Opaque(String),
}

/// Compiles programs as they are needed and runs them, for one table of wanted members.
#[derive(Debug)]
pub(crate) struct Programs<'i> {
    infos: &'i StreamerInfos,
    wanted: &'static [&'static str],
    compiled: Vec<(String, i32, Arc<Program>)>,
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
            fields: [None; MEMBERS_WANTED],
        };
        self.object(
            &mut Reader::at(bytes, body),
            class,
            key_len,
            BASE_DEPTH,
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
            return Err(unsupported(format!(
                "objects of class {class} that are stored member by member"
            )));
        }
        let mut program = self.program(class, i32::from(head.version))?;
        if let (Some(builtin), Some(end)) = (&program.otherwise, head.end)
            && !fits(&program, *r, end, key_len)
            && fits(builtin, *r, end, key_len)
        {
            program = Arc::clone(builtin);
        }
        let ops = if head.end.is_some() {
            program.ops.get(..program.needed)
        } else {
            None
        };
        let mut counters = [0usize; COUNTERS];
        for op in ops.unwrap_or(&program.ops) {
            let start = r.position();
            let field = match &op.step {
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
                    Field::at(start)
                }
                _ => op.pass(r, &mut counters, key_len)?,
            };
            if let Some(slot) = op.wanted.and_then(|wanted| fields.fields.get_mut(wanted)) {
                slot.get_or_insert(field);
            }
        }
        head.end.map_or(Ok(()), |end| r.close(end))
    }

    fn program(&mut self, class: &str, version: i32) -> Result<Arc<Program>> {
        if let Some((_, _, program)) = self
            .compiled
            .iter()
            .find(|(c, v, _)| *v == version && c == class)
        {
            return Ok(Arc::clone(program));
        }
        // Tables of wanted members are constants: their places tell them apart, as far as their members do.
        let by = self.wanted.as_ptr().addr();
        let program = self
            .infos
            .made(by, class, version, || self.compile(class, version))?;
        self.compiled
            .push((class.to_owned(), version, Arc::clone(&program)));
        Ok(program)
    }

    fn compile(&self, class: &str, version: i32) -> Result<Program> {
        let compile = |info: &_| compile::compile(info, self.wanted);
        let builtin = builtin::find(class, version);
        match (self.infos.find(class, version, None), builtin) {
            (Some(info), None) => Ok(compile(info)),
            (None, Some(builtin)) => Ok(compile(&builtin)),
            (Some(info), Some(builtin)) => Ok(compile(info).or(compile(&builtin))),
            (None, None) => Err(unsupported(format!(
                "version {version} of class {class}, which the file does not describe"
            ))),
        }
    }
}

impl Program {
    /// This program. If the other does not begin in the same way, the object's end shows which is right.
    fn or(self, other: Program) -> Program {
        let is_same = self.ops.len() >= other.ops.len()
            && self.ops.iter().zip(&other.ops).all(|(a, b)| a.is_like(b));
        Program {
            otherwise: (!is_same).then(|| Arc::new(other)),
            ..self
        }
    }
}

impl Op {
    /// Whether both pass over the same bytes, and want the same.
    fn is_like(&self, other: &Op) -> bool {
        let is_alike = match (&self.step, &other.step) {
            (Step::Fixed { bytes, .. }, Step::Fixed { bytes: others, .. }) => bytes == others,
            (Step::Object(_), Step::Object(_)) => true,
            (mine, others) => mine == others,
        };
        is_alike && (self.repeat, self.wanted) == (other.repeat, other.wanted)
    }

    /// Passes over a member that needs no program, and says where it lies.
    fn pass(
        &self,
        r: &mut Reader,
        counters: &mut [usize; COUNTERS],
        key_len: usize,
    ) -> Result<Field> {
        let start = r.position();
        let mut field = Field::at(start);
        match &self.step {
            Step::Fixed { code, bytes } => {
                r.skip(*bytes)?;
                field.code = *code;
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
            step => (0..self.repeat).try_for_each(|_| pass_over(r, step, key_len))?,
        }
        if let Some(counter) = self.counter.and_then(|counter| counters.get_mut(counter)) {
            let value = integer(&mut Reader::at(r.bytes(), start), field.code)?;
            *counter = usize::try_from(value)
                .map_err(|_| malformed(format!("a count is {value}"), start))?;
        }
        Ok(field)
    }
}

/// Whether an object whose members begin at the cursor ends where these steps do.
fn fits(program: &Program, mut r: Reader, end: usize, key_len: usize) -> bool {
    let mut counters = [0usize; COUNTERS];
    let mut pass = |op: &Op| match &op.step {
        Step::Base(base) => skip_object(&mut r, base),
        _ => op.pass(&mut r, &mut counters, key_len).map(|_| ()),
    };
    program.ops.iter().try_for_each(&mut pass).is_ok() && r.position() == end
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
