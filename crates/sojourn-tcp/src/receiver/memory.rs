//! The memory of what has come and is not read, and the window that is offered by it.
//!
//! Source: Linux 7.3 `tcp_select_initial_window`, `tcp_init_buffer_space`, `tcp_measure_rcv_mss`, `tcp_grow_window`,
//! `__tcp_select_window`, `tcp_select_window`, `tcp_sequence`, `tcp_data_queue`, `tcp_clamp_window`, `tcp_rcvbuf_grow`,
//! `__tcp_cleanup_rbuf`. Deviation: nothing is put together when memory is short (`tcp_collapse`), what lies above a gap
//! is kept (`tcp_prune_ofo_queue`), and what is read does not enlarge the buffer (`tcp_rcv_space_adjust`).

use std::collections::VecDeque;

/// Parts of the buffer that are payload, of 256, before anything has come. Source: Linux `TCP_DEFAULT_SCALING_RATIO`.
const RATIO: u64 = 128;
/// What is reckoned for a segment before any has come. Source: Linux `TCP_MSS_DEFAULT`.
const SEGMENT: u64 = 536;
/// The largest shift count (RFC 7323 section 2.3).
const LARGEST_SHIFT: u32 = 14;
/// What the field of a segment says at most.
const FIELD: u64 = 65_535;
/// Initial window that counts for the growth of the buffer, segments. Source: Linux `TCP_INIT_CWND`.
const INITIAL: u64 = 10;
/// What a packet takes beside its payload before it is rounded up: headers, a gap, and what ends the data; and an
/// `sk_buff`. Measured on Linux 7.3 behind a tun device, by `SK_MEMINFO_RMEM_ALLOC` of packets of 100 to 65,000 bytes.
const BESIDE: u64 = 424;
const SK_BUFF: u64 = 256;

/// A receive buffer of which every byte counts, and whose application reads when it likes ([`Endpoint::read`]).
///
/// [`Endpoint::read`]: crate::Endpoint::read
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
        self.locked.then_some(self.size * RATIO / 256)
    }

    /// Its shift count, if both ends scale windows. `largest_set` is the largest size that an application may set, bytes
    /// (Linux `net.core.rmem_max`).
    #[must_use]
    pub fn shift(&self, largest_set: u64) -> u8 {
        let space = (self.size * RATIO / 256).max(self.largest).max(largest_set);
        let space = space.min(self.bound().unwrap_or(u64::MAX)).max(1);
        space.ilog2().saturating_sub(15).min(LARGEST_SHIFT) as u8
    }
}

/// What [`ReceiveMemory`] holds, and what was refused.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Held {
    /// Size of the buffer, bytes. Source: Linux `SK_MEMINFO_RCVBUF`.
    pub size: u64,
    /// Of these, taken. Source: Linux `SK_MEMINFO_RMEM_ALLOC`.
    pub taken: u64,
    /// Bytes of the peer's segments. Source: Linux `tcpi_rcv_mss`.
    pub segment: u64,
    /// Arrivals beyond the window. Source: Linux `TcpExtBeyondWindow`.
    pub beyond_window: u64,
    /// Arrivals while the window was shut. Source: Linux `TcpExtTCPZeroWindowDrop`.
    pub shut: u64,
    /// Arrivals that the buffer had no room for. Source: Linux `TcpExtTCPRcvQDrop`.
    pub no_room: u64,
}

/// What becomes of an arrival.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verdict {
    /// It is taken.
    Taken,
    /// It is taken; its beginning, which came before, is reported.
    Repeats,
    /// It is dropped, and answered.
    Dropped,
    /// The same; its beginning came before, and is reported.
    DroppedRepeat,
}

/// An arrival, in sequence numbers.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrival {
    pub(super) start: u64,
    pub(super) len: u64,
    pub(super) fin: bool,
}

/// The state of a [`ReceiveMemory`].
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(super) struct Memory {
    about: ReceiveMemory,
    shift: u8,
    held: Held,
    /// Where each packet ends that is not read whole, and what it takes.
    packets: VecDeque<(u64, u64)>,
    /// The next byte that the application reads.
    read: u64,
    /// Parts of the buffer that are payload, of 256.
    ratio: u64,
    clamp: u64,
    /// The window follows this as far as there is room. Source: Linux `rcv_ssthresh`.
    offered: u64,
    /// The window that was said last, and `next` then. Source: Linux `rcv_wnd`, `rcv_wup`.
    pub(super) window: u64,
    said_at: u64,
    /// One past the largest number that any window said admits. Source: Linux `rcv_mwnd_seq`.
    pub(super) edge: u64,
    /// The handshake is over.
    begun: bool,
    /// The last arrival had no room, so the next window is none. Source: Linux `ICSK_ACK_NOMEM`.
    full: bool,
    /// What was read in the best round trip. Source: Linux `rcvq_space`.
    space: u64,
    /// An application has the connection.
    pub(super) owned: bool,
    /// The last arrival has enlarged the window.
    grew: bool,
}

