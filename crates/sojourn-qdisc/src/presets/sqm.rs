//! `sqm:`: what the scripts of sqm-scripts, which OpenWrt's SQM runs, set for a direction of a link.
//!
//! Source: sqm-scripts 95337de of 2024, `simple.qos` and `simplest.qos` (upstream) with the defaults of `defaults.sh`
//! and the functions `get_burst`, `adapt_target_to_slow_link` and `adapt_interval_to_slow_link` of `functions.sh`, and
//! `piece_of_cake.qos` and `layer_cake.qos`. Rates are whole kbit/s, as there.
//!
//! Deviation: the shaped rate is the link's. A user gives the scripts somewhat less, so that no queue is behind them.
//!
//! Deviation: `simple.qos` gives packets a mark by their code point and filters by marks. Here filters are by code
//! point: CS1 to background, CS6, EF, AF42 and what iptables calls Minimize-Delay (code points 4, 20, 36 and 52) to the
//! first class. Its marks for DNS and NTP of the router itself are left out, and so is `nat` of the cake scripts:
//! nothing here translates addresses.

use sojourn_units::Rate;
use std::fmt::Write as _;

/// The device's MTU.
const MTU: u64 = 1500;
/// How long a burst may take, us, and packets that a queue of `fq_codel` holds.
const BURST_US: u64 = 1000;
const LIMIT: u64 = 1001;

/// The rate as the scripts take it.
fn kbit(rate: Rate) -> u64 {
    rate.as_bps() / 1000
}

/// Bytes of a burst or a quantum: a millisecond at the rate, but at least a packet with 48 bytes of overhead in ATM
/// cells.
fn burst(kbit: u64) -> u64 {
    let least = (MTU + 48).div_ceil(48) * 53;
    (BURST_US * kbit / 8000).max(least)
}

/// `fq_codel` with a target of at least 33 ATM cells, the interval 95 ms more.
fn fq_codel(kbit: u64, quantum: Option<u64>) -> String {
    let target = (1000 * 33 * 53 * 8 / kbit.max(1)).max(5000);
    let quantum = quantum.map(|quantum| format!(" quantum {quantum}")).unwrap_or_default();
    format!(
        "fq_codel limit {LIMIT} target {target}us interval {}us ecn{quantum} flows 1024",
        95_000 + target
    )
}

/// Three classes below one, as for upstream: the first is served first up to a third of the rate, the others have a
/// sixth each and borrow nearly all.
pub(super) fn simple(rate: Rate) -> String {
    let all = kbit(rate);
    let (burst, leaf) = (burst(all), fq_codel(all, Some(300)));
    let depth = format!("burst {burst} cburst {burst}");
    let own = format!("htb quantum {burst}");
    let (third, sixth, most) = (all / 3, all / 6, all.saturating_sub(16));
    let mut text = format!("htb default 12 ; class parent 1: classid 1:1 {own} rate {all}kbit ceil {all}kbit {depth}");
    for (class, rest) in [
        (11, format!("rate 128kbit ceil {third}kbit prio 1")),
        (12, format!("rate {sixth}kbit ceil {most}kbit {depth} prio 2")),
        (13, format!("rate {sixth}kbit ceil {most}kbit {depth} prio 3")),
    ] {
        let _ = write!(
            text,
            " ; class parent 1:1 classid 1:{class} {own} {rest} ; qdisc parent 1:{class} {leaf}"
        );
    }
    text.push_str(" ; filter parent 1: dscp CS1 flowid 1:13 ; filter parent 1: dscp CS6 EF AF42 4 AF22 52 flowid 1:11");
    text
}

/// One class below one.
pub(super) fn simplest(rate: Rate) -> String {
    let all = kbit(rate);
    let burst = burst(all);
    let class = format!("htb quantum {burst} rate {all}kbit ceil {all}kbit burst {burst} cburst {burst}");
    format!(
        "htb default 10 ; class parent 1: classid 1:1 {class} ; class parent 1:1 classid 1:10 {class} prio 0 ; \
         qdisc parent 1:10 {}",
        fq_codel(all, None)
    )
}

/// `cake` at the rate, with the words that say how it tells packets apart.
pub(super) fn cake(rate: Rate, words: &str) -> String {
    format!("cake bandwidth {}kbit {words}", kbit(rate))
}
