//! What a user may show to servers (bearer tokens), and whom a user trusts (certificates of authorities), found where
//! grids and systems keep them. Knows no protocol and sends nothing. What it finds never appears in a message.

mod authorities;
mod refusal;
mod token;

pub use authorities::Trusted;
pub use refusal::in_words;
pub use token::{Places, Token, TokenError, bearer_token};
