//! Conversions between types, and nodes made with constants folded.

use crate::compile::{Builder, Constant, EVENT, LevelId, Node, NodeId, Op, Result, Type};
use crate::error::QueryError;
use crate::kernel::{Compare, Kernel, Map};
use crate::schema::DType;
use crate::spec::Span;

impl Builder<'_> {
    /// The type in which a node's values are kept: a column's own where the values are some of its,
    /// else that of arithmetic. `None`: strings.
    pub(crate) fn stored_type(&self, node: NodeId) -> Option<DType> {
        let mut walk = node;
        loop {
            let node = self.graph.node(walk);
            match (&node.op, node.inputs.first()) {
                (Op::Column(column), _) => {
                    let field = self.schema.fields.get(*column);
                    let item = field.and_then(|field| field.column_type.item());
                    return item
                        .filter(|item| *item != DType::Str)
                        .or_else(|| computed(node.ty));
                }
                (Op::Spread | Op::Take(_) | Op::At { .. } | Op::Align, Some(input)) => {
                    walk = *input
                }
                _ => return computed(node.ty),
            }
        }
    }
}

fn computed(ty: Type) -> Option<DType> {
    match ty {
        Type::Bool => Some(DType::Bool),
        Type::Int => Some(DType::I64),
        Type::UInt => Some(DType::U64),
        Type::Float => Some(DType::F64),
        Type::Str => None,
    }
}

/// What is wrong where a number is wanted.
pub(in crate::compile) const NO_STRINGS: &str = "this is a string, which can be compared, looked for, chosen, sorted, joined and filled, but not \
     calculated with";

/// Integers up to this are exact as f64.
const EXACT: u64 = 1 << 53;

impl Builder<'_> {
    /// An elementwise node. Its inputs are at one level or constant.
    pub(in crate::compile) fn map(&mut self, op: Map, inputs: &[NodeId], ty: Type) -> NodeId {
        let constants: Option<Vec<Constant>> = inputs
            .iter()
            .map(|id| self.graph.as_const(*id).cloned())
            .collect();
        if let Some(constants) = constants {
            return self.graph.constant(fold(op, &constants, ty));
        }
        match self.hoisted(op, inputs, ty) {
            Some(found) => found,
            None => self.node(Op::Map(op), inputs, ty),
        }
    }

    /// A node at the level of its inputs. Its value is missing where an input is missing.
    pub(in crate::compile) fn node(&mut self, op: Op, inputs: &[NodeId], ty: Type) -> NodeId {
        let level = self.level_of_inputs(inputs);
        let missing = inputs.iter().any(|id| self.graph.node(*id).missing);
        self.graph.add(Node {
            op,
            inputs: inputs.to_vec(),
            level,
            ty,
            missing,
        })
    }

    pub(in crate::compile) fn level_of_inputs(&self, inputs: &[NodeId]) -> LevelId {
        inputs
            .iter()
            .filter(|id| self.graph.as_const(**id).is_none())
            .map(|id| self.graph.node(*id).level)
            .next()
            .unwrap_or(EVENT)
    }

    pub(in crate::compile) fn type_of(&self, id: NodeId) -> Type {
        self.graph.node(id).ty
    }

    /// The node's value as f64. Strings have none.
    pub(in crate::compile) fn real_of(&mut self, id: NodeId) -> NodeId {
        let op = match self.type_of(id) {
            Type::Float | Type::Str => return id,
            Type::Bool => Map::BoolToReal,
            Type::Int => Map::IntToReal,
            Type::UInt => Map::UIntToReal,
        };
        self.map(op, &[id], Type::Float)
    }

    /// Bools as 0 and 1; numbers as they are.
    pub(in crate::compile) fn number_of(&mut self, id: NodeId) -> NodeId {
        match self.type_of(id) {
            Type::Bool => self.map(Map::BoolToInt, &[id], Type::Int),
            _ => id,
        }
    }

    /// The node's value as u64, if that holds all its values: bools, u64, and constants that are not negative.
    pub(in crate::compile) fn unsigned_of(&mut self, id: NodeId) -> Option<NodeId> {
        match (self.type_of(id), self.graph.as_const(id)) {
            (Type::UInt, _) => Some(id),
            (Type::Int, Some(Constant::Int(x))) => {
                let x = u64::try_from(*x).ok()?;
                Some(self.graph.constant(Constant::UInt(x)))
            }
            (Type::Bool, _) => Some(self.map(Map::BoolToInt, &[id], Type::UInt)),
            _ => None,
        }
    }

    /// The node's value as a condition: bools as they are, numbers where they are not 0.
    pub(in crate::compile) fn truth(&mut self, id: NodeId, at: Span) -> Result<NodeId> {
        match self.type_of(id) {
            Type::Bool => Ok(id),
            Type::Str => Err(QueryError::at(at, "a string is not a condition")),
            Type::Float => {
                let zero = self.graph.constant(Constant::Float(0));
                Ok(self.map(Map::CompareReal(Compare::Ne), &[id, zero], Type::Bool))
            }
            Type::Int | Type::UInt => {
                let zero = self.graph.constant(Constant::Int(0));
                Ok(self.map(Map::CompareInt(Compare::Ne), &[id, zero], Type::Bool))
            }
        }
    }

    /// The condition, false where it is missing.
    pub(in crate::compile) fn passed(&mut self, id: NodeId) -> NodeId {
        if !self.graph.node(id).missing {
            return id;
        }
        let no = self.graph.constant(Constant::Bool(false));
        self.fill_missing(id, no)
    }

    pub(in crate::compile) fn fill_missing(&mut self, id: NodeId, with: NodeId) -> NodeId {
        let missing = self.graph.node(with).missing;
        let node = Node {
            op: Op::FillMissing,
            inputs: vec![id, with],
            level: self.graph.node(id).level,
            ty: self.type_of(id),
            missing,
        };
        self.graph.add(node)
    }

    /// Values that may stand for one another, as one type: strings, or numbers as in `same_type`.
    pub(in crate::compile) fn alike(
        &mut self,
        ids: &[NodeId],
        at: Span,
    ) -> Result<(Vec<NodeId>, Type)> {
        let strings = ids.iter().filter(|id| self.type_of(**id) == Type::Str);
        match strings.count() {
            0 => self.same_type(ids, at),
            n if n == ids.len() => Ok((ids.to_vec(), Type::Str)),
            _ => Err(QueryError::at(
                at,
                "a string and a number cannot stand for one another",
            )),
        }
    }

    /// Two or more numbers as one type: bools stay bools where all are; a u64 among integers makes
    /// u64 of constants that are not negative, else all become floats, as in numpy.
    pub(in crate::compile) fn same_type(
        &mut self,
        ids: &[NodeId],
        at: Span,
    ) -> Result<(Vec<NodeId>, Type)> {
        let types: Vec<Type> = ids.iter().map(|id| self.type_of(*id)).collect();
        if types.contains(&Type::Str) {
            return Err(QueryError::at(at, NO_STRINGS));
        }
        if types.iter().all(|ty| *ty == Type::Bool) {
            return Ok((ids.to_vec(), Type::Bool));
        }
        if types.contains(&Type::Float) {
            return Ok((
                ids.iter().map(|id| self.real_of(*id)).collect(),
                Type::Float,
            ));
        }
        if types.contains(&Type::UInt) {
            let unsigned: Option<Vec<NodeId>> =
                ids.iter().map(|id| self.unsigned_of(*id)).collect();
            return Ok(match unsigned {
                Some(unsigned) => (unsigned, Type::UInt),
                None => (
                    ids.iter().map(|id| self.real_of(*id)).collect(),
                    Type::Float,
                ),
            });
        }
        Ok((
            ids.iter().map(|id| self.number_of(*id)).collect(),
            Type::Int,
        ))
    }

    /// Whether its values are integers that f64 holds exactly.
    pub(in crate::compile) fn exact_as_real(&self, id: NodeId) -> bool {
        let node = self.graph.node(id);
        match &node.op {
            Op::Const(Constant::Int(x)) => x.unsigned_abs() <= EXACT,
            Op::Const(Constant::UInt(x)) => *x <= EXACT,
            Op::Len(_) => true,
            Op::Column(_) => self.is_narrow(id),
            _ => node.ty == Type::Bool,
        }
    }

    /// Whether it is a column of integers of at most 32 bits.
    pub(in crate::compile) fn is_narrow(&self, id: NodeId) -> bool {
        let Op::Column(column) = self.graph.node(id).op else {
            return false;
        };
        self.schema.fields.get(column).is_some_and(|field| {
            use DType::{I8, I16, I32, U8, U16, U32};
            let stored = field.column_type.item();
            matches!(stored, Some(I8 | I16 | I32 | U8 | U16 | U32))
        })
    }
}

