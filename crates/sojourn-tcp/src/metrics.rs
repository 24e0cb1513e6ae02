//! What a host remembers of a destination from one connection to the next.

use crate::cc::Threshold;
use crate::machine::{CaState, LossRecovery, Machine};
use crate::sender::{AnyMachine, Sender};
use sojourn_units::Duration;

/// Segments that may be reordered before that is worth remembering. Source: `tcp_reordering`.
const REORDERING: u32 = 3;

/// What connections to a destination have left behind for the next.
///
/// Source: `tcp_update_metrics` and `tcp_init_metrics` of Linux 3.14 and 6.1, with `net.ipv4.tcp_no_metrics_save` 0
/// and, in 6.1, with `net.ipv4.tcp_no_ssthresh_metrics_save` 0 too: 6.1's default there is 1, and 3.14, which has no
/// such switch, saves the threshold.
///
/// Deviation: the congestion window and the variance of the RTT are not remembered. Linux saves both and reads
/// neither, unless the route locks the window. Nothing is forgotten: Linux does after an hour.
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
    /// The RTT rises at once and falls by an eighth of the difference. The threshold is that of the connection, or
    /// half of its window if that is more, if the connection ended in congestion avoidance and nothing was amiss.
    /// If not, a threshold that is known already may rise (to half of the window in a first slow start, else to
    /// the connection's threshold), and never falls.
    pub fn learn(&mut self, sender: &Sender) {
        match &sender.0 {
            AnyMachine::Rack(machine) => self.learn_of(machine),
            AnyMachine::Fack(machine) => self.learn_of(machine),
        }
    }

    fn learn_of<R: LossRecovery>(&mut self, sender: &Machine<R>) {
        let Some(srtt) = sender.rtt.srtt().filter(|_| sender.timers.backoff == 0) else {
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
        let Threshold::Segments(ssthresh) = window.ssthresh else {
            self.ssthresh = self.ssthresh.map(raise(window.cwnd / 2));
            return;
        };
        let avoiding = window.cwnd > ssthresh || R::AVOIDS_AT_THRESHOLD && window.cwnd == ssthresh;
        let episode = &sender.episode;
        if avoiding && episode.state == CaState::Open {
            self.ssthresh = Some(ssthresh.max(window.cwnd / 2));
            return;
        }
        self.ssthresh = self.ssthresh.map(raise(ssthresh));
        if episode.reordering != REORDERING {
            self.reordering = Some(self.reordering.unwrap_or(0).max(episode.reordering));
        }
    }

    /// A connection begins to a destination of which something is known.
    ///
    /// The RTT only stands in for the handshake's, and only if it is longer, in the time-out until the first data is
    /// acknowledged.
    pub(crate) fn recall(&self, sender: &mut Sender) {
        match &mut sender.0 {
            AnyMachine::Rack(machine) => self.recall_to(machine),
            AnyMachine::Fack(machine) => self.recall_to(machine),
        }
    }

    fn recall_to<R: LossRecovery>(&self, sender: &mut Machine<R>) {
        if let Some(ssthresh) = self.ssthresh {
            sender.window.ssthresh = Threshold::Segments(ssthresh);
        }
        if let Some(reordering) = self.reordering
            && reordering != sender.episode.reordering
        {
            sender.episode.reordering = reordering;
            sender.recovery.on_remembered_reordering();
        }
        if let Some(rtt) = self.rtt {
            sender.rtt.expect(rtt);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fack::Fack;
    use crate::params::TcpParams;
    use crate::rack::Rack;
    use sojourn_units::Time;

    const RTT: Duration = Duration::from_millis(300);

    fn sender<R: LossRecovery>(cwnd: u32, ssthresh: Option<u32>) -> Machine<R> {
        let mut sender = Machine::new(&TcpParams::default());
        sender.established(RTT, 1 << 20, Time::ZERO);
        sender.window.cwnd = cwnd;
        sender.window.ssthresh = ssthresh.map_or(Threshold::Unbounded, Threshold::Segments);
        sender
    }

    fn learnt<R: LossRecovery>(known: Option<u32>, sender: &Machine<R>) -> Option<u32> {
        let mut metrics = Metrics {
            ssthresh: known,
            ..Metrics::default()
        };
        metrics.learn_of(sender);
        metrics.ssthresh()
    }

    #[test]
    fn a_connection_that_ends_in_congestion_avoidance_leaves_its_threshold_or_half_its_window() {
        let avoiding = |cwnd, ssthresh| sender::<Fack>(cwnd, Some(ssthresh));
        assert_eq!(learnt(None, &avoiding(30, 20)), Some(20));
        assert_eq!(learnt(None, &avoiding(50, 20)), Some(25));
        assert_eq!(learnt(Some(40), &avoiding(30, 20)), Some(20), "it may fall");
    }

    #[test]
    fn a_connection_that_never_left_slow_start_leaves_no_threshold_and_may_raise_one() {
        let starting = sender::<Fack>(50, None);
        assert_eq!(learnt(None, &starting), None);
        assert_eq!(learnt(Some(20), &starting), Some(25));
        assert_eq!(learnt(Some(30), &starting), Some(30));
    }

    #[test]
    fn below_the_threshold_or_in_recovery_a_threshold_only_rises() {
        let below = sender::<Fack>(10, Some(20));
        assert_eq!(learnt(None, &below), None);
        assert_eq!(learnt(Some(15), &below), Some(20));
        assert_eq!(learnt(Some(25), &below), Some(25));
        let mut recovering = sender::<Fack>(30, Some(20));
        recovering.episode.state = CaState::Recovery;
        assert_eq!(learnt(Some(25), &recovering), Some(25));
    }

    #[test]
    fn at_the_threshold_the_old_kernel_still_is_in_slow_start() {
        assert_eq!(learnt(None, &sender::<Fack>(20, Some(20))), None);
        assert_eq!(learnt(None, &sender::<Rack>(20, Some(20))), Some(20));
    }

    #[test]
    fn the_rtt_rises_at_once_and_falls_by_an_eighth() {
        let mut metrics = Metrics::default();
        metrics.learn_of(&sender::<Fack>(10, Some(20)));
        assert_eq!(metrics.rtt, Some(RTT));
        metrics.rtt = Some(Duration::from_millis(700));
        metrics.learn_of(&sender::<Fack>(10, Some(20)));
        assert_eq!(metrics.rtt, Some(Duration::from_millis(650)));
        let mut timed_out = sender::<Fack>(10, Some(20));
        timed_out.timers.backoff = 1;
        metrics.learn_of(&timed_out);
        assert_eq!(metrics.rtt, None, "a connection that could not measure");
    }

    #[test]
    fn the_next_connection_begins_with_the_threshold_and_waits_three_of_the_longer_rtt() {
        let mut metrics = Metrics {
            ssthresh: Some(17),
            ..Metrics::default()
        };
        metrics.rtt = Some(Duration::from_millis(400));
        let mut next = sender::<Fack>(3, None);
        let before = next.rtt.rto();
        metrics.recall_to(&mut next);
        assert_eq!((next.window.cwnd, next.window.ssthresh), (3, Threshold::Segments(17)));
        assert_eq!((before, next.rtt.rto()), (RTT * 3, Duration::from_millis(1200)));
        metrics.rtt = Some(Duration::from_millis(200));
        metrics.recall_to(&mut next);
        assert_eq!(
            next.rtt.rto(),
            Duration::from_millis(1200),
            "the shorter one does not count"
        );
    }

    #[test]
    fn reordering_is_remembered_by_connections_that_did_not_end_well() {
        let mut metrics = Metrics::default();
        let mut reordered = sender::<Fack>(10, Some(20));
        reordered.episode.reordering = 8;
        metrics.learn_of(&reordered);
        let mut next = sender::<Fack>(3, None);
        metrics.recall_to(&mut next);
        assert_eq!(next.episode.reordering, 8);
        reordered.window.cwnd = 30;
        let mut well = Metrics::default();
        well.learn_of(&reordered);
        assert_eq!(well.reordering, None);
    }
}
