//! The receive window: how much the receiver offers, and how it learns to offer more.

use crate::sender::now_ms;
use sojourn_units::{Duration, Time};

/// Window that a fresh Linux socket offers: half of its default buffer of 128 KiB, less one segment.
const INITIAL_BUFFER_WINDOW: u64 = 65_536;
/// Window that a segment's share of the buffer is worth: half of the 2984 bytes that Linux reckons for a full-sized one.
const WINDOW_PER_SEGMENT: u64 = 1_492;
/// The window stops growing this far below its clamp: the segment at hand still occupies the buffer.
const AT_HAND: u64 = 1_108;

/// Dynamic right-sizing: the window follows twice what was read in the last round trip.
///
/// Source: Linux 6.1 `tcp_rcv_space_adjust` and `tcp_grow_window`, after Fisk and Feng 2001. What matters to the network
/// is less the limit, which stays ahead of slow start, than a side effect: a segment that enlarges the window is
/// acknowledged at once, so there are no delayed acknowledgements while a connection starts. HyStart sees those.
///
/// Deviation: memory is counted as if every segment were full-sized; the application reads everything at once.
#[derive(Clone, Debug)]
pub(crate) struct ReceiveWindow {
    mss: u64,
    /// The window may not grow beyond this (window_clamp).
    clamp: u64,
    /// What is offered (rcv_ssthresh).
    offered: u64,
    /// The most that `clamp` may become.
    limit: u64,
    /// Bytes read in the best round trip so far.
    space: u64,
    /// Where and when the current round trip began.
    round_start: (u64, Time),
    /// Round trip seen from this side, by timestamps, so from samples in whole milliseconds. Larger ones are smoothed by 1/8.
    rtt: Option<Duration>,
    /// Whether a smaller sample counts at once. Source: `tcp_rcv_rtt_update` of Linux 6.1.192; earlier ones smooth all.
    falls: bool,
    last_echo: u32,
    /// A round trip has passed at this time, when everything up to this byte had been read.
    round_over: Option<(u64, Time)>,
}

impl ReceiveWindow {
    pub(crate) fn new(mss: u16, limit: u64, falls: bool) -> Self {
        let mss = u64::from(mss);
        let clamp = (INITIAL_BUFFER_WINDOW - mss).min(limit);
        Self {
            mss,
            clamp,
            offered: clamp,
            limit,
            space: clamp.min(10 * mss),
            round_start: (1, Time::ZERO),
            rtt: None,
            falls,
            last_echo: 0,
            round_over: None,
        }
    }

    /// The window to advertise, bytes.
    pub(crate) fn offered(&self) -> u64 {
        self.offered
    }

    /// Smoothed RTT seen from this side.
    pub(crate) fn rtt(&self) -> Option<Duration> {
        self.rtt
    }

    /// The connection begins.
    pub(crate) fn begin(&mut self, now: Time) {
        self.round_start.1 = now;
    }

    /// A segment of `len` bytes arrived that echoes timestamp `echo` (ms). Answers whether the window grew.
    #[expect(
        clippy::inline_always,
        reason = "called for every packet, and from more than one place: a call costs 1 %"
    )]
    #[inline(always)]
    pub(crate) fn on_segment(&mut self, len: u16, full: bool, echo: u32, now: Time) -> bool {
        if self.round_over.is_some_and(|(_, at)| at < now) {
            self.adjust();
        }
        let now_ms = now_ms(now);
        if echo != self.last_echo && full {
            self.last_echo = echo;
            if echo > 0 {
                let sample = Duration::from_millis(u64::from(now_ms.wrapping_sub(echo)).max(1));
                self.rtt = Some(match self.rtt {
                    Some(rtt) if sample >= rtt || !self.falls => rtt.saturating_sub(rtt / 8) + sample / 8,
                    _ => sample,
                });
            }
        }
        let most = self.clamp - AT_HAND.min(self.clamp);
        if self.offered >= most || len < 128 {
            return false;
        }
        let more = (2 * self.mss).max(2 * u64::from(len));
        self.offered = (self.offered + more).min(most);
        true
    }

    /// The application has read everything up to `next`. It runs once all segments of one instant are in, so the end of a
    /// round trip is settled when time has moved on.
    #[inline]
    pub(crate) fn on_read(&mut self, next: u64, now: Time) {
        if self.round_over.is_some() || self.rtt.is_some_and(|rtt| now.since(self.round_start.1) >= rtt) {
            self.round_over = Some((next, now));
        }
    }

    /// A round trip is over: the window follows what was read in it.
    fn adjust(&mut self) {
        let Some((next, at)) = self.round_over.take() else {
            return;
        };
        let copied = next - self.round_start.0;
        self.round_start = (next, at);
        if copied <= self.space {
            return;
        }
        // Twice what was read, room for a burst, and more if the rate is growing: slow start doubles each round trip.
        let mut wanted = 2 * copied + 16 * self.mss;
        wanted += 2 * (wanted * (copied - self.space) / self.space);
        let window = wanted / self.mss * (WINDOW_PER_SEGMENT * self.mss / 1448);
        self.clamp = self.clamp.max(window.min(self.limit + AT_HAND));
        self.space = copied;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_window_starts_at_44_segments_and_grows_while_more_is_read() {
        let mut w = ReceiveWindow::new(1448, 3 << 20, true);
        assert_eq!(w.offered(), 64_088);
        assert!(!w.on_segment(1448, true, 1, Time::from_millis(50)));
        assert_eq!(w.rtt(), Some(Duration::from_millis(50)));
        // Twelve segments in the first round trip: 56 segments' worth of window (seen on Linux 6.1: 82,496 bytes).
        w.on_read(1 + 11 * 1448, Time::from_millis(50));
        w.on_read(1 + 12 * 1448, Time::from_millis(50));
        for _ in 0..20 {
            w.on_segment(1448, true, 1, Time::from_millis(51));
        }
        assert_eq!(w.offered().next_multiple_of(64), 82_496);
        assert!(!w.on_segment(1448, true, 1, Time::from_millis(50)));
    }

    #[test]
    fn the_round_trip_rises_by_an_eighth_and_falls_at_once() {
        let mut w = ReceiveWindow::new(1448, 3 << 20, true);
        w.on_segment(1448, true, 1, Time::from_millis(50));
        w.on_segment(1448, true, 2, Time::from_millis(131));
        assert_eq!(w.rtt(), Some(Duration::from_micros(60_000)));
        // And a smaller one counts at once (seen on Linux 6.1.192: without a queue, after samples up to 122 ms, a round of 100 ms).
        w.on_segment(1448, true, 3, Time::from_millis(54));
        assert_eq!(w.rtt(), Some(Duration::from_millis(52)));
        let mut old = ReceiveWindow::new(1448, 3 << 20, false);
        old.on_segment(1448, true, 1, Time::from_millis(80));
        old.on_segment(1448, true, 2, Time::from_millis(73));
        assert_eq!(old.rtt(), Some(Duration::from_millis(79)));
    }

    #[test]
    fn it_never_exceeds_its_limit() {
        let mut w = ReceiveWindow::new(1448, 100_000, true);
        w.on_segment(1448, true, 1, Time::from_millis(50));
        let mut next = 1;
        for round in 1..20u64 {
            next += 1_448 << round.min(12);
            w.on_read(next, Time::from_millis(50 * round));
            for _ in 0..100 {
                w.on_segment(1448, true, 1, Time::from_millis(50 * round + 1));
            }
        }
        assert_eq!(w.offered(), 100_000);
    }
}
