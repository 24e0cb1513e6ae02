//! How version 0.7 steers a small window: by its rate.
//!
//! A window of few whole segments is a coarse measure. So a flow whose window is 6000 bytes or fewer has a rate that
//! grows and is reduced, and the window follows it. Linux takes a second for 2^20 µs here. Source: L4STeam's
//! `tcp_prague.c` 0.7 (`rate_bytes`, `cwnd_mode`).
//!
//! Deviation: 0.7 also makes segments smaller where a rate has fewer than two full ones in 25 ms, which is below
//! 1 Mbit/s. This does not.

use super::{HEADERS, ONE};
use sojourn_units::{Duration, Time};

/// A window of so many bytes or fewer is steered by its rate (`prague_cwnd_transit`, `MTU_SYS`).
const SMALL: u64 = 4 * 1500;
/// The least rate, bytes/s (`MINIMUM_RATE`).
pub(super) const LEAST_RATE: u64 = 12_500;
/// The virtual round-trip time is this or the smoothed one, µs (`prague_rtt_target`).
const TARGET_US: u64 = 25_000;
/// The rate is higher by 2^-5 in the first half of a virtual round trip, and lower in the second (`prague_rate_offset`,
/// 4 / 128).
const OFFSET_SHIFT: u32 = 5;
/// The gain of the long smoothed RTT is 2^-7 (`HSRTT_SHIFT`).
const LONG_SHIFT: u32 = 7;
/// A second has 2^20 µs here.
const SECOND_SHIFT: u32 = 20;

/// The rate of a flow, and whether it steers.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Steering {
    /// Bytes/s.
    pub(super) rate: u64,
    /// Before the last loss.
    before: u64,
    /// The smoothed RTT, smoothed once more, µs with 7 fractional bits.
    long: u64,
    /// The window is small.
    small: bool,
}

impl Steering {
    /// Begin with a smoothed RTT.
    pub(super) fn begin(&mut self, srtt: Duration) {
        self.long = us(srtt).max(1) << LONG_SHIFT;
        self.before = 0;
        self.small = false;
    }

    /// Whether the rate steers a flow that counts as one with 25 ms and has seen a mark.
    pub(super) fn steers(&self, independent: bool, saw_marks: bool) -> bool {
        self.small && independent && saw_marks
    }

    /// A round is over.
    pub(super) fn on_round(&mut self, srtt: Duration) {
        self.long = (self.long + us(srtt)).saturating_sub(self.long >> LONG_SHIFT);
    }

    /// An acknowledgement is through: look at the window.
    pub(super) fn on_window(&mut self, cwnd: u32, mss: u16) {
        self.small = u64::from(cwnd) * packet(mss) <= SMALL;
    }

    /// The window that the rate fills, 2^20ths of a segment (`prague_pacing_rate_to_frac_cwnd`).
    pub(super) fn window(&self, mss: u16) -> u64 {
        (self.rate * (self.long >> LONG_SHIFT)).div_ceil(packet(mss))
    }

    /// Acknowledged segments without a mark: one full segment more in each virtual round trip, and a virtual round trip
    /// later, if all are.
    pub(super) fn grow(&mut self, acked: u32, srtt: Duration, mss: u16) {
        let trip = us(srtt).max(TARGET_US);
        let more = ((u64::from(acked) * 1500) << SECOND_SHIFT) / trip;
        let segments = (self.rate * trip).div_ceil(packet(mss) << SECOND_SHIFT).max(1);
        self.rate += (more + segments / 2) / segments;
    }

    /// Half of the share of marked packets less.
    pub(super) fn reduce(&mut self, alpha: u64) {
        let less = (u128::from(self.rate) * u128::from(alpha)) / u128::from(2 * ONE);
        let less = u64::try_from(less).unwrap_or(u64::MAX);
        self.rate = self.rate.saturating_sub(less).max(LEAST_RATE);
    }

