//! CUBIC: RFC 9438, with the clock and the integer arithmetic of Linux.

use super::slow_start::{Phase, SlowStart};
use super::{Ack, CongestionControl, Listed, Window};
use crate::variant::Variant;
use sojourn_units::{Duration, Time};

/// beta_cubic = 0.7, as the fraction that Linux has.
const BETA: u64 = 717;
/// Of RFC 8511: 0.85, as such a fraction.
const BETA_ABE: u64 = 870;
/// C = 0.4 segments/s^3, and the scale of both.
const C: u64 = 410;
const SCALE: u64 = 1024;
/// Time inside the cubic function runs in 1/1024 s.
const TICKS_PER_SECOND: u64 = 1024;
/// `W_cubic(t) - W_max = C (t - K)^3` with C scaled by 2^10 and t by 2^10: 2^10 * (2^10)^3.
const CUBE_SHIFT: u32 = 40;

/// CUBIC's window. Times are in ticks of 1/1024 s since the epoch; windows in whole segments.
///
/// Source: RFC 9438 sections 4.1 to 4.7. Deviation: arithmetic is in whole segments and the target is renewed at most
/// once a millisecond, or every 1/32 s while the window stands still, as Linux does; before the first loss
/// the window grows by at least a twentieth a round trip.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Cubic {
    /// When the current congestion avoidance stage began.
    epoch_start: Option<Time>,
    min_rtt: Option<Duration>,
    last_update_ms: u64,
    last_window: u32,
    /// The Reno-friendly window (W_est).
    w_est: u32,
    /// Segments acknowledged towards the next increase of `w_est`.
    w_est_credit: u32,
    /// Segments to be acknowledged for one more in the window.
    per_segment: u32,
    /// K, in ticks.
    k: u64,
    /// Window at the plateau of this epoch's cubic function.
    origin: u32,
    /// W_max, with fast convergence applied; `None` before the first congestion and after a time-out.
    w_max: Option<u32>,
    /// Linux before 4.0: the Reno-friendly window counts acknowledgements, which with delayed ones is half as fast,
    /// and the window may grow with every segment acknowledged.
    counts_acks: bool,
    slow_start: Phase,
}

/// What may be set on CUBIC.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CubicParams {
    /// How slow start ends.
    pub slow_start: SlowStart,
}

impl Listed for Cubic {
    const NAME: &'static str = "cubic";
    type Params = CubicParams;

    fn new(params: &CubicParams, variant: Variant) -> Self {
        Self::fresh(variant.rules().counts_acks, Phase::new(params.slow_start, variant))
    }
}

impl Cubic {
    /// Before any congestion.
    fn fresh(counts_acks: bool, slow_start: Phase) -> Self {
        Self {
            w_max: None,
            epoch_start: None,
            origin: 0,
            k: 0,
            w_est: 0,
            w_est_credit: 0,
            per_segment: 0,
            last_window: 0,
            last_update_ms: 0,
            min_rtt: None,
            counts_acks,
            slow_start,
        }
    }

    /// The threshold is `beta` of the window, and the next epoch aims at where this one ended. Source: Linux
    /// `cubictcp_recalc_ssthresh`.
    fn reduce_to(&mut self, beta: u64, window: &Window) -> u32 {
        self.slow_start.on_reduction();
        self.epoch_start = None;
        let cwnd = u64::from(window.cwnd);
        self.w_max = Some(match self.w_max {
            Some(w_max) if window.cwnd < w_max => (cwnd * (SCALE + beta) / (2 * SCALE)) as u32,
            _ => window.cwnd,
        });
        ((cwnd * beta / SCALE) as u32).max(2)
    }

