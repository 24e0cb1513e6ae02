//! How long an acknowledgement waits for a second segment.

use super::{AckNeed, DELAY_MIN, QUICK_ACKS, Receiver};
use crate::rules::LongestDelay;
use sojourn_units::ticks::{self, Ticks};
use sojourn_units::{Duration, Time};

/// Largest delay (RFC 1122 section 4.2.3.2).
const DELAY_MAX: Ticks = Ticks::from_millis(500);

/// The longest that an acknowledgement is delayed where the least time-out is `min_rto`.
pub(super) fn longest(delay: LongestDelay, min_rto: Duration) -> Ticks {
    match delay {
        LongestDelay::Is(longest) => longest,
        LongestDelay::BelowTimeout(longest) => {
            longest.min(ticks::up(min_rto).max(Ticks::from_millis(2)) - Ticks::from_millis(1))
        }
    }
}

impl Receiver {
    /// Estimates how far segments are apart, which is how long an acknowledgement may wait. Source: Linux
    /// `tcp_event_data_recv`, in its ticks: with exact times an interval a little below the estimate would make that
    /// grow by half, again and again. Deviation: Linux 7.3 bounds the estimate itself by 200 ms, too.
    #[inline]
    pub(super) fn estimate_delay(&mut self, now: Time) {
        let now = ticks::of(now);
        let gap = now - self.last_arrival;
        self.last_arrival = now;
        let Some(delay) = self.delay else {
            self.quick = self.quick_acks();
            self.delay = Some(DELAY_MIN);
            return;
        };
        let rto = ticks::up(self.rto);
        self.delay = Some(if gap <= DELAY_MIN / 2 {
            delay / 2 + DELAY_MIN / 2
        } else if gap < delay {
            (delay / 2 + gap).min(rto)
        } else {
            if gap > rto {
                // Longer than the sender's likely time-out: it may be starting again.
                self.quick = self.quick.max(self.quick_acks());
            }
            delay
        });
    }

    pub(super) fn quick_acks(&self) -> u32 {
        let n = self.window() / (2 * self.largest_segment);
        (n as u32).clamp(2, QUICK_ACKS)
    }

    /// Source: Linux `tcp_send_delayed_ack`.
    #[inline]
    pub(super) fn delay_ack(&mut self, now: Time) {
        // A FIN alone comes before any estimate. Source: Linux `icsk_ack.ato`, which is 0 then.
        let mut delay = self.delay.unwrap_or_default();
        if delay > DELAY_MIN {
            let most = self.srtt.map_or(DELAY_MAX, |rtt| ticks::up(rtt).max(DELAY_MIN));
            delay = delay.min(most).min(self.delay_max);
        }
        let now = ticks::of(now);
        let due = ticks::fires(now, now + delay);
        self.need = match self.need {
            AckNeed::At(at) if at <= ticks::fires(now, now + delay / 4) => AckNeed::Now,
            AckNeed::At(at) => AckNeed::At(at.min(due)),
            _ => AckNeed::At(due),
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::TcpParams;
    use crate::variant::Variant;

    fn of(variant: Variant, min_rto: Duration) -> Ticks {
        longest(variant.rules().longest_delay, min_rto)
    }

    #[test]
    fn no_acknowledgement_waits_longer_than_a_fifth_of_a_second() {
        let usual = Duration::from_millis(200);
        assert_eq!(of(Variant::Linux61, usual), Ticks::from_millis(200));
        assert_eq!(of(Variant::Linux73, usual), Ticks::from_millis(199));
        assert_eq!(of(Variant::Linux73, Duration::from_millis(20)), Ticks::from_millis(19));
        assert_eq!(of(Variant::Linux73, Duration::from_secs(1)), Ticks::from_millis(200));
        assert_eq!(of(Variant::Linux314, usual), Ticks::from_millis(500));
    }

    /// Segments 300 ms apart on a path of 800 ms: the estimate is 300 ms and more, and the timer is set to 200 ms.
    #[test]
    fn the_timer_is_shorter_than_the_estimate() {
        let params = TcpParams::default();
        let mut receiver = Receiver::new(&params);
        receiver.established(Duration::from_millis(800), Duration::from_secs(3), Time::ZERO);
        receiver.delay = Some(Ticks::from_millis(350));
        receiver.delay_ack(Time::from_millis(1000));
        // A timer goes off in the tick after the one that it is set for.
        assert_eq!(
            receiver.need,
            AckNeed::At(ticks::fires(Ticks::from_millis(1000), Ticks::from_millis(1200)))
        );
    }
}
