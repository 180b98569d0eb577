//! What expressions stand for: operators, calls, loops, lists and names, each by its form.

pub(super) mod call;
pub(super) mod compare;
pub(super) mod free_names;
pub(super) mod functions;
pub(super) mod habits;
pub(super) mod index;
pub(super) mod lists;
pub(super) mod loops;
pub(super) mod made_vectors;
pub(super) mod names;
pub(super) mod operators;
pub(super) mod provided;
pub(super) mod random;
pub(super) mod reduce;
pub(super) mod statistics;
pub(super) mod tables;
pub(super) mod two_vectors;

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used)]

    use crate::compile::{Compiler, Constant, EVENT, Type};
    use crate::function::Functions;
    use crate::schema::{ColumnType, DType, Field, Schema};
    use crate::spec::{Expr, Expression, Literal, Loop, Relations, Target};

    fn schema() -> Schema {
        let list = ColumnType::List {
            item: DType::F32,
            counter: Some("nJet".to_owned()),
        };
        Schema::new(vec![
            Field::new("nJet", ColumnType::Scalar(DType::U32)),
            Field::new("Jet_pt", list),
            Field::new("MET", ColumnType::Scalar(DType::F32)),
        ])
    }

    fn name(id: &str) -> Expr {
        Expr::Name {
            id: id.to_owned(),
            at: (0, 1),
        }
    }

    fn call(function: &str, args: Vec<Expr>) -> Expr {
        Expr::Call {
            function: Box::new(name(function)),
            args,
            keywords: Vec::new(),
            at: (0, 1),
        }
    }

    fn expression(tree: Expr) -> Expression {
        Expression {
            text: "the text".to_owned(),
            tree,
        }
    }

    #[test]
    fn values_of_constants_are_constants() {
        let (schema, functions, relations) = (schema(), Functions::default(), Relations::default());
        let mut compiler = Compiler::new(&schema, &functions, &relations);
        let int = |value| Expr::Const {
            value: Literal::Int(value),
            at: (0, 1),
        };
        let sum = Expr::Binary {
            op: "+".to_owned(),
            left: Box::new(int(2)),
            right: Box::new(int(3)),
            at: (0, 1),
        };
        let found = compiler.expression(&expression(sum), None).unwrap();
        let graph = &compiler.names.nodes.graph;
        assert_eq!(graph.as_const(found), Some(&Constant::Int(5)));
    }

    #[test]
    fn a_reduction_closes_a_list() {
        let (schema, functions, relations) = (schema(), Functions::default(), Relations::default());
        let mut compiler = Compiler::new(&schema, &functions, &relations);
        let whole = expression(call("sum", vec![name("Jet_pt")]));
        let found = compiler.expression(&whole, None).unwrap();
        let node = compiler.names.nodes.graph.node(found);
        assert_eq!((node.level, node.ty), (EVENT, Type::Float));
        assert!(
            compiler
                .condition(&expression(name("Jet_pt")), None)
                .is_err()
        );
    }

    #[test]
    fn a_variable_comes_before_columns_and_ends_with_its_loop() {
        let (schema, functions, relations) = (schema(), Functions::default(), Relations::default());
        let mut compiler = Compiler::new(&schema, &functions, &relations);
        let of_each = Expr::Comprehension {
            element: Box::new(name("MET")),
            loops: vec![Loop {
                targets: vec![Target::Name("MET".to_owned())],
                iter: name("Jet_pt"),
                conditions: Vec::new(),
            }],
            at: (0, 1),
        };
        let sum = expression(call("sum", vec![of_each]));
        let of_variable = compiler.expression(&sum, None).unwrap();
        let plain = expression(call("sum", vec![name("Jet_pt")]));
        let of_column = compiler.expression(&plain, None).unwrap();
        let graph = &compiler.names.nodes.graph;
        assert_eq!(graph.node(of_variable).op, graph.node(of_column).op);
        let met = compiler.expression(&expression(name("MET")), None).unwrap();
        assert_eq!(compiler.names.nodes.graph.node(met).level, EVENT);
    }

    #[test]
    fn unknown_names_bring_those_that_are_near() {
        let (schema, functions, relations) = (schema(), Functions::default(), Relations::default());
        let mut compiler = Compiler::new(&schema, &functions, &relations);
        let error = compiler.expression(&expression(name("Jet_Pt")), None);
        assert_eq!(
            error.unwrap_err().suggestions.first().map(String::as_str),
            Some("Jet_pt")
        );
    }
}
