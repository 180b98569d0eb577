//! The crate's policy in numbers. Knows no code that obeys it.

use std::time::Duration;

/// Bounds the sources that are read from at once. CMSSW has two, too: more would seldom be faster and cost servers more.
pub(crate) const ACTIVE: usize = 2;

/// What is measured is kept for this long in one mean; [`WEIGHTS`] says how many of these count.
pub(crate) const INTERVAL: Duration = Duration::from_secs(60);

/// What the intervals count, the present one first.
pub(crate) const WEIGHTS: [f64; 5] = [16.0, 8.0, 4.0, 2.0, 1.0];

/// Bytes up to which an answer tells the round trip and not the speed.
pub(crate) const SMALL: u64 = 64 << 10;

/// The round trip of replicas of which none is open.
pub(crate) const BLIND_ROUND_TRIP: Duration = Duration::from_millis(100);

/// Seconds per byte of a source of which nothing is known: 10 MB/s.
pub(crate) const BLIND: f64 = 1e-7;

/// Seconds per byte at least: no memory is faster by far, and nothing is divided by zero.
pub(crate) const FASTEST: f64 = 1e-11;

/// Bytes of a part at most: what one source is asked for, and the other one is not. Twice as many are what a source is read
/// by over several connections.
pub(crate) const PART: u64 = 512 << 10;

/// Bytes that two sources take from both ends. The reader needs them in order, but gets the last of them first from the
/// second source: they are to be as little as makes nearly contiguous halves.
pub(crate) const STRETCH: u64 = 16 << 20;

/// Bytes in flight from a source whose speed was not seen yet: two parts on each of four connections, whose first ones come
/// after five round trips, while the windows grow.
pub(crate) const BLIND_FLIGHT: u64 = 4 << 20;

/// Bytes in flight from a source at least: a part on each of four connections.
pub(crate) const LEAST_FLIGHT: u64 = 2 << 20;

/// Seconds that these may take from a slow source: they are what the other one waits for in the end.
pub(crate) const LEAST_TIME: f64 = 0.5;

/// Bounds the bytes in flight from one of several sources.
pub(crate) const MOST_FLIGHT: u64 = 128 << 20;

/// A source that has room for less than this fraction of what may be in flight is asked later: many small ranges
/// are to be one request.
pub(crate) const ROOM: u64 = 4;

/// Seconds that a sample of a speed lasts at least.
pub(crate) const LEAST_SAMPLE: f64 = 0.05;

/// Samples of a speed that count, all alike: some seconds over an ocean. More in flight than a link carries and its queue
/// holds is lost, so that no single one of them is believed.
pub(crate) const PACES: usize = 4;

/// Samples that tell whether a connection still gets faster.
pub(crate) const PAIR: usize = 2;

/// A connection still gets faster if a pair of samples is this many times as fast as all before. Its window doubles
/// in each round trip.
pub(crate) const FULL: f64 = 1.4;

/// Bytes of a share at least: less is not worth a request to the second source.
pub(crate) const SHARE: u64 = 64 << 10;

/// Bounds the bytes in flight from a source whose speed was never seen, beside another one.
pub(crate) const TRIAL: u64 = 8 << 20;

/// Two sources are as good as one another if the worse one takes at most this many times as long.
pub(crate) const ALIKE: f64 = 1.25;

/// An active source leaves its place if it takes this many times as long as an inactive one.
pub(crate) const WORSE: f64 = 1.5;

/// Bytes of the request by which sources are compared.
pub(crate) const TYPICAL: u64 = 1 << 20;

/// How often places are compared.
pub(crate) const COMPARE: Duration = Duration::from_secs(5);

/// A request is asked for elsewhere, too, when it takes this many times as long as expected.
pub(crate) const HEDGE: f64 = 4.0;

/// Bounds the time before a request is asked for elsewhere: answers of near servers are late by more at times.
pub(crate) const LEAST_HEDGE: Duration = Duration::from_millis(500);

/// Bytes that a source in order may take as one before it shows any of them.
pub(crate) const UNSEEN: u64 = 8 << 20;

/// Bytes between two draws of whether an inactive source is tried with one request.
pub(crate) const PROBE_BYTES: u64 = 10_000_000;

/// How often a draw says yes.
pub(crate) const PROBE: f64 = 0.01;

/// How long a source that failed is left alone; each further failure doubles it.
pub(crate) const DISABLED: Duration = Duration::from_secs(60);

/// Bounds how long a source is left alone, and the time between two looks at sources that are not open.
pub(crate) const LONGEST: Duration = Duration::from_secs(960);

/// When sources that are not open are looked at first; each further look comes after twice the time.
pub(crate) const DISCOVERY: Duration = Duration::from_secs(60);

/// Bytes at the beginning and at the end of the file in which sources must agree. A ROOT file's first bytes hold its
/// UUID.
pub(crate) const SAMPLE: u64 = 1024;

/// How long the thread that looks for late answers stays when none is due.
pub(crate) const LINGER: Duration = Duration::from_secs(5);

/// How often it looks whether a source that owes answers has lost its connection.
pub(crate) const LOSS_LOOK: Duration = Duration::from_millis(200);

/// Bounds how often it looks.
pub(crate) const LEAST_LOOK: Duration = Duration::from_millis(20);

/// How long the bytes of the source that was opened first are waited for, to compare another one's with. After that the
/// other one's count.
pub(crate) const FIRST: Duration = Duration::from_secs(3);

/// How long a replica may be silent while it is opened until the next one is tried, too.
pub(crate) const SILENT_OPENING: Duration = Duration::from_secs(1);

/// When replicas that were not named are looked for first, if not much is asked for before. CMSSW's time, too.
pub(crate) const FIRST_SEARCH: Duration = Duration::from_secs(5);

/// Bytes of a file that bring the first search forward: what is worth a second source.
pub(crate) const SEARCH_BYTES: u64 = 32 << 20;

/// Bytes of a file that are asked for before its sample is, if the reader has not asked for these bytes itself: short
/// reads need no comparison.
pub(crate) const SAMPLED_FROM: u64 = 1 << 20;

/// The time between the first search and the second; it doubles each time.
pub(crate) const SEARCH: Duration = Duration::from_secs(60);

/// The time between two searches at least, whatever fails.
pub(crate) const LEAST_SEARCH: Duration = Duration::from_secs(10);

/// Bounds the replicas of one file.
pub(crate) const MOST_REPLICAS: usize = 16;
