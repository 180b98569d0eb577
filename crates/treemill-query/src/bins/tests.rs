//! A large histogram is what a small one is, whatever way its fills take.

use super::*;
use proptest::prelude::*;

/// More than a block of counts, and many of moments.
const SHAPE: [u32; 2] = [700, 1000];
const CELLS: u32 = 700_000;

/// Fills, in packets; the last cell belongs to none.
fn packets() -> impl Strategy<Value = Vec<Vec<(u32, f64)>>> {
    let cell = prop_oneof![0..5_u32, 524_280..524_295_u32, CELLS - 3..=CELLS];
    let fill = (cell, (-8..8_i32).prop_map(f64::from));
    prop::collection::vec(prop::collection::vec(fill, 0..20), 0..5)
}

fn filled<C: Cell>(fills: &[(u32, f64)], large: bool, of: impl Fn(f64) -> C::Fill) -> Bins<C> {
    let mut bins = Bins::<C>::new(SHAPE.to_vec(), large);
    let cells: Vec<u32> = fills.iter().map(|(cell, _)| *cell).collect();
    match bins.small() {
        Some(all) => fills
            .iter()
            .for_each(|(cell, x)| all[*cell as usize].add(of(*x))),
        None => bins.extend(&cells, fills.iter().map(|(_, x)| of(*x))),
    }
    bins
}

fn travelled<C: Cell>(bins: &Bins<C>) -> Result<Bins<C>, postcard::Error> {
    let bins: Bins<C> = postcard::from_bytes(&postcard::to_stdvec(bins)?)?;
    assert!(bins.is_sound());
    Ok(bins)
}

/// What is in the cells around which something is filled.
fn read<C: Cell>(bins: &Bins<C>) -> Vec<C> {
    let bins = bins.now();
    let mut found = Vec::new();
    for range in [0..6, 524_280..524_300, 699_990..700_000] {
        let before = found.len();
        if !bins.read(range.clone(), |part| found.extend_from_slice(part)) {
            found.resize(before + range.len(), C::default());
        }
        assert_eq!(found.len(), before + range.len());
    }
    found
}

fn check<C: Cell>(
    packets: &[Vec<(u32, f64)>],
    sent: &[bool],
    of: impl Fn(f64) -> C::Fill + Copy,
) -> Result<(), postcard::Error> {
    let merged = |large: bool| -> Result<Bins<C>, postcard::Error> {
        let mut all = Bins::<C>::new(SHAPE.to_vec(), large);
        for (packet, sent) in packets.iter().zip(sent.iter().cycle()) {
            let mut part = filled(packet, large, of);
            if *sent && large {
                part = travelled(&part)?;
            }
            assert!(all.is_like(&part));
            all.merge(&part);
        }
        if large {
            all = travelled(&all)?;
        }
        Ok(all)
    };
    assert_eq!(read(&merged(true)?), read(&merged(false)?));
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]
    #[test]
    fn large_ones_are_as_small_ones(packets in packets(), sent in prop::collection::vec(any::<bool>(), 1..6)) {
        check::<u64>(&packets, &sent, |_| ()).unwrap();
        check::<f64>(&packets, &sent, |x| x).unwrap();
        check::<[f64; 2]>(&packets, &sent, |x| x).unwrap();
    }
}

#[test]
fn sums_travel_as_bytes_and_counts_as_numbers() {
    let mut sums = filled::<f64>(&[(3, 0.5), (600_000, -2.0)], true, |x| x);
    sums.spread();
    let sent = postcard::to_stdvec(&sums).unwrap();
    let first = match &sums.form {
        Form::Blocks(blocks) => blocks[0].as_ref(),
        _ => None, // it was spread
    };
    let block = first.unwrap();
    let bytes = block.cells().as_bytes().to_vec();
    assert!(postcard::to_stdvec(block).unwrap() == postcard::to_stdvec(&bytes).unwrap());
    assert_eq!(travelled(&sums).unwrap(), sums);
    // What is cut short, or is no number of whole cells, or more than a block has, is refused.
    assert!(postcard::from_bytes::<Bins<f64>>(&sent[..sent.len() - 1]).is_err());
    for bytes in [7, 9, BLOCK_BYTES + 8] {
        let sent = postcard::to_stdvec(&vec![0_u8; bytes]).unwrap();
        assert!(
            postcard::from_bytes::<Block<f64>>(&sent).is_err(),
            "{bytes}"
        );
    }
    let mut counts = filled::<u64>(&[(3, 0.0), (600_000, 0.0)], true, |_| ());
    counts.spread();
    let sent = postcard::to_stdvec(&counts).unwrap();
    assert!(sent.len() < CELLS as usize + 40);
    assert_eq!(travelled(&counts).unwrap(), counts);
}

#[test]
fn what_is_read_later_is_as_it_was() {
    let mut all = filled::<u64>(&[(3, 0.0), (600_000, 0.0)], true, |_| ());
    all.spread();
    let now = all.now();
    let before = read(&now);
    all.merge(&filled(&[(3, 0.0), (4, 0.0)], true, |_| ()));
    assert_eq!(read(&now), before);
    assert_eq!(read(&all)[3..5], [2, 1]);
}

#[test]
fn what_is_freed_is_empty_and_the_rest_stays() {
    let mut all = filled::<u64>(&[(3, 0.0), (600_000, 0.0), (699_999, 0.0)], true, |_| ());
    all.spread();
    let mut now = all.now();
    now.free_before(600_000);
    assert!(!now.read(0..10, |_| ()));
    assert_eq!(read(&now).last(), Some(&1));
    assert_eq!(read(&all)[3], 1);
}

#[test]
fn a_list_that_is_longer_than_the_cells_becomes_these() {
    let mut bins = Bins::<u64>::new(vec![100], true);
    let cells: Vec<u32> = (0..150).map(|i| i % 100).collect();
    bins.extend(&cells, std::iter::repeat(()));
    bins.settle();
    assert!(bins.listed_bytes() > 0);
    bins.extend(&cells, std::iter::repeat(()));
    bins.settle();
    assert_eq!(bins.listed_bytes(), 0);
    bins.extend(&cells, std::iter::repeat(()));
    let mut sum = 0;
    bins.read(0..100, |part| sum += part.iter().sum::<u64>());
    assert_eq!(sum, 450);
}

#[test]
fn cells_that_are_not_there_are_not_sound() {
    let mut list = filled::<f64>(&[(CELLS - 1, 1.0)], true, |x| x);
    assert!(list.is_sound());
    list.shape = vec![700, 999];
    assert!(!list.is_sound());
    let mut blocks = filled::<f64>(&[(CELLS - 1, 1.0)], true, |x| x);
    blocks.spread();
    assert!(blocks.is_sound());
    blocks.shape = vec![700, 1001];
    assert!(!blocks.is_sound());
    blocks.shape = vec![u32::MAX, u32::MAX];
    assert!(!blocks.is_sound());
}
