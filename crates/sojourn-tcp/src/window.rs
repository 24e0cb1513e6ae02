//! The receive window: how much the receiver offers, and how it learns to offer more.

use crate::params::{ReceiveBuffer, TcpParams};
use crate::rules::Rules;
use crate::segment::WINDOW_UNIT;
use crate::timestamp::now_ms;
use crate::variant::Heads;
use sojourn_units::{Duration, Time};

/// A fresh buffer, bytes of memory. Source: Linux `tcp_rmem`, its second number.
const INITIAL_BUFFER: u64 = 131_072;
/// Parts of a buffer that are window, of 256, before a segment says better. Source: Linux `TCP_DEFAULT_SCALING_RATIO`;
/// before 6.6 always, by `tcp_adv_win_scale` 1.
const HALF: u64 = 128;
/// What the field of a segment says at most, and of a SYN, whose field has no unit.
pub(crate) const FIELD: u64 = 65_535;
/// The largest shift count (RFC 7323 section 2.3).
const LARGEST_SHIFT: u32 = 14;
/// What is reckoned for a segment before any has come. Source: Linux `TCP_MSS_DEFAULT`.
const SEGMENT: u64 = 536;
/// Initial window that counts for the growth of the buffer, segments. Source: Linux `TCP_INIT_CWND`.
const INITIAL: u64 = 10;
/// What an application that locks its buffer adds to it, bytes, once the first segment has set the window.
const ROOM: u64 = 128 << 20;
/// Headers that Linux 6.1 reckons for a segment, and what else it takes. Source: `MAX_TCP_HEADER`, `SKB_TRUESIZE`.
const RECKONED: u64 = 192 + 576;

/// A receive buffer: what its memory is, and how large it may become.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReceiveMemory {
    /// Its size at first, bytes of memory: the second number of Linux's `tcp_rmem`, or twice what `SO_RCVBUF` sets.
    pub size: u64,
    /// The application has set the size, so nothing enlarges it.
    pub locked: bool,
    /// Its largest size, bytes: the third number of `tcp_rmem`.
    pub largest: u64,
    /// The window may be taken back (`tcp_shrink_window`).
    pub shrinks: bool,
    /// The largest payload that this end announces, bytes, less the room of options that all segments have.
    pub segment: u16,
    /// What arrives in larger pieces consists of segments of so many bytes; `None` if each piece is a segment.
    pub parts: Option<u16>,
}

impl ReceiveMemory {
    /// The size that Linux makes of one that an application sets by `SO_RCVBUF`: twice as much, at least 2304 bytes.
    #[must_use]
    pub fn doubled(set: u64) -> u64 {
        set.saturating_mul(2).max(2304)
    }

    /// Most that the window can become at first, bytes; `None` if only its field and shift count bound it.
    fn bound(&self) -> Option<u64> {
        self.locked.then_some(self.size * HALF / 256)
    }

    /// Its shift count, if both ends scale windows. `largest_set` is the largest size that an application may set, bytes
    /// (Linux `net.core.rmem_max`).
    #[must_use]
    pub fn shift(&self, largest_set: u64) -> u8 {
        let space = (self.size * HALF / 256).max(self.largest).max(largest_set);
        let space = space.min(self.bound().unwrap_or(u64::MAX)).max(1);
        space.ilog2().saturating_sub(15).min(LARGEST_SHIFT) as u8
    }
}

