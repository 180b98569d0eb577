//! What two servers together gain, whatever their speeds are.

use super::*;
use crate::replicas::limits::{LEAST_TIME, PART};

/// A server on new connections, of which four begin with ten segments each.
fn fresh(millis: u64, speed: f64) -> Server {
    Server {
        window: 58_400.0,
        ..server(millis, speed)
    }
}

/// How many times as fast a server is together with another one, on connections that are wide already.
fn gain(other: Server, each: u64) -> f64 {
    let alone = Simulation::new(vec![server(137, 20e6)], 1).read(2000 * MB, each);
    let both = vec![server(137, 20e6), other];
    alone.as_secs_f64() / Simulation::new(both, 1).read(2000 * MB, each).as_secs_f64()
}

#[test]
fn two_servers_are_nearly_twice_as_fast_as_one() {
    let at_once = gain(server(137, 20e6), 2000 * MB);
    assert!(at_once > 1.9, "{at_once}");
    // A reader that waits for each 50 MB waits for the later one of both each time.
    let in_pieces = gain(server(137, 20e6), 50 * MB);
    assert!(in_pieces > 1.8, "{in_pieces}");
}

#[test]
fn a_server_of_a_quarter_of_the_speed_helps() {
    let at_once = gain(server(137, 5e6), 2000 * MB);
    assert!(at_once > 1.2, "{at_once}");
    let in_pieces = gain(server(137, 5e6), 50 * MB);
    assert!(in_pieces > 1.15, "{in_pieces}");
}

/// How long all takes if it is asked for at once, as a reader does that knows what it wants.
fn at_once(servers: Vec<Server>, bytes: u64) -> Duration {
    Simulation::new(servers, 1).read(bytes, bytes)
}

#[test]
fn new_connections_share_out_as_well_as_old_ones() {
    // Over an ocean the beginning takes as long for two as for one: more bytes make as much of it.
    for (millis, bytes) in [(20, 128 * MB), (137, 512 * MB)] {
        let gain = |servers: Vec<Server>| {
            let alone = at_once(vec![fresh(millis, 20e6)], bytes);
            alone.as_secs_f64() / at_once(servers, bytes).as_secs_f64()
        };
        let equal = gain(vec![fresh(millis, 20e6), fresh(millis, 20e6)]);
        assert!(equal > 1.8, "{equal} at {millis} ms");
        for uneven in [
            vec![fresh(millis, 20e6), fresh(millis, 5e6)],
            vec![fresh(millis, 5e6), fresh(millis, 20e6)],
        ] {
            let uneven = gain(uneven);
            assert!(uneven > 1.17, "{uneven} at {millis} ms");
        }
    }
}

#[test]
fn small_requests_are_shared_by_servers_that_are_alike() {
    let servers = vec![server(10, 20e6), server(10, 21e6)];
    let mut simulation = Simulation::new(servers, 1);
    simulation.read(20 * MB, 10_000);
    let [one, other] = [0, 1].map(|number| simulation.servers[number].bytes);
    assert!(3 * one > other && 3 * other > one, "{one} {other}");
}

proptest! {
    #![proptest_config(ProptestConfig {
        cases: 200, failure_persistence: None, rng_seed: RngSeed::Fixed(15), ..ProptestConfig::default()
    })]

    /// Whatever the speeds are, and although they are not known beforehand.
    #[test]
    fn both_servers_end_together(
        speeds in (2e6..1e8_f64, 2e6..1e8_f64), trips in (1_u64..200, 1_u64..200), bytes in 100_u64..400,
    ) {
        let servers = vec![fresh(trips.0, speeds.0), fresh(trips.1, speeds.1)];
        let took = at_once(servers, bytes * MB).as_secs_f64();
        let ideal = (bytes * MB) as f64 / (speeds.0 + speeds.1);
        // Openings, slow starts, and what is in flight from the slower one.
        let trip = trips.0.max(trips.1) as f64 / 1000.0;
        let last = LEAST_TIME.max((3 * PART) as f64 / speeds.0.min(speeds.1));
        prop_assert!(took < ideal + 12.0 * trip + last + 0.5, "{took} s, at best {ideal}");
    }
}
