//! Round-trip time: the smoothed estimate with its time-out, and the windowed minimum.

use sojourn_units::{Duration, Time, ticks};

/// Largest time-out, if nothing smaller is set. Source: Linux `TCP_RTO_MAX`.
pub(crate) const RTO_MAX: Duration = Duration::from_secs(120);
/// Time-out before any measurement. Source: RFC 6298 section 2 (2.1).
pub(crate) const RTO_INITIAL: Duration = Duration::from_secs(1);

#[expect(clippy::cast_possible_wrap, reason = "an i64 holds 292 years of nanoseconds")]
fn nanos(d: Duration) -> i64 {
    d.as_nanos() as i64
}

/// Smoothed RTT and retransmission time-out.
///
/// Source: RFC 6298 section 2, with Linux's variance: the deviation that counts is the largest within the last round
/// trip, it rises at once and decays by a quarter a round, a falling RTT adds only 1/8 of the usual weight, and the
/// term `4 * RTTVAR` is at least `min_rto` (so the time-out is at least SRTT + 200 ms, not 200 ms).
#[derive(Clone, Debug)]
pub(crate) struct RttEstimator {
    /// SRTT in ns; `None` before the first sample.
    srtt: Option<i64>,
    /// Four times the smoothed mean deviation, ns.
    deviation: i64,
    /// Largest `deviation` in this round, at least `min_rto`.
    deviation_max: i64,
    /// The variance term in force, ns.
    variance: i64,
    /// Sequence number that ends this round.
    round_end: u64,
    min_rto: i64,
    max_rto: Duration,
    rto: Duration,
    /// The same, rounded up to ticks.
    rto_in_ticks: Duration,
}

impl RttEstimator {
    pub(crate) fn new(min_rto: Duration, max_rto: Duration) -> Self {
        Self {
            srtt: None,
            deviation: 0,
            deviation_max: 0,
            variance: 0,
            round_end: 0,
            min_rto: nanos(min_rto),
            max_rto,
            rto: RTO_INITIAL,
            rto_in_ticks: RTO_INITIAL,
        }
    }

    fn set_rto(&mut self, rto: Duration) {
        self.rto = rto.min(self.max_rto);
        self.rto_in_ticks = ticks::up(self.rto).as_duration();
    }

    /// Takes a sample. `una` and `nxt` are the sender's first unacknowledged and next byte: they delimit rounds.
    pub(crate) fn sample(&mut self, rtt: Duration, una: u64, nxt: u64) {
        let m = nanos(rtt).max(1);
        if let Some(srtt) = &mut self.srtt {
            let err = m - *srtt;
            *srtt += err / 8;
            // `deviation` is 4 x RTTVAR: RTTVAR' = 3/4 RTTVAR + 1/4 |err| makes it deviation - deviation/4 + |err|.
            let mut delta = err.abs() - self.deviation / 4;
            if err < 0 && delta > 0 {
                delta /= 8;
            }
            self.deviation += delta;
            if self.deviation > self.deviation_max {
                self.deviation_max = self.deviation;
                self.variance = self.variance.max(self.deviation_max);
            }
            if una > self.round_end {
                if self.deviation_max < self.variance {
                    self.variance -= (self.variance - self.deviation_max) / 4;
                }
                self.round_end = nxt;
                self.deviation_max = self.min_rto;
            }
        } else {
            self.srtt = Some(m);
            self.deviation = 2 * m;
            self.variance = self.deviation.max(self.min_rto);
            self.deviation_max = self.variance;
            self.round_end = nxt;
        }
        let srtt = self.srtt.unwrap_or(m);
        self.set_rto(Duration::from_nanos((srtt + self.variance) as u64));
    }

    /// An earlier connection saw `rtt`: if that is more than the handshake took, the time-out follows it until the
    /// next sample.
    ///
    /// Source: Linux `tcp_init_metrics`.
    pub(crate) fn expect(&mut self, rtt: Duration) {
        let rtt = nanos(rtt);
        if self.srtt.is_none_or(|srtt| rtt > srtt) {
            self.set_rto(Duration::from_nanos((rtt + (2 * rtt).max(self.min_rto)) as u64));
        }
    }

    /// From now on no time-out is longer than `most`.
    pub(crate) fn set_max_rto(&mut self, most: Duration) {
        self.max_rto = most;
        self.set_rto(self.rto);
    }

    /// The largest time-out.
    pub(crate) fn max_rto(&self) -> Duration {
        self.max_rto
    }

    /// The time-out, without backoff.
    pub(crate) fn rto(&self) -> Duration {
        self.rto
    }