/// The window that an end offers by the memory of its receive buffer, as the kernel does that `tcp.variant` names.
///
/// The window follows twice what was read in the last round trip (dynamic right-sizing, Fisk and Feng 2001). What
/// matters to the network is less the limit, which stays ahead of slow start, than a side effect: a segment that
/// enlarges the window is acknowledged at once, so there are no delayed acknowledgements while a connection starts.
/// HyStart sees those.
///
/// Source: Linux 6.1, 6.12 and 7.3 `tcp_select_initial_window`, `tcp_init_buffer_space`, `tcp_measure_rcv_mss`,
/// `tcp_grow_window`, `__tcp_select_window`, `tcp_rcv_space_adjust`, `tcp_rcvbuf_grow`. Measured on Linux 6.12 in a cell
/// by `tcpi_snd_wnd`, of a buffer of 6 MiB that its application has set: 3,144,280 bytes at first, 2,896 more with each
/// segment, 4,177,920 after 357 segments.
///
/// Deviation: 3.14 and 5.15 have the rules of 6.1. With those of 7.3 what lies above a gap does not count when a round
/// trip ends before the gap is filled.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct ReceiveWindow {
    /// What is offered as far as there is room. Source: Linux `rcv_ssthresh`.
    offered: u64,
    /// The most that may be offered. Source: Linux `window_clamp`.
    clamp: u64,
    /// Size of the buffer, bytes of memory. Source: Linux `sk_rcvbuf`.
    size: u64,
    /// Parts of the buffer that are window, of 256.
    ratio: u64,
    /// The largest payload that this end announces, bytes. Source: Linux `advmss`.
    mss: u64,
    /// Memory of a segment with so much payload.
    full: u64,
    /// Bytes of the peer's segments. Source: Linux `rcv_mss`.
    segment: u64,
    /// Round trip seen from this side, by timestamps, so from samples in whole milliseconds. Larger ones are smoothed
    /// by 1/8.
    rtt: Option<Duration>,
    /// A round trip has passed at this time, when everything up to this byte had been read.
    round_over: Option<(u64, Time)>,
    last_echo: u32,
    rules: &'static Rules,
    /// The window is that part of the buffer which segments really fill with payload, and the first one may be larger
    /// than a SYN says. Source: Linux since 6.6 (`tcp_measure_rcv_mss`, `scaling_ratio`) and 6.10. Before, it is half of
    /// the buffer.
    measures: bool,
    shift: u8,
    /// Where and when the current round trip began.
    round_start: (u64, Time),
    /// Bytes read in the best round trip so far. Source: Linux `rcvq_space`.
    space: u64,
    heads: Heads,
    buffer: ReceiveMemory,
    /// What the application adds to a buffer that it has set, once the first segment has come.
    beside: u64,
}

/// A window, and whether less than half of the buffer is free.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Selected {
    pub(crate) window: u64,
    pub(crate) crowded: bool,
}

/// The buffer of a receiver whose application reads everything at once.
fn read_at_once(p: &TcpParams) -> ReceiveMemory {
    let largest = 2 * p.receive_window.get();
    let locked = p.receive_buffer == ReceiveBuffer::Locked;
    ReceiveMemory {
        size: if locked { largest } else { INITIAL_BUFFER.min(largest) },
        locked,
        largest,
        shrinks: false,
        segment: p.mss,
        parts: None,
    }
}

impl ReceiveWindow {
    pub(crate) fn new(p: &TcpParams) -> Self {
        let buffer = p.receive_memory.unwrap_or_else(|| read_at_once(p));
        let at_once = p.receive_memory.is_none();
        let measures = p.heads.are_measured();
        let shift = if at_once {
            WINDOW_UNIT.ilog2() as u8
        } else {
            p.window_shift
        };
        let mss = u64::from(buffer.segment).max(1);
        let space = buffer.size * HALF / 256;
        let first = if space > mss { space / mss * mss } else { space };
        let first = if measures { first } else { first.min(FIELD) };
        let mut window = Self {
            offered: first,
            clamp: (FIELD << shift).min(buffer.bound().unwrap_or(u64::MAX)),
            size: buffer.size,
            ratio: HALF,
            mss,
            full: p.heads.received(mss, p.variant.rules()),
            segment: SEGMENT.min(mss),
            rtt: None,
            round_over: None,
            last_echo: 0,
            rules: p.variant.rules(),
            measures,
            shift,
            round_start: (1, Time::ZERO),
            space: 0,
            heads: p.heads,
            beside: if at_once && buffer.locked { ROOM } else { 0 },
            buffer,
        };
        if at_once {
            window.begin(Time::ZERO);
        }
        window
    }

    /// What is offered if there is room, bytes.
    pub(crate) fn offered(&self) -> u64 {
        self.offered
    }

    /// The same as a segment carries it, rounded up.
    pub(crate) fn units(&self) -> u16 {
        self.offered.min(self.clamp).div_ceil(WINDOW_UNIT) as u16
    }

    /// The most that may be offered, bytes.
    pub(crate) fn clamp(&self) -> u64 {
        self.clamp
    }

    /// Size of the buffer, bytes of memory.
    pub(crate) fn size(&self) -> u64 {
        self.size
    }

    /// Bytes of the peer's segments.
    pub(crate) fn segment(&self) -> u64 {
        self.segment
    }

    /// The shift count of the window.
    pub(crate) fn shift(&self) -> u8 {
        self.shift
    }

    /// Whether what was offered may be taken back, as a window without a shift count never is.
    pub(crate) fn shrinks(&self) -> bool {
        self.buffer.shrinks && self.shift > 0
    }

    /// Smoothed RTT seen from this side.
    pub(crate) fn rtt(&self) -> Option<Duration> {
        self.rtt
    }

