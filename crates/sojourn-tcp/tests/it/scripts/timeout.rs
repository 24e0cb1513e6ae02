//! Timers: RFC 6298, 8985 section 7, 5682.

use super::window::{burst, client};
use crate::net::{Dir, Fate, Net, Sent, params};
use sojourn_tcp::cc::Algorithm::{Cubic, Reno};
use sojourn_tcp::{CaState, Flags, Segment, TcpParams};
use sojourn_units::{Bytes, Duration, Time};

const MS: Duration = Duration::from_millis(1);

/// RFC 8985 section 7.2: a probe two smoothed RTTs (and Linux's 2 ms) after the last acknowledgement; section 7.4:
/// what it SACKs tells the loss of the rest.
#[test]
fn a_lost_tail_is_probed_after_two_round_trips_and_recovered_by_sack() {
    let net = Net::transfer(&params(Cubic), 40, |s| {
        if (36..40).any(|k| s.is(k, 0)) {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    let stats = net.client.sender().stats();
    assert_eq!((stats.timeouts, stats.loss_probes, stats.recoveries), (0, 1, 1));
    assert_eq!((stats.retransmissions, net.repeated()), (4, vec![36, 37, 38, 39]));
    let probe = net.sendings(39)[1];
    let acked = net
        .samples
        .iter()
        .rev()
        .find(|s| s.at < probe)
        .expect("acknowledgements came before");
    assert!(acked.advanced && acked.in_flight == 4, "{acked:?}");
    // 35 segments at the rate of the link: the RTT has grown from 50 ms by at most the queue of the last round.
    let wait = probe.since(acked.at);
    assert!(wait >= MS * 102 && wait < MS * 142, "{wait}");
    assert!(net.sendings(36)[1] > probe);
}

/// RFC 8985 section 7.3: the probe is new data if there is any and the windows admit it.
#[test]
fn the_probe_is_new_data_if_there_is_any() {
    let mut net = Net::new(&params(Cubic), |s: &Sent| {
        if s.data.is_some_and(|k| k < 10) && s.attempt == 0 {
            Fate::Drop
        } else {
            Fate::Deliver
        }
    });
    net.write(200);
    net.finish();
    let first = net
        .log
        .iter()
        .filter(|s| s.data.is_some())
        .nth(10)
        .expect("an eleventh transmission");
    assert!(first.is(10, 0), "{first:?}");
    assert_eq!(net.client.sender().stats().loss_probes, 1);
    assert_eq!(net.client.sender().stats().timeouts, 0);
}

/// When a timer of Linux's wheel goes off that is set to `wait` later: its levels are of 63, 441 and 3528 ticks of 1,
/// 8 and 64 ms.
fn goes_off(set: Time, wait: Duration) -> Time {
    let ticks = wait.as_nanos().div_ceil(1_000_000);
    let coarse = match ticks {
        ..=62 => 1,
        63..=503 => 8,
        504..=4031 => 64,
        _ => 512,
    };
    let expires = set.as_nanos() / 1_000_000 + ticks;
    Time::from_millis((expires / coarse + 1) * coarse)
}

/// RFC 6298 section 5: the time-out is SRTT + max(200 ms, 4 RTTVAR), counts from the tail loss probe as in Linux, doubles
/// each time (and goes off when the kernel's wheel turns to it), and RFC 5681 section 3.1: the window is then one segment
/// and slow start begins.
#[test]
fn silence_times_out_after_srtt_and_200_ms_then_doubles_and_starts_slowly() {
    for (algorithm, beta) in [(Cubic, 0.7), (Reno, 0.5)] {
        let mut net = Net::new(&params(algorithm), |s: &Sent| {
            if s.data.is_some_and(|k| k >= 500) && s.at < Time::from_secs(6) {
                Fate::Drop
            } else {
                Fate::Deliver
            }
        });
        // Twenty segments a round trip, without a queue to speak of: the variance is at its minimum.
        for _ in 0..25 {
            net.write(20);
            net.run_until(net.now + MS * 100);
        }
        assert_eq!(net.client.sender().bytes_pending(), 0);
        let (srtt, cwnd) = (net.client.sender().srtt().unwrap(), net.client.sender().cwnd());
        let (begin, rto) = (net.now, net.client.sender().rto());
        net.write(20);
        net.finish();
        let sendings = net.sendings(500);
        assert_eq!(sendings[0], begin);
        let gaps: Vec<Duration> = sendings.windows(2).map(|w| w[1].since(w[0])).collect();
        assert_eq!(gaps.len(), 4, "{gaps:?}");
        // It counts from the probe, which is of the last segment. A decaying variance leaves a little above the minimum.
        let probe = net.sendings(519)[1];
        let over = sendings[1].since(probe).as_nanos() as f64 - (srtt + MS * 200).as_nanos() as f64;
        assert!((0.0..8e6).contains(&over), "{gaps:?} {srtt}");
        // In whole milliseconds.
        let whole = MS * rto.as_nanos().div_ceil(1_000_000);
        assert_eq!(sendings[1], goes_off(probe, whole), "{gaps:?}");
        for (k, w) in sendings.windows(2).enumerate().skip(1) {
            assert_eq!(w[1], goes_off(w[0], whole * (1 << k)), "{gaps:?}");
        }
        assert_eq!(net.client.sender().stats().timeouts, 4);
        let (_, loss) = net.entry(CaState::Loss);
        assert_eq!((loss.cwnd, loss.sent), (1, 1), "{loss:?}");
        let ssthresh = f64::from(loss.ssthresh.expect("set"));
        assert!((ssthresh - beta * f64::from(cwnd)).abs() <= 1.0, "{cwnd} {ssthresh}");
        // Slow start: a window of 1, 2, 4 segments, one round trip each.
        let rounds: Vec<u32> = net
            .samples
            .iter()
            .filter(|s| s.at > sendings[4] && s.delivered > 0)
            .map(|s| s.cwnd)
            .collect();
        assert_eq!(rounds[0], 2, "{rounds:?}");
        assert!(rounds.windows(2).all(|w| w[1] <= w[0] + 2), "{rounds:?}");
    }
}

/// RFC 5682 section 3.1: two acknowledgements of data that was never retransmitted prove the time-out false.
#[test]
fn a_delay_spike_times_out_and_is_undone() {
    let spike = |s: &Sent| {
        // Everything sent while the path stands still comes out when it moves again, in order.
        let (from, to) = (Time::from_millis(600), Time::from_millis(1_400));
        if s.dir == Dir::Data && s.at >= from && s.at < to {
            Fate::HoldUntil(to)
        } else {
            Fate::Deliver
        }
    };
    for algorithm in [Cubic, Reno] {
        // A window about as large as the path: no queue whose acknowledgements would go on during the spike.
        let p = TcpParams {
            receive_window: Bytes::new(58_000),
            ..params(algorithm)
        };
        let net = Net::transfer(&p, 1000, spike);
        let stats = net.client.sender().stats();
        assert!(stats.timeouts >= 1, "{stats:?}");
        // What the repeated head acknowledges may look like another loss for a moment; that is undone as well.
        assert_eq!(stats.undone, 1 + stats.recoveries, "{stats:?}");
        assert!(stats.retransmissions <= 5, "{stats:?}");
        let (before, _) = net.entry(CaState::Loss);
        let after = net
            .samples
            .iter()
            .skip_while(|s| s.state != CaState::Loss)
            .find(|s| s.state == CaState::Open);
        let after = after.expect("the loss state is left");
        assert!(after.cwnd >= before.cwnd, "{before:?} {after:?}");
    }
}

/// RFC 5682 section 3.1 alone: without timestamps to tell by, the second segment, never repeated, tells.
#[test]
fn f_rto_needs_no_timestamps() {
    let p = TcpParams {
        initial_window: 20,
        ..params(Reno)
    };
    // 57 units hold ten segments.
    let (mut sender, mut now) = client(&p, 57);
    assert_eq!(burst(&mut sender, now).len(), 10);
    while sender.sender().stats().timeouts == 0 {
        now = sender.timeout().expect("a timer is armed");
        sender.on_timeout(now);
        burst(&mut sender, now);
    }
    assert_eq!((sender.sender().state(), sender.sender().cwnd()), (CaState::Loss, 1));
    let ack = Segment {
        ack: 1 + 2 * 1448,
        flags: Flags::ACK,
        window: 57,
        ts_val: 1,
        ..Segment::default()
    };
    sender.on_segment(&ack, now + MS);
    assert_eq!(sender.sender().stats().undone, 1);
    assert!(sender.sender().cwnd() >= 20, "{}", sender.sender().cwnd());
}
