//! What an operation's status means for the caller: one table. Knows no connection.

/// What to do after a status.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Meaning {
    /// Nothing helps.
    Final,
    /// There is no such file.
    Missing,
    /// This user may not do it.
    Denied,
    /// The server wants to be asked later.
    Later,
    /// The session is gone: a new one is made.
    Session,
    /// The server does not know this client any more: it was started anew, or the lease has ended.
    Client,
    /// The file's open state or its handle is gone: it is opened again.
    State,
    /// A symbolic link stands in the path.
    Link,
}

/// What a status is called and what it means. A status that is not here is final.
const TABLE: &[(u32, &str, &str, Meaning)] = &[
    (1, "PERM", "the server does not permit it", Meaning::Denied),
    (2, "NOENT", "no such file or folder", Meaning::Missing),
    (
        5,
        "IO",
        "the server could not read its storage",
        Meaning::Final,
    ),
    (
        6,
        "NXIO",
        "the server's storage is not there",
        Meaning::Final,
    ),
    (
        13,
        "ACCESS",
        "access is denied to the user that AUTH_SYS names",
        Meaning::Denied,
    ),
    (
        20,
        "NOTDIR",
        "a part of the path is not a folder",
        Meaning::Missing,
    ),
    (21, "ISDIR", "it is a folder", Meaning::Final),
    (
        22,
        "INVAL",
        "the server considers the request invalid",
        Meaning::Final,
    ),
    (
        63,
        "NAMETOOLONG",
        "a name is too long for the server",
        Meaning::Final,
    ),
    (
        70,
        "STALE",
        "the file is not there any more",
        Meaning::State,
    ),
    (
        10001,
        "BADHANDLE",
        "the server does not recognise its own file handle",
        Meaning::Final,
    ),
    (
        10003,
        "BAD_COOKIE",
        "the folder changed while it was listed",
        Meaning::Final,
    ),
    (
        10004,
        "NOTSUPP",
        "the server does not support it",
        Meaning::Final,
    ),
    (
        10006,
        "SERVERFAULT",
        "the server had an internal failure",
        Meaning::Final,
    ),
    (
        10008,
        "DELAY",
        "the server asks treemill to try again later",
        Meaning::Later,
    ),
    (
        10010,
        "DENIED",
        "another client has locked the file",
        Meaning::Later,
    ),
    (10011, "EXPIRED", "the lease has ended", Meaning::State),
    (
        10012,
        "LOCKED",
        "another client has locked the file",
        Meaning::Later,
    ),
    (
        10013,
        "GRACE",
        "the server has restarted, and still waits for the clients that it had before",
        Meaning::Later,
    ),
    (
        10014,
        "FHEXPIRED",
        "the server has forgotten the file's handle",
        Meaning::State,
    ),
    (
        10015,
        "SHARE_DENIED",
        "another client has opened the file for itself alone",
        Meaning::Later,
    ),
    (
        10016,
        "WRONGSEC",
        "the server requires another authentication than AUTH_SYS, probably Kerberos, which treemill does not support \
         for NFS",
        Meaning::Final,
    ),
    (
        10017,
        "CLID_INUSE",
        "another user has this client's name",
        Meaning::Final,
    ),
    (
        10018,
        "RESOURCE",
        "the server has no room for the request",
        Meaning::Final,
    ),
    (
        10019,
        "MOVED",
        "the files were moved to another server",
        Meaning::Final,
    ),
    (
        10021,
        "MINOR_VERS_MISMATCH",
        "the server does not speak this version of NFS",
        Meaning::Final,
    ),
    (
        10022,
        "STALE_CLIENTID",
        "the server has restarted",
        Meaning::Client,
    ),
    (
        10023,
        "STALE_STATEID",
        "the server has restarted",
        Meaning::State,
    ),
    (
        10024,
        "OLD_STATEID",
        "the file's open state is not the newest",
        Meaning::State,
    ),
    (
        10025,
        "BAD_STATEID",
        "the server has forgotten that the file is open",
        Meaning::State,
    ),
    (
        10029,
        "SYMLINK",
        "a symbolic link stands in the path",
        Meaning::Link,
    ),
    (
        10033,
        "NO_GRACE",
        "the server does not restore what was open before it restarted",
        Meaning::State,
    ),
    (
        10034,
        "RECLAIM_BAD",
        "the server does not restore what was open before it restarted",
        Meaning::State,
    ),
    (
        10035,
        "RECLAIM_CONFLICT",
        "the server does not restore what was open before it restarted",
        Meaning::State,
    ),
    (
        10038,
        "OPENMODE",
        "the file is not open for reading",
        Meaning::State,
    ),
    (
        10040,
        "BADCHAR",
        "the server does not accept the characters of a name",
        Meaning::Missing,
    ),
    (
        10041,
        "BADNAME",
        "the server does not accept a name",
        Meaning::Missing,
    ),
    (10046, "FILE_OPEN", "the file is in use", Meaning::Later),
    (
        10047,
        "ADMIN_REVOKED",
        "the file's open state was taken away",
        Meaning::State,
    ),
    (
        10052,
        "BADSESSION",
        "the server does not know the session",
        Meaning::Session,
    ),
    (
        10053,
        "BADSLOT",
        "the server does not know the slot",
        Meaning::Session,
    ),
    (
        10055,
        "CONN_NOT_BOUND_TO_SESSION",
        "the connection is not the session's",
        Meaning::Session,
    ),
    (
        10058,
        "LAYOUTTRYLATER",
        "the server will give the layout later",
        Meaning::Later,
    ),
    (
        10059,
        "LAYOUTUNAVAILABLE",
        "the server gives no layout",
        Meaning::Final,
    ),
    (
        10061,
        "RECALLCONFLICT",
        "the server wants the layout back first",
        Meaning::Later,
    ),
    (
        10063,
        "SEQ_MISORDERED",
        "the server and treemill disagree on the number of requests in the session",
        Meaning::Session,
    ),
    (
        10068,
        "RETRY_UNCACHED_REP",
        "the server has lost an answer of the session",
        Meaning::Session,
    ),
    (
        10074,
        "CLIENTID_BUSY",
        "the client is in use",
        Meaning::Later,
    ),
    (
        10076,
        "SEQ_FALSE_RETRY",
        "the server and treemill disagree on the number of requests in the session",
        Meaning::Session,
    ),
    (
        10077,
        "BAD_HIGH_SLOT",
        "the server does not know the slot",
        Meaning::Session,
    ),
    (
        10078,
        "DEADSESSION",
        "the session has ended",
        Meaning::Session,
    ),
    (
        10080,
        "PNFS_NO_LAYOUT",
        "the data server knows of no layout",
        Meaning::State,
    ),
    (
        10083,
        "WRONG_TYPE",
        "it is not a file that can be read",
        Meaning::Final,
    ),
    (
        10087,
        "DELEG_REVOKED",
        "the file's state was taken away",
        Meaning::State,
    ),
];

