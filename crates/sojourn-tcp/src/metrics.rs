//! What a host remembers of a destination from one connection to the next.

use crate::params::Variant;
use crate::sender::{CaState, Sender};
use sojourn_units::Duration;

/// Segments that may be reordered before that is worth remembering. Source: `tcp_reordering`.
const REORDERING: u32 = 3;

/// What connections to a destination have left behind for the next.
///
/// Source: `tcp_update_metrics` and `tcp_init_metrics` of Linux 3.14 and 6.1, with `net.ipv4.tcp_no_metrics_save` 0 and, in 6.1, with
/// `net.ipv4.tcp_no_ssthresh_metrics_save` 0 too: 6.1's default there is 1, and 3.14, which has no such switch, saves the threshold.
///
/// Deviation: the congestion window and the variance of the RTT are not remembered. Linux saves both and reads neither, unless the
/// route locks the window. Nothing is forgotten: Linux does after an hour.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metrics {
    /// Slow-start threshold, segments.
    ssthresh: Option<u32>,
    /// Smoothed RTT.
    rtt: Option<Duration>,
    /// Segments.
    reordering: Option<u32>,
}

impl Metrics {
    /// The slow-start threshold that the next connection begins with, segments; `None` for none.
    #[must_use]
    pub fn ssthresh(&self) -> Option<u32> {
        self.ssthresh
    }

    /// Takes what the sending half of a connection that has ended knew.
    ///
    /// The RTT rises at once and falls by an eighth of the difference. The threshold is that of the connection, or half of its
    /// window if that is more, if the connection ended in congestion avoidance and nothing was amiss. If not, a threshold that is
    /// known already may rise (to half of the window in a first slow start, else to the connection's threshold), and never falls.
    pub fn learn(&mut self, sender: &Sender) {
        let Some(srtt) = sender.rtt.srtt().filter(|_| sender.backoff == 0) else {
            // The connection could not measure: what was known of the RTT is no longer believed.
            self.rtt = None;
            return;
        };
        self.rtt = Some(match self.rtt {
            Some(rtt) if rtt > srtt => rtt.saturating_sub(rtt.saturating_sub(srtt) / 8),
            _ => srtt,
        });
        let window = sender.window;
        let raise = |to: u32| move |known: u32| known.max(to);
        if window.ssthresh == u32::MAX {
            self.ssthresh = self.ssthresh.map(raise(window.cwnd / 2));
            return;
        }
        let avoiding = match sender.variant() {
            // At the threshold Linux 3.14 still is in slow start.
            Variant::Linux314 => window.cwnd > window.ssthresh,
            Variant::Linux61 | Variant::Linux612 => window.cwnd >= window.ssthresh,
        };
        if avoiding && sender.state == CaState::Open {
            self.ssthresh = Some(window.ssthresh.max(window.cwnd / 2));
            return;
        }
        self.ssthresh = self.ssthresh.map(raise(window.ssthresh));
        if sender.reordering != REORDERING {
            self.reordering = Some(self.reordering.unwrap_or(0).max(sender.reordering));
        }
    }
}