/// A window, and whether less than half of the buffer is free.
#[derive(Clone, Copy, Debug)]
pub(super) struct Selected {
    pub(super) window: u64,
    pub(super) crowded: bool,
}

/// Memory of a packet with so much payload.
fn memory_of(len: u64) -> u64 {
    let data = len + BESIDE;
    let rounded = if data > 2048 {
        data.next_multiple_of(4096)
    } else if data > 1024 {
        2048
    } else {
        data.next_multiple_of(64)
    };
    rounded + SK_BUFF
}

impl Memory {
    pub(super) fn new(about: ReceiveMemory, shift: u8) -> Self {
        let segment = u64::from(about.segment).max(1);
        let space = (about.size * RATIO / 256).min(about.bound().unwrap_or(u64::MAX));
        let window = if space > segment {
            space / segment * segment
        } else {
            space
        };
        let clamp = (FIELD << shift).min(about.bound().unwrap_or(u64::MAX));
        Self {
            about,
            shift,
            held: Held {
                size: about.size,
                segment: SEGMENT.min(segment),
                ..Held::default()
            },
            packets: VecDeque::new(),
            read: 1,
            ratio: RATIO,
            clamp,
            offered: window,
            window,
            said_at: 1,
            edge: 1 + window,
            begun: false,
            full: false,
            space: 0,
            owned: true,
            grew: false,
        }
    }

    /// Whether the last arrival has enlarged the window.
    pub(super) fn grew(&self) -> bool {
        self.grew
    }

