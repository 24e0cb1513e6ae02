//! The counters that only one kind of discipline has, by the names of `tc -s -j qdisc`.
//!
//! Source: the structures `tc_*_xstats` of `linux/pkt_sched.h` (Linux 6.1), and what iproute2 6.1 calls their members.

use super::netlink::{attribute, attributes, i32_at, u32_at, u64_at};
use std::collections::BTreeMap;

/// Counters by name.
pub(super) type Extra = BTreeMap<String, f64>;

/// How a member is stored.
#[derive(Clone, Copy)]
enum Form {
    /// A word of 32 bits.
    U32,
    /// A signed word of 32 bits.
    S32,
    /// A word of 64 bits.
    U64,
    /// A probability as a word of 64 bits, of which all set is 1.
    Probability,
}

use Form::{Probability, S32, U32, U64};

/// Members of a structure: name, offset and form.
type Members = &'static [(&'static str, usize, Form)];

const RED: Members = &[
    ("early", 0, U32),
    ("pdrop", 4, U32),
    ("other", 8, U32),
    ("marked", 12, U32),
];
const CODEL: Members = &[
    ("maxpacket", 0, U32),
    ("count", 4, U32),
    ("lastcount", 8, U32),
    ("ldelay", 12, U32),
    ("drop_next", 16, S32),
    ("drop_overlimit", 20, U32),
    ("ecn_mark", 24, U32),
    ("dropping", 28, U32),
    ("ce_mark", 32, U32),
];
/// Behind the word that tells it from the statistics of a class.
const FQ_CODEL: Members = &[
    ("maxpacket", 4, U32),
    ("drop_overlimit", 8, U32),
    ("ecn_mark", 12, U32),
    ("new_flow_count", 16, U32),
    ("new_flows_len", 20, U32),
    ("old_flows_len", 24, U32),
    ("ce_mark", 28, U32),
    ("memory_used", 32, U32),
    ("drop_overmemory", 36, U32),
];
const PIE: Members = &[
    ("prob", 0, Probability),
    ("delay", 8, U32),
    ("avg_dq_rate", 12, U32),
    ("dq_rate_estimating", 16, U32),
    ("pkts_in", 20, U32),
    ("dropped", 24, U32),
    ("overlimit", 28, U32),
    ("maxq", 32, U32),
    ("ecn_mark", 36, U32),
];
const FQ_PIE: Members = &[
    ("pkts_in", 0, U32),
    ("dropped", 4, U32),
    ("overlimit", 8, U32),
    ("overmemory", 12, U32),
    ("ecn_mark", 16, U32),
    ("new_flow_count", 20, U32),
    ("new_flows_len", 24, U32),
    ("old_flows_len", 28, U32),
    ("memory_used", 32, U32),
];
const FQ: Members = &[
    ("gc", 0, U64),
    ("highprio", 8, U64),
    ("throttled", 24, U64),
    ("flows_plimit", 32, U64),
    ("pkts_too_long", 40, U64),
    ("alloc_errors", 48, U64),
    ("flows", 64, U32),
    ("inactive", 68, U32),
    ("throttled_flows", 72, U32),
    ("latency", 76, U32),
    ("ce_mark", 80, U64),
    ("horizon_drops", 88, U64),
    ("horizon_caps", 96, U64),
];
/// Attribute types of CAKE instead of offsets.
const CAKE: Members = &[
    ("capacity_estimate", 2, U64),
    ("memory_limit", 3, U32),
    ("memory_used", 4, U32),
    ("avg_hdr_offset", 5, U32),
    ("min_network_size", 6, U32),
    ("max_network_size", 7, U32),
    ("min_adj_size", 8, U32),
    ("max_adj_size", 9, U32),
];
const CAKE_TINS: u16 = 10;
const CAKE_TIN: Members = &[
    ("sent_packets", 2, U32),
    ("sent_bytes", 3, U64),
    ("drops", 4, U32),
    ("ack_drops", 6, U32),
    ("ecn_mark", 8, U32),
    ("backlog_bytes", 11, U32),
    ("threshold_rate", 12, U64),
    ("target_us", 13, U32),
    ("interval_us", 14, U32),
    ("way_indirect_hits", 15, U32),
    ("way_misses", 16, U32),
    ("way_collisions", 17, U32),
    ("peak_delay_us", 18, U32),
    ("avg_delay_us", 19, U32),
    ("base_delay_us", 20, U32),
    ("sparse_flows", 21, U32),
    ("bulk_flows", 22, U32),
    ("unresponsive_flows", 23, U32),
    ("max_pkt_len", 24, U32),
    ("flow_quantum", 25, U32),
];
/// What is summed over the tins of CAKE: what counts packets.
const CAKE_SUMS: [&str; 3] = ["drops", "ack_drops", "ecn_mark"];