/// The server has taken a state away, which the client lets go of (FREE_STATEID).
#[must_use]
pub fn is_revoked(status: u32) -> bool {
    matches!(status, 10011 | 10047 | 10087)
}

/// There is no such device: the status that is reported of a data server that cannot be reached.
pub const NXIO: u32 = 6;
/// The status of success.
pub const OK: u32 = 0;
/// RECLAIM_COMPLETE was said before.
pub const COMPLETE_ALREADY: u32 = 10054;

/// What a status means.
///
/// ```
/// use treemill_nfs::wire::status::{Meaning, meaning};
///
/// assert_eq!(meaning(10013), Meaning::Later);
/// assert_eq!(meaning(99), Meaning::Final);
/// ```
#[must_use]
pub fn meaning(status: u32) -> Meaning {
    row(status).map_or(Meaning::Final, |row| row.3)
}

/// A status in words for the user, with its name in the protocol.
#[must_use]
pub fn words(status: u32) -> String {
    row(status).map_or_else(
        || format!("the server answers with the error {status} of NFS"),
        |(_, name, words, _)| format!("{words} (NFS4ERR_{name})"),
    )
}

fn row(status: u32) -> Option<&'static (u32, &'static str, &'static str, Meaning)> {
    TABLE.iter().find(|row| row.0 == status)
}
