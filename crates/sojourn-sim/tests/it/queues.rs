//! Who shares a queue with whom, by the discipline of each direction.

use crate::common::{record, rrul};
use serde_json::json;
use sojourn_sim::Record;

/// Pairs of flows and probes that share a queue, upstream and downstream under this discipline.
fn pairs(qdisc: &str, seed: u64) -> usize {
    let r: Record = record(&rrul(
        20,
        json!({"duration": "100ms", "lead": "0s", "seed": seed, "qdisc_up": qdisc, "qdisc_down": qdisc}),
    ));
    let flows = r.flows.iter().map(|f| f.queue_shared_with.len());
    let probes = r.probes.iter().map(|p| p.queue_shared_with.len());
    flows.chain(probes).sum::<usize>() / 2
}

/// Of n owners with two routes each, n (n - 1) / 2 pairs collide with a probability of 1 - (1 - 1/q)^2 each, about
/// 2/q.
#[test]
fn as_many_share_a_queue_as_the_number_of_queues_lets_expect() {
    for (qdisc, queues) in [
        ("fq_codel flows 64", 64.0),
        ("fq_codel flows 100", 100.0),
        ("fq_codel", 1024.0),
        ("fq_codel flows 65536", 65_536.0),
        ("fq_codel variant ns2 flows 100", 100.0),
        ("sfq divisor 64 limit 127", 64.0),
        ("sfq", 1024.0),
    ] {
        let (runs, owners) = (20, 41.0);
        let found: usize = (0..runs).map(|seed| pairs(qdisc, seed)).sum();
        let chance: f64 = 1.0 - (1.0 - 1.0 / queues) * (1.0 - 1.0 / queues);
        let mean = runs as f64 * owners * (owners - 1.0) / 2.0 * chance;
        // Four standard deviations of a Poisson number, and one: pairs are nearly independent.
        let off = (found as f64 - mean).abs();
        assert!(
            off <= 4.0 * mean.sqrt() + 1.0,
            "{qdisc}: {found} pairs, where {mean} are expected"
        );
    }
}

#[test]
fn nobody_shares_a_queue_where_there_is_one_for_all() {
    for qdisc in ["pfifo limit 1000", "codel", "pie", "pfifo_fast limit 100"] {
        assert_eq!((0..10).map(|seed| pairs(qdisc, seed)).sum::<usize>(), 0, "{qdisc}");
    }
}
