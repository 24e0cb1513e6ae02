//! The variant of Linux 3.14: forward acknowledgement (Mathis and Mahdavi 1996), early retransmit (RFC 5827), the
//! first tail loss probe, and time-outs that give up on everything outstanding.

use crate::net::{DELAY, Dir, Fate, Net, Sent, params};
use sojourn_tcp::cc::Algorithm::{Cubic, Reno};
use sojourn_tcp::cc::{Ack, CongestionControl, Marked, Params, Threshold, Window};
use sojourn_tcp::{CaState, TcpParams, Variant};
use sojourn_units::{Duration, Time};

const MS: Duration = Duration::from_millis(1);

fn old() -> TcpParams {
    TcpParams {
        variant: Variant::Linux314,
        ..params(Cubic)
    }
}

fn drop_firsts(lost: &'static [u64]) -> impl FnMut(&Sent) -> Fate {
    move |s| {
        if lost.iter().any(|&k| s.is(k, 0)) {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    }
}

fn duplicates_before(net: &Net, at: Time) -> usize {
    net.log
        .iter()
        .filter(|s| s.dir == Dir::Ack && s.segment.sack_count > 0 && s.at + DELAY < at)
        .count()
}

/// The holes count: with segments 60 and 62 lost, the SACK of 63 is the second, but 63 is the fourth from the first
/// hole.
#[test]
fn holes_count_as_duplicates() {
    let net = Net::transfer(&old(), 300, drop_firsts(&[60, 62]));
    let stats = net.client.sender().stats();
    assert_eq!((stats.retransmissions, stats.recoveries, stats.timeouts), (2, 1, 0));
    assert_eq!(duplicates_before(&net, net.sendings(60)[1]), 2);
    // 62 is lost once three segments above it are accounted for: with the SACK of 65.
    assert_eq!(duplicates_before(&net, net.sendings(62)[1]), 4);
}

#[test]
fn one_loss_needs_three_duplicates() {
    let net = Net::transfer(&old(), 300, drop_firsts(&[60]));
    assert_eq!(duplicates_before(&net, net.sendings(60)[1]), 3);
    let (before, after) = net.entry(CaState::Recovery);
    assert_eq!(after.ssthresh, Some(before.cwnd * 717 / 1024));
}

/// Without SACK compression nine segments above a gap bring nine acknowledgements, though they arrive at once.
#[test]
fn every_segment_above_a_gap_is_acknowledged() {
    let at = Time::from_millis(120);
    let acknowledged = |variant| {
        let p = TcpParams { variant, ..old() };
        let net = Net::transfer(&p, 10, move |s| match s.data {
            Some(0) if s.attempt == 0 => Fate::Drop,
            Some(1..10) if s.attempt == 0 => Fate::HoldUntil(at),
            _ => Fate::Deliver,
        });
        net.log.iter().filter(|s| s.dir == Dir::Ack && s.at == at).count()
    };
    assert_eq!(acknowledged(Variant::Linux314), 9);
    assert_eq!(acknowledged(Variant::Linux61), 3);
}

/// RFC 5827: with fewer than four segments out, three duplicates never come. Mitigation A.3: a quarter of the RTT
/// later.
#[test]
fn few_segments_are_retransmitted_early_after_a_quarter_of_the_round_trip() {
    let net = Net::transfer(&old(), 3, drop_firsts(&[0]));
    let stats = net.client.sender().stats();
    assert_eq!((stats.timeouts, stats.loss_probes, stats.recoveries), (0, 0, 1));
    let repaired = net.sendings(0)[1];
    let told = net
        .samples
        .iter()
        .rev()
        .find(|s| s.at < repaired && s.delivered > 0)
        .expect("SACKs came");
    let wait = repaired.since(told.at);
    assert!(wait >= MS * 12 && wait <= MS * 14, "{wait}");
}

/// A retransmission is lost once data sent after it is SACKed, and is then repeated without a time-out.
#[test]
fn a_lost_retransmission_is_told_by_later_data() {
    let net = Net::transfer(&old(), 400, |s| {
        if s.is(60, 0) || s.is(60, 1) {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    let stats = net.client.sender().stats();
    assert_eq!((stats.timeouts, stats.retransmissions), (0, 2));
    let sendings = net.sendings(60);
    let gap = sendings[2].since(sendings[1]);
    assert!(gap >= MS * 50 && gap < MS * 200, "{gap}");
}

/// RFC 6298 section 5.4, RFC 5681 section 3.1: all is lost, the window is one segment.
#[test]
fn a_timeout_gives_up_on_all_that_is_out() {
    let net = Net::transfer(&old(), 200, |s| {
        if s.data.is_some_and(|k| k >= 60) && s.at < Time::from_millis(900) {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    let (_, after) = net.entry(CaState::Loss);
    assert_eq!((after.cwnd, after.in_flight), (1, 1));
    assert!(net.client.sender().stats().timeouts >= 1);
}

/// Two smoothed RTTs after the last acknowledgement; 6.1 adds two milliseconds.
#[test]
fn a_lost_tail_is_probed_after_two_round_trips() {
    let net = Net::transfer(&old(), 40, |s| {
        if (36..40).any(|k| s.is(k, 0)) {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    let stats = net.client.sender().stats();
    assert_eq!((stats.loss_probes, stats.retransmissions), (1, 4));
    let probe = net.sendings(39)[1];
    let acked = net
        .samples
        .iter()
        .rev()
        .find(|s| s.at < probe)
        .expect("acknowledgements came");
    assert!(acked.advanced && acked.in_flight == 4, "{acked:?}");
    let wait = probe.since(acked.at);
    assert!(wait >= MS * 100 && wait < MS * 140, "{wait}");
}

/// RFC 5681 section 3.1 as Linux before 4.0 read it: with an acknowledgement for every second segment the window
/// grows by half a segment a round trip; RFC 3465's counting of bytes grows it by one.
#[test]
fn renos_window_counts_acknowledgements() {
    let grown = |variant| {
        let mut reno = Reno.build(&Params::default(), variant);
        let mut window = Window {
            cwnd: 20,
            ssthresh: Threshold::Segments(10),
            credit: 0,
        };
        for _ in 0..40 {
            let ack = Ack {
                now: Time::ZERO,
                acked: 2,
                una: 0,
                nxt: 0,
                rtt: None,
                mss: 1448,
                ece: false,
                marked: Marked::default(),
                pacing_rate: None,
            };
            reno.grow(&ack, &mut window);
        }
        window.cwnd
    };
    assert_eq!((grown(Variant::Linux61), grown(Variant::Linux314)), (23, 21));
}