    /// A loss: keep the rate, and halve it if it steers.
    pub(super) fn halve(&mut self, steers: bool) {
        self.before = self.rate;
        if steers {
            self.rate -= self.rate >> 1;
        }
    }

    /// The loss was none.
    pub(super) fn undo(&mut self) {
        self.rate = self.rate.max(self.before);
    }

    /// The pacing rate of a flow that it steers; `since` is when the share was updated.
    pub(super) fn pace(&self, srtt: Duration, since: Time, now: Time) -> u64 {
        let half = Duration::from_micros(us(srtt).max(TARGET_US) / 2);
        let offset = self.rate >> OFFSET_SHIFT;
        if now.since(since) >= half {
            self.rate - offset
        } else {
            self.rate + offset
        }
    }
}

/// A full segment with its headers, bytes.
fn packet(mss: u16) -> u64 {
    u64::from(mss) + HEADERS
}

fn us(time: Duration) -> u64 {
    time.as_nanos() / 1000
}

#[cfg(test)]
mod tests {
    use super::*;

    const MSS: u16 = 1448;

    fn steering(rate: u64) -> Steering {
        let mut made = Steering::default();
        made.begin(Duration::from_millis(10));
        made.rate = rate;
        made
    }

    /// 2^20 bytes in "a second" of 2^20 µs are a byte in a µs: in 10 ms 10,000 bytes, or 6.67 packets of 1500 bytes.
    #[test]
    fn the_window_is_what_the_rate_fills_in_a_round_trip() {
        let window = steering(1).window(MSS) as f64 / ONE as f64;
        assert!(
            (window - 10_000.0 / 1500.0 / f64::from(1 << 20)).abs() < 1e-5,
            "{window}"
        );
        let window = steering(500_000).window(MSS) as f64 / ONE as f64;
        assert!(
            (window - 500_000.0 * 10_000.0 / f64::from(1 << 20) / 1500.0).abs() < 1e-5,
            "{window}"
        );
    }

    /// In 25 ms without a mark all segments of a rate are acknowledged, and it grows by one segment in 25 ms.
    #[test]
    fn a_rate_grows_by_a_segment_of_25_ms_in_25_ms() {
        let mut made = steering(500_000);
        let trip = TARGET_US as f64 / f64::from(1 << 20);
        let segments = (500_000.0 * trip / 1500.0).ceil() as u32;
        for _ in 0..segments {
            made.grow(1, Duration::from_millis(10), MSS);
        }
        let grown = (made.rate - 500_000) as f64;
        // The window is rounded up, and grows meanwhile from 8 segments to 9.
        assert!((0.88..1.0).contains(&(grown / (1500.0 / trip))), "{grown}");
    }

    /// All marked: half of the rate; none less than 100 kbit/s. Of 100 a first half has 103, a second 97.
    #[test]
    fn a_rate_is_halved_and_varies_by_a_32nd() {
        let mut made = steering(100_000);
        made.reduce(ONE);
        assert_eq!(made.rate, 50_000);
        made.rate = 13_000;
        made.reduce(ONE);
        assert_eq!(made.rate, LEAST_RATE);
        made.rate = 320_000;
        let (srtt, since) = (Duration::from_millis(10), Time::ZERO);
        assert_eq!(made.pace(srtt, since, since + Duration::from_millis(12)), 330_000);
        assert_eq!(made.pace(srtt, since, since + Duration::from_millis(13)), 310_000);
        made.halve(true);
        made.undo();
        assert_eq!(made.rate, 320_000);
    }

    #[test]
    fn a_small_window_of_a_flow_that_saw_marks_is_steered() {
        let mut made = steering(100_000);
        for (cwnd, small) in [(4, true), (5, false), (2, true)] {
            made.on_window(cwnd, MSS);
            assert_eq!(made.steers(true, true), small);
            assert!(!made.steers(false, true) && !made.steers(true, false));
        }
    }
}