    /// The same, rounded up to ticks. Source: Linux `tcp_set_rto`.
    pub(crate) fn rto_in_ticks(&self) -> Duration {
        self.rto_in_ticks
    }

    pub(crate) fn srtt(&self) -> Option<Duration> {
        self.srtt.map(|ns| Duration::from_nanos(ns as u64))
    }
}

/// The smallest RTT of the last 300 s, kept as the best three samples of staggered ages.
///
/// Source: Linux `tcp_min_rtt` (window `tcp_min_rtt_wlen`); the method is Kathleen Nichols' windowed filter.
#[derive(Clone, Debug, Default)]
pub(crate) struct MinRtt(Option<[(Time, Duration); 3]>);

impl MinRtt {
    const WINDOW: Duration = Duration::from_secs(300);

    pub(crate) fn get(&self) -> Option<Duration> {
        self.0.map(|[best, ..]| best.1)
    }

    pub(crate) fn sample(&mut self, rtt: Duration, now: Time) {
        let new = (now, rtt);
        let Some(best) = &mut self.0 else {
            self.0 = Some([new; 3]);
            return;
        };
        let [a, b, c] = *best;
        if rtt <= a.1 || now.since(c.0) > Self::WINDOW {
            *best = [new; 3];
            return;
        }
        if rtt <= b.1 {
            *best = [a, new, new];
        } else if rtt <= c.1 {
            best[2] = new;
        }
        if now.since(a.0) > Self::WINDOW {
            *best = [best[1], best[2], new];
        } else if b.0 == a.0 && now.since(b.0) > Self::WINDOW / 4 {
            *best = [a, new, new];
        } else if c.0 == b.0 && now.since(c.0) > Self::WINDOW / 2 {
            best[2] = new;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn first_sample_sets_rto_by_rfc_6298() {
        // RFC 6298 (2.2): SRTT = R, RTTVAR = R/2, RTO = SRTT + 4 RTTVAR = 3 R.
        let mut e = RttEstimator::new(Duration::from_millis(200), RTO_MAX);
        assert_eq!(e.rto(), Duration::from_secs(1));
        e.sample(Duration::from_millis(150), 0, 1);
        assert_eq!(e.srtt(), Some(Duration::from_millis(150)));
        assert_eq!(e.rto(), Duration::from_millis(450));
    }

    #[test]
    fn second_sample_follows_the_ewma_of_rfc_6298() {
        // (2.3) R' = 190: RTTVAR = 3/4 75 + 1/4 40 = 66.25; SRTT = 7/8 150 + 1/8 190 = 155. Linux keeps the round's
        // largest variance (300 ms) for its time-out, so RTO = 155 + 300.
        let mut e = RttEstimator::new(Duration::from_millis(200), RTO_MAX);
        e.sample(Duration::from_millis(150), 0, 1);
        e.sample(Duration::from_millis(190), 0, 1);
        assert_eq!(e.srtt(), Some(Duration::from_millis(155)));
        assert_eq!(e.deviation, 265_000_000);
        assert_eq!(e.rto(), Duration::from_millis(455));
    }

    #[test]
    fn a_steady_rtt_ends_at_srtt_plus_the_minimum() {
        let mut e = RttEstimator::new(Duration::from_millis(200), RTO_MAX);
        for k in 0..200 {
            e.sample(Duration::from_millis(50), 2 * k, 2 * k + 1);
        }
        let over = e.rto().as_nanos() - Duration::from_millis(250).as_nanos();
        assert!(over < 1_000, "{over}");
    }

    #[test]
    fn no_time_out_is_longer_than_the_largest() {
        // RFC 6298 (2.5): a maximum may be placed on RTO. Without it, 3 R is 4.5 s.
        let mut e = RttEstimator::new(Duration::from_millis(200), Duration::from_secs(2));
        e.sample(Duration::from_millis(1500), 0, 1);
        assert_eq!(e.rto(), Duration::from_secs(2));
        e.set_max_rto(Duration::from_secs(1));
        assert_eq!(e.rto(), Duration::from_secs(1));
    }

    #[test]
    fn the_minimum_forgets_after_its_window() {
        let mut m = MinRtt::default();
        m.sample(Duration::from_millis(10), Time::from_secs(0));
        for s in 1..=299 {
            m.sample(Duration::from_millis(50), Time::from_secs(s));
            assert_eq!(m.get(), Some(Duration::from_millis(10)));
        }
        for s in 300..700 {
            m.sample(Duration::from_millis(50), Time::from_secs(s));
        }
        assert_eq!(m.get(), Some(Duration::from_millis(50)));
    }
}