impl Sender {
    /// A connection begins to a destination of which something is known.
    ///
    /// The RTT only stands in for the handshake's, and only if it is longer, in the time-out until the first data is acknowledged.
    pub(crate) fn recall(&mut self, metrics: &Metrics) {
        if let Some(ssthresh) = metrics.ssthresh {
            self.window.ssthresh = ssthresh;
        }
        if let Some(reordering) = metrics.reordering
            && reordering != self.reordering
        {
            self.reordering = reordering;
            if let Some(fack) = &mut self.fack {
                fack.saw_reordering();
            }
        }
        if let Some(rtt) = metrics.rtt {
            self.rtt.expect(rtt);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::TcpParams;
    use sojourn_units::Time;

    const RTT: Duration = Duration::from_millis(300);

    fn sender(variant: Variant, cwnd: u32, ssthresh: u32) -> Sender {
        let mut sender = Sender::new(&TcpParams {
            variant,
            ..TcpParams::default()
        });
        sender.established(Some(RTT), 1 << 20, Time::ZERO);
        sender.window.cwnd = cwnd;
        sender.window.ssthresh = ssthresh;
        sender
    }

    fn learnt(known: Option<u32>, sender: &Sender) -> Option<u32> {
        let mut metrics = Metrics {
            ssthresh: known,
            ..Metrics::default()
        };
        metrics.learn(sender);
        metrics.ssthresh()
    }

    #[test]
    fn a_connection_that_ends_in_congestion_avoidance_leaves_its_threshold_or_half_its_window() {
        let avoiding = |cwnd, ssthresh| sender(Variant::Linux314, cwnd, ssthresh);
        assert_eq!(learnt(None, &avoiding(30, 20)), Some(20));
        assert_eq!(learnt(None, &avoiding(50, 20)), Some(25));
        assert_eq!(learnt(Some(40), &avoiding(30, 20)), Some(20), "it may fall");
    }

    #[test]
    fn a_connection_that_never_left_slow_start_leaves_no_threshold_and_may_raise_one() {
        let starting = sender(Variant::Linux314, 50, u32::MAX);
        assert_eq!(learnt(None, &starting), None);
        assert_eq!(learnt(Some(20), &starting), Some(25));
        assert_eq!(learnt(Some(30), &starting), Some(30));
    }

    #[test]
    fn below_the_threshold_or_in_recovery_a_threshold_only_rises() {
        let below = sender(Variant::Linux314, 10, 20);
        assert_eq!(learnt(None, &below), None);
        assert_eq!(learnt(Some(15), &below), Some(20));
        assert_eq!(learnt(Some(25), &below), Some(25));
        let mut recovering = sender(Variant::Linux314, 30, 20);
        recovering.state = CaState::Recovery;
        assert_eq!(learnt(Some(25), &recovering), Some(25));
    }

    #[test]
    fn at_the_threshold_the_old_kernel_still_is_in_slow_start() {
        assert_eq!(learnt(None, &sender(Variant::Linux314, 20, 20)), None);
        assert_eq!(learnt(None, &sender(Variant::Linux61, 20, 20)), Some(20));
    }

    #[test]
    fn the_rtt_rises_at_once_and_falls_by_an_eighth() {
        let mut metrics = Metrics::default();
        metrics.learn(&sender(Variant::Linux314, 10, 20));
        assert_eq!(metrics.rtt, Some(RTT));
        metrics.rtt = Some(Duration::from_millis(700));
        metrics.learn(&sender(Variant::Linux314, 10, 20));
        assert_eq!(metrics.rtt, Some(Duration::from_millis(650)));
        let mut timed_out = sender(Variant::Linux314, 10, 20);
        timed_out.backoff = 1;
        metrics.learn(&timed_out);
        assert_eq!(metrics.rtt, None, "a connection that could not measure");
    }

    #[test]
    fn the_next_connection_begins_with_the_threshold_and_waits_three_of_the_longer_rtt() {
        let mut metrics = Metrics {
            ssthresh: Some(17),
            ..Metrics::default()
        };
        metrics.rtt = Some(Duration::from_millis(400));
        let mut next = sender(Variant::Linux314, 3, u32::MAX);
        let before = next.rto();
        next.recall(&metrics);
        assert_eq!((next.cwnd(), next.ssthresh()), (3, Some(17)));
        assert_eq!((before, next.rto()), (RTT * 3, Duration::from_millis(1200)));
        metrics.rtt = Some(Duration::from_millis(200));
        next.recall(&metrics);
        assert_eq!(
            next.rto(),
            Duration::from_millis(1200),
            "the shorter one does not count"
        );
    }

    #[test]
    fn reordering_is_remembered_by_connections_that_did_not_end_well() {
        let mut metrics = Metrics::default();
        let mut reordered = sender(Variant::Linux314, 10, 20);
        reordered.reordering = 8;
        metrics.learn(&reordered);
        let mut next = sender(Variant::Linux314, 3, u32::MAX);
        next.recall(&metrics);
        assert_eq!(next.reordering, 8);
        reordered.window.cwnd = 30;
        let mut well = Metrics::default();
        well.learn(&reordered);
        assert_eq!(well.reordering, None);
    }
}
