//! The receive window: how much the receiver offers, and how it learns to offer more.

use crate::params::{ReceiveBuffer, TcpParams};
use crate::segment::WINDOW_UNIT;
use crate::timestamp::now_ms;
use crate::variant::Variant;
use sojourn_units::{Duration, Time};

/// Window that a fresh Linux socket offers: half of its default buffer of 128 KiB, less one segment.
const INITIAL_BUFFER_WINDOW: u64 = 65_536;
/// A fresh buffer, bytes of memory. Source: Linux `tcp_rmem`, its second number.
const INITIAL_BUFFER: u64 = 131_072;
/// Parts of a buffer that are window, of 256, where no segment has said better. Source: Linux
/// `TCP_DEFAULT_SCALING_RATIO`; before 6.5 `tcp_adv_win_scale` 1.
const HALF: u64 = 128;
/// Window that a segment's share of the buffer is worth: half of the 2984 bytes that Linux reckons for a full-sized
/// one.
const WINDOW_PER_SEGMENT: u64 = 1_492;
/// The window of a fresh socket whose buffer is larger: what fits in the field of a SYN. Source: Linux 6.1
/// `tcp_select_initial_window`.
const UNSCALED_MAX: u64 = 65_535;
/// The least that a locked buffer offers at last. Source: Linux `SOCK_MIN_RCVBUF`, half of it
/// (`tcp_set_window_clamp`).
const LOCKED_MIN: u64 = 2_304;
/// The window stops growing this far below its clamp: the segment at hand still occupies the buffer.
const AT_HAND: u64 = 1_108;

/// Dynamic right-sizing: the window follows twice what was read in the last round trip.
///
/// Source: Linux 6.1 `tcp_rcv_space_adjust` and `tcp_grow_window`, after Fisk and Feng 2001. What matters to the
/// network is less the limit, which stays ahead of slow start, than a side effect: a segment that enlarges the window
/// is acknowledged at once, so there are no delayed acknowledgements while a connection starts. HyStart sees those.
///
/// Deviation: memory is counted as if every segment were full-sized; the application reads everything at once.
///
/// A buffer that its application has set ([`ReceiveBuffer::Locked`]) is not enlarged, and what may be offered is
/// known: half of it less a segment before Linux 6.5, its part that is payload since. The first window is as much as
/// a SYN says before Linux 6.10, half of the buffer less a segment since. What is left then comes by two segments
/// with each segment, each of which is acknowledged at once. Source: `tcp_select_initial_window`,
/// `tcp_init_buffer_space`, `tcp_measure_rcv_mss`, `tcp_grow_window`; measured on Linux 6.12 in a cell by
/// `tcpi_snd_wnd`: 3,144,280 bytes at first, 2,896 more with each segment, 4,177,920 after 357 segments.
/// Deviation: 3.14 has the rule of 6.1.
///
/// Linux 7.3 offers the part of the buffer that is payload in a full segment. Its window follows twice what was read,
/// without room for 16 segments more. What is between the first gap and the last byte that came counts as well, where
/// something comes above a gap (Deviation: not when a round trip ends before the gap is filled). A sample of the round
/// trip below a millisecond does not count. Source: Linux 7.3 `tcp_rcvbuf_grow`, `tcp_rcv_space_adjust`,
/// `tcp_measure_rcv_mss`, `tcp_rcv_rtt_measure_ts`.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct ReceiveWindow {
    /// What is offered (rcv_ssthresh).
    offered: u64,
    /// The window may not grow beyond this (window_clamp).
    clamp: u64,
    /// The window stops growing this far below `clamp`.
    at_hand: u64,
    /// Round trip seen from this side, by timestamps, so from samples in whole milliseconds. Larger ones are smoothed
    /// by 1/8.
    rtt: Option<Duration>,
    /// A round trip has passed at this time, when everything up to this byte had been read.
    round_over: Option<(u64, Time)>,
    last_echo: u32,
    /// Whether a smaller sample counts at once. Source: `tcp_rcv_rtt_update` of Linux 6.1.192; earlier ones smooth
    /// all.
    falls: bool,
    /// The rules of Linux 7.3.
    spans: bool,
    /// Parts of the buffer that are window, of 256.
    ratio: u64,
    /// `clamp` follows what is read.
    follows: bool,
    /// Where and when the current round trip began.
    round_start: (u64, Time),
    mss: u64,
    /// The most that `clamp` may become.
    limit: u64,
    /// Bytes read in the best round trip so far.
    space: u64,
}

