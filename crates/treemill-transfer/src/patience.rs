//! How long servers are waited for, by all protocols: in one place, so that the promise to users is seen to hold for what one
//! wait adds to another. Knows no code that obeys it.

use std::time::Duration;

/// What users are promised of every server: the right bytes, or an error, within this time of its last byte, unless the server
/// asks for more patience.
pub const PROMISE: Duration = Duration::from_secs(30);

// Of all protocols.

/// Bounds the time without a byte while an answer is due.
pub const SILENCE: Duration = Duration::from_secs(10);

/// Bounds the time without a byte behind other requests that a server answers meanwhile, where a carrier knows of them.
pub(crate) const IN_LINE: Duration = Duration::from_secs(20);

/// Bounds the silence of a server that was given up a moment ago because of it, and has said nothing since.
pub(crate) const DOUBTFUL_SILENCE: Duration = Duration::from_secs(3);

/// How long a server is doubted after it was given up.
pub const DOUBT: Duration = Duration::from_secs(15);

/// Bounds the time that a range is tried for without a byte that is new, with the last attempt's silence.
pub(crate) const PATIENCE: Duration = Duration::from_secs(28);

/// The wait before the second attempt; each further one waits three times as long.
pub(crate) const BACK_OFF: Duration = Duration::from_millis(100);

/// Bounds the wait before an attempt.
pub(crate) const MOST_BACK_OFF: Duration = Duration::from_secs(3);

/// Bounds the wait that a server may ask for (`Retry-After`).
pub(crate) const MOST_ASKED: Duration = Duration::from_secs(10);

/// How long an address is waited for before the next one of the same server is tried, too (RFC 8305, section 8).
pub(crate) const STAGGER: Duration = Duration::from_millis(250);

/// How long a server is waited for that is asked for a file's checksums, for which it may have to read the file: another source of
/// it is read when they are compared.
pub const CHECKSUM_PATIENCE: Duration = Duration::from_secs(2);

/// How long a file that another thread opens is waited for. Servers that are silent for longer are asked once more beside
/// it: what is wrong is said within the time of one opening, and this.
pub const OPENING_PATIENCE: Duration = Duration::from_secs(2);

/// How long a reader that keeps its thread may be silent about one call's bytes, and what opens files for it about a file.
pub const BLOCKING_PATIENCE: Duration = Duration::from_secs(25);

/// How long the addresses of a server's name are looked for, beside what its connections take.
pub const LOOK_UP: Duration = Duration::from_secs(5);

/// When a question that failed has taken this long, its server is silent: it is asked nothing more at once.
pub const SILENT: Duration = Duration::from_secs(5);

/// Of HTTP and of buckets.
pub mod http {
    use super::Duration;

    /// Bounds the time to connect to a server, TLS included.
    pub const CONNECT: Duration = Duration::from_secs(8);

    /// Bounds the time without a byte from one server, which is then named: a little below the bound of an attempt, which
    /// may ask several servers.
    pub const SERVER_SILENCE: Duration = Duration::from_millis(9_800);
}

/// Of XRootD.
pub mod xrootd {
    use super::Duration;

    /// How long it may take to connect to a server, whose addresses are raced: a full queue of connections drops the first
    /// words, which the kernel repeats after 1, 3 and 7 s. The look-up of its name is bounded alike.
    pub const CONNECT: Duration = Duration::from_secs(9);

    /// How long a connection may bring no byte while an answer is due.
    pub const SILENCE: Duration = Duration::from_secs(8);

    /// How long one request may bring no byte while others of its connection do.
    pub const NEGLECT: Duration = Duration::from_secs(20);

    /// The time that servers may have cost which failed one request that opens or looks, for which another one is asked: that one
    /// may take as long as a connection and a silence.
    pub const LOST_OPENING: Duration = Duration::from_secs(11);

    /// The time after the last progress for which attempts to open a file again begin.
    pub const RECOVERY: Duration = Duration::from_secs(12);

    /// The time after the last progress for which a file that could be opened again, and then brought nothing, is still
    /// given another chance: two servers that hang end within it, a third one does not.
    pub const FUTILE: Duration = Duration::from_secs(17);

    /// The time after the last progress for which requests are still sent: a silence after it ends within [`PROMISED`]. A file
    /// that was given up a moment ago, and is asked for again, is not tried to be opened for longer either.
    pub const LAST_SENDING: Duration = Duration::from_secs(20);

    /// The time after the last progress at which requests that still wait for an opening are given up.
    pub const PROMISED: Duration = Duration::from_secs(28);

    /// The time for which a server is asked again that ends connections before anything is said over them, if no other one can be
    /// asked: a firewall may allow few, and those of other processes end.
    pub const CROWDED: Duration = Duration::from_secs(10);

    /// How long the second attempt to open a file again waits; each further one waits twice as long,
    /// up to a bound.
    pub const BACKOFF: Duration = Duration::from_millis(200);
    /// Bounds the wait before an attempt to open a file again.
    pub const MOST_BACKOFF: Duration = Duration::from_secs(1);

