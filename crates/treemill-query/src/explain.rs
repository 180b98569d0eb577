//! A compiled query in words: the columns in the order of reading, the lists, the values that are computed
//! once for several, the programs. For people; nothing is decided by it.

mod programs;

use crate::compile::{Callee, Constant, EVENT, LevelKind, NodeId, Op, Plan, Type};
use crate::kernel::{Arithmetic, Compare};
use crate::limits::{EXPLAINED_DEPTH, EXPLAINED_LINES};
use serde::Serialize;

/// What a query does, in words.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// Columns in the order in which they are first needed.
    pub columns: Vec<String>,
    /// How many of them the filters need: the others are read only where an event passes.
    pub columns_of_filters: usize,
    /// The filters, in the order in which they are applied.
    pub filters: Vec<String>,
    /// The lists that are gone through, each below the one that it is made in.
    pub levels: Vec<String>,
    /// Values that several others want, and that are computed once.
    pub shared: Vec<String>,
    /// Functions that others give, and what they are.
    pub calls: Vec<String>,
    /// The programs that run over chunks of positions: a line for the lists that each goes through
    /// and the registers that it leaves, then a line for each step.
    pub programs: Vec<String>,
}

impl Plan {
    /// `filters`: their nodes, in order; `first`: columns that those need.
    pub(crate) fn explain(&self, filters: &[NodeId]) -> Explanation {
        let live = |id: usize| self.uses.get(id).is_some_and(|uses| *uses > 0);
        let mut levels: Vec<u32> = Vec::new();
        let mut shared = Vec::new();
        for (id, node) in self.graph.nodes.iter().enumerate() {
            if !live(id) {
                continue;
            }
            // Items under another name are gone through once.
            let mut level = node.level;
            while let LevelKind::Same { of, .. } = self.graph.level(level).kind {
                level = of;
            }
            if level != EVENT && !levels.contains(&level) {
                levels.push(level);
            }
            let computed = !matches!(
                node.op,
                Op::Column(_) | Op::Const(_) | Op::Spread | Op::Take(_) | Op::Align | Op::Row
            );
            if computed && self.uses[id] > 1 {
                shared.push(format!(
                    "{} × {}",
                    self.uses[id],
                    self.words(id as NodeId, 0)
                ));
            }
        }
        let depth = |level: u32| {
            let (mut walk, mut depth) = (level, 0);
            while walk != EVENT {
                walk = self.graph.parent(walk);
                depth += 1;
            }
            depth
        };
        shared.truncate(EXPLAINED_LINES);
        levels.truncate(EXPLAINED_LINES);
        Explanation {
            columns: self.fields.iter().map(|field| field.name.clone()).collect(),
            columns_of_filters: self.columns_of(filters),
            filters: filters.iter().map(|id| self.words(*id, 0)).collect(),
            levels: levels
                .iter()
                .map(|level| {
                    let name = &self.level_names[*level as usize];
                    format!("{}{name}", "  ".repeat(depth(*level) - 1))
                })
                .collect(),
            shared,
            calls: self.callees.iter().map(Callee::in_words).collect(),
            programs: self.programs_in_words(),
        }
    }

    /// Number of columns that some nodes need.
    fn columns_of(&self, ids: &[NodeId]) -> usize {
        let mut stack: Vec<NodeId> = ids.to_vec();
        let mut seen = vec![false; self.graph.nodes.len()];
        let mut columns = std::collections::HashSet::new();
        while let Some(id) = stack.pop() {
            if std::mem::replace(&mut seen[id as usize], true) {
                continue;
            }
            let node = self.graph.node(id);
            if let Op::Column(column) = node.op {
                columns.insert(column);
            }
            stack.extend(&node.inputs);
            stack.extend(self.graph.level(node.level).kind.node());
        }
        columns.len()
    }

    /// A node as an expression.
    fn words(&self, id: NodeId, depth: usize) -> String {
        if depth > EXPLAINED_DEPTH {
            return "…".to_owned();
        }
        let node = self.graph.node(id);
        // Places of values are no arguments.
        let arguments = match &node.op {
            Op::CallShared { steps, .. } => node.inputs.get(..steps.len()),
            _ => None,
        };
        let inputs: Vec<String> = arguments
            .unwrap_or(&node.inputs)
            .iter()
            .map(|input| self.words(*input, depth + 1))
            .collect();
        let of = |name: &str| format!("{name}({})", inputs.join(", "));
        let between = |sign: &str| format!("({})", inputs.join(&format!(" {sign} ")));
        match &node.op {
            Op::Column(column) => self
                .column_of
                .get(column)
                .and_then(|column| self.fields.get(*column))
                .map_or_else(|| "a column".to_owned(), |field| field.name.clone()),
            Op::Const(constant) => match constant {
                Constant::Bool(x) => x.to_string(),
                Constant::Int(x) => x.to_string(),
                Constant::UInt(x) => x.to_string(),
                Constant::Float(bits) => f64::from_bits(*bits).to_string(),
                Constant::Str(x) => format!("{x:?}"),
            },
            Op::Map(map) => programs::map_in_words(*map, &inputs),
            Op::And => between("and"),
            Op::Or => between("or"),
            Op::StrCompare(op) => between(comparison(*op)),
            Op::Reduce(reducer) => of(&format!("{reducer:?}").to_lowercase()),
            Op::Len(level) => format!("len({})", self.level_names[*level as usize]),
            Op::Spread | Op::Take(_) | Op::Align => inputs.concat(),
            Op::At { .. } => match inputs.as_slice() {
                [value, index, ..] => format!("{value}[{index}]"),
                _ => of("item"),
            },
            Op::Concat => of("concat"),
            Op::Position | Op::Row => "number of the item".to_owned(),
            Op::Cycle(list) if node.ty == Type::Float => {
                let floats: Vec<f64> = list.iter().map(|x| f64::from_bits(*x as u64)).collect();
                format!("{floats:?}")
            }
            Op::Cycle(list) => format!("{list:?}"),
            Op::InInts(list) => format!("{} in {} integers", inputs.concat(), list.len()),
            Op::Lookup { how, table } => {
                let how = format!("{how:?}").to_lowercase();
                format!("{} in a table of {} ({how})", inputs.concat(), table.len())
            }
            Op::Call(callee) | Op::CallShared { callee, .. } | Op::Returned { callee, .. } => {
                match self.callees.get(*callee) {
                    Some(callee) => of(&callee.title),
                    None => of("a function"),
                }
            }
            Op::Select => of("where"),
            Op::Only => of("only"),
            Op::RunningSum => of("cumsum"),
            Op::Ancestor => of("nearest distinct ancestor"),
            Op::Identified => of("item with the ID"),
            Op::IsMissing => of("is_missing"),
            Op::FillMissing => of("fill_missing"),
        }
    }
}

fn sign(op: Arithmetic) -> &'static str {
    match op {
        Arithmetic::Add => "+",
        Arithmetic::Sub => "-",
        Arithmetic::Mul => "*",
        Arithmetic::Div => "/",
        Arithmetic::FloorDiv => "//",
        Arithmetic::Mod => "%",
        Arithmetic::Pow => "**",
    }
}

fn comparison(op: Compare) -> &'static str {
    match op {
        Compare::Eq => "==",
        Compare::Ne => "!=",
        Compare::Lt => "<",
        Compare::Le => "<=",
        Compare::Gt => ">",
        Compare::Ge => ">=",
    }
}
