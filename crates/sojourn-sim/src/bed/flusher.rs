//! The record of a flusher that a bed had: the real daemon on an interface of a host.
//!
//! Deviation: a datagram of a flush that did not arrive counts as dropped, and so does one that was under way at the
//! end.
//!
//! Deviation: a flush ends when the system has taken its last datagram, which then waits in the host's own queue; the
//! simulator's hands them over at the rate of the link.

use super::error::{MeasuredError, fail};
use super::frames::{FARTHEST_NS, out_of_time};
use crate::flusher::pairs::Rtts;
use crate::record::numbers::signed_ns;
use crate::record::{FlushRecord, FlusherFlowRecord, FlusherFlowSeries, FlusherRecord, PathRttRecord};
use sojourn_bed::{FlowMeasured, FlushMeasured, FlusherFlowMeasured, FlusherMeasured, Measured};
use sojourn_scenario::Scenario;
use sojourn_units::Duration;
use std::collections::BTreeMap;

/// Bytes of the Ethernet header.
const ETHERNET: u64 = 14;
const REASONS: [&str; 3] = ["threshold", "forced", "top_up"];

/// Checks that there is a flusher if the scenario has one, and that it is one of this scenario.
pub(super) fn check(s: &Scenario, m: &Measured) -> Result<(), MeasuredError> {
    let Some(seen) = &m.flusher else {
        return if s.flusher.is_none() {
            Ok(())
        } else {
            fail("flusher of the measurement", "absent", "there, as the scenario has one")
        };
    };
    if s.flusher.is_none() {
        return fail(
            "flusher of the measurement",
            "there",
            "absent, as the scenario has none",
        );
    }
    if seen.flows.len() != s.flows.len() {
        let rule = format!("{}, as in the scenario", s.flows.len());
        return fail("number of flows beside the flusher", seen.flows.len(), rule);
    }
    let bins = s.whole_bins();
    for (i, flow) in seen.flows.iter().enumerate() {
        for count in [flow.rtt_ns.len(), flow.base_ns.len(), flow.throughput_bps.len()] {
            if count != bins {
                let rule = format!("{bins}, one for each bin");
                return fail(format!("number of samples of the flusher for flow {i}"), count, rule);
            }
        }
        let odd = |&&(at, rtt): &&(i64, u64)| out_of_time(at) || rtt > FARTHEST_NS as u64;
        if let Some((at, rtt)) = flow.pairs.iter().find(odd) {
            let value = format!("{rtt} ns at {at} ns");
            return fail(
                format!("a packet pair of flow {i}"),
                value,
                format!("within {FARTHEST_NS} ns"),
            );
        }
    }
    for (n, event) in seen.events.iter().enumerate() {
        let known = REASONS.contains(&event.reason.as_str());
        let there = event.flow.is_none_or(|flow| flow < s.flows.len());
        if !known || !there || out_of_time(event.at_ns) {
            let value = format!("{:?} for flow {:?} at {} ns", event.reason, event.flow, event.at_ns);
            return fail(format!("flush {n}"), value, "of a reason, a flow and a time of the run");
        }
    }
    Ok(())
}

/// The record; `None` without a flusher.
pub(super) fn record(s: &Scenario, m: &Measured) -> Option<FlusherRecord> {
    let (spec, seen) = (s.flusher.as_ref()?, m.flusher.as_ref()?);
    let within = |event: &&FlushMeasured| (0..=end_ns(s)).contains(&event.at_ns);
    let refused = seen.events.iter().filter(within).filter(|e| e.refused).count() as u64;
    let flushes = seen.events.iter().filter(within).filter(|e| !e.refused).count() as u64;
    Some(FlusherRecord {
        at: spec.place.name(),
        mode: if spec.active() { "active" } else { "passive" },
        flushes,
        packets: seen.packets,
        bytes: seen.bytes + ETHERNET * seen.packets,
        delivered: seen.delivered,
        dropped: seen.packets.saturating_sub(seen.delivered),
        refused,
        samples: seen.samples,
        helped: seen.helped,
        failed: seen.failed,
        withheld: seen.withheld,
        flows: (0..s.flows.len()).map(|i| flow(s, seen, i)).chain(others(s)).collect(),
        events: seen.events.iter().filter(within).map(|event| flush(s, event)).collect(),
    })
}

fn end_ns(s: &Scenario) -> i64 {
    signed_ns(s.duration.as_nanos())
}