    /// What a range above a gap takes beside its bytes: its segments are put together as far as they join. Source:
    /// Linux `tcp_ooo_try_coalesce`. Deviation: Linux puts some 16 segments together at most.
    pub(crate) fn beside(&self) -> u64 {
        self.full - self.mss
    }

    /// The window that memory of `space` bytes is worth.
    fn worth(&self, space: u64) -> u64 {
        space * self.ratio / 256
    }

    /// The window that is free while `taken` bytes of memory are taken.
    fn free(&self, taken: u64) -> u64 {
        self.worth((self.size + self.beside).saturating_sub(taken))
    }

    /// The handshake is over: room for one segment is kept. Source: Linux `tcp_init_buffer_space`.
    pub(crate) fn begin(&mut self, now: Time) {
        self.round_start.1 = now;
        let most = self.worth(self.size);
        self.clamp = self.clamp.min(most);
        if self.clamp > 2 * self.mss && self.clamp + self.mss > most {
            self.clamp = (2 * self.mss).max(most - self.mss);
        }
        self.offered = self.offered.min(self.clamp);
        self.space = self.offered.min(INITIAL * self.mss);
    }

    /// The application sets the size while `last` is the window that was said last. Source: Linux
    /// `tcp_set_window_clamp`.
    pub(crate) fn set_size(&mut self, size: u64, last: u64) {
        self.buffer.locked = true;
        self.size = size;
        let clamp = self.worth(size);
        if clamp < self.clamp {
            self.offered = self.offered.min(clamp);
        } else {
            self.offered = self.offered.max(last.min(clamp));
        }
        self.clamp = clamp;
    }

