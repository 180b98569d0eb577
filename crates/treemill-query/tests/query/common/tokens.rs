//! Words, numbers, strings and signs of an expression, with their places.

use treemill_query::spec::Span;

pub struct Token {
    pub text: String,
    pub at: Span,
}

pub fn tokens(text: &str) -> Vec<Token> {
    let signs = [
        "**", "//", "<<", ">>", "<=", ">=", "==", "!=", "+", "-", "*", "/", "%", "&", "|", "^",
        "~", "<", ">", "(", ")", "[", "]", ",", ".", ":", "=",
    ];
    let chars: Vec<char> = text.chars().collect();
    let mut found = Vec::new();
    let mut i = 0;
    while i < chars.len() {
        let start = i;
        let c = chars[i];
        if c.is_whitespace() {
            i += 1;
            continue;
        }
        if c.is_ascii_digit() || (c == '.' && chars.get(i + 1).is_some_and(char::is_ascii_digit)) {
            while i < chars.len()
                && (chars[i].is_ascii_alphanumeric()
                    || chars[i] == '.'
                    || (matches!(chars[i], '+' | '-') && matches!(chars[i - 1], 'e' | 'E')))
            {
                i += 1;
            }
        } else if c.is_alphabetic() || c == '_' {
            while i < chars.len() && (chars[i].is_alphanumeric() || chars[i] == '_') {
                i += 1;
            }
        } else if c == '"' || c == '\'' {
            i += 1;
            while chars[i] != c {
                i += 1;
            }
            i += 1;
        } else {
            let rest: String = chars[i..].iter().take(2).collect();
            let sign = signs.iter().find(|sign| rest.starts_with(**sign));
            i += sign.unwrap_or_else(|| panic!("{c} in {text:?}")).len();
        }
        found.push(Token {
            text: chars[start..i].iter().collect(),
            at: (start as u32, i as u32),
        });
    }
    found
}