impl ReceiveWindow {
    pub(crate) fn new(p: &TcpParams) -> Self {
        let limit = p.receive_window.get();
        let falls = p.variant != Variant::Linux314;
        match p.receive_buffer {
            ReceiveBuffer::Auto if p.variant == Variant::Linux73 => Self::by_payload(p, limit),
            ReceiveBuffer::Auto => Self::automatic(p.mss, limit, falls),
            ReceiveBuffer::Locked => Self::locked(p, limit, falls),
        }
    }

    /// Of a buffer whose part that is payload is offered. Deviation: the ratio is a full segment's from the beginning.
    fn by_payload(p: &TcpParams, limit: u64) -> Self {
        let mss = u64::from(p.mss);
        let memory = p.heads.received(mss).unwrap_or(2 * mss);
        let ratio = (256 * mss / memory).max(1);
        let at_hand = memory * ratio / 256;
        Self {
            ratio,
            at_hand,
            spans: true,
            clamp: (INITIAL_BUFFER * ratio / 256).min(limit + at_hand),
            ..Self::automatic(p.mss, limit, true)
        }
    }

    fn automatic(mss: u16, limit: u64, falls: bool) -> Self {
        let mss = u64::from(mss);
        let clamp = (INITIAL_BUFFER_WINDOW - mss).min(limit);
        Self {
            mss,
            clamp,
            offered: clamp,
            limit,
            at_hand: AT_HAND,
            follows: true,
            space: clamp.min(10 * mss),
            round_start: (1, Time::ZERO),
            rtt: None,
            falls,
            spans: false,
            ratio: HALF,
            last_echo: 0,
            round_over: None,
        }
    }

    /// Of a buffer of twice `half` bytes that stays as it is.
    fn locked(p: &TcpParams, half: u64, falls: bool) -> Self {
        let mss = u64::from(p.mss);
        // Linux keeps room for one segment.
        let reserved = (half - mss).max((2 * mss).min(half));
        let (offered, clamp) = match p.heads.received(mss) {
            None => (reserved.min(UNSCALED_MAX), reserved),
            Some(memory) => {
                let clamp = 2 * half * (256 * mss / memory).max(1) / 256;
                let clamp = clamp.clamp(LOCKED_MIN, 65_535 * WINDOW_UNIT);
                (reserved.min(clamp), clamp)
            }
        };
        Self {
            clamp,
            offered,
            at_hand: 0,
            follows: false,
            ..Self::automatic(p.mss, half, falls)
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

    /// Whether what is above a gap takes more than half of the buffer: `held` bytes of memory. Then no
    /// acknowledgements are sent quickly. Source: Linux `__tcp_select_window`.
    #[inline]
    pub(crate) fn is_crowded_by(&self, held: u64) -> bool {
        held * self.ratio > self.clamp * HALF
    }

    /// A segment came above a gap, and there are `span` bytes from the next byte expected to the last one that came.
    /// Source: Linux 7.3 `tcp_data_queue_ofo`, `tcp_rcvbuf_grow`.
    #[inline]
    pub(crate) fn on_span(&mut self, span: u64) {
        if self.spans && self.follows {
            self.enlarge(2 * self.space + span);
        }
    }

    fn enlarge(&mut self, window: u64) {
        self.clamp = self.clamp.max(window.min(self.limit + self.at_hand));
    }

    /// A segment of `len` bytes arrived that echoes timestamp `echo` (ms), while `held` bytes of memory are taken by
    /// what is above a gap. Answers whether the window grew. Source: Linux 6.1 `tcp_grow_window`.
    #[expect(
        clippy::inline_always,
        reason = "called for every packet, and from more than one place: a call costs 1 %"
    )]
    #[inline(always)]
    pub(crate) fn on_segment(&mut self, len: u16, full: bool, echo: u32, held: u64, now: Time) -> bool {
        if self.round_over.is_some_and(|(_, at)| at < now) {
            self.adjust();
        }
        let now_ms = now_ms(now);
        if echo != self.last_echo && full {
            self.last_echo = echo;
            let passed = now_ms.wrapping_sub(echo);
            if echo > 0 && (passed > 0 || !self.spans) {
                let sample = Duration::from_millis(u64::from(passed).max(1));
                self.rtt = Some(match self.rtt {
                    Some(rtt) if sample >= rtt || !self.falls => rtt.saturating_sub(rtt / 8) + sample / 8,
                    _ => sample,
                });
            }
        }
        let most = self.clamp.saturating_sub(self.at_hand + held * self.ratio / 256);
        if self.offered >= most || len < 128 {
            return false;
        }
        let more = (2 * self.mss).max(2 * u64::from(len));
        self.offered = (self.offered + more).min(most);
        true
    }

