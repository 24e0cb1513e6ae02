//! Explicit congestion notification: RFC 3168.

use crate::net::{Dir, Fate, Net, Sent, params};
use sojourn_tcp::cc::Algorithm::{Cubic, Reno};
use sojourn_tcp::{Flags, TcpParams};

fn ecn(algorithm: sojourn_tcp::cc::Algorithm) -> TcpParams {
    TcpParams {
        ecn: true,
        ..params(algorithm)
    }
}

/// The thresholds that the sender went through.
fn thresholds(net: &Net) -> Vec<u32> {
    let mut v: Vec<u32> = net.samples.iter().filter_map(|s| s.ssthresh).collect();
    v.dedup();
    v
}

/// Section 6.1.3: every acknowledgement echoes until a segment with CWR arrives; section 6.1.2: that is the first new
/// segment after the reduction, and the window falls as for one loss.
#[test]
fn a_mark_is_echoed_until_cwr_and_reduces_the_window_once() {
    for (algorithm, beta) in [(Cubic, 0.7), (Reno, 0.5)] {
        let net = Net::transfer(&ecn(algorithm), 300, |s| {
            if s.is(60, 0) { Fate::Mark } else { Fate::Deliver }
        });
        assert_eq!(net.client.sender().stats().retransmissions, 0);
        let echoes: Vec<&Sent> = net
            .log
            .iter()
            .filter(|s| s.dir == Dir::Ack && s.segment.flags.has(Flags::ECE))
            .collect();
        let cwr: Vec<&Sent> = net.log.iter().filter(|s| s.segment.flags.has(Flags::CWR)).collect();
        assert_eq!(cwr.len(), 1, "one reduction is announced once");
        let announced = cwr[0].data.expect("with new data");
        assert!(echoes.first().is_some_and(|s| s.segment.ack > 60 * 1448));
        assert!(echoes.last().is_some_and(|s| s.segment.ack <= 1 + announced * 1448));
        // From the mark to the announcement, without a pause.
        let all = net.log.iter().filter(|s| s.dir == Dir::Ack && s.at >= echoes[0].at);
        assert!(all.take(echoes.len()).all(|s| s.segment.flags.has(Flags::ECE)));
        assert!(echoes.len() > 10, "{}", echoes.len());
        let before = net
            .samples
            .iter()
            .take_while(|s| s.ssthresh.is_none())
            .last()
            .expect("slow start");
        let after = thresholds(&net);
        assert_eq!(after.len(), 1);
        assert!(
            (f64::from(after[0]) - beta * f64::from(before.cwnd)).abs() < 1.0,
            "{before:?} {after:?}"
        );
    }
}

/// Section 6.1.2: at most one reduction a round trip.
#[test]
fn marks_within_one_round_trip_reduce_the_window_once() {
    let mark = |s: &Sent| {
        if s.data.is_some_and(|k| (60..80).contains(&k)) {
            Fate::Mark
        } else {
            Fate::Deliver
        }
    };
    assert_eq!(thresholds(&Net::transfer(&ecn(Cubic), 300, mark)).len(), 1);
    let later = move |s: &Sent| if s.is(300, 0) { Fate::Mark } else { mark(s) };
    assert_eq!(thresholds(&Net::transfer(&ecn(Cubic), 500, later)).len(), 2);
}

/// Section 6.1.5: a retransmission is not ECN-capable; section 6.1.4: nor is a bare acknowledgement.
#[test]
fn only_new_data_is_ecn_capable() {
    let net = Net::transfer(
        &ecn(Cubic),
        200,
        |s| if s.is(60, 0) { Fate::Drop } else { Fate::Deliver },
    );
    assert_eq!(net.sendings(60).len(), 2);
    for s in &net.log {
        assert_eq!(
            s.segment.flags.has(Flags::ECT0),
            s.data.is_some() && s.attempt == 0,
            "{s:?}"
        );
    }
    let plain = Net::transfer(&params(Cubic), 20, |_| Fate::Deliver);
    assert!(plain.log.iter().all(|s| !s.segment.flags.has(Flags::ECT0)));
}