    /// A segment arrived that echoes timestamp `echo` (ms).
    #[expect(
        clippy::inline_always,
        reason = "called for every packet, and from more than one place: a call costs 1 %"
    )]
    #[inline(always)]
    pub(crate) fn on_echo(&mut self, full: bool, echo: u32, now: Time) {
        if self.round_over.is_some_and(|(_, at)| at < now) {
            self.adjust();
        }
        if echo != self.last_echo && full {
            self.last_echo = echo;
            let passed = now_ms(now).wrapping_sub(echo);
            if echo > 0 && (passed > 0 || !self.rules.spans) {
                let sample = Duration::from_millis(u64::from(passed).max(1));
                self.rtt = Some(match self.rtt {
                    Some(rtt) if sample >= rtt || !self.rules.rtt_falls => rtt.saturating_sub(rtt / 8) + sample / 8,
                    _ => sample,
                });
            }
        }
    }

    /// A segment of `len` bytes arrived that is read at once, if it is not above a gap. Answers whether the window may
    /// grow.
    #[inline]
    pub(crate) fn on_segment(&mut self, len: u16) -> bool {
        if u64::from(len) > self.segment {
            self.measure(u64::from(len), self.memory_of(len));
        }
        len >= 128 && self.offered < self.clamp
    }

    /// It may, and grows if there is room while `held` bytes of memory are taken by what is above a gap. Answers whether
    /// it did.
    #[inline(never)]
    pub(crate) fn grow_for(&mut self, len: u16, held: u64) -> bool {
        let memory = self.memory_of(len);
        let len = u64::from(len);
        self.grow(len, self.heads.enlarging(len, self.rules), memory + held)
    }

    /// The memory that a segment of `len` bytes takes.
    fn memory_of(&self, len: u16) -> u64 {
        let len = u64::from(len);
        if len == self.mss {
            self.full
        } else {
            self.heads.received(len, self.rules)
        }
    }

    /// How large the peer's segments are tells which part of the memory is payload. Source: Linux `tcp_measure_rcv_mss`.
    #[cold]
    #[inline(never)]
    pub(crate) fn measure(&mut self, len: u64, memory: u64) {
        let segment = self.buffer.parts.map_or(len, |part| len.min(u64::from(part)));
        if segment <= self.segment {
            return;
        }
        self.segment = segment.min(self.mss);
        let ratio = (len * 256 / memory).max(1);
        if self.measures && ratio != self.ratio {
            self.ratio = ratio;
            self.resize(self.size);
            self.space = self.space.min(self.clamp);
        }
    }

    /// A segment of `len` bytes of which `memory` counts enlarges the window, if there is room beside the `taken` bytes
    /// of memory. Answers whether it does. Source: Linux `tcp_grow_window`.
    #[inline]
    pub(crate) fn grow(&mut self, len: u64, memory: u64, taken: u64) -> bool {
        let room = self.clamp.min(self.free(taken)).saturating_sub(self.offered);
        if room == 0 {
            return false;
        }
        let more = if self.worth(memory) <= len {
            2 * self.mss
        } else {
            self.grow_seldom(len, memory)
        };
        if more > 0 {
            self.offered += room.min(more.max(2 * len));
        }
        more > 0
    }

    /// A packet takes much more than its payload: the window grows by it as long as it is small against the largest
    /// buffer. Source: Linux `__tcp_grow_window`.
    fn grow_seldom(&self, len: u64, memory: u64) -> u64 {
        let mut worth = self.worth(memory) / 2;
        let mut window = self.worth(self.buffer.largest) / 2;
        while self.offered <= window {
            if worth <= len {
                return 2 * self.segment;
            }
            worth /= 2;
            window /= 2;
        }
        0
    }

    /// A segment came above a gap, and there are `span` bytes from the next byte expected to the last one that came.
    /// Source: Linux 7.3 `tcp_data_queue_ofo`, `tcp_rcvbuf_grow`.
    #[inline]
    pub(crate) fn on_span(&mut self, span: u64) {
        if self.rules.spans {
            self.enlarge(2 * self.space + span);
        }
    }

    /// The buffer becomes large enough for a window of so many bytes.
    fn enlarge(&mut self, window: u64) {
        let size = if self.measures {
            window * 256 / self.ratio
        } else {
            window / self.mss * reckoned(self.mss)
        };
        let size = size.min(self.buffer.largest);
        if !self.buffer.locked && size > self.size {
            self.resize(size);
        }
    }

    fn resize(&mut self, size: u64) {
        self.size = size;
        self.clamp = self.worth(size).min(FIELD << self.shift);
    }

    /// Whether another packet is taken beside `taken` bytes of memory: one may be more than fits. Source: Linux
    /// `tcp_try_rmem_schedule`, `tcp_clamp_window`.
    pub(crate) fn has_room(&mut self, taken: u64) -> bool {
        if taken > self.size && !self.buffer.locked {
            self.size = self.size.max(taken.min(self.buffer.largest));
        }
        if taken > self.size {
            self.offered = self.clamp.min(2 * self.mss);
        }
        taken <= self.size
    }

    /// Whether all that is offered is free, and half of the buffer, while `held` bytes of memory are taken by what lies
    /// above a gap. [`ReceiveWindow::select`] then answers with what is offered.
    #[inline]
    pub(crate) fn is_roomy(&self, held: u64) -> bool {
        let free = self.free(held);
        free >= self.offered && free >= self.clamp / 2
    }

    /// The window that would be said now, while `taken` bytes of memory are taken, before what was said is looked at.
    /// That was `last`. Source: Linux `__tcp_select_window`.
    pub(crate) fn select(&self, taken: u64, last: u64) -> Selected {
        let (below, shrinks) = ((1 << self.shift) - 1, self.shrinks());
        let (mut free, allowed) = (self.free(taken), self.worth(self.size));
        let whole = self.clamp.min(allowed);
        let segment = self.segment.min(whole);
        let crowded = free < whole / 2;
        if crowded || shrinks {
            free &= !below;
        }
        let none = free < allowed / 16 || free < segment || shrinks && free <= below;
        let window = if whole == 0 || crowded && none {
            0
        } else if shrinks {
            if free > self.offered {
                (self.offered + below) & !below
            } else {
                free
            }
        } else {
            free = free.min(self.offered);
            if self.shift > 0 {
                (free + below) & !below
            } else if last + segment <= free || last > free {
                free / segment * segment
            } else if segment == whole && free > last + whole / 2 {
                free
            } else {
                last
            }
        };
        Selected { window, crowded }
    }

    /// The application has read everything up to `next`. It runs once all segments of one instant are in, so the end
    /// of a round trip is settled when time has moved on.
    #[inline]
    pub(crate) fn on_read(&mut self, next: u64, now: Time) {
        if self.round_over.is_some() || self.rtt.is_some_and(|rtt| now.since(self.round_start.1) >= rtt) {
            self.round_over = Some((next, now));
        }
    }

    /// A round trip is over: the window follows what was read in it. Source: Linux `tcp_rcv_space_adjust`.
    #[inline(never)]
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
        let mut wanted = 2 * copied + if self.rules.spans { 0 } else { 16 * self.mss };
        wanted += 2 * (wanted * (copied - self.space) / self.space);
        self.space = copied;
        self.enlarge(wanted);
    }
}

/// Memory that Linux 6.1 reckons for a segment of `mss` bytes when it enlarges the buffer: so much that half of it holds
/// the segment. 2984 bytes for 1448. Source: `tcp_rcv_space_adjust`.
fn reckoned(mss: u64) -> u64 {
    let least = mss + RECKONED;
    least + (2 * mss).saturating_sub(least).next_multiple_of(128)
}

#[cfg(test)]
mod tests;
