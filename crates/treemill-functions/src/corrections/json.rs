//! JSON with `NaN`, `Inf` and `Infinity`, as correctionlib takes it. Why not serde_json: docs/decisions/0022.

use crate::corrections::number::{Number, number};
use crate::error::LoadError;
use crate::limits::JSON_DEPTH;

type Result<T> = std::result::Result<T, LoadError>;

/// A value of JSON.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum Json {
    Null,
    Bool,
    Number(Number),
    Text(String),
    List(Vec<Json>),
    Object(Vec<(String, Json)>),
}

/// Reads a document.
pub(crate) fn parse(text: &[u8]) -> Result<Json> {
    let mut parser = Parser { text, at: 0 };
    let value = parser.value(0)?;
    parser.skip();
    if parser.at < text.len() {
        return Err(parser.wrong("The document root must not be followed by other values."));
    }
    Ok(value)
}

impl Json {
    /// The member of an object. Of several with a name the first counts.
    pub fn get(&self, name: &str) -> Option<&Self> {
        match self {
            Self::Object(members) => {
                let found = members.iter().find(|(known, _)| known == name);
                found.map(|(_, value)| value)
            }
            _ => None,
        }
    }

    pub fn required(&self, name: &str) -> Result<&Self> {
        self.get(name)
            .ok_or_else(|| LoadError::new(format!("Object missing required attribute '{name}'")))
    }

    /// A member of a type.
    fn typed<'a, T>(
        &'a self,
        name: &str,
        as_type: impl FnOnce(&'a Self) -> Option<T>,
    ) -> Result<T> {
        as_type(self.required(name)?).ok_or_else(|| {
            let message = format!("Encountered invalid type for required attribute '{name}'");
            LoadError::new(message)
        })
    }

    pub fn text(&self, name: &str) -> Result<&str> {
        self.typed(name, Self::as_text)
    }

    pub fn list(&self, name: &str) -> Result<&[Self]> {
        self.typed(name, Self::as_list)
    }

    /// An integer of 32 bits.
    pub fn int(&self, name: &str) -> Result<i32> {
        self.typed(name, Self::as_int)
    }

    /// An integer of 32 bits without a sign.
    pub fn count(&self, name: &str) -> Result<u32> {
        self.typed(name, |value| match value {
            Self::Number(Number::Positive(x)) => u32::try_from(*x).ok(),
            _ => None,
        })
    }

    /// A number that is not written as an integer.
    pub fn real(&self, name: &str) -> Result<f64> {
        self.typed(name, Self::as_real)
    }

    /// A member that may be left out, or null.
    pub fn optional<'a, T>(
        &'a self,
        name: &str,
        as_type: impl FnOnce(&'a Self) -> Option<T>,
    ) -> Result<Option<T>> {
        match self.get(name) {
            None | Some(Self::Null) => Ok(None),
            Some(value) => as_type(value).map(Some).ok_or_else(|| {
                let message = format!("Encountered invalid type for optional attribute '{name}'");
                LoadError::new(message)
            }),
        }
    }

