//! Losses and what looks like one: RFC 6675, 6937, 8985, 2883, 3522.

use crate::net::{DELAY, Dir, Fate, Net, params};
use sojourn_tcp::cc::Algorithm::{self, Cubic, Reno};
use sojourn_tcp::{CaState, TcpParams};
use sojourn_units::{Bytes, Duration, Time};

const RTT: Duration = Duration::from_millis(50);

/// A receive window about as large as the path, so that the RTT stays the same.
fn without_queue() -> TcpParams {
    TcpParams {
        receive_window: Bytes::new(58_000),
        ..params(Cubic)
    }
}

fn drop_first_of(lost: &'static [u64]) -> impl FnMut(&crate::net::Sent) -> Fate {
    move |s| {
        if lost.iter().any(|&k| s.is(k, 0)) {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    }
}

/// RFC 5681 section 3.2 with RFC 6675's and 8985's reading: the third SACKed segment tells the loss; RFC 9438 section
/// 4.6 (beta 0.7) and RFC 5681 equation 4 (one half) tell the window after.
fn one_drop(algorithm: Algorithm, beta: f64) {
    let net = Net::transfer(&params(algorithm), 300, drop_first_of(&[60]));
    let stats = net.client.sender().stats();
    assert_eq!((stats.retransmissions, stats.recoveries, stats.timeouts), (1, 1, 0));
    assert_eq!(net.repeated(), [60]);
    let repaired = net.sendings(60)[1];
    let sacked: Vec<u32> = net
        .log
        .iter()
        .filter(|s| s.dir == Dir::Ack && s.segment.sack_count > 0 && s.at + DELAY < repaired)
        .map(|s| s.segment.sack[0].end as u32 / 1448 - 1)
        .collect();
    assert_eq!(sacked, [1, 2, 3], "SACKed above the hole when it was repaired");
    let (before, after) = net.entry(CaState::Recovery);
    assert_eq!(after.at, repaired);
    let ssthresh = after.ssthresh.expect("a reduction sets the threshold");
    assert!(
        (f64::from(ssthresh) - beta * f64::from(before.cwnd)).abs() < 1.0,
        "{before:?} {after:?}"
    );
    let end = net
        .samples
        .iter()
        .find(|s| s.at > after.at && s.state == CaState::Open)
        .expect("recovery ends");
    // RFC 6937 section 3: at the end the window is the threshold. It may have grown by the same acknowledgement.
    assert!((ssthresh..=ssthresh + 1).contains(&end.cwnd), "{end:?}");
    assert!(end.at.since(repaired) < RTT * 3, "{end:?}");
}

#[test]
fn one_drop_costs_one_fast_retransmission_and_three_tenths_of_cubics_window() {
    one_drop(Cubic, 0.7);
}

#[test]
fn one_drop_costs_one_fast_retransmission_and_half_of_renos_window() {
    one_drop(Reno, 0.5);
}

/// RFC 6937 section 3, its pseudo-code kept beside the transfer: no acknowledgement may release more than it says.
fn recovers_within_the_bound(lost: &'static [u64], heavy: bool) {
    for algorithm in [Cubic, Reno] {
        let net = Net::transfer(&params(algorithm), 400, drop_first_of(lost));
        let stats = net.client.sender().stats();
        assert_eq!((stats.timeouts, stats.recoveries), (0, 1), "{algorithm}");
        assert_eq!(net.repeated(), lost, "{algorithm}");
        assert_eq!(stats.retransmissions, lost.len() as u64, "{algorithm}");
        let (before, first) = net.entry(CaState::Recovery);
        let recover_fs = f64::from(before.cwnd);
        let ssthresh = f64::from(first.ssthresh.expect("a reduction sets the threshold"));
        let (mut delivered, mut out, mut last_pipe) = (0.0, 0.0, f64::INFINITY);
        let mut acks = 0;
        for s in net
            .samples
            .iter()
            .filter(|s| s.at >= first.at)
            .take_while(|s| s.state == CaState::Recovery)
        {
            if s.delivered == 0 {
                assert_eq!(s.sent, 0, "{s:?}");
                continue;
            }
            acks += 1;
            let data = f64::from(s.delivered);
            delivered += data;
            let pipe = f64::from(s.in_flight - s.sent);
            let proportional = (delivered * ssthresh / recover_fs).ceil() - out;
            let slow_start = (ssthresh - pipe).min((delivered - out).max(data) + 1.0);
            let sndcnt = if pipe > ssthresh { proportional } else { slow_start };
            // The fast retransmission itself is always allowed.
            let allowed = sndcnt.max(if out == 0.0 { 1.0 } else { 0.0 });
            assert!(f64::from(s.sent) <= allowed, "{algorithm} {s:?}: {allowed}");
            out += f64::from(s.sent);
            last_pipe = pipe;
        }
        assert!(acks > 20 && last_pipe.is_finite(), "the bound was tried");
        assert!(last_pipe < ssthresh, "both bounds were tried");
        // Only the slow-start bound lets more out than came in: one for each acknowledgement that advances.
        assert_eq!(out > delivered, heavy, "{out} sent for {delivered} delivered");
        // All are known to be lost within a round trip of the first, and repaired in the next.
        let begin = net.sendings(60)[1];
        let repairs = lost.iter().map(|&k| net.sendings(k)[1]);
        let took = repairs.max().expect("all were repaired").since(begin);
        assert!(
            heavy || took < RTT * 2 + Duration::from_millis(40),
            "{algorithm} {took}"
        );
    }
}

#[test]
fn a_burst_of_drops_is_recovered_within_the_proportional_bound() {
    recovers_within_the_bound(&[60, 61, 62, 63, 64, 65, 66, 67, 70, 72, 74, 76, 78, 80, 82, 84], false);
}

/// More than half of the window is lost: what is in flight falls below the threshold, and the slow-start bound holds.
#[test]
fn a_large_burst_of_drops_is_recovered_within_the_slow_start_bound() {
    const LOST: &[u64] = &{
        let mut lost = [0; 70];
        let mut k = 0;
        while k < 70 {
            lost[k] = 60 + k as u64;
            k += 1;
        }
        lost
    };
    recovers_within_the_bound(LOST, true);
}

/// RFC 8985 section 6.2: a retransmission is lost when something sent after it is delivered. RFC 6675 would need a
/// time-out.
#[test]
fn a_lost_retransmission_is_repaired_without_a_time_out() {
    let net = Net::transfer(&params(Cubic), 400, |s| {
        if s.is(60, 0) || s.is(60, 1) {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    let stats = net.client.sender().stats();
    assert_eq!((stats.timeouts, stats.retransmissions), (0, 2));
    let sendings = net.sendings(60);
    assert_eq!(sendings.len(), 3);
    // One round trip, which a queue of up to the window lengthens, and a quarter for reordering.
    let wait = sendings[2].since(sendings[1]);
    let queue = Duration::from_micros(1_212) * u64::from(net.sample(sendings[1]).cwnd);
    assert!(wait >= RTT && wait < RTT * 5 / 4 + queue, "{wait}");
}

/// RFC 5681 section 3.2, RFC 8985 section 3.3.1: fewer than three segments overtook it.
#[test]
fn reordering_by_two_segments_causes_no_retransmission() {
    let net = Net::transfer(&params(Cubic), 300, |s| {
        if s.is(60, 0) {
            Fate::Delay(Duration::from_micros(2_500))
        } else {
            Fate::Deliver
        }
    });
    assert_eq!(net.server.receiver().stats().out_of_order, 2);
    assert_eq!(net.client.sender().stats().retransmissions, 0);
    assert_eq!(net.client.sender().ssthresh(), None);
}

/// RFC 8985 section 6.2 step 4: once the path was seen to reorder, a segment may be late by a quarter of the RTT.
#[test]
fn reordering_within_a_quarter_of_the_round_trip_is_waited_for_once_it_was_seen() {
    let late = |s: &crate::net::Sent| {
        if s.is(40, 0) {
            Fate::Delay(Duration::from_micros(2_500))
        } else if s.is(200, 0) {
            Fate::Delay(Duration::from_millis(9))
        } else {
            Fate::Deliver
        }
    };
    let seen = Net::transfer(&params(Cubic), 300, late);
    assert_eq!(seen.client.sender().stats().retransmissions, 0);
    assert!(
        seen.server.receiver().stats().out_of_order >= 9,
        "{:?}",
        seen.server.receiver().stats()
    );
    let unseen = Net::transfer(
        &params(Cubic),
        300,
        move |s| if s.is(40, 0) { Fate::Deliver } else { late(s) },
    );
    assert_eq!(unseen.client.sender().stats().retransmissions, 1);
}

/// RFC 3522 and 3708 (undo), RFC 8985 section 6.2 step 4 (a D-SACK widens the window to two quarters): the second
/// segment that is 20 ms late is waited for.
#[test]
fn reordering_beyond_the_window_is_undone_and_widens_it() {
    let net = Net::transfer(&without_queue(), 500, |s| {
        if s.is(60, 0) || s.is(300, 0) {
            Fate::Delay(Duration::from_millis(20))
        } else {
            Fate::Deliver
        }
    });
    let stats = net.client.sender().stats();
    assert_eq!((stats.recoveries, stats.undone, stats.timeouts), (1, 1, 0));
    assert_eq!(net.repeated(), [60]);
    let (before, _) = net.entry(CaState::Recovery);
    let end = net
        .samples
        .iter()
        .skip_while(|s| s.state != CaState::Recovery)
        .find(|s| s.state != CaState::Recovery);
    let end = end.expect("recovery ends");
    assert!(end.cwnd >= before.cwnd, "{before:?} {end:?}");
    assert_eq!(net.server.receiver().stats().duplicates, 1);
}

/// The same after harmless reordering: a quarter of the RTT is not enough.
#[test]
fn a_segment_20_ms_late_is_retransmitted_if_no_d_sack_widened_the_window() {
    let net = Net::transfer(&without_queue(), 500, |s| {
        if s.is(60, 0) {
            Fate::Delay(Duration::from_micros(2_500))
        } else if s.is(300, 0) {
            Fate::Delay(Duration::from_millis(20))
        } else {
            Fate::Deliver
        }
    });
    assert_eq!(net.repeated(), [300]);
}

/// Cumulative acknowledgements repeat what lost ones said (RFC 5681 section 4.2).
#[test]
fn losing_half_of_the_acknowledgements_costs_only_burstiness() {
    let clean = Net::transfer(&params(Cubic), 600, |_| Fate::Deliver);
    let lossy = Net::transfer(&params(Cubic), 600, |s| {
        if s.dir == Dir::Ack && s.nth > 1 && s.nth % 2 == 0 && s.segment.ack < 500 * 1448 {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    let stats = lossy.client.sender().stats();
    assert_eq!((stats.retransmissions, stats.timeouts), (0, 0));
    let took = |net: &Net| net.now.since(Time::ZERO).as_secs_f64();
    assert!(took(&lossy) < 1.1 * took(&clean), "{} {}", took(&lossy), took(&clean));
    let burst = |net: &Net| net.samples.iter().skip(100).map(|s| s.sent).max();
    assert!(burst(&lossy) > burst(&clean), "{:?} {:?}", burst(&lossy), burst(&clean));
}

/// RFC 2883: the network duplicated it, the sender did not; nothing is to be repaired or undone.
#[test]
fn duplicates_made_by_the_network_change_nothing() {
    let net = Net::transfer(&params(Cubic), 300, |s| {
        if s.data.is_some_and(|k| k % 10 == 0) {
            Fate::Twice
        } else {
            Fate::Deliver
        }
    });
    let stats = net.client.sender().stats();
    assert_eq!((stats.retransmissions, stats.recoveries, stats.undone), (0, 0, 0));
    assert_eq!(net.server.receiver().stats().duplicates, 30);
    assert_eq!(net.client.sender().ssthresh(), None);
}
