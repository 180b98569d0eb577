//! A library by which a real `xrootd` knows one token: those that it comes with need an issuer with a server of its own.

#![allow(clippy::unwrap_used, dead_code)]

use std::path::Path;
use std::process::{Command, Stdio};

/// The token that the server takes.
pub const TOKEN: &str = "abc.def";

/// What a server's configuration needs, `FOLDER` being its own.
pub const CONFIG: &str = "xrootd.seclib libXrdSec.so\nsec.protocol ztn -expiry ignore -tokenlib FOLDER/libtoken.so\n\
                          sec.protbind * only ztn\n";

/// The server's interface `XrdSciTokensHelper`, by its layout.
const LIBRARY: &str = r#"
#include <cstring>
#include <string>
#include <vector>
class XrdSecEntity;
struct Helper {
    struct Issuer { std::string name, url; };
    virtual std::vector<Issuer> IssuerList() { return {}; }
    virtual bool Validate(const char *token, std::string &why, long long *expiry, XrdSecEntity *) {
        if (expiry) *expiry = -1;
        why = "another token than the test's";
        return std::strcmp(token, "abc.def") == 0;
    }
    virtual ~Helper() {}
};
static Helper helper;
extern "C" { Helper *SciTokensHelper = &helper; }
"#;

/// Makes the library in a folder; false, with the reason printed, where there is no compiler of C++.
pub fn install(folder: &Path) -> bool {
    std::fs::write(folder.join("token.cc"), LIBRARY).unwrap();
    let mut command = Command::new("c++");
    command
        .args(["-shared", "-fPIC", "-o", "libtoken.so", "token.cc"])
        .current_dir(folder);
    let status = command.stdout(Stdio::null()).stderr(Stdio::null()).status();
    let made = status.is_ok_and(|status| status.success());
    if !made {
        println!("skipped: there is no c++, which makes a library of tokens for xrootd");
    }
    made
}