    /// The application has read everything up to `next`. It runs once all segments of one instant are in, so the end
    /// of a round trip is settled when time has moved on.
    #[inline]
    pub(crate) fn on_read(&mut self, next: u64, now: Time) {
        if self.round_over.is_some() || self.rtt.is_some_and(|rtt| now.since(self.round_start.1) >= rtt) {
            self.round_over = Some((next, now));
        }
    }

    /// A round trip is over: the window follows what was read in it.
    #[inline(never)]
    fn adjust(&mut self) {
        let Some((next, at)) = self.round_over.take() else {
            return;
        };
        let copied = next - self.round_start.0;
        self.round_start = (next, at);
        if copied <= self.space || !self.follows {
            return;
        }
        // Twice what was read, room for a burst, and more if the rate is growing: slow start doubles each round trip.
        let mut wanted = 2 * copied + if self.spans { 0 } else { 16 * self.mss };
        wanted += 2 * (wanted * (copied - self.space) / self.space);
        self.space = copied;
        self.enlarge(if self.spans {
            wanted
        } else {
            wanted / self.mss * (WINDOW_PER_SEGMENT * self.mss / 1448)
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variant::Heads;
    use sojourn_units::Bytes;

    #[test]
    fn the_window_starts_at_44_segments_and_grows_while_more_is_read() {
        let mut w = ReceiveWindow::automatic(1448, 3 << 20, true);
        assert_eq!(w.offered(), 64_088);
        assert!(!w.on_segment(1448, true, 1, 0, Time::from_millis(50)));
        assert_eq!(w.rtt(), Some(Duration::from_millis(50)));
        // Twelve segments in the first round trip: 56 segments' worth of window (seen on Linux 6.1: 82,496 bytes).
        w.on_read(1 + 11 * 1448, Time::from_millis(50));
        w.on_read(1 + 12 * 1448, Time::from_millis(50));
        for _ in 0..20 {
            w.on_segment(1448, true, 1, 0, Time::from_millis(51));
        }
        assert_eq!(w.offered().next_multiple_of(64), 82_496);
        assert!(!w.on_segment(1448, true, 1, 0, Time::from_millis(50)));
    }

    #[test]
    fn data_above_a_gap_keeps_the_window_from_growing() {
        // A buffer that may offer 200 kB more: of its memory half counts. 300,000 bytes of it are taken, worth 150,000.
        let mut w = ReceiveWindow::automatic(1448, 3 << 20, true);
        w.clamp = 264_088;
        let grown = (0..200)
            .filter(|_| w.on_segment(1448, true, 1, 300_000, Time::from_millis(50)))
            .count();
        assert_eq!(w.offered(), 264_088 - 150_000 - AT_HAND);
        assert_eq!(grown as u64, (w.offered() - 64_088).div_ceil(2 * 1448));
        assert!(w.is_crowded_by(264_089) && !w.is_crowded_by(264_088));
        // More than the buffer holds.
        assert!(!w.on_segment(1448, true, 1, 1 << 30, Time::from_millis(50)));
    }

    #[test]
    fn the_round_trip_rises_by_an_eighth_and_falls_at_once() {
        let mut w = ReceiveWindow::automatic(1448, 3 << 20, true);
        w.on_segment(1448, true, 1, 0, Time::from_millis(50));
        w.on_segment(1448, true, 2, 0, Time::from_millis(131));
        assert_eq!(w.rtt(), Some(Duration::from_micros(60_000)));
        // And a smaller one counts at once (seen on Linux 6.1.192: without a queue, after samples up to 122 ms, a round
        // of 100 ms).
        w.on_segment(1448, true, 3, 0, Time::from_millis(54));
        assert_eq!(w.rtt(), Some(Duration::from_millis(52)));
        let mut old = ReceiveWindow::automatic(1448, 3 << 20, false);
        old.on_segment(1448, true, 1, 0, Time::from_millis(80));
        old.on_segment(1448, true, 2, 0, Time::from_millis(73));
        assert_eq!(old.rtt(), Some(Duration::from_millis(79)));
    }

    /// A window of Linux 7.3, by hand: a full segment takes 576 + 256 + 1448 = 2280 bytes, so 162 of 256 parts of the
    /// buffer are window, 82,944 of 131,072 bytes. Of these 1442 are the segment's at hand.
    #[test]
    fn the_window_of_linux_7_3_is_the_part_of_the_buffer_that_is_payload() {
        let mut w = ReceiveWindow::new(&TcpParams {
            variant: Variant::Linux73,
            heads: Heads::Lean612,
            ..TcpParams::default()
        });
        assert_eq!(w.offered(), 64_088);
        // 17,414 bytes by 2896 with each segment.
        assert_eq!(enlarging(&mut w, 10), 7);
        assert_eq!(w.offered(), 81_502);
        // A buffer that may offer 2,000,000 bytes. 3,024,890 bytes of memory above a gap are worth 1,914,188 of them, so
        // that 84,370 are left, less than is offered.
        w.enlarge(2_000_000);
        assert_eq!(w.clamp, 2_000_000);
        assert!(w.on_segment(1448, true, 2, 0, Time::from_millis(60)));
        assert_eq!(w.offered(), 84_398);
        assert!(!w.on_segment(1448, true, 2, 3_024_890, Time::from_millis(60)));
        // Twice the best round trip of 14,480 bytes, and what is between the gap and the last byte.
        w.clamp = 82_944;
        w.on_span(53_984);
        assert_eq!(w.clamp, 82_944);
        w.on_span(53_985);
        assert_eq!(w.clamp, 82_945);
        assert!(w.is_crowded_by(65_537) && !w.is_crowded_by(65_536));
    }

    #[test]
    fn the_window_of_linux_7_3_follows_twice_what_was_read() {
        let mut w = ReceiveWindow::new(&TcpParams {
            variant: Variant::Linux73,
            heads: Heads::Lean612,
            ..TcpParams::default()
        });
        // A sample below a millisecond does not count.
        w.on_segment(1448, true, 50, 0, Time::from_millis(49));
        assert_eq!(w.rtt(), None);
        w.on_segment(1448, true, 1, 0, Time::from_millis(50));
        assert_eq!(w.rtt(), Some(Duration::from_millis(50)));
        w.on_read(1 + 30 * 1448, Time::from_millis(50));
        w.on_segment(1448, true, 1, 0, Time::from_millis(51));
        // 43,440 bytes after 14,480: twice that, and four times that for each time that it grew by what it was before.
        assert_eq!(w.clamp, 2 * 43_440 + 4 * 43_440 * 28_960 / 14_480);
    }

    #[test]
    fn it_never_exceeds_its_limit() {
        let mut w = ReceiveWindow::automatic(1448, 100_000, true);
        w.on_segment(1448, true, 1, 0, Time::from_millis(50));
        let mut next = 1;
        for round in 1..20u64 {
            next += 1_448 << round.min(12);
            w.on_read(next, Time::from_millis(50 * round));
            for _ in 0..100 {
                w.on_segment(1448, true, 1, 0, Time::from_millis(50 * round + 1));
            }
        }
        assert_eq!(w.offered(), 100_000);
    }

    fn locked(heads: Heads, window: u64) -> ReceiveWindow {
        ReceiveWindow::new(&TcpParams {
            receive_buffer: ReceiveBuffer::Locked,
            receive_window: Bytes::new(window),
            heads,
            ..TcpParams::default()
        })
    }

    /// Segments that enlarge the window, of so many that come and are read at once.
    fn enlarging(w: &mut ReceiveWindow, segments: u64) -> u64 {
        let mut grown = 0;
        for i in 0..segments {
            let now = Time::from_millis(50 + i);
            grown += u64::from(w.on_segment(1448, true, 1, 0, now));
            w.on_read(1 + 1448 * (i + 1), now);
        }
        grown
    }

    #[test]
    fn a_locked_buffer_of_linux_6_12_has_its_whole_window_after_357_segments() {
        // Seen on Linux 6.12 in a cell, by `tcpi_snd_wnd` of the sender: 3,213,824 after 24 segments, 4,114,560 after
        // 335 to 345, then 4,177,920.
        let mut w = locked(Heads::Wireless612, 3 << 20);
        assert_eq!(w.offered(), 3_144_280);
        assert_eq!(enlarging(&mut w, 24), 24);
        assert_eq!(w.offered().next_multiple_of(128), 3_213_824);
        assert_eq!(enlarging(&mut w, 5_000), 333);
        assert_eq!(w.offered(), 4_177_920);
    }

    #[test]
    fn a_locked_buffer_of_linux_6_1_offers_half_of_it_less_a_segment() {
        let mut w = locked(Heads::Lean61, 1 << 20);
        assert_eq!(w.offered(), 65_535);
        assert_eq!(enlarging(&mut w, 5_000), (1_047_128_u64 - 65_535).div_ceil(2_896));
        assert_eq!(w.offered(), 1_047_128);
        // The smallest that may be given: two segments.
        assert_eq!(locked(Heads::Lean61, 2_896).offered(), 2_896);
        // And no more is offered than the field of a segment can say.
        let mut w = locked(Heads::Lean612, 65_535 * WINDOW_UNIT);
        enlarging(&mut w, 20_000);
        assert_eq!(w.offered(), 65_535 * WINDOW_UNIT);
    }
}
