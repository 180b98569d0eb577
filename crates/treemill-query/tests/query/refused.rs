//! Queries and data that are not what they should be.

use crate::common::Steps;
use crate::common::parse::parse;
use crate::common::table::{Table, numbers};
use std::error::Error;
use treemill_query::spec::{Action, Booking, Expr, Expression, Literal, Spec, Step, Wanted};
use treemill_query::{
    ColumnType, Columns, DType, Field, Outcome, Query, QueryError, Schema, Scratch,
};

/// Hands out the wrong thing.
struct Wrong(Vec<Result<arrow_array::ArrayRef, String>>);

impl Columns for Wrong {
    fn rows(&self) -> usize {
        2
    }
    fn column(
        &mut self,
        index: usize,
    ) -> Result<arrow_array::ArrayRef, Box<dyn Error + Send + Sync>> {
        self.0[index].clone().map_err(Into::into)
    }
}

#[test]
fn a_column_that_there_is_not_is_told_apart() {
    let table = Table::new().scalar("n", DType::I32, &[1.0, 1.0]);
    let column = |text: &str| Steps::new().sum(text).compile(&table).err().unwrap().column;
    assert_eq!(column("m + 1").as_deref(), Some("m"));
    assert_eq!(column("n + 'a'"), None, "another error");
}

#[test]
fn columns_that_break_their_promise_are_errors() {
    let table = Table::new()
        .scalar("n", DType::I32, &[1.0, 1.0])
        .list("a_x", DType::F64, Some("n"), &[vec![1.0], vec![2.0]])
        .list("a_y", DType::F64, Some("n"), &[vec![1.0], vec![2.0]]);
    let list = |lists: &[Vec<f64>]| {
        let table = Table::new().list("x", DType::F64, None, lists);
        let query = Steps::new().sum("x").compile(&table).unwrap();
        table.batch(&query, 0, lists.len()).column(0).unwrap()
    };
    let good = list(&[vec![1.0], vec![2.0]]);
    let other_lengths = list(&[vec![1.0, 2.0], vec![]]);
    let run = |text: &str, columns: Vec<Result<arrow_array::ArrayRef, String>>| {
        let query = Steps::new().sum(text).compile(&table).unwrap();
        let mut partial = query.partial();
        query
            .process(&mut Wrong(columns), &mut partial, &mut Scratch::default())
            .map_err(|error| error.to_string())
    };
    assert_eq!(
        run("a_x * a_y", vec![Ok(good.clone()), Ok(good.clone())]),
        Ok(())
    );
    let error = run("a_x * a_y", vec![Ok(good.clone()), Ok(other_lengths)]).unwrap_err();
    assert!(error.contains("a_y"), "{error}");
    let error = run("a_x", vec![Ok(numbers(DType::F64, &[1.0, 2.0]))]).unwrap_err();
    assert!(
        error.contains("a_x") && error.contains("Float64"),
        "{error}"
    );
    let error = run("a_x", vec![Ok(list(&[vec![1.0]]))]).unwrap_err();
    assert!(error.contains("1 entries"), "{error}");
    let error = run("a_x", vec![Err("the disk is gone".to_owned())]).unwrap_err();
    assert_eq!(error, "the disk is gone");
    let error = run("len(a_x)", vec![Ok(numbers(DType::I32, &[1.0, -1.0]))]).unwrap_err();
    assert!(error.contains("-1 items"), "{error}");
    let many = vec![Ok(numbers(DType::I32, &[2e9, 2e9]))];
    assert!(run("len(a_x)", many).is_err());
}

fn spec(steps: Vec<Step>, trees: Vec<Expr>) -> Spec {
    let booking = |tree| Booking {
        at: steps.len().checked_sub(1),
        variation: None,
        result: Wanted::Sum {
            expr: Expression {
                text: String::new(),
                tree,
            },
        },
    };
    let bookings = trees.into_iter().map(booking).collect();
    Spec {
        version: 1,
        relations: Default::default(),
        steps,
        bookings,
    }
}

fn schema() -> Schema {
    Schema::new(vec![Field::new("x", ColumnType::Scalar(DType::F64))])
}

fn x() -> Expr {
    Expr::Name {
        id: "x".to_owned(),
        at: (0, 1),
    }
}

fn refused(spec: &Spec) -> QueryError {
    Query::compile(spec, &schema()).err().expect("an error")
}

#[test]
fn deep_trees_are_refused() {
    type Wrap = fn(Expr) -> Expr;
    let at = (0, 1);
    let wraps: [Wrap; 5] = [
        |inner| Expr::Unary {
            op: "-".to_owned(),
            operand: Box::new(inner),
            at: (0, 1),
        },
        |inner| Expr::IfElse {
            test: Box::new(x()),
            body: Box::new(inner),
            otherwise: Box::new(x()),
            at: (0, 1),
        },
        |inner| Expr::Compare {
            left: Box::new(x()),
            ops: vec!["<".to_owned()],
            rights: vec![inner],
            at: (0, 1),
        },
        |inner| Expr::Call {
            function: Box::new(Expr::Name {
                id: "sqrt".to_owned(),
                at: (0, 1),
            }),
            args: vec![inner],
            keywords: Vec::new(),
            at: (0, 1),
        },
        |inner| Expr::Index {
            value: Box::new(inner),
            index: Box::new(x()),
            at: (0, 1),
        },
    ];
    for wrap in wraps {
        let deep = (0..3000).fold(x(), |inner, _| wrap(inner));
        assert!(
            refused(&spec(Vec::new(), vec![deep]))
                .message
                .contains("nested")
        );
    }
    // As deep as allowed, by the wrap that takes most stack.
    let fair = (0..190).fold(x(), |inner, _| wraps[3](inner));
    assert!(Query::compile(&spec(Vec::new(), vec![fair]), &schema()).is_ok());
    let attributes = (0..3000).fold(x(), |value, _| Expr::Attribute {
        value: Box::new(value),
        name: "a".to_owned(),
        at,
    });
    assert!(
        refused(&spec(Vec::new(), vec![attributes]))
            .message
            .contains("nested")
    );
}

