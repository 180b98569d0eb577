//! A small parser of Python expressions, so that tests can be written in the language itself. It
//! trusts its input: what is not in the language panics.

use super::tokens::{Token, tokens};
use treemill_query::spec::{Expr, Expression, Literal, Loop, Span, Target};

/// A parsed expression.
pub fn parse(text: &str) -> Expression {
    let tokens = tokens(text);
    let mut parser = Parser {
        text,
        tokens,
        next: 0,
    };
    let tree = parser.ternary();
    assert!(parser.next == parser.tokens.len(), "left over in {text:?}");
    Expression {
        text: text.to_owned(),
        tree,
    }
}

struct Parser<'a> {
    text: &'a str,
    tokens: Vec<Token>,
    next: usize,
}

impl Parser<'_> {
    fn peek(&self) -> &str {
        self.tokens.get(self.next).map_or("", |token| &token.text)
    }

    fn start(&self) -> u32 {
        self.tokens
            .get(self.next)
            .map_or(self.text.chars().count() as u32, |token| token.at.0)
    }

    fn at(&self, start: u32) -> Span {
        let stop = self.next.checked_sub(1).map_or(0, |i| self.tokens[i].at.1);
        (start, stop)
    }

    fn take(&mut self, text: &str) -> bool {
        let found = self.peek() == text && self.next < self.tokens.len();
        self.next += usize::from(found);
        found
    }

    fn expect(&mut self, text: &str) {
        assert!(
            self.take(text),
            "{text} expected, {:?} found in {:?}",
            self.peek(),
            self.text
        );
    }

    fn one_of(&mut self, signs: &[&str]) -> Option<String> {
        let found = signs.iter().find(|sign| **sign == self.peek())?;
        self.next += 1;
        Some((*found).to_owned())
    }

    fn ternary(&mut self) -> Expr {
        let start = self.start();
        if self.take("lambda") {
            let mut params = Vec::new();
            while !self.take(":") {
                params.push(self.word());
                self.take(",");
            }
            let body = Box::new(self.ternary());
            let at = self.at(start);
            return Expr::Lambda { params, body, at };
        }
        let body = self.logic("or");
        if !self.take("if") {
            return body;
        }
        let test = Box::new(self.logic("or"));
        self.expect("else");
        let otherwise = Box::new(self.ternary());
        Expr::IfElse {
            test,
            body: Box::new(body),
            otherwise,
            at: self.at(start),
        }
    }

    fn logic(&mut self, op: &str) -> Expr {
        let start = self.start();
        let mut values = vec![self.logic_operand(op)];
        while self.take(op) {
            values.push(self.logic_operand(op));
        }
        if values.len() == 1 {
            return values.remove(0);
        }
        Expr::Bool {
            op: op.to_owned(),
            values,
            at: self.at(start),
        }
    }

    fn logic_operand(&mut self, op: &str) -> Expr {
        if op == "or" {
            self.logic("and")
        } else {
            self.negation()
        }
    }

    fn negation(&mut self) -> Expr {
        let start = self.start();
        if self.take("not") {
            let operand = Box::new(self.negation());
            return Expr::Unary {
                op: "not".to_owned(),
                operand,
                at: self.at(start),
            };
        }
        self.comparison()
    }

    fn comparison(&mut self) -> Expr {
        let start = self.start();
        let left = Box::new(self.binary(0));
        let (mut ops, mut rights) = (Vec::new(), Vec::new());
        loop {
            let op = if self.take("not") {
                self.expect("in");
                "not_in".to_owned()
            } else if let Some(op) = self.one_of(&["==", "!=", "<=", ">=", "<", ">", "in"]) {
                op
            } else {
                break;
            };
            ops.push(op);
            rights.push(self.binary(0));
        }
        if ops.is_empty() {
            return *left;
        }
        Expr::Compare {
            left,
            ops,
            rights,
            at: self.at(start),
        }
    }

    fn binary(&mut self, level: usize) -> Expr {
        const LEVELS: [&[&str]; 6] = [
            &["|"],
            &["^"],
            &["&"],
            &["<<", ">>"],
            &["+", "-"],
            &["*", "/", "//", "%"],
        ];
        let Some(signs) = LEVELS.get(level) else {
            return self.unary();
        };
        let start = self.start();
        let mut left = self.binary(level + 1);
        while let Some(op) = self.one_of(signs) {
            let right = Box::new(self.binary(level + 1));
            left = Expr::Binary {
                op,
                left: Box::new(left),
                right,
                at: self.at(start),
            };
        }
        left
    }

    fn unary(&mut self) -> Expr {
        let start = self.start();
        if let Some(op) = self.one_of(&["-", "+", "~"]) {
            let operand = Box::new(self.unary());
            let at = self.at(start);
            return Expr::Unary { op, operand, at };
        }
        let left = Box::new(self.postfix());
        if !self.take("**") {
            return *left;
        }
        let right = Box::new(self.unary());
        Expr::Binary {
            op: "**".to_owned(),
            left,
            right,
            at: self.at(start),
        }
    }

    fn postfix(&mut self) -> Expr {
        let start = self.start();
        let mut value = self.atom();
        loop {
            if self.take(".") {
                let name = self.word();
                let at = self.at(start);
                value = Expr::Attribute {
                    value: Box::new(value),
                    name,
                    at,
                };
            } else if self.take("(") {
                value = self.call(value, start);
            } else if self.take("[") {
                let index = Box::new(self.index());
                self.expect("]");
                let at = self.at(start);
                value = Expr::Index {
                    value: Box::new(value),
                    index,
                    at,
                };
            } else {
                return value;
            }
        }
    }

    fn call(&mut self, function: Expr, start: u32) -> Expr {
        let (mut args, mut keywords) = (Vec::new(), Vec::new());
        while !self.take(")") {
            let is_keyword = self
                .tokens
                .get(self.next + 1)
                .is_some_and(|token| token.text == "=");
            if is_keyword {
                let name = self.word();
                self.expect("=");
                keywords.push((name, self.ternary()));
            } else {
                let begin = self.start();
                let arg = self.ternary();
                args.push(self.comprehension(arg, begin));
            }
            self.take(",");
        }
        Expr::Call {
            function: Box::new(function),
            args,
            keywords,
            at: self.at(start),
        }
    }

    fn index(&mut self) -> Expr {
        let start = self.start();
        let bound = |parser: &mut Self| {
            (!matches!(parser.peek(), ":" | "]")).then(|| Box::new(parser.ternary()))
        };
        let lower = bound(self);
        if !self.take(":") {
            return *lower.expect("an index");
        }
        let upper = bound(self);
        let step = if self.take(":") { bound(self) } else { None };
        Expr::Slice {
            lower,
            upper,
            step,
            at: self.at(start),
        }
    }

    fn comprehension(&mut self, element: Expr, start: u32) -> Expr {
        let mut loops = Vec::new();
        while self.take("for") {
            let mut targets = vec![self.word()];
            while self.take(",") {
                targets.push(self.word());
            }
            self.expect("in");
            let iter = self.logic("or");
            let mut conditions = Vec::new();
            while self.take("if") {
                conditions.push(self.logic("or"));
            }
            loops.push(Loop {
                targets: targets.into_iter().map(Target::Name).collect(),
                iter,
                conditions,
            });
        }
        if loops.is_empty() {
            return element;
        }
        Expr::Comprehension {
            element: Box::new(element),
            loops,
            at: self.at(start),
        }
    }

    fn word(&mut self) -> String {
        let word = self.peek().to_owned();
        self.next += 1;
        word
    }

    fn atom(&mut self) -> Expr {
        let start = self.start();
        if self.take("(") || self.take("[") {
            let list = self.tokens[self.next - 1].text == "[";
            let mut items = Vec::new();
            let mut comma = false;
            while !self.take(")") && !self.take("]") {
                let begin = self.start();
                let item = self.ternary();
                items.push(self.comprehension(item, begin));
                comma |= self.take(",");
            }
            let loops = matches!(items.first(), Some(Expr::Comprehension { .. }));
            if items.len() == 1 && !comma && (!list || loops) {
                return items.remove(0);
            }
            let at = self.at(start);
            return Expr::Sequence {
                items,
                is_tuple: !list,
                at,
            };
        }
        let word = self.word();
        let at = self.at(start);
        let value = match word.as_str() {
            "True" => Literal::Bool(true),
            "False" => Literal::Bool(false),
            text if text.starts_with(['"', '\'']) => {
                Literal::Str(text[1..text.len() - 1].to_owned())
            }
            text if text.starts_with(|c: char| c.is_ascii_digit() || c == '.') => {
                if let Ok(value) = text.parse::<i64>() {
                    Literal::Int(value)
                } else if let Ok(value) = text.parse::<u64>() {
                    Literal::BigInt(value)
                } else {
                    Literal::Float(text.parse().expect("a number"))
                }
            }
            _ => return Expr::Name { id: word, at },
        };
        Expr::Const { value, at }
    }
}
