//! What goes over the wire, as bytes and as values: XDR, RPC, and the operations of NFSv4.1 (RFC 8881, RFC 7862). Pure:
//! no byte from outside panics, and nothing is allocated for more than the bytes present can hold.

pub mod apart;
pub mod attributes;
pub mod callback;
pub mod compound;
pub mod layout;
pub mod open;
pub mod report;
pub mod rpc;
pub mod session;
pub mod status;
pub mod xdr;

#[cfg(test)]
mod tests;
