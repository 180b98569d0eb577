//! The protocol's numbers, as tables. Knows no layouts.

/// Requests ("Request Codes").
pub const AUTH: u16 = 3000;
pub const QUERY: u16 = 3001;
pub const CLOSE: u16 = 3003;
pub const DIRLIST: u16 = 3004;
pub const PROTOCOL: u16 = 3006;
pub const LOGIN: u16 = 3007;
pub const OPEN: u16 = 3010;
pub const PING: u16 = 3011;
pub const READ: u16 = 3013;
pub const STAT: u16 = 3017;
pub const READV: u16 = 3025;
pub const LOCATE: u16 = 3027;
pub const PGREAD: u16 = 3030;

/// Requests are counted from this number where a byte must do.
pub const FIRST: u16 = 3000;

/// States of responses ("Server Response Format").
pub const OK: u16 = 0;
pub const OK_SO_FAR: u16 = 4000;
pub const ATTENTION: u16 = 4001;
pub const MORE_AUTH: u16 = 4002;
pub const ERROR: u16 = 4003;
pub const REDIRECT: u16 = 4004;
pub const WAIT: u16 = 4005;
pub const WAIT_RESPONSE: u16 = 4006;
pub const STATUS: u16 = 4007;

/// What data with checksums is of its answer: the last of it, or not ("kXR_status Response").
pub const FINAL: u8 = 0;
pub const PARTIAL: u8 = 1;

/// The action of an unsolicited message that carries a response which was promised ("kXR_attn Response").
pub const ASYNC_RESPONSE: u32 = 5008;

/// The version that this client speaks, 5.2.0.
pub const VERSION: u32 = 0x0520;

/// `kXR_protocol`: the server shall say what security it wants; a login follows.
pub const SECURITY_WANTED: u8 = 1;
pub const LOGIN_FOLLOWS: u8 = 3;

/// `kXR_protocol`: this client can do TLS, and wants it.
pub const TLS_WANTED: u8 = 2 | 4;

/// What a server says of itself: TLS follows; it needs TLS from the login on, or for the whole session.
pub const TLS_FOLLOWS: u32 = 0x4000_0000;
pub const TLS_FOR_LOGIN: u32 = 0x0400_0000;
pub const TLS_FOR_SESSION: u32 = 0x0800_0000;
pub const TLS_FOR_DATA: u32 = 0x0100_0000;

/// What a server says of itself: it has no files, and knows the servers that have them (`kXR_isManager`).
pub const IS_MANAGER: u32 = 2;

/// What a server says of itself: it has others' files, as a proxy or in a cache (`kXR_attrProxy`, `kXR_attrCache`).
pub const IS_PROXY: u32 = 0x200 | 0x80;

/// What a server says of itself: it gives pages with checksums (`kXR_suppgrw`), which came with version 5.
pub const HAS_PAGES: u32 = 0x0020_0000;
pub const PAGES_SINCE: u32 = 0x0500;

/// The bytes of a page, to which each checksum of `kXR_pgread` belongs. Pages begin at multiples of it in the file.
pub const PAGE: u64 = 4096;

/// `kXR_pgread`: the page had other bytes than its checksum says (`kXR_pgRetry`).
pub const PAGE_AGAIN: u8 = 1;

/// `kXR_login`: redirects to URLs, several protocols, readable redirects, both versions of IP; asynchronous responses
/// in version 5 of the client's capabilities.
pub const ABILITY: u8 = 1 | 2 | 4 | 8;
pub const CAPABILITY: u8 = 128 | 5;

/// `kXR_open`: to read, with the file's status in the response.
pub const OPEN_TO_READ: u16 = 16 | 1024;

/// `kXR_dirlist`: with the status of each entry.
pub const WITH_STATUS: u8 = 2;

/// `kXR_locate`: servers by their names where these are known, which certificates are made out to.
pub const BY_NAME: u16 = 256;

/// `kXR_locate`: a manager does not wait for servers that have not answered it yet, once it knows one.
pub const AT_ONCE: u16 = 8192;

/// `kXR_query`: a file's checksum (`kXR_Qcksum`), and values of the server's configuration.
pub const QUERY_CHECKSUM: u16 = 3;
pub const QUERY_CONFIG: u16 = 7;

/// Flags of a status ("kXR_stat Request").
pub const IS_FOLDER: u32 = 2;
pub const IS_OFFLINE: u32 = 8;

/// Errors ("Error Codes") of servers that want a login to be done before anything else is asked: an invalid request, and
/// one that is not allowed.
pub const TOO_EARLY: [u32; 2] = [3006, NOT_AUTHORIZED];

/// Errors ("Error Codes") of servers that give no pages with checksums: an invalid request, and one that is not
/// supported. Some say that they do, and refuse.
pub const NO_PAGES: [u32; 2] = [3006, UNSUPPORTED];

/// Errors ("Error Codes") by what they mean to a caller; the others are the server's own trouble.
pub const ARGUMENT_INVALID: u32 = 3000;
pub const ARGUMENT_TOO_LONG: u32 = 3002;
pub const NOT_AUTHORIZED: u32 = 3010;
pub const NOT_FOUND: u32 = 3011;
pub const UNSUPPORTED: u32 = 3013;
pub const NO_SERVER: u32 = 3014;
pub const IS_A_FOLDER: u32 = 3016;
pub const IN_PROGRESS: u32 = 3020;
pub const OVERLOADED: u32 = 3024;
pub const TLS_REQUIRED: u32 = 3028;
pub const NO_REPLICAS: u32 = 3029;
pub const AUTH_FAILED: u32 = 3030;
pub const REQUEST_TIMED_OUT: u32 = 3034;
pub const TIMER_EXPIRED: u32 = 3035;
