//! NewReno's window: RFC 5681. (The recovery of RFC 6582 is the sender's, and SACK supersedes it.)

use super::{Ack, CongestionControl, Listed, Window};
use crate::variant::Variant;

/// Additive increase of one segment a round trip, multiplicative decrease by half.
#[derive(Clone, Copy, Debug)]
pub struct Reno {
    /// In congestion avoidance an acknowledgement counts as one segment, however many it covers (RFC 5681 section
    /// 3.1's older reading; Linux before 4.0).
    counts_acks: bool,
}

impl Listed for Reno {
    const NAME: &'static str = "reno";
    type Params = ();

    fn new((): &(), variant: Variant) -> Self {
        Self {
            counts_acks: variant.rules().counts_acks,
        }
    }
}

impl CongestionControl for Reno {
    fn grow(&mut self, ack: &Ack, window: &mut Window) {
        let mut acked = ack.acked;
        if window.in_slow_start() {
            acked = window.slow_start(acked);
            if acked == 0 {
                return;
            }
        }
        if self.counts_acks {
            acked = acked.min(1);
        }
        let cwnd = window.cwnd;
        window.additive_increase(cwnd, acked);
    }

    /// Half the window, at least two segments (RFC 5681 equation 4, with the window for the flight size as Linux has
    /// it).
    fn reduce(&mut self, window: &Window) -> u32 {
        (window.cwnd / 2).max(2)
    }

    /// RFC 8511 section 3: 0.8 of the window.
    fn reduce_by_echo(&mut self, window: &Window) -> u32 {
        ((u64::from(window.cwnd) * 4 / 5) as u32).max(2)
    }
}

#[cfg(test)]
mod tests {
    use super::super::Threshold;
    use super::*;
    use sojourn_units::Time;

    fn ack(n: u32) -> Ack {
        Ack {
            now: Time::ZERO,
            acked: n,
            una: 0,
            nxt: 0,
            rtt: None,
            mss: 1448,
            ece: false,
            marked: crate::cc::Marked::default(),
            pacing_rate: None,
        }
    }

    #[test]
    fn slow_start_doubles_and_avoidance_adds_one_a_round() {
        let mut w = Window {
            cwnd: 10,
            ssthresh: Threshold::Segments(20),
            credit: 0,
        };
        let mut reno = Reno::new(&(), Variant::Linux61);
        for _ in 0..10 {
            reno.grow(&ack(1), &mut w);
        }
        assert_eq!(w.cwnd, 20);
        for _ in 0..20 {
            reno.grow(&ack(1), &mut w);
        }
        assert_eq!(w.cwnd, 21);
        assert_eq!(reno.reduce(&w), 10);
        // 0.8 of 21 is 16.8.
        assert_eq!(reno.reduce_by_echo(&w), 16);
        w.cwnd = 2;
        assert_eq!(reno.reduce_by_echo(&w), 2);
    }
}
