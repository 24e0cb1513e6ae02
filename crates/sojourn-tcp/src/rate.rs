//! How fast data is delivered: samples for the congestion controls that want them.

use crate::cc::RateSample;
use crate::scoreboard::Sent;
use sojourn_units::{Duration, Time};
use std::collections::VecDeque;

/// The connection when a segment was sent, last.
#[derive(Clone, Copy, Debug)]
struct Snapshot {
    seq: u64,
    /// When what had been delivered last was sent (P.first_sent_time), and delivered (P.delivered_time).
    first_sent: Time,
    delivered_at: Time,
    /// Segments delivered until then, and those of them that came with an ECN echo.
    delivered: u64,
    delivered_ce: u32,
    /// Segments in flight, with this one, and ever judged lost.
    flight: Flight,
    app_limited: bool,
}

/// What the scoreboard counts when a segment is sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Flight {
    /// Segments in flight.
    pub(crate) segments: u32,
    /// Segments ever judged lost, modulo 2^32.
    pub(crate) lost: u32,
}

/// A segment that was delivered.
#[derive(Clone, Copy, Debug)]
struct Delivered {
    snapshot: Snapshot,
    sent_at: Time,
    /// It had been sent again.
    retransmitted: bool,
}

/// The state of one sender, made only for a control that wants samples: a snapshot takes 48 bytes a segment.
///
/// Source: draft-cheng-iccrg-delivery-rate-estimation-02 section 3, and Linux 6.1 `tcp_rate.c`, which counts segments
/// too.
#[derive(Clone, Debug, Default)]
pub(crate) struct RateSampler {
    /// Of each outstanding segment, in the order of sequence.
    sent: VecDeque<Snapshot>,
    delivered: u64,
    delivered_ce: u32,
    delivered_at: Time,
    first_sent: Time,
    /// What is sent until this many segments are delivered follows a pause of the application.
    app_limited: Option<u64>,
    /// The newest segment that the acknowledgement at hand delivers.
    newest: Option<Delivered>,
    resent_app_limited: bool,
}

impl RateSampler {
    fn snapshot(&self, seq: u64, flight: Flight) -> Snapshot {
        Snapshot {
            seq,
            first_sent: self.first_sent,
            delivered_at: self.delivered_at,
            delivered: self.delivered,
            delivered_ce: self.delivered_ce,
            flight,
            app_limited: self.app_limited.is_some(),
        }
    }

    fn at(&mut self, seq: u64) -> Option<&mut Snapshot> {
        let i = self.sent.partition_point(|s| s.seq < seq);
        self.sent.get_mut(i).filter(|s| s.seq == seq)
    }

    /// A segment is sent for the first time; `flight` counts it.
    #[inline]
    pub(crate) fn on_sent(&mut self, seq: u64, flight: Flight, now: Time) {
        if self.sent.is_empty() {
            // Nothing is in flight: a new phase of sending begins.
            self.first_sent = now;
            self.delivered_at = now;
        }
        let snapshot = self.snapshot(seq, flight);
        self.sent.push_back(snapshot);
    }

    /// A segment is sent again.
    pub(crate) fn on_resent(&mut self, seq: u64, flight: Flight) {
        let snapshot = self.snapshot(seq, flight);
        if let Some(s) = self.at(seq) {
            let before = std::mem::replace(s, snapshot);
            self.resent_app_limited = before.app_limited;
        }
    }

    /// Whether the application limited the rate when what was sent again last had been sent before.
    pub(crate) fn resent_app_limited(&self) -> bool {
        self.resent_app_limited
    }

    /// What was in flight when the segment was sent last, and whether the application limited the rate.
    pub(crate) fn at_sending(&mut self, seq: u64) -> Option<(Flight, bool)> {
        self.at(seq).map(|s| (s.flight, s.app_limited))
    }

    /// A segment is newly delivered by SACK.
    pub(crate) fn on_sacked(&mut self, sent: &Sent) {
        if let Some(&mut snapshot) = self.at(sent.seq) {
            self.take(snapshot, sent);
        }
    }

    /// A segment that was not SACKed is acknowledged, and all before it are.
    #[inline]
    pub(crate) fn on_acked(&mut self, sent: &Sent) {
        while let Some(snapshot) = self.sent.pop_front() {
            if snapshot.seq == sent.seq {
                self.take(snapshot, sent);
                return;
            }
        }
    }

    /// A segment is newly delivered (UpdateRateSample).
    #[inline]
    fn take(&mut self, snapshot: Snapshot, sent: &Sent) {
        if self
            .newest
            .is_none_or(|newest| (sent.sent_at, sent.seq) > (newest.sent_at, newest.snapshot.seq))
        {
            self.first_sent = sent.sent_at;
            self.newest = Some(Delivered {
                snapshot,
                sent_at: sent.sent_at,
                retransmitted: sent.retransmitted(),
            });
        }
    }