    /// How long a connection is kept that nothing uses, where worker processes may wait for it.
    pub const SHARED_IDLE: Duration = Duration::from_secs(5);

    /// How long the words of servers that older files are closed are waited for, at most.
    pub const CLOSING: Duration = Duration::from_secs(2);

    /// Bounds what a server may make one request wait (`kXR_wait`, `kXR_waitresp`), in all, since it first asked for a wait.
    pub const PATIENCE: Duration = Duration::from_secs(120);
}

/// Of NFS.
pub mod nfs {
    use super::Duration;

    /// The time without a byte from a server that owes an answer after which its connection is given up.
    pub const SILENCE: Duration = Duration::from_secs(9);
    /// Sessions that are made one after the other for one request.
    pub const MOST_SESSIONS: u32 = 3;
    /// The time that a READ waits for a server that wants to be asked later: shorter than the caller waits for the READ.
    pub const READ_PATIENCE: Duration = Duration::from_secs(6);
    /// The time for which a data server may answer nothing before the metadata server is asked: shorter than the caller waits
    /// for a READ.
    pub const DATA_PATIENCE: Duration = Duration::from_secs(3);
    /// The wait after NFS4ERR_DELAY or NFS4ERR_GRACE, at first; it doubles.
    pub const DELAY: Duration = Duration::from_millis(100);
    /// The longest wait between two attempts.
    pub const MOST_DELAY: Duration = Duration::from_secs(5);
    /// The time for which a server may ask to be asked later when a file is opened. A server that has restarted opens nothing
    /// new for a period of grace, which is 90 s as a rule.
    pub const PATIENCE: Duration = Duration::from_secs(150);
}

/// Of dCap.
pub mod dcap {
    use super::Duration;

    /// Bounds the seconds in which a door must name a pool. A file that is on tape only takes longer; it is staged meanwhile, and
    /// the next attempt finds it.
    pub const OPENING_SECONDS: u64 = 15;

    /// How much longer than that a door may take to say that it has not.
    pub const OPENING_GRACE: Duration = Duration::from_secs(3);
}

// The promise, once: how long each protocol may take in all, beside another thread that opens the same file.
const _: () = {
    // Of several waits, one after the other.
    const fn is_kept(waits: &[Duration]) -> bool {
        sum(waits, OPENING_PATIENCE) <= PROMISE.as_millis()
    }
    const fn sum(waits: &[Duration], more: Duration) -> u128 {
        match waits.split_first() {
            Some((wait, rest)) => sum(rest, more.saturating_add(*wait)),
            None => more.as_millis(),
        }
    }
    const fn is_before(one: Duration, other: Duration) -> bool {
        one.as_millis() < other.as_millis()
    }
    // A range, whatever becomes of its attempts, each of which may be one in a line.
    assert!(is_kept(&[PATIENCE]) && is_kept(&[IN_LINE]));
    assert!(sum(&[SILENCE], MOST_ASKED) <= PATIENCE.as_millis());
    assert!(is_before(http::SERVER_SILENCE, SILENCE) && is_before(http::CONNECT, SILENCE));
    // A reader that keeps its thread.
    assert!(is_kept(&[BLOCKING_PATIENCE]));
    // XRootD: an open file, and one that is opened, at the second server.
    assert!(is_kept(&[xrootd::PROMISED]) && is_kept(&[xrootd::NEGLECT]));
    assert!(sum(&[xrootd::LAST_SENDING], xrootd::SILENCE) <= xrootd::PROMISED.as_millis());
    assert!(sum(&[xrootd::SILENCE], xrootd::SILENCE) < xrootd::FUTILE.as_millis());
    assert!(is_before(xrootd::FUTILE, xrootd::LAST_SENDING));
    assert!(is_kept(&[
        xrootd::LOST_OPENING,
        xrootd::CONNECT,
        xrootd::SILENCE
    ]));
    assert!(is_before(xrootd::CONNECT, xrootd::LOST_OPENING));
    assert!(is_kept(&[
        xrootd::CROWDED,
        xrootd::CONNECT,
        xrootd::SILENCE
    ]));
    assert!(is_before(xrootd::SHARED_IDLE, xrootd::CROWDED));
    // NFS: three sessions, one after the other, and what a READ waits for within the silence of one.
    assert!(nfs::MOST_SESSIONS == 3 && is_kept(&[nfs::SILENCE; 3]));
    assert!(is_before(nfs::READ_PATIENCE, nfs::SILENCE));
    assert!(is_before(nfs::DATA_PATIENCE, nfs::SILENCE));
    // dCap: a connection to the door, and what the door says.
    let door = Duration::from_secs(dcap::OPENING_SECONDS);
    assert!(is_kept(&[SILENCE, door, dcap::OPENING_GRACE]));
};
