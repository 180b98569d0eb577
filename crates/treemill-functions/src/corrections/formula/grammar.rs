//! The grammar of formulas: text → a tree. A minus sign belongs to the number or the factor after it, before any
//! operator (`-x^2` is `(-x)^2`), as in correctionlib.

use super::functions::{BINARY, OPERATORS, POWER, UNARY};
use super::{Term, Unary};
use crate::error::LoadError;
use crate::limits::{FORMULA_BRACKETS, FORMULA_DEPTH};

type Result<T> = std::result::Result<T, LoadError>;

/// Reads a formula. `variables`: the inputs' numbers, of x, y, z and t in this order.
pub(crate) fn parse(text: &str, variables: &[usize]) -> Result<Term> {
    let mut parser = Parser {
        text,
        at: 0,
        variables,
        brackets: 0,
    };
    parser.skip();
    let (term, _) = parser.expression(0)?;
    match parser.at < text.len() {
        true => Err(parser.wrong("syntax error")),
        false => Ok(term),
    }
}

struct Parser<'a> {
    text: &'a str,
    at: usize,
    variables: &'a [usize],
    brackets: usize,
}

/// A term, and how many levels its tree has.
type Leveled = (Term, usize);

impl Parser<'_> {
    fn wrong(&self, what: &str) -> LoadError {
        LoadError::new(format!(
            "Failed to parse Formula expression at position {}:\n{}\n{}",
            self.at, self.text, what
        ))
    }

    fn rest(&self) -> &str {
        self.text.get(self.at..).unwrap_or_default()
    }

    fn move_by(&mut self, bytes: usize) {
        self.at = self.at.saturating_add(bytes);
    }

    fn skip(&mut self) {
        let rest = self.rest();
        let blank = rest
            .len()
            .saturating_sub(rest.trim_start_matches([' ', '\t']).len());
        self.move_by(blank);
    }

    /// Takes a sign and the blanks after it.
    fn take(&mut self, sign: &str) -> bool {
        let found = self.rest().starts_with(sign);
        if found {
            self.move_by(sign.len());
            self.skip();
        }
        found
    }

    fn expect(&mut self, sign: &str) -> Result<()> {
        match self.take(sign) {
            true => Ok(()),
            false => Err(self.wrong(&format!("syntax error, expecting '{sign}'"))),
        }
    }

    fn digits(&self, from: usize) -> usize {
        let rest = self.rest().get(from..).unwrap_or_default();
        rest.bytes().take_while(u8::is_ascii_digit).count()
    }

    /// Operators that bind at least as tightly as `least`, and what is between them.
    fn expression(&mut self, least: u8) -> Result<Leveled> {
        let (mut left, mut depth) = self.atom()?;
        loop {
            let rest = self.rest();
            let found = OPERATORS.iter().find(|(sign, ..)| rest.starts_with(sign));
            let Some((sign, op, binds)) = found.filter(|(.., binds)| *binds >= least) else {
                return Ok((left, depth));
            };
            self.take(sign);
            let next = if *binds == POWER {
                *binds
            } else {
                binds.saturating_add(1)
            };
            let (right, its_depth) = match *binds == POWER {
                true => self.bracketed(|parser| parser.expression(next))?,
                false => self.expression(next)?,
            };
            depth = self.deeper(depth.max(its_depth))?;
            left = Term::Binary(*op, Box::new((left, right)));
        }
    }

    fn deeper(&self, depth: usize) -> Result<usize> {
        if depth >= FORMULA_DEPTH {
            let message = format!("the formula's tree has more than {FORMULA_DEPTH} levels");
            return Err(self.wrong(&message));
        }
        Ok(depth.saturating_add(1))
    }

    /// What is done one level of brackets deeper.
    fn bracketed<T>(&mut self, inner: impl FnOnce(&mut Self) -> Result<T>) -> Result<T> {
        if self.brackets >= FORMULA_BRACKETS {
            let message =
                format!("the formula has more than {FORMULA_BRACKETS} brackets in one another");
            return Err(self.wrong(&message));
        }
        self.brackets = self.brackets.saturating_add(1);
        let found = inner(self);
        self.brackets = self.brackets.saturating_sub(1);
        found
    }

    fn atom(&mut self) -> Result<Leveled> {
        if let Some(number) = self.literal()? {
            return Ok((Term::Literal(number), 1));
        }
        let is_negative = self.take("-");
        let (term, depth) = self.factor()?;
        Ok(match is_negative {
            false => (term, depth),
            true => (
                Term::Unary(Unary::Negative, Box::new(term)),
                self.deeper(depth)?,
            ),
        })
    }

    fn literal(&mut self) -> Result<Option<f64>> {
        let sign = usize::from(self.rest().starts_with('-'));
        let whole = self.digits(sign);
        if whole == 0 {
            return Ok(None);
        }
        let mut end = sign.saturating_add(whole);
        let byte = |parser: &Self, i: usize| parser.rest().as_bytes().get(i).copied();
        if byte(self, end) == Some(b'.') {
            end = end.saturating_add(1);
            end = end.saturating_add(self.digits(end));
        }
        if byte(self, end) == Some(b'e') {
            let minus = usize::from(byte(self, end.saturating_add(1)) == Some(b'-'));
            let start = end.saturating_add(1).saturating_add(minus);
            let digits = self.digits(start);
            if digits > 0 {
                end = start.saturating_add(digits);
            }
        }
        let found = self.rest().get(..end).and_then(|text| text.parse().ok());
        let Some(number) = found else {
            return Err(self.wrong("no number"));
        };
        self.move_by(end);
        self.skip();
        Ok(Some(number))
    }

    fn factor(&mut self) -> Result<Leveled> {
        if self.take("(") {
            let found = self.bracketed(|parser| parser.expression(0))?;
            self.expect(")")?;
            return Ok(found);
        }
        if self.take("[") {
            let index = self.index()?;
            self.skip();
            self.expect("]")?;
            return Ok((Term::Parameter(index), 1));
        }
        let rest = self.rest();
        if let Some((name, op)) = BINARY.iter().find(|(name, _)| rest.starts_with(name)) {
            self.take(name);
            self.expect("(")?;
            let (a, depth) = self.bracketed(|parser| parser.expression(0))?;
            self.expect(",")?;
            let (b, other) = self.bracketed(|parser| parser.expression(0))?;
            self.expect(")")?;
            let depth = self.deeper(depth.max(other))?;
            return Ok((Term::Binary(*op, Box::new((a, b))), depth));
        }
        if let Some((name, op)) = UNARY.iter().find(|(name, _)| rest.starts_with(name)) {
            self.take(name);
            self.expect("(")?;
            let (operand, depth) = self.bracketed(|parser| parser.expression(0))?;
            self.expect(")")?;
            return Ok((Term::Unary(*op, Box::new(operand)), self.deeper(depth)?));
        }
        self.variable()
    }

    fn variable(&mut self) -> Result<Leveled> {
        let number = match self.rest().as_bytes().first() {
            Some(b'x') if self.rest().starts_with("x[") && self.digits(2) > 0 => {
                self.move_by(2);
                let index = self.index()?;
                if !self.rest().starts_with(']') {
                    return Err(self.wrong("syntax error, expecting ']'"));
                }
                index
            }
            Some(b'x') => 0,
            Some(b'y') => 1,
            Some(b'z') => 2,
            Some(b't') => 3,
            _ => return Err(self.wrong("syntax error")),
        };
        self.move_by(1);
        self.skip();
        let Some(input) = self.variables.get(number) else {
            return Err(LoadError::new("Insufficient variables for formula"));
        };
        Ok((Term::Input(*input), 1))
    }

    fn index(&mut self) -> Result<usize> {
        let digits = self.digits(0);
        let found = self.rest().get(..digits).and_then(|text| text.parse().ok());
        let Some(index) = found else {
            return Err(self.wrong("syntax error, expecting a number"));
        };
        self.move_by(digits);
        Ok(index)
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]
    use super::*;
    use crate::corrections::formula::Formula;
    use crate::corrections::variable::Slot;

    fn value(text: &str) -> f64 {
        let term = parse(text, &[0, 1]).unwrap();
        let formula = Formula {
            term: term.into(),
            parameters: [10.0, 20.0].into(),
        };
        formula.evaluate(&[Slot::Real(2.0), Slot::Real(3.0)])
    }

    #[test]
    fn operators_bind_as_in_correctionlib() {
        let cases = [
            ("x + y*[1]", 62.0),
            ("-x^2", 4.0),
            ("-2^2", 4.0),
            ("x^y^x", 512.0),
            ("x-1-1", 0.0),
            ("x -1", 1.0),
            ("x<-2", 0.0),
            ("x<=2", 1.0),
            ("x>=2&&y!=3||1", 1.0),
            ("1+(x>1)*2", 3.0),
            ("log10(100)", 2.0),
            ("max(x[0],x[1]) / min(x, y)", 1.5),
            ("2.*1e-1", 0.2),
            ("-(x)", -2.0),
            ("\t[0] ", 10.0),
        ];
        for (text, wanted) in cases {
            assert_eq!(value(text), wanted, "{text}");
        }
    }

    #[test]
    fn what_it_does_not_take() {
        let deep = format!("{}x{}", "(".repeat(500), ")".repeat(500));
        let long = vec!["x"; 5000].join("+");
        for text in [
            "",
            "x+",
            "--x",
            "- 2",
            "2e+3",
            "z",
            "x[9]",
            "tan",
            "x)",
            "(x",
            "[x]",
            "xx",
            "1.5.2",
            &deep,
            &long,
            "x^x^".repeat(400).as_str(),
        ] {
            assert!(parse(text, &[0, 1]).is_err(), "{text}");
        }
    }
}