    /// Whether the last arrival had no room.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    pub(super) fn held(&self) -> Held {
        self.held
    }

    /// The window that memory of `space` bytes is worth; none if it is less than nothing.
    fn worth(&self, space: u64) -> u64 {
        space * self.ratio / 256
    }

    fn free(&self) -> u64 {
        self.worth(self.held.size.saturating_sub(self.held.taken))
    }

    /// The handshake is over: room for one segment is kept.
    pub(super) fn begin(&mut self) {
        let segment = u64::from(self.about.segment);
        let most = self.worth(self.held.size);
        self.clamp = self.clamp.min(most);
        if self.clamp > 2 * segment && self.clamp + segment > most {
            self.clamp = (2 * segment).max(most - segment);
        }
        self.offered = self.offered.min(self.clamp);
        self.space = self.offered.min(self.window).min(INITIAL * segment);
        self.begun = true;
    }

    /// The application sets the size.
    pub(super) fn set_size(&mut self, size: u64) {
        self.about.locked = true;
        self.held.size = size;
        let clamp = self.worth(size);
        if clamp < self.clamp {
            self.offered = self.offered.min(clamp);
        } else {
            self.offered = self.offered.max(self.window.min(clamp));
        }
        self.clamp = clamp;
    }

    /// What is left of the window that was said last.
    fn window_left(&self, next: u64) -> u64 {
        (self.said_at + self.window).saturating_sub(next)
    }

    /// Judges an arrival, and takes it if it may.
    pub(super) fn judge(&mut self, arrival: Arrival, next: u64) -> Verdict {
        self.grew = false;
        let Arrival { start, len, fin } = arrival;
        let (data_end, end) = (start + len, start + len + u64::from(fin));
        let limit = self.edge.max(next);
        if data_end > limit && (start > limit || self.read < next) {
            self.held.beyond_window += 1;
            return if start < next {
                Verdict::DroppedRepeat
            } else {
                Verdict::Dropped
            };
        }
        if end <= next {
            // All of it is a duplicate, which takes no memory.
            return Verdict::Taken;
        }
        let left = self.window_left(next);
        if start > next && start >= next + left {
            self.held.beyond_window += 1;
            return Verdict::Dropped;
        }
        let repeats = start < next;
        if start <= next {
            if left == 0 && (len > 0 || repeats) {
                self.held.shut += 1;
                return if repeats {
                    Verdict::DroppedRepeat
                } else {
                    Verdict::Dropped
                };
            }
            if !self.has_room() {
                self.full = true;
                if self.read < next && len > 0 {
                    self.held.no_room += 1;
                    return Verdict::Dropped;
                }
            }
        } else if !self.has_room() {
            return Verdict::Dropped;
        }
        self.take(arrival, start <= next, next);
        if repeats { Verdict::Repeats } else { Verdict::Taken }
    }

    /// Whether another packet may be taken: one may be more than fits.
    fn has_room(&mut self) -> bool {
        if self.held.taken > self.held.size {
            if !self.about.locked && self.held.size < self.about.largest {
                self.held.size = self.held.taken.min(self.about.largest);
            }
            if self.held.taken > self.held.size {
                self.offered = self.clamp.min(2 * u64::from(self.about.segment));
            }
        }
        self.held.taken <= self.held.size
    }

    fn take(&mut self, arrival: Arrival, in_order: bool, next: u64) {
        let Arrival { start, len, .. } = arrival;
        if len == 0 {
            return;
        }
        let memory = memory_of(len);
        self.measure(len, memory);
        // What is in order takes its memory before the window grows.
        if in_order {
            self.held.taken += memory;
        }
        if len >= 128 || !in_order {
            self.grow(len, memory);
        }
        if !in_order {
            self.held.taken += memory;
        }
        let end = start + len;
        let place = self.packets.partition_point(|packet| packet.0 <= end);
        self.packets.insert(place, (end, memory));
        if !in_order && self.owned {
            let last = self.packets.back().map_or(next, |packet| packet.0);
            self.enlarge(2 * self.space + last.saturating_sub(next));
        }
    }

    /// How large the peer's segments are tells which part of the memory is payload.
    fn measure(&mut self, len: u64, memory: u64) {
        let segment = self.about.parts.map_or(len, |part| len.min(u64::from(part)));
        if segment > self.held.segment {
            let ratio = (len * 256 / memory).max(1);
            if ratio != self.ratio {
                self.ratio = ratio;
                self.clamp = self.worth(self.held.size);
                self.space = self.space.min(self.clamp);
            }
            self.held.segment = segment.min(u64::from(self.about.segment));
        }
    }

    fn grow(&mut self, len: u64, memory: u64) {
        let room = self.clamp.min(self.free()).saturating_sub(self.offered);
        if room == 0 {
            return;
        }
        let more = if self.worth(memory) <= len {
            2 * u64::from(self.about.segment)
        } else {
            self.grow_seldom(len, memory)
        };
        if more > 0 {
            self.offered += room.min(more.max(2 * len));
            self.grew = true;
        }
    }

    /// A packet takes much more than its payload: the window grows by it as long as it is small against the largest
    /// buffer. Source: Linux `__tcp_grow_window`.
    fn grow_seldom(&self, len: u64, memory: u64) -> u64 {
        let mut worth = self.worth(memory) / 2;
        let mut window = self.worth(self.about.largest) / 2;
        while self.offered <= window {
            if worth <= len {
                return 2 * self.held.segment;
            }
            worth /= 2;
            window /= 2;
        }
        0
    }

    /// The buffer becomes large enough for a window of so many bytes.
    fn enlarge(&mut self, window: u64) {
        let size = (window * 256 / self.ratio).min(self.about.largest);
        if !self.about.locked && size > self.held.size {
            self.held.size = size;
            self.clamp = self.worth(size);
        }
    }

    /// The window that would be said now, before what was said is looked at.
    pub(super) fn select(&self) -> Selected {
        let unit = 1 << self.shift;
        let (mut free, allowed) = (self.free(), self.worth(self.held.size));
        let whole = self.clamp.min(allowed);
        let segment = self.held.segment.min(whole);
        let crowded = free < whole / 2;
        let shrinks = self.about.shrinks && self.shift > 0;
        if crowded || shrinks {
            free = free / unit * unit;
        }
        let none = free < allowed / 16 || free < segment || shrinks && free < unit;
        let window = if whole == 0 || crowded && none {
            0
        } else if shrinks {
            if free > self.offered {
                self.offered.next_multiple_of(unit)
            } else {
                free
            }
        } else {
            free = free.min(self.offered);
            if self.shift > 0 {
                free.next_multiple_of(unit)
            } else if self.window + segment <= free || self.window > free {
                free / segment * segment
            } else if segment == whole && free > self.window + whole / 2 {
                free
            } else {
                self.window
            }
        };
        Selected { window, crowded }
    }

    /// The window that is said now, bytes, and whether less than half of the buffer is free.
    pub(super) fn say(&mut self, next: u64) -> Selected {
        if !self.begun {
            return Selected {
                window: self.window.min(FIELD),
                crowded: false,
            };
        }
        let mut selected = self.select();
        let left = self.window_left(next);
        if std::mem::take(&mut self.full) {
            selected.window = 0;
        } else if selected.window < left && !(self.about.shrinks && self.shift > 0) {
            // RFC 9293 section 3.8.6.2.1: what was offered is not taken back.
            selected.window = left.next_multiple_of(1 << self.shift);
        }
        self.window = selected.window;
        self.said_at = next;
        self.edge = self.edge.max(next + self.window);
        selected.window = self.window.min(FIELD << self.shift) >> self.shift << self.shift;
        selected
    }

    /// The application has read `bytes`. Answers whether the window has become so much larger that the peer is told.
    pub(super) fn read(&mut self, bytes: u64, next: u64) -> bool {
        self.read = (self.read + bytes).min(next);
        while self.packets.front().is_some_and(|packet| packet.0 <= self.read) {
            let (_, memory) = self.packets.pop_front().expect("there is one");
            self.held.taken -= memory;
        }
        let left = self.window_left(next);
        let selected = self.select().window;
        bytes > 0 && 2 * left <= self.clamp && selected > 0 && selected >= 2 * left
    }

    /// Whether all that has come was read.
    pub(super) fn is_empty(&self) -> bool {
        self.held.taken == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn locked(size: u64) -> Memory {
        let about = ReceiveMemory {
            size,
            locked: true,
            largest: 15 << 20,
            shrinks: false,
            segment: 1460,
            parts: Some(1000),
        };
        Memory::new(about, about.shift(4 << 20))
    }

    fn arrival(start: u64, len: u64) -> Arrival {
        Arrival { start, len, fin: false }
    }

    /// Seen on Linux 7.3 by `SK_MEMINFO_RMEM_ALLOC`, of packets from a tun device.
    #[test]
    fn a_packet_takes_what_the_kernel_takes_for_it() {
        for (len, memory) in [
            (100, 832),
            (1000, 2304),
            (2000, 4352),
            (3000, 4352),
            (4000, 8448),
            (9000, 12_544),
            (10_000, 12_544),
            (20_000, 20_736),
            (39_000, 41_216),
            (60_000, 61_696),
            (65_000, 65_792),
        ] {
            assert_eq!(memory_of(len), memory, "{len}");
        }
    }

    /// Worked by hand. Of 20,000 bytes half is a window: six segments of 1460, unscaled. 4000 bytes take 8448, so 121 of
    /// 256 parts are payload: 11,552 free bytes are worth 5460, which is five segments of 1000.
    #[test]
    fn what_is_not_read_closes_the_window() {
        let mut memory = locked(20_000);
        assert_eq!((memory.shift, memory.window), (0, 8760));
        memory.begin();
        assert_eq!(memory.offered, 8540);
        assert_eq!(memory.judge(arrival(1, 4000), 1), Verdict::Taken);
        assert_eq!(memory.say(4001).window, 5000);
        // Beyond it, and nothing was read: only an empty buffer takes a segment that is too long.
        assert_eq!(memory.judge(arrival(4001, 50_000), 4001), Verdict::Dropped);
        assert_eq!(memory.judge(arrival(70_001, 1000), 4001), Verdict::Dropped);
        assert_eq!(memory.held().beyond_window, 2);
        // The window is more than half of what it can be: nobody is told.
        assert!(!memory.read(4000, 4001));
        assert_eq!(memory.judge(arrival(4001, 50_000), 4001), Verdict::Taken);
        assert_eq!(memory.say(54_001).window, 0);
        assert_eq!(memory.judge(arrival(54_001, 1), 54_001), Verdict::Dropped);
        assert_eq!(memory.held().beyond_window, 3);
        // Within what was offered once, but not now.
        memory.edge = 60_000;
        assert_eq!(memory.judge(arrival(54_001, 1), 54_001), Verdict::Dropped);
        assert_eq!(memory.held().shut, 1);
        assert!(memory.read(50_000, 54_001));
        assert!(memory.is_empty());
    }

    #[test]
    fn a_buffer_takes_one_packet_more_than_fits_and_then_none() {
        let mut memory = locked(40_000);
        memory.begin();
        for start in [1, 20_001] {
            assert_eq!(memory.judge(arrival(start, 20_000), start), Verdict::Taken);
            memory.edge = 100_000;
            memory.window = 50_000;
        }
        assert_eq!(memory.held().taken, 41_472);
        assert_eq!(memory.judge(arrival(40_001, 1000), 40_001), Verdict::Dropped);
        assert_eq!(memory.held().no_room, 1);
        assert_eq!(memory.say(40_001).window, 0);
    }

    #[test]
    fn the_shift_makes_the_largest_buffer_fit_the_field() {
        // 32 MiB are 65,536 units of 512; Linux takes the next shift, because the field ends at 65,535.
        let about = ReceiveMemory {
            size: 131_072,
            locked: false,
            largest: 32 << 20,
            shrinks: false,
            segment: 1460,
            parts: None,
        };
        assert_eq!(about.shift(4 << 20), 10);
        assert_eq!(
            ReceiveMemory {
                size: 2_000_000,
                locked: true,
                ..about
            }
            .shift(4 << 20),
            4
        );
        assert_eq!(ReceiveMemory::doubled(10_000), 20_000);
        assert_eq!(ReceiveMemory::doubled(1), 2304);
    }
}