fn flow(s: &Scenario, seen: &FlusherMeasured, i: usize) -> FlusherFlowRecord {
    let mut rtts = Rtts::default();
    for (_, rtt) in pairs(s, &seen.flows[i]) {
        rtts.record(rtt);
    }
    let events = seen.events.iter().filter(|e| e.flow == Some(i) && !e.refused);
    let (flushes, packets) = events.fold((0, 0), |(n, sum), e| (n + 1, sum + u64::from(e.packets)));
    FlusherFlowRecord {
        name: s.flows[i].name.clone(),
        seen: true,
        flushes,
        packets,
        rtt: Some(PathRttRecord::of(&rtts)),
    }
}

/// Web clients and downloads, of which nothing is told.
fn others(s: &Scenario) -> impl Iterator<Item = FlusherFlowRecord> {
    let names = s.web.iter().map(|w| &w.name).chain(s.downloads.iter().map(|d| &d.name));
    names.map(|name| FlusherFlowRecord {
        name: name.clone(),
        seen: true,
        flushes: 0,
        packets: 0,
        rtt: None,
    })
}

/// The packet pairs of the measured window: the bin that each is in, and the RTT.
fn pairs<'a>(s: &'a Scenario, flow: &'a FlusherFlowMeasured) -> impl Iterator<Item = (usize, Duration)> + 'a {
    let width = signed_ns(s.sample_interval.as_nanos());
    let end = end_ns(s);
    let within = flow.pairs.iter().filter(move |(at, _)| (0..=end).contains(at));
    within.map(move |&(at, rtt)| ((at / width) as usize, Duration::from_nanos(rtt)))
}

fn flush(s: &Scenario, event: &FlushMeasured) -> FlushRecord {
    let ms = |ns: u64| Duration::from_nanos(ns).as_millis_f64();
    FlushRecord {
        t_s: event.at_ns as f64 / 1e9,
        took_ms: event.took_ns.map(ms),
        flow: event.flow.map(|i| s.flows[i].name.clone()),
        packets: event.packets,
        refused: event.refused,
        reason: REASONS
            .into_iter()
            .find(|reason| *reason == event.reason)
            .expect("it was checked"),
        throughput_mbit: event.throughput_bps as f64 / 1e6,
        rtt_ms: ms(event.rtt_ns),
        base_rtt_ms: ms(event.base_ns),
        max_rtt_ms: ms(event.max_rtt_ns),
    }
}

/// The series of each flow; empty without a flusher.
pub(super) fn series(s: &Scenario, m: &Measured) -> BTreeMap<String, FlusherFlowSeries> {
    let Some(seen) = &m.flusher else {
        return BTreeMap::new();
    };
    let flows = s.flows.iter().zip(seen.flows.iter().zip(&m.flows));
    flows
        .map(|(f, (beside, flow))| (f.name.clone(), of_flow(s, beside, flow)))
        .collect()
}

fn of_flow(s: &Scenario, beside: &FlusherFlowMeasured, flow: &FlowMeasured) -> FlusherFlowSeries {
    let bins = s.whole_bins();
    let mut recent: Vec<(u64, u128, u64)> = vec![(0, 0, 0); bins];
    for (bin, rtt) in pairs(s, beside) {
        if let Some((count, sum, most)) = recent.get_mut(bin) {
            let ns = rtt.as_nanos();
            (*count, *sum, *most) = (*count + 1, *sum + u128::from(ns), (*most).max(ns));
        }
    }
    let ms = |ns: u64| Duration::from_nanos(ns).as_millis_f64();
    let all = |values: &[Option<u64>]| values.iter().map(|v| v.map(ms)).collect();
    let there = recent
        .iter()
        .map(|&(count, sum, most)| (count > 0).then_some((count, sum, most)));
    // The kernel knows none before the first sample, and says 0.
    let srtt = flow.srtt_us.iter().map(|&us| (us > 0).then(|| f64::from(us) / 1e3));
    FlusherFlowSeries {
        path_rtt_ms: there
            .clone()
            .map(|bin| bin.map(|(count, sum, _)| sum as f64 / count as f64 / 1e6))
            .collect(),
        path_rtt_max_ms: there.map(|bin| bin.map(|(_, _, most)| ms(most))).collect(),
        sender_rtt_ms: srtt.chain(std::iter::repeat(None)).take(bins).collect(),
        rtt_ms: all(&beside.rtt_ns),
        base_rtt_ms: all(&beside.base_ns),
        throughput_mbit: beside
            .throughput_bps
            .iter()
            .map(|v| v.map(|bps| bps as f64 / 1e6))
            .collect(),
    }
}