    fn update(&mut self, cwnd: u32, acked: u32, ack: &Ack) {
        let counted = if self.counts_acks { 1 } else { acked };
        self.w_est_credit += counted;
        let now_ms = ack.now.as_nanos() / 1_000_000;
        if self.last_window == cwnd && now_ms - self.last_update_ms <= 31 {
            return;
        }
        if self.epoch_start.is_none() || now_ms != self.last_update_ms {
            self.last_window = cwnd;
            self.last_update_ms = now_ms;
            let epoch_start = *self.epoch_start.get_or_insert_with(|| {
                self.w_est_credit = counted;
                self.w_est = cwnd;
                match self.w_max {
                    Some(w_max) if w_max > cwnd => {
                        self.origin = w_max;
                        self.k = linux_cbrt((u64::from(w_max - cwnd) << CUBE_SHIFT) / C);
                    }
                    _ => {
                        self.origin = cwnd;
                        self.k = 0;
                    }
                }
                ack.now
            });
            let epoch_ms = epoch_start.as_nanos() / 1_000_000;
            // Section 4.2: the target is where the function will be one RTT from now. Linux rounds up to whole ticks of
            // 1 ms.
            let t_ms = now_ms - epoch_ms + self.min_rtt.map_or(0, |rtt| rtt.as_nanos().div_ceil(1_000_000));
            let t = t_ms * TICKS_PER_SECOND / 1000;
            let away = t.abs_diff(self.k);
            // 2^20 ticks are 17 minutes; beyond that the product could overflow, and the window is unbounded anyway.
            let delta = ((C * away.min(1 << 20).pow(3).min(u64::MAX / C)) >> CUBE_SHIFT) as u32;
            let target = if t < self.k {
                self.origin.saturating_sub(delta)
            } else {
                self.origin.saturating_add(delta)
            };
            self.per_segment = if target > cwnd {
                cwnd / (target - cwnd)
            } else {
                100 * cwnd
            };
            if self.w_max.is_none() {
                self.per_segment = self.per_segment.min(20);
            }
        }
        // Section 4.3, the Reno-friendly region: W_est grows by 3 (1 - beta) / (1 + beta) a round trip, 8/15 of a
        // segment.
        let per_est = ((u64::from(cwnd) * 15) >> 3) as u32;
        while self.w_est_credit > per_est {
            self.w_est_credit -= per_est;
            self.w_est += 1;
        }
        if self.w_est > cwnd {
            self.per_segment = self.per_segment.min(cwnd / (self.w_est - cwnd));
        }
        self.per_segment = self.per_segment.max(if self.counts_acks { 1 } else { 2 });
    }
}

impl CongestionControl for Cubic {
    fn on_rtt(&mut self, ack: &Ack, window: &mut Window) {
        self.slow_start.on_ack(ack, window);
        let Some(rtt) = ack.rtt else { return };
        // The queue is still draining right after a reduction.
        if self
            .epoch_start
            .is_some_and(|e| ack.now.since(e) < Duration::from_secs(1))
        {
            return;
        }
        let base = self.min_rtt.map_or(rtt, |m| m.min(rtt));
        self.min_rtt = Some(base);
        self.slow_start.on_rtt(ack, rtt, base, window);
    }

    fn grow(&mut self, ack: &Ack, window: &mut Window) {
        let mut acked = ack.acked;
        if window.in_slow_start() {
            acked = self.slow_start.grow(acked, window);
            if acked == 0 {
                return;
            }
        }
        self.update(window.cwnd, acked, ack);
        window.additive_increase(self.per_segment, acked);
    }

    /// Sections 4.6 and 4.7: multiplicative decrease, and fast convergence if this peak is below the last one.
    fn reduce(&mut self, window: &Window) -> u32 {
        self.reduce_to(BETA, window)
    }

    /// RFC 8511 section 4.1 has 0.85 for CUBIC. The rest is as after a loss.
    fn reduce_by_echo(&mut self, window: &Window) -> u32 {
        self.reduce_to(BETA_ABE, window)
    }

    fn on_timeout(&mut self, now: Time, nxt: u64) {
        self.slow_start.on_timeout(now, nxt);
        *self = Self::fresh(self.counts_acks, self.slow_start.clone());
    }

