//! How the clocks of two captures compare, roughly: from packets that are in both.

#![expect(
    clippy::disallowed_types,
    reason = "the map of keys is looked into and never gone through"
)]

use super::side::Side;
use super::{Numbers, Open, PairSettings, Sighting};
use crate::TraceError;
use std::collections::HashMap;

/// Packets of a capture that the other's are compared with.
const FIRST: usize = 1 << 16;
/// Once one of them was found, so many more packets are read.
const MORE: usize = 1 << 12;

/// The first time of each key.
type Times = HashMap<u64, u64>;

/// B's clock less A's: the median over packets that are in both, of the first ones in each, or else of the first ones
/// in one capture and any in the other. `None` if there are no such packets.
pub(super) fn align(open: [&Open<'_>; 2], settings: &PairSettings) -> Result<Option<i128>, (usize, TraceError)> {
    let first = [beginning(open[0], settings, 0)?, beginning(open[1], settings, 1)?];
    let times = [times(&first[0]), times(&first[1])];
    let mut offsets: Vec<i128> = first[1].iter().filter_map(|seen| offset(&times[0], seen, 1)).collect();
    for (of, other) in [(0, 1), (1, 0)] {
        if offsets.is_empty() && first[of].len() == FIRST {
            offsets = search(open[of], settings, of, &times[other])?;
        }
    }
    if offsets.is_empty() {
        return Ok(None);
    }
    let middle = offsets.len() / 2;
    Ok(Some(*offsets.select_nth_unstable(middle).1))
}

fn times(first: &[Sighting]) -> Times {
    let mut times = Times::with_capacity(first.len());
    for seen in first {
        times.entry(seen.key).or_insert(seen.at_ns);
    }
    times
}

/// B's clock less A's by a packet of capture `of`, if the other capture has it.
fn offset(others: &Times, seen: &Sighting, of: usize) -> Option<i128> {
    let other = i128::from(*others.get(&seen.key)?);
    let own = i128::from(seen.at_ns);
    Some(if of == 1 { own - other } else { other - own })
}

fn beginning(open: &Open<'_>, settings: &PairSettings, which: usize) -> Result<Vec<Sighting>, (usize, TraceError)> {
    let mut side = Side::new(open().map_err(|e| (which, e))?, settings);
    let mut numbers = Numbers::default();
    side.advance(&mut numbers);
    let mut first = Vec::new();
    while first.len() < FIRST
        && let Some(seen) = side.take(&mut numbers)
    {
        first.push(seen);
    }
    Ok(first)
}

/// Offsets by the packets of capture `of` that are among the first of the other.
fn search(
    open: &Open<'_>,
    settings: &PairSettings,
    of: usize,
    others: &Times,
) -> Result<Vec<i128>, (usize, TraceError)> {
    let mut side = Side::new(open().map_err(|e| (of, e))?, settings);
    let mut numbers = Numbers::default();
    side.advance(&mut numbers);
    let mut offsets = Vec::new();
    let mut left = usize::MAX;
    while left > 0
        && let Some(seen) = side.take(&mut numbers)
    {
        if let Some(found) = offset(others, &seen, of) {
            offsets.push(found);
            left = left.min(MORE);
        }
        if left < usize::MAX {
            left -= 1;
        }
    }
    Ok(offsets)
}
