//! Which acknowledgement of a queue a new packet makes superfluous.
//!
//! Source: Linux 6.1 `sch_cake.c`: `cake_ack_filter`, `cake_tcph_may_drop`, `cake_tcph_sack_compare`.
//!
//! Deviation: the kernel compares addresses and ports. Here two packets are of one conversation if their `flow_hash`,
//! `source` and `destination` are the same.

use super::params::CakeAckFilter;
use crate::slab::{List, Slab};
use crate::{AckFacts, Packet};

/// Whether `a` comes after `b`, of numbers that wrap around.
const fn after(a: u32, b: u32) -> bool {
    b.wrapping_sub(a).cast_signed() < 0
}

/// How the ranges that `a` acknowledges selectively compare to those of `b`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ranges {
    /// `a` tells of something that `b` does not tell of, so that `a` must stay.
    More,
    Same,
    /// `b` tells of all that `a` tells of, and of more.
    Fewer,
}

fn compare(a: &AckFacts, b: &AckFacts) -> Ranges {
    let (of_a, of_b) = (a.sack(), b.sack());
    match (of_a.is_empty(), of_b.is_empty()) {
        (false, true) => return Ranges::More,
        (true, false) => return Ranges::Fewer,
        (true, true) => return Ranges::Same,
        (false, false) => {}
    }
    let bytes = |ranges: &[(u32, u32)]| {
        ranges
            .iter()
            .fold(0_u32, |sum, r| sum.wrapping_add(r.1.wrapping_sub(r.0)))
    };
    for &(start, end) in of_a {
        // A duplicate is reported once, so it is never dropped.
        let duplicate = after(a.ack, start);
        let covered = of_b.iter().any(|&(from, to)| !after(from, start) && !after(end, to));
        if duplicate || !covered {
            return Ranges::More;
        }
    }
    if bytes(of_b) > bytes(of_a) {
        Ranges::Fewer
    } else {
        Ranges::Same
    }
}

/// Whether nothing but an acknowledgement would be lost with the packet, and that is not newer than the other's.
fn may_go(old: &AckFacts, new: &AckFacts) -> bool {
    let (value, echo) = new.timestamps.unwrap_or((0, 0));
    let newer = |(v, e): (u32, u32)| after(v, value) || after(e, echo);
    old.flags & !AckFacts::ECN == AckFacts::ACK
        && !old.other_options
        && !old.timestamps.is_some_and(newer)
        && !old.payload
        && !after(old.ack, new.ack)
}

/// The place of the packet in `list` that may go, because the youngest packet says what it says.
pub(super) fn superfluous<P: Packet>(slab: &Slab<P>, list: List, filter: CakeAckFilter) -> Option<u32> {
    let newest = list.last()?;
    let newest_packet = slab.packet(newest)?;
    let new = newest_packet.ack()?;
    if new.flags & (AckFacts::ACK | AckFacts::SYN) != AckFacts::ACK {
        return None;
    }
    let conversation = |packet: &P| (packet.flow_hash(), packet.source(), packet.destination());
    let of_new = conversation(newest_packet);
    // The oldest that may go, and its flags of ECN.
    let mut eligible: Option<(u32, u16)> = None;
    let mut found = 0_i32;
    let mut before_newest = None;
    for (place, packet) in slab.iter(list).take_while(|&(place, _)| place != newest) {
        before_newest = Some(place);
        let Some(old) = packet.ack().filter(|_| conversation(packet) == of_new) else {
            continue;
        };
        // The flags of ECN changed behind it: it tells something that the others do not.
        if eligible.is_some_and(|(_, flags)| flags != old.flags & AckFacts::ECN) {
            eligible = None;
            found -= 1;
        }
        if !may_go(&old, &new) {
            continue;
        }
        match compare(&old, &new) {
            Ranges::More => continue,
            Ranges::Same if old.ack == new.ack => continue,
            Ranges::Same | Ranges::Fewer => {}
        }
        let (oldest, _) = *eligible.get_or_insert((place, old.flags & AckFacts::ECN));
        if found > 0 {
            return Some(oldest);
        }
        found += 1;
    }
    let (oldest, flags) = eligible?;
    let last_two = before_newest == Some(oldest) && flags == new.flags & AckFacts::ECN;
    (filter == CakeAckFilter::Aggressive && last_two).then_some(oldest)
}