    fn on_restart(&mut self, idle: Duration, now: Time) {
        // The function stands still while nothing is sent. An epoch that began after the last transmission begins now.
        if let Some(e) = &mut self.epoch_start
            && !self.counts_acks
        {
            *e = (*e + idle).min(now);
        }
    }
}

/// The cube root of `n` as Linux takes it: one Newton step from a start that is a few percent too large, and 341/1024
/// for a third. It is up to 0.1 % off, which moves a window's growth by a round trip now and then.
///
/// Deviation: Linux reads the start from a table by the 4 to 6 leading bits of `n`; here it is a formula that comes
/// within 2 of the table's three digits.
fn linux_cbrt(n: u64) -> u64 {
    if n < 64 {
        return icbrt(n);
    }
    let bits = u64::from(n.ilog2() + 1) * 84 / 256 - 1;
    let lead = n >> (3 * bits);
    // 64 cbrt(lead) + 5.5 + lead/18, in 64ths of 2^bits.
    let start = (9 * icbrt(lead << 36) + 32 * lead + 3456) / 576;
    let x = (start << bits) / 64;
    (2 * x + n / (x * (x - 1))) * 341 / 1024
}

/// The integer cube root: the largest r with r^3 <= n.
fn icbrt(n: u64) -> u64 {
    if n == 0 {
        return 0;
    }
    // Newton's method from above converges downwards and stops at the floor.
    let mut r = 1u64 << (n.ilog2() / 3 + 1);
    loop {
        let next = (2 * r + n / (r * r)) / 3;
        if next >= r {
            return r;
        }
        r = next;
    }
}

#[cfg(test)]
mod tests {
    use super::super::Threshold::Segments;
    use super::*;

    #[test]
    fn cube_roots_are_exact_floors() {
        for r in [1u64, 2, 3, 7, 99, 1000, 54_321, 2_097_151] {
            let n = r * r * r;
            assert_eq!((icbrt(n - 1), icbrt(n), icbrt(n + 1)), (r - 1, r, r));
        }
        assert_eq!(icbrt(u64::MAX), 2_642_245);
    }

    #[test]
    fn the_cube_root_of_linux_errs_by_less_than_a_fifth_of_a_percent() {
        for segments in 1..5000_u64 {
            let n = (segments << CUBE_SHIFT) / C;
            let error = linux_cbrt(n) as f64 / (n as f64).cbrt() - 1.0;
            assert!(error.abs() < 0.002, "{n}: {error}");
        }
    }

    #[test]
    fn the_cube_root_of_linux_is_low_where_its_start_is_good() {
        // K for 10 and 12 segments. Linux starts from 191/64 and 204/64 of 2^10; the Newton step is above the true root
        // (2993.2 and 3180.8), and 341/1024 is a thousandth below a third.
        assert_eq!(linux_cbrt((10 << CUBE_SHIFT) / C), 2991);
        assert_eq!(linux_cbrt((12 << CUBE_SHIFT) / C), 3179);
    }

    /// Drives one round trip of `rtt` with an acknowledgement a segment.
    fn round(c: &mut Cubic, w: &mut Window, now: &mut Time, rtt: Duration) {
        let n = w.cwnd;
        for _ in 0..n {
            *now += rtt / u64::from(n);
            let ack = Ack {
                now: *now,
                acked: 1,
                una: 0,
                nxt: 0,
                rtt: Some(rtt),
                mss: 1448,
                ece: false,
                marked: crate::cc::Marked::default(),
                pacing_rate: None,
            };
            c.on_rtt(&ack, w);
            c.grow(&ack, w);
        }
    }