impl Form {
    fn read(self, bytes: &[u8], at: usize) -> Option<f64> {
        match self {
            U32 => u32_at(bytes, at).map(f64::from),
            S32 => i32_at(bytes, at).map(f64::from),
            U64 => u64_at(bytes, at).map(|v| v as f64),
            Probability => u64_at(bytes, at).map(|v| v as f64 / u64::MAX as f64),
        }
    }
}

/// The members of a structure, as far as this kernel's is long.
fn members(bytes: &[u8], members: Members) -> Extra {
    let read = |&(name, at, form): &(&str, usize, Form)| Some((name.to_owned(), form.read(bytes, at)?));
    members.iter().filter_map(read).collect()
}

/// The members that are there as attributes.
fn nested(bytes: &[u8], members: Members) -> Extra {
    let read = |&(name, kind, form): &(&str, usize, Form)| {
        let value = attribute(bytes, kind as u16)?;
        Some((name.to_owned(), form.read(value, 0)?))
    };
    members.iter().filter_map(read).collect()
}

/// CAKE: its own members, those of tin `i` as `tin<i>_<name>`, and the sums of what counts packets.
fn cake(bytes: &[u8]) -> Extra {
    let mut extra = nested(bytes, CAKE);
    for (i, (_, tin)) in attributes(attribute(bytes, CAKE_TINS).unwrap_or(&[])).enumerate() {
        for (name, value) in nested(tin, CAKE_TIN) {
            if CAKE_SUMS.contains(&name.as_str()) {
                *extra.entry(name.clone()).or_default() += value;
            }
            extra.insert(format!("tin{i}_{name}"), value);
        }
    }
    extra
}

/// The counters of a discipline of `kind` from its `TCA_STATS_APP`. Empty for a kind without.
#[must_use]
pub(super) fn decode(kind: &str, bytes: &[u8]) -> Extra {
    match kind {
        "red" => members(bytes, RED),
        "codel" => members(bytes, CODEL),
        "fq_codel" => members(bytes, FQ_CODEL),
        "pie" => members(bytes, PIE),
        "fq_pie" => members(bytes, FQ_PIE),
        "fq" => members(bytes, FQ),
        "cake" => cake(bytes),
        _ => Extra::new(),
    }
}

#[cfg(test)]
#[expect(clippy::float_cmp, reason = "small whole numbers are exact")]
mod tests {
    use super::super::netlink::push_attribute;
    use super::*;

    #[test]
    fn members_are_read_as_far_as_the_structure_goes() {
        let words: Vec<u8> = (0..9_u32).flat_map(|w| (w + 1).to_ne_bytes()).collect();
        let all = decode("codel", &words);
        assert_eq!((all["maxpacket"], all["ce_mark"], all.len()), (1.0, 9.0, 9));
        assert_eq!(decode("codel", &words[..32]).get("ce_mark"), None);
        assert_eq!(decode("codel", &[0xff; 36])["drop_next"], -1.0);
        assert_eq!(decode("pfifo", &words), Extra::new());
    }

    #[test]
    fn certainty_is_a_probability_of_one() {
        let mut bytes = u64::MAX.to_ne_bytes().to_vec();
        bytes.resize(40, 0);
        assert_eq!(decode("pie", &bytes)["prob"], 1.0);
    }

    #[test]
    fn tins_are_told_apart_and_their_drops_are_summed() {
        let tin = |drops: u32| {
            let mut tin = Vec::new();
            push_attribute(&mut tin, 4, &drops.to_ne_bytes());
            push_attribute(&mut tin, 12, &1_u64.to_ne_bytes());
            tin
        };
        let mut tins = Vec::new();
        push_attribute(&mut tins, 1, &tin(3));
        push_attribute(&mut tins, 2, &tin(4));
        let mut bytes = Vec::new();
        push_attribute(&mut bytes, 3, &99_u32.to_ne_bytes());
        push_attribute(&mut bytes, CAKE_TINS, &tins);
        let extra = decode("cake", &bytes);
        assert_eq!((extra["memory_limit"], extra["drops"]), (99.0, 7.0));
        assert_eq!(
            (extra["tin0_drops"], extra["tin1_drops"], extra["tin1_threshold_rate"]),
            (3.0, 4.0, 1.0)
        );
    }
}