/// Computes with constants by the kernel that would compute with columns.
fn fold(op: Map, constants: &[Constant], ty: Type) -> Constant {
    let real = |i: usize| [constants.get(i).map_or(f64::NAN, Constant::as_f64)];
    let int = |i: usize| {
        [match constants.get(i) {
            Some(Constant::Int(x)) => *x,
            Some(Constant::UInt(x)) => *x as i64,
            Some(Constant::Bool(x)) => i64::from(*x),
            _ => 0,
        }]
    };
    let bool = |i: usize| {
        [u8::from(matches!(
            constants.get(i),
            Some(Constant::Bool(true))
        ))]
    };
    let (mut f, mut i, mut b) = ([0.0_f64], [0_i64], [0_u8]);
    match op.kernel() {
        Kernel::FtoF(run) => run(&real(0), &mut f),
        Kernel::FFtoF(run) => run(&real(0), &real(1), &mut f),
        Kernel::FFFtoF(run) => run(&real(0), &real(1), &real(2), &mut f),
        Kernel::FFFFtoF(run) => run(&real(0), &real(1), &real(2), &real(3), &mut f),
        Kernel::ItoI(run) => run(&int(0), &mut i),
        Kernel::IItoI(run) => run(&int(0), &int(1), &mut i),
        Kernel::FFtoB(run) => run(&real(0), &real(1), &mut b),
        Kernel::IItoB(run) => run(&int(0), &int(1), &mut b),
        Kernel::IFtoB(run) => run(&int(0), &real(1), &mut b),
        Kernel::FtoB(run) => run(&real(0), &mut b),
        Kernel::BtoB(run) => run(&bool(0), &mut b),
        Kernel::BBtoB(run) => run(&bool(0), &bool(1), &mut b),
        Kernel::BFFtoF(run) => run(&bool(0), &real(1), &real(2), &mut f),
        Kernel::BIItoI(run) => run(&bool(0), &int(1), &int(2), &mut i),
        Kernel::BBBtoB(run) => run(&bool(0), &bool(1), &bool(2), &mut b),
        Kernel::BtoI(run) => run(&bool(0), &mut i),
        Kernel::BtoF(run) => run(&bool(0), &mut f),
        Kernel::ItoF(run) => run(&int(0), &mut f),
        Kernel::FtoI(run) => run(&real(0), &mut i),
    }
    match ty {
        Type::Bool => Constant::Bool(b[0] != 0),
        Type::UInt => Constant::UInt(i[0] as u64),
        Type::Int => Constant::Int(i[0]),
        // Strings are not folded.
        Type::Float | Type::Str => Constant::Float(f[0].to_bits()),
    }
}