    #[test]
    fn the_window_returns_to_w_max_after_k_seconds() {
        // RFC 9438 section 4.2: K = cbrt(W_max (1 - beta) / C) = cbrt(1000 * 0.3 / 0.4) = 9.09 s.
        let rtt = Duration::from_millis(100);
        let (mut c, mut now) = (Cubic::fresh(false, Phase::Plain), Time::from_secs(1));
        let mut w = Window {
            cwnd: 1000,
            ssthresh: Segments(1000),
            credit: 0,
        };
        w.cwnd = c.reduce(&w);
        w.ssthresh = Segments(w.cwnd);
        assert_eq!(w.cwnd, 700);
        let start = now;
        while w.cwnd < 998 {
            round(&mut c, &mut w, &mut now, rtt);
            let t = now.since(start).as_secs_f64();
            let exact = 1000.0 + 0.4 * (t - 9.086).powi(3);
            assert!(
                (f64::from(w.cwnd) - exact).abs() < 15.0,
                "{t}: {} against {exact}",
                w.cwnd
            );
        }
        let t = now.since(start).as_secs_f64();
        assert!((7.0..9.1).contains(&t), "{t}");
    }

    #[test]
    fn in_the_reno_friendly_region_the_slope_is_8_15_of_a_segment_a_round() {
        // Small window, short RTT: Reno would be faster than the cubic function. alpha = 3 (1-0.7)/(1+0.7) = 0.53.
        let rtt = Duration::from_millis(5);
        let (mut c, mut now) = (Cubic::fresh(false, Phase::Plain), Time::from_secs(1));
        let mut w = Window {
            cwnd: 30,
            ssthresh: Segments(30),
            credit: 0,
        };
        w.cwnd = c.reduce(&w);
        w.ssthresh = Segments(w.cwnd);
        let before = w.cwnd;
        for _ in 0..60 {
            round(&mut c, &mut w, &mut now, rtt);
        }
        let slope = f64::from(w.cwnd - before) / 60.0;
        assert!((slope - 0.53).abs() < 0.06, "{slope}");
    }

    /// RFC 9438 section 4.8: t does not include idle time. The epoch may have begun after the last transmission, with
    /// the acknowledgement that this restart follows.
    #[test]
    fn an_epoch_never_begins_in_the_future() {
        let mut c = Cubic::fresh(false, Phase::Plain);
        let mut w = Window {
            cwnd: 10,
            ssthresh: Segments(10),
            credit: 0,
        };
        c.reduce(&w);
        let rtt = Duration::from_millis(50);
        let mut now = Time::from_secs(1);
        round(&mut c, &mut w, &mut now, rtt);
        let now = now + Duration::from_secs(2);
        c.on_restart(Duration::from_secs(2) + rtt, now);
        assert_eq!(c.epoch_start, Some(now));
        let mut soon = now;
        round(&mut c, &mut w, &mut soon, Duration::from_millis(10));
    }

    #[test]
    fn fast_convergence_lowers_the_peak() {
        let mut c = Cubic::fresh(false, Phase::Plain);
        let w = |cwnd| Window {
            cwnd,
            ssthresh: Segments(0),
            credit: 0,
        };
        c.reduce(&w(100));
        assert_eq!(c.w_max, Some(100));
        c.reduce(&w(80));
        assert_eq!(c.w_max, Some((80 * (1024 + 717) / 2048) as u32));
    }

    #[test]
    fn an_echo_leaves_85_of_100_with_abe_and_a_loss_70() {
        let w = Window {
            cwnd: 1000,
            ssthresh: Segments(0),
            credit: 0,
        };
        // 870 and 717 parts of 1024.
        assert_eq!(Cubic::fresh(false, Phase::Plain).reduce_by_echo(&w), 849);
        assert_eq!(Cubic::fresh(false, Phase::Plain).reduce(&w), 700);
        let mut c = Cubic::fresh(false, Phase::Plain);
        c.reduce_by_echo(&Window { cwnd: 2000, ..w });
        c.reduce_by_echo(&w);
        // Fast convergence: half of 1 + beta of what the window was.
        assert_eq!(c.w_max, Some(1000 * (1024 + 870) / 2048));
    }
}
