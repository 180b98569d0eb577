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

/// Bounds the time that a range is tried for without a byte that is new, with the last attempt's silence.
pub const PATIENCE: Duration = Duration::from_secs(26);

/// How long a server is doubted after it was given up.
pub const DOUBT: Duration = Duration::from_secs(15);

/// How often a run asks for one range, each time after it was given up (`Policy.max_attempts` of the scheduling, in Python).
pub const ASKED: u32 = 3;

/// Bounds the silence of a server that was given up a moment ago, and has brought nothing since.
pub(crate) const MOST_SILENCE: Duration = Duration::from_secs(3);

/// The silence that such a server may keep at least: an answer over an ocean, from a disk that sleeps no more.
pub(crate) const LEAST_SILENCE: Duration = Duration::from_secs(1);

/// The time without a byte by which the silence of such a server ends, as long as that leaves it the least one.
const DOUBTED: Duration = Duration::from_secs(27);

/// How long a server may be silent that was given up a moment ago, and has brought nothing for this time. Who asks when the
/// promise is over is another one.
pub(crate) const fn doubtful(spent: Duration) -> Duration {
    let left = match spent.as_millis() < PROMISE.as_millis() {
        true => DOUBTED.saturating_sub(spent),
        false => MOST_SILENCE,
    };
    if left.as_millis() < LEAST_SILENCE.as_millis() {
        return LEAST_SILENCE;
    }
    if left.as_millis() < MOST_SILENCE.as_millis() {
        return left;
    }
    MOST_SILENCE
}

/// What protocols differ in when they try again.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryLimits {
    /// How long an attempt may bring nothing.
    pub silence: Duration,
    /// Bounds the further attempts after one that has failed, as long as none brings a new byte.
    pub failures: u32,
}

/// Of HTTP, buckets, dCap and NFS: servers without a byte are given up after 7 s, if they say no at once.
pub const RETRY: RetryLimits = RetryLimits {
    silence: SILENCE,
    failures: 5,
};

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
    use super::{Duration, RetryLimits};

    /// How long it may take to connect to a server, whose addresses are raced: a full queue of connections drops the first
    /// words, which the kernel repeats after 1, 3 and 7 s. The look-up of its name is bounded alike.
    pub const CONNECT: Duration = Duration::from_secs(9);

    /// How long a connection may bring no byte while an answer is due.
    pub const SILENCE: Duration = Duration::from_secs(8);

    /// A server is waited for until it has restarted, which takes about 10 s: twelve are tried for at one that says no at once.
    pub const RETRY: RetryLimits = RetryLimits {
        silence: SILENCE,
        failures: 7,
    };

    /// How long one request may bring no byte while others of its connection do.
    pub const NEGLECT: Duration = Duration::from_secs(20);

    /// The time that servers may have cost which failed one request that opens or looks, for which another one is asked: that one
    /// may take as long as a connection and a silence.
    pub const LOST_OPENING: Duration = Duration::from_secs(11);

    /// The time for which a server is asked again that ends connections before anything is said over them, if no other one can be
    /// asked: a firewall may allow few, and those of other processes end.
    pub const CROWDED: Duration = Duration::from_secs(10);

    /// How long such a server is left alone each time.
    pub const CROWDED_PAUSE: Duration = Duration::from_secs(1);

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
    assert!(is_kept(&[IN_LINE]));
    // The same range for a run, which asks again when it was given up. Attempts of those that ask again begin a least silence
    // before the patience ends, or at once.
    let mut asked = 1;
    let mut spent = PATIENCE;
    while asked < ASKED {
        spent = spent.saturating_add(doubtful(spent));
        asked += 1;
    }
    assert!(is_kept(&[spent]));
    let latest = PATIENCE.saturating_sub(LEAST_SILENCE);
    assert!(latest.saturating_add(doubtful(latest)).as_millis() <= DOUBTED.as_millis());
    assert!(sum(&[PATIENCE], LEAST_SILENCE) <= DOUBTED.as_millis());
    assert!(is_kept(&[DOUBTED, LEAST_SILENCE]) && ASKED == 3);
    assert!(is_before(spent.saturating_sub(PATIENCE), DOUBT));
    assert!(sum(&[SILENCE], MOST_ASKED) <= PATIENCE.as_millis());
    assert!(is_before(http::SERVER_SILENCE, SILENCE) && is_before(http::CONNECT, SILENCE));
    // A reader that keeps its thread.
    assert!(is_kept(&[BLOCKING_PATIENCE]));
    // XRootD: an open file, and one that is opened, at the second server.
    assert!(is_kept(&[xrootd::NEGLECT]));
    // Three servers that hang, one after the other.
    assert!(sum(&[xrootd::SILENCE; 3], BACK_OFF) <= PATIENCE.as_millis());
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
    assert!(sum(&[nfs::READ_PATIENCE], MOST_BACK_OFF) <= nfs::SILENCE.as_millis());
    assert!(is_before(nfs::DATA_PATIENCE, nfs::SILENCE));
    // dCap: a connection to the door, and what the door says.
    let door = Duration::from_secs(dcap::OPENING_SECONDS);
    assert!(is_kept(&[SILENCE, door, dcap::OPENING_GRACE]));
};