    pub fn as_text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }

    pub fn as_list(&self) -> Option<&[Self]> {
        match self {
            Self::List(items) => Some(items),
            _ => None,
        }
    }

    pub fn as_int(&self) -> Option<i32> {
        match self {
            Self::Number(Number::Positive(x)) => i32::try_from(*x).ok(),
            Self::Number(Number::Negative(x)) => i32::try_from(*x).ok(),
            _ => None,
        }
    }

    pub fn as_real(&self) -> Option<f64> {
        match self {
            Self::Number(Number::Real(x)) => Some(*x),
            _ => None,
        }
    }

    /// Any number.
    pub fn as_number(&self) -> Option<f64> {
        match self {
            Self::Number(Number::Real(x)) => Some(*x),
            Self::Number(Number::Positive(x)) => Some(*x as f64),
            Self::Number(Number::Negative(x)) => Some(*x as f64),
            _ => None,
        }
    }
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    fn wrong(&self, what: &str) -> LoadError {
        LoadError::new(format!("JSON parse error: {what} at offset {}", self.at))
    }

    fn peek(&self) -> Option<u8> {
        self.text.get(self.at).copied()
    }

    fn step(&mut self) {
        self.at = self.at.saturating_add(1);
    }

    fn skip(&mut self) {
        while matches!(self.peek(), Some(b' ' | b'\n' | b'\r' | b'\t')) {
            self.step();
        }
    }

    fn take(&mut self, wanted: &[u8]) -> bool {
        let rest = self.text.get(self.at..).unwrap_or_default();
        let found = rest.starts_with(wanted);
        if found {
            self.at = self.at.saturating_add(wanted.len());
        }
        found
    }

    fn value(&mut self, depth: usize) -> Result<Json> {
        self.skip();
        if depth > JSON_DEPTH {
            return Err(self.wrong(&format!("more than {JSON_DEPTH} brackets in one another")));
        }
        match self.peek() {
            None => Err(self.wrong("The document is empty, or ends too early.")),
            Some(b'{') => self.object(depth),
            Some(b'[') => self.items(depth),
            Some(b'"') => self.string().map(Json::Text),
            Some(b'n') if self.take(b"null") => Ok(Json::Null),
            Some(b't') if self.take(b"true") => Ok(Json::Bool),
            Some(b'f') if self.take(b"false") => Ok(Json::Bool),
            Some(_) => self.number().map(Json::Number),
        }
    }

    fn number(&mut self) -> Result<Number> {
        let start = self.at;
        let sign = if self.take(b"-") { -1.0 } else { 1.0 };
        if self.take(b"NaN") {
            return Ok(Number::Real(f64::NAN));
        }
        if self.take(b"Inf") {
            self.take(b"inity");
            return Ok(Number::Real(sign * f64::INFINITY));
        }
        self.at = start;
        let rest = self.text.get(start..).unwrap_or_default();
        let Some((found, length)) = number(rest) else {
            return Err(self.wrong("Invalid value, or a number too big to be stored in double."));
        };
        self.at = start.saturating_add(length);
        Ok(found)
    }

    fn items(&mut self, depth: usize) -> Result<Json> {
        self.step();
        let mut items = Vec::new();
        self.skip();
        if self.take(b"]") {
            return Ok(Json::List(items));
        }
        loop {
            items.push(self.value(depth.saturating_add(1))?);
            self.skip();
            if self.take(b"]") {
                items.shrink_to_fit();
                return Ok(Json::List(items));
            }
            if !self.take(b",") {
                return Err(self.wrong("Missing a comma or ] after an array element."));
            }
        }
    }

    fn object(&mut self, depth: usize) -> Result<Json> {
        self.step();
        let mut members = Vec::new();
        self.skip();
        if self.take(b"}") {
            return Ok(Json::Object(members));
        }
        loop {
            self.skip();
            if self.peek() != Some(b'"') {
                return Err(self.wrong("Missing a name for object member."));
            }
            let name = self.string()?;
            self.skip();
            if !self.take(b":") {
                return Err(self.wrong("Missing a colon after a name of object member."));
            }
            members.push((name, self.value(depth.saturating_add(1))?));
            self.skip();
            if self.take(b"}") {
                members.shrink_to_fit();
                return Ok(Json::Object(members));
            }
            if !self.take(b",") {
                return Err(self.wrong("Missing a comma or } after an object member."));
            }
        }
    }

    fn string(&mut self) -> Result<String> {
        self.step();
        let mut found = Vec::new();
        loop {
            let rest = self.text.get(self.at..).unwrap_or_default();
            let plain = rest
                .iter()
                .position(|byte| matches!(byte, b'"' | b'\\' | 0..0x20));
            let Some(plain) = plain else {
                return Err(self.wrong("Missing a closing quotation mark in string."));
            };
            found.extend_from_slice(rest.get(..plain).unwrap_or_default());
            self.at = self.at.saturating_add(plain);
            match self.peek() {
                Some(b'"') => {
                    self.step();
                    let text = String::from_utf8(found);
                    return text
                        .map_err(|e| self.wrong("Invalid encoding in string.").with_source(e));
                }
                Some(b'\\') => {
                    self.step();
                    let letter = self.escape()?;
                    found.extend_from_slice(letter.encode_utf8(&mut [0; 4]).as_bytes());
                }
                _ => return Err(self.wrong("Invalid encoding in string.")),
            }
        }
    }

    fn escape(&mut self) -> Result<char> {
        let letter = match self.peek() {
            Some(b'n') => '\n',
            Some(b't') => '\t',
            Some(b'r') => '\r',
            Some(b'b') => '\u{8}',
            Some(b'f') => '\u{c}',
            Some(byte @ (b'"' | b'\\' | b'/')) => char::from(byte),
            Some(b'u') => {
                self.step();
                return self.unicode();
            }
            _ => return Err(self.wrong("Invalid escape character in string.")),
        };
        self.step();
        Ok(letter)
    }

    fn unicode(&mut self) -> Result<char> {
        let first = self.hex()?;
        let code = match first {
            0xd800..=0xdbff if self.take(b"\\u") => {
                let second = self.hex()?;
                let high = first.wrapping_sub(0xd800) << 10;
                match second {
                    0xdc00..=0xdfff => high
                        .wrapping_add(second.wrapping_sub(0xdc00))
                        .wrapping_add(0x1_0000),
                    _ => first,
                }
            }
            code => code,
        };
        char::from_u32(code).ok_or_else(|| self.wrong("The surrogate pair in string is invalid."))
    }

    fn hex(&mut self) -> Result<u32> {
        let end = self.at.saturating_add(4);
        let digits = self.text.get(self.at..end);
        let digits = digits.filter(|digits| digits.iter().all(u8::is_ascii_hexdigit));
        let found = digits
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u32::from_str_radix(digits, 16).ok());
        self.at = end;
        found.ok_or_else(|| self.wrong("Incorrect hex digit after \\u escape in string."))
    }
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, clippy::indexing_slicing, clippy::panic)]
    use super::*;

    #[test]
    fn documents_are_read() {
        let json = parse(br#" {"a": [1, -2.5, NaN, -Infinity, Inf], "b": "\u00e9\n\ud83d\ude00", "c": null, "a": 3} "#);
        let json = json.unwrap();
        let numbers: Vec<f64> = json
            .list("a")
            .unwrap()
            .iter()
            .filter_map(Json::as_number)
            .collect();
        assert_eq!(numbers[..2], [1.0, -2.5]);
        assert!(numbers[2].is_nan() && numbers[3] == f64::NEG_INFINITY && numbers[4] > 0.0);
        assert_eq!(json.text("b").unwrap(), "é\n😀");
        assert_eq!(json.optional("c", Json::as_text), Ok(None));
    }

    #[test]
    fn broken_documents_are_errors() {
        let deep = "[".repeat(JSON_DEPTH + 2);
        for text in [
            "",
            "{",
            "[1,",
            "[1 2]",
            "\"a",
            "{\"a\" 1}",
            "nul",
            "1 2",
            "\"\\ud800\"",
            "[1,]",
            &deep,
        ] {
            let error = parse(text.as_bytes()).unwrap_err();
            assert!(
                error.message.starts_with("JSON parse error: "),
                "{text}: {error}"
            );
        }
    }
}
