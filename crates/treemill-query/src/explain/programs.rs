//! The programs of a query in words: step by step, as they are run. For people and tests, which look
//! here whether operations were fused.

use super::{comparison, sign};
use crate::compile::{Argument, EVENT, NodeId, Op, Operation, Plan, Program, Read};
use crate::kernel::{Bundle, Map, Root, Shape, Squares};
use crate::limits::EXPLAINED_LINES;

impl Plan {
    /// The programs that run, each with a line for what it goes through and one for each step.
    pub(super) fn programs_in_words(&self) -> Vec<String> {
        let joint = self.joints.iter();
        let joint = joint.map(|joint| (joint.nodes.clone(), &joint.program));
        let alone = self.programs.iter();
        let alone = alone.filter(|(id, _)| !self.joint_of.contains_key(id));
        let mut all: Vec<(Vec<NodeId>, &Program)> = joint
            .chain(alone.map(|(id, program)| (vec![*id], program)))
            .collect();
        all.sort_by(|(a, _), (b, _)| a.cmp(b));
        let mut lines: Vec<String> = all
            .iter()
            .flat_map(|(nodes, program)| self.program_in_words(nodes, program))
            .collect();
        lines.truncate(EXPLAINED_LINES);
        lines
    }

    fn program_in_words(&self, nodes: &[NodeId], program: &Program) -> Vec<String> {
        let node = nodes.first().copied().unwrap_or_default();
        let level = program.tuples.unwrap_or(self.graph.node(node).level);
        let through = match level {
            EVENT => "entries",
            level => self.level_names[level as usize].as_str(),
        };
        let results = registers(&program.results);
        let mut lines = vec![format!("{through}: {results}")];
        for step in &program.steps {
            let arguments: Vec<String> = step
                .arguments
                .iter()
                .map(|argument| self.argument(program, argument))
                .collect();
            let results = registers(&step.results);
            let what = work_in_words(step.work, &arguments);
            lines.push(format!("  {results} = {what}"));
        }
        let fold = self.folds.iter().find(|(_, made)| **made == node);
        if let Some((fold, _)) = fold
            && let Op::Reduce(reducer) = self.graph.node(*fold).op
        {
            let reducer = format!("{reducer:?}").to_lowercase();
            lines.push(format!("  {reducer} of {results}, list by list"));
        }
        lines
    }

    fn argument(&self, program: &Program, argument: &Argument) -> String {
        match argument {
            Argument::Register(register) => format!("r{register}"),
            Argument::Leaf(leaf) => {
                let Some(leaf) = program.leaves.get(*leaf) else {
                    return "?".to_owned();
                };
                let words = self.words(leaf.node, 0);
                match leaf.read {
                    Read::Along => words,
                    Read::Item { which } => format!("{words} of item {which}"),
                    Read::Sum => format!("sum of {words}"),
                    Read::Items => format!("items' {words}"),
                }
            }
        }
    }
}

fn registers(all: &[usize]) -> String {
    let names: Vec<String> = all.iter().map(|register| format!("r{register}")).collect();
    names.join(", ")
}

/// What a step computes of its arguments.
fn work_in_words(work: Operation, arguments: &[String]) -> String {
    let all = arguments.join(", ");
    match work {
        Operation::Map(map, _) => map_in_words(map, arguments),
        Operation::SquaresOfSums(squares) => {
            format!("{} of sums({all})", squares_in_words(squares))
        }
        Operation::Bundle(Bundle::SinCos) => format!("sin, cos({all})"),
        Operation::Bundle(Bundle::PxPy) => format!("px, py({all})"),
        Operation::Bundle(Bundle::PzEnergy) => format!("pz, energy({all})"),
    }
}

/// An operation and its arguments as an expression.
pub(super) fn map_in_words(map: Map, arguments: &[String]) -> String {
    let of = |name: &str| format!("{}({})", name.to_lowercase(), arguments.join(", "));
    let between = |sign: &str| format!("({})", arguments.join(&format!(" {sign} ")));
    if let Some(op) = map.comparison() {
        return between(comparison(op));
    }
    match map {
        Map::Real(op) | Map::Int(op) | Map::UInt(op) => between(sign(op)),
        Map::And => between("and"),
        Map::Or => between("or"),
        Map::Real1(op) => of(&format!("{op:?}")),
        Map::Real2(op) => of(&format!("{op:?}")),
        Map::Squares(squares) => of(&squares_in_words(squares)),
        cast if cast.is_cast() => arguments.concat(),
        other => of(&format!("{other:?}")),
    }
}

fn squares_in_words(squares: Squares) -> String {
    let root = match squares.root {
        Root::Plain => "",
        Root::Sqrt => "root of ",
        Root::Signed => "signed root of ",
    };
    let shape = match squares.shape {
        Shape::Two | Shape::Three => "sum of squares",
        Shape::LessOne | Shape::LessTwo | Shape::LessThree => "difference of squares",
    };
    format!("{root}{shape}")
}