#[test]
fn large_queries_are_refused() {
    let at = (0, 1);
    let one = || Expr::Const {
        value: Literal::Int(1),
        at,
    };
    let values = (0..600_000).map(|_| one()).collect();
    let wide = Expr::Bool {
        op: "and".to_owned(),
        values,
        at,
    };
    let twice = spec(Vec::new(), vec![wide.clone(), wide]);
    assert!(refused(&twice).message.contains("parts"));
    let mut wrong = spec(Vec::new(), vec![x()]);
    wrong.bookings[0].at = Some(7);
    assert!(refused(&wrong).message.contains("step 7"));
    wrong.version = 2;
    assert!(refused(&wrong).message.contains("version 2"));
    // Each names itself or a later one as its parent.
    for parent in [0, 1] {
        let filter = Action::Filter {
            expr: parse("x > 1"),
            name: None,
        };
        let step = Step {
            parent: Some(parent),
            variation: None,
            action: filter,
        };
        let _ = refused(&spec(vec![step], vec![x()]));
    }
}

#[test]
fn long_chains_of_definitions_cost_no_stack() {
    let n = 20_000;
    let define = |i: usize| Step {
        parent: i.checked_sub(1),
        variation: None,
        action: Action::Define {
            name: "x".to_owned(),
            // Used twice, so that steps are not put together.
            expr: parse("x + 1 - x * 0"),
        },
    };
    let spec = spec((0..n).map(define).collect(), vec![x()]);
    let query = Query::compile(&spec, &schema()).unwrap();
    let table = Table::new().scalar("x", DType::F64, &[0.0, 1.0]);
    let mut partial = query.partial();
    let mut batch = table.batch(&query, 0, 2);
    query
        .process(&mut batch, &mut partial, &mut Scratch::default())
        .unwrap();
    let sum = treemill_query::Number::Float(1.0 + 2.0 * n as f64);
    assert_eq!(partial.results(), [Outcome::Sum(sum)]);
}

/// What is wrong with the language's lists and loops, and what the message says of it.
#[test]
fn loops_and_lists_that_make_no_sense() {
    let table = crate::common::events::events();
    let cases = [
        (
            "sum(j for j in Muon)",
            "Muon has no px, and it cannot be computed",
        ),
        ("sum(Muon)", "Muon has no px, and it cannot be computed"),
        ("sum(j.pt for j in MET_pt)", "for goes through lists"),
        ("sum(j.pt for j in Muon[0])", "Muon is one record"),
        ("sum(sum(m.pt) for m in Muon)", "sum(…) needs a list"),
        ("max(Muon)", "has no order of its own"),
        ("max(Muon, default=0)", "has no order of its own"),
        ("max(Muon, key=lambda m: m.pt)", "record, not a number"),
        ("max(Muon, key=Muon_pt)", "there is no function Muon_pt"),
        ("get('MET_pt') > 3", "in backticks"),
        (
            "combinations(Muon, 2)",
            "this is a tuple of 2, not a number",
        ),
        (
            "len(combinations(Muon, 9))",
            "takes a constant number n from 1 to 8",
        ),
        ("sum(t.pt for t in combinations(Muon, 2))", "t[0].pt"),
        (
            "sum(t[2].pt for t in combinations(Muon, 2))",
            "the elements 0 to 1",
        ),
        (
            "sum(a.pt for a, b, c in combinations(Muon, 2))",
            "for names 3 variables, and its tuples have 2 elements",
        ),
        ("sum(a.pt for a, b in Muon)", "the items are no tuples"),
        (
            "sum((a + b).pt for a, b in combinations(Muon, 2))",
            "Muon has no px",
        ),
        (
            "sum(m.deltaX(m) for m in Muon)",
            "there is no method deltaX",
        ),
        ("lambda x: x", "a lambda stands after key="),
        (
            "sum(m.nothing for m in Muon)",
            "Muon has no nothing; it has pt, eta, charge",
        ),
        ("sum(m(1) for m in Muon)", "m is a variable here"),
        ("sorted(Muon)", "has no order of its own"),
        (
            "sum(x for x in sorted(Muon_pt, reverse=MET_pt))",
            "reverse= is True or False",
        ),
        ("sum(x for x in (1, MET_pt))", "a tuple of 2"),
        ("sum(Muon_pt, key=abs)", "sum(…) takes no argument key="),
        (
            "sum(x for x in Muon_pt if Muon_eta > 0)",
            "close it with any",
        ),
        ("sum(Muon_pt for x in Jet_pt)", "close the inner ones first"),
        ("Muon + Muon_pt", "Muon is a collection, not a number"),
        ("Muon[0] + 1", "Muon is a record, not a number"),
    ];
    let mut wrong = Vec::new();
    for (text, message) in cases {
        let error = Steps::new().sum(text).compile(&table).err();
        let said = error.map_or_else(|| "accepted".to_owned(), |error| format!("{error:?}"));
        if !said.contains(message) || said.contains("span: None") {
            wrong.push(format!("{text}: {said}"));
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