    /// Everything before `una` is acknowledged.
    #[inline]
    pub(crate) fn on_acknowledged(&mut self, una: u64) {
        while self.sent.front().is_some_and(|s| s.seq < una) {
            self.sent.pop_front();
        }
    }

    /// When something was delivered last, or when a phase of sending began after that.
    pub(crate) fn delivered_at(&self) -> Time {
        self.delivered_at
    }

    /// Segments delivered since the connection began.
    pub(crate) fn delivered(&self) -> u64 {
        self.delivered
    }

    /// Whether what is sent now follows a pause of the application.
    pub(crate) fn is_application_limited(&self) -> bool {
        self.app_limited.is_some()
    }

    /// The application has no more to send than what was sent, though the window has room (OnApplicationLimited).
    pub(crate) fn on_application_limited(&mut self, in_flight: u32) {
        self.app_limited = Some((self.delivered + u64::from(in_flight)).max(1));
    }

    /// The sample of the acknowledgement at hand, which newly delivers so many segments (GenerateRateSample).
    pub(crate) fn sample(&mut self, counts: RateSample, now: Time, min_rtt: Option<Duration>) -> RateSample {
        self.delivered += u64::from(counts.newly_delivered);
        self.delivered_ce += counts.marked.packets;
        if self.app_limited.is_some_and(|until| self.delivered > until) {
            self.app_limited = None;
        }
        if counts.newly_delivered > 0 {
            self.delivered_at = now;
        }
        let mut sample = RateSample {
            delivered_in_all: self.delivered,
            ..counts
        };
        if let Some(newest) = self.newest.take() {
            let then = newest.snapshot;
            // The longer of both phases, so that neither compressed acknowledgements nor bursts look like a fast path.
            let sending = newest.sent_at.since(then.first_sent);
            let acknowledging = now.since(then.delivered_at);
            let interval = sending.max(acknowledging);
            sample.prior_delivered = then.delivered;
            sample.delivered = self.delivered - then.delivered;
            sample.delivered_ce = u64::from(self.delivered_ce - then.delivered_ce);
            sample.app_limited = then.app_limited;
            sample.tx_in_flight = then.flight.segments;
            sample.lost = (counts.sender.lost_in_all as u32).wrapping_sub(then.flight.lost);
            sample.retransmitted = newest.retransmitted;
            // Shorter than any round trip: a retransmission whose original was delivered. Not to be relied on.
            sample.interval = Some(interval).filter(|&i| min_rtt.is_none_or(|least| i >= least));
        }
        sample
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::cc::Marked;
    use crate::scoreboard::Scoreboard;

    fn at(ms: u64) -> Time {
        Time::from_millis(ms)
    }

    /// A sampler and what is out, in pieces of 100 bytes from 1 on.
    struct Path {
        sampler: RateSampler,
        board: Scoreboard,
        nxt: u64,
        ece: bool,
    }

    impl Path {
        fn new() -> Self {
            Self {
                sampler: RateSampler::default(),
                board: Scoreboard::new(100),
                nxt: 0,
                ece: false,
            }
        }

        fn send(&mut self, now: Time) {
            self.sampler.on_sent(1 + 100 * self.nxt, Flight::default(), now);
            self.board.push(1 + 100 * self.nxt, 100, now);
            self.nxt += 1;
        }

        /// Acknowledges the segments before number `k`.
        fn acknowledge(&mut self, k: u64, now: Time) -> RateSample {
            let mut n = 0;
            let sampler = &mut self.sampler;
            self.board.acknowledge(1 + 100 * k, |s| {
                if !s.sacked() {
                    n += 1;
                    sampler.on_acked(s);
                }
            });
            self.sampler.on_acknowledged(1 + 100 * k);
            self.sample(n, now)
        }

        fn sack(&mut self, from: u64, to: u64, now: Time) -> RateSample {
            let mut n = 0;
            let sampler = &mut self.sampler;
            self.board.sack(1 + 100 * from, 1 + 100 * to, |s| {
                n += 1;
                sampler.on_sacked(s);
            });
            self.sample(n, now)
        }

        fn sample(&mut self, newly_delivered: u32, now: Time) -> RateSample {
            let counts = RateSample {
                newly_delivered,
                ece: self.ece,
                marked: Marked {
                    packets: if self.ece { newly_delivered } else { 0 },
                    bytes: 0,
                },
                ..RateSample::default()
            };
            self.sampler.sample(counts, now, Some(Duration::from_millis(50)))
        }
    }

    fn facts(s: &RateSample) -> (u64, u64, Option<u64>) {
        (s.prior_delivered, s.delivered, s.interval.map(Duration::as_millis))
    }

    /// Worked by hand from the draft's pseudo-code: four segments sent at 0, 10, 20 and 30 ms over a path of 100 ms.
    #[test]
    fn a_steady_flow_is_measured_over_the_longer_phase() {
        let mut p = Path::new();
        for ms in [0, 10, 20, 30] {
            p.send(at(ms));
        }
        // Segment 0: P.delivered 0, P.delivered_time 0, P.first_sent_time 0; send_elapsed 0, ack_elapsed 100.
        assert_eq!(facts(&p.acknowledge(1, at(100))), (0, 1, Some(100)));
        // Sent now: P.delivered 1, P.delivered_time 100, P.first_sent_time 0 (when segment 0 was sent).
        p.send(at(100));
        // Segment 1 was sent before anything was delivered: send_elapsed 10 - 0, ack_elapsed 110 - 0, delivered 2 - 0.
        assert_eq!(facts(&p.acknowledge(2, at(110))), (0, 2, Some(110)));
        assert_eq!(facts(&p.acknowledge(4, at(130))), (0, 4, Some(130)));
        // Segment 4: send_elapsed 100 - 0, ack_elapsed 180 - 100, delivered 5 - 1.
        assert_eq!(facts(&p.acknowledge(5, at(180))), (1, 4, Some(100)));
    }

    /// Acknowledgements that come all at once do not make the rate larger than that of sending.
    #[test]
    fn compressed_acknowledgements_do_not_raise_the_rate() {
        let mut p = Path::new();
        for k in 0..15 {
            p.send(at(10 * k));
        }
        p.acknowledge(1, at(150));
        p.send(at(150));
        // The last one: send_elapsed 150 - 0, for segment 0 was what had been delivered last; ack_elapsed 200 - 150.
        assert_eq!(facts(&p.acknowledge(16, at(200))), (1, 15, Some(150)));
    }

    #[test]
    fn a_segment_counts_once_and_the_newest_tells() {
        let mut p = Path::new();
        for ms in [0, 10, 20, 30] {
            p.send(at(ms));
        }
        // Segments 2 and 3 are SACKed together: the newest is 3, sent 30 ms after the first.
        assert_eq!(facts(&p.sack(2, 4, at(130))), (0, 2, Some(130)));
        // Nothing new: no sample.
        let none = p.sack(2, 4, at(131));
        assert_eq!((none.interval, none.delivered, none.delivered_in_all), (None, 0, 2));
        // The rest is filled by retransmissions at 130: their snapshot is of then: 2 delivered at 130, first_sent 30.
        p.sampler.on_resent(1, Flight::default());
        p.board.mark_first_lost(1);
        p.board.resend(0, at(130), true);
        let s = p.acknowledge(4, at(230));
        assert_eq!((facts(&s), s.retransmitted), ((2, 2, Some(100)), true));
    }

    #[test]
    fn an_interval_below_the_least_round_trip_is_no_sample() {
        let mut p = Path::new();
        p.send(at(0));
        p.sampler.on_resent(1, Flight::default());
        // The snapshot of the retransmission still has the first phase: delivered_time 0. A second one does not.
        assert_eq!(facts(&p.acknowledge(1, at(110))), (0, 1, Some(110)));
        p.send(at(110));
        assert_eq!(facts(&p.acknowledge(2, at(120))), (1, 1, None));
    }

    #[test]
    fn samples_are_application_limited_until_the_bubble_is_delivered() {
        let mut p = Path::new();
        p.send(at(0));
        p.send(at(0));
        p.sampler.on_application_limited(2);
        p.send(at(50));
        assert!(!p.acknowledge(2, at(100)).app_limited, "sent before the pause");
        // C.app_limited is 0 + 2; 2 delivered is not beyond it.
        p.send(at(100));
        assert!(p.acknowledge(3, at(150)).app_limited);
        p.send(at(150));
        assert!(p.acknowledge(4, at(200)).app_limited, "sent before the bubble was gone");
        assert!(!p.acknowledge(5, at(250)).app_limited);
    }

    #[test]
    fn what_comes_with_an_echo_is_counted_over_the_same_interval() {
        let mut p = Path::new();
        for _ in 0..4 {
            p.send(at(0));
        }
        p.ece = true;
        p.acknowledge(1, at(100));
        p.send(at(100));
        p.ece = false;
        p.acknowledge(2, at(101));
        p.ece = true;
        assert_eq!(p.acknowledge(3, at(102)).delivered_ce, 2);
        p.ece = false;
        p.acknowledge(4, at(103));
        let s = p.acknowledge(5, at(200));
        assert_eq!((s.delivered, s.delivered_ce), (4, 1));
    }
}
