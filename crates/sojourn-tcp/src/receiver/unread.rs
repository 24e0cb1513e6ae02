//! What has come and is not read, where the application reads when it likes.
//!
//! Source: Linux 7.3 `tcp_select_window`, `tcp_sequence`, `tcp_data_queue`, `__tcp_cleanup_rbuf`. Deviation: nothing is
//! put together when memory is short (`tcp_collapse`), what lies above a gap is kept (`tcp_prune_ofo_queue`), and what is
//! read does not enlarge the buffer (`tcp_rcv_space_adjust`).

use crate::window::{FIELD, ReceiveWindow, Selected};
use std::collections::VecDeque;

/// What a packet takes beside its payload before it is rounded up: headers, a gap, and what ends the data; and an
/// `sk_buff`. Measured on Linux 7.3 behind a tun device, by `SK_MEMINFO_RMEM_ALLOC` of packets of 100 to 65,000 bytes.
const BESIDE: u64 = 424;
const SK_BUFF: u64 = 256;

/// What a receive buffer holds, and what was refused.
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

/// Data that the application has not read.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "independent facts")]
pub(super) struct Unread {
    /// `size` and `segment` are the window's.
    counters: Held,
    /// Where each packet ends that is not read whole, and what it takes.
    packets: VecDeque<(u64, u64)>,
    /// The next byte that the application reads.
    read: u64,
    /// The window that was said last, and `next` then. Source: Linux `rcv_wnd`, `rcv_wup`.
    pub(super) window: u64,
    said_at: u64,
    /// One past the largest number that any window said admits. Source: Linux `rcv_mwnd_seq`.
    pub(super) edge: u64,
    /// The handshake is over.
    begun: bool,
    /// The last arrival had no room, so the next window is none. Source: Linux `ICSK_ACK_NOMEM`.
    full: bool,
    /// An application has the connection.
    pub(super) owned: bool,
    /// The last arrival has enlarged the window.
    grew: bool,
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

impl Unread {
    pub(super) fn new(window: &ReceiveWindow) -> Self {
        Self {
            counters: Held::default(),
            packets: VecDeque::new(),
            read: 1,
            window: window.offered(),
            said_at: 1,
            edge: 1 + window.offered(),
            begun: false,
            full: false,
            owned: true,
            grew: false,
        }
    }

    /// The handshake is over.
    pub(super) fn begin(&mut self) {
        self.begun = true;
    }

    /// Whether the last arrival has enlarged the window.
    pub(super) fn grew(&self) -> bool {
        self.grew
    }

    /// Whether the last arrival had no room.
    pub(super) fn is_full(&self) -> bool {
        self.full
    }

    /// What the buffer of `window` holds.
    pub(super) fn held(&self, window: &ReceiveWindow) -> Held {
        Held {
            size: window.size(),
            segment: window.segment(),
            ..self.counters
        }
    }

    /// What is left of the window that was said last.
    fn window_left(&self, next: u64) -> u64 {
        (self.said_at + self.window).saturating_sub(next)
    }

    /// Judges an arrival, and takes it if it may.
    pub(super) fn judge(&mut self, arrival: Arrival, next: u64, window: &mut ReceiveWindow) -> Verdict {
        self.grew = false;
        let Arrival { start, len, fin } = arrival;
        let (data_end, end) = (start + len, start + len + u64::from(fin));
        let limit = self.edge.max(next);
        if data_end > limit && (start > limit || self.read < next) {
            self.counters.beyond_window += 1;
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
            self.counters.beyond_window += 1;
            return Verdict::Dropped;
        }
        let repeats = start < next;
        if start <= next {
            if left == 0 && (len > 0 || repeats) {
                self.counters.shut += 1;
                return if repeats {
                    Verdict::DroppedRepeat
                } else {
                    Verdict::Dropped
                };
            }
            if !window.has_room(self.counters.taken) {
                self.full = true;
                if self.read < next && len > 0 {
                    self.counters.no_room += 1;
                    return Verdict::Dropped;
                }
            }
        } else if !window.has_room(self.counters.taken) {
            return Verdict::Dropped;
        }
        self.take(arrival, start <= next, next, window);
        if repeats { Verdict::Repeats } else { Verdict::Taken }
    }

    fn take(&mut self, arrival: Arrival, in_order: bool, next: u64, window: &mut ReceiveWindow) {
        let Arrival { start, len, .. } = arrival;
        if len == 0 {
            return;
        }
        let memory = memory_of(len);
        window.measure(len, memory);
        if len >= 128 || !in_order {
            // What is in order takes its memory before the window grows.
            let before = self.counters.taken + if in_order { memory } else { 0 };
            self.grew = window.grow(len, memory, before);
        }
        self.counters.taken += memory;
        let end = start + len;
        let place = self.packets.partition_point(|packet| packet.0 <= end);
        self.packets.insert(place, (end, memory));
        if !in_order && self.owned {
            let last = self.packets.back().map_or(next, |packet| packet.0);
            window.on_span(last.saturating_sub(next));
        }
    }

    /// The window that would be said now.
    pub(super) fn select(&self, window: &ReceiveWindow) -> Selected {
        window.select(self.counters.taken, self.window)
    }

    /// The window that is said now, bytes, and whether less than half of the buffer is free.
    pub(super) fn say(&mut self, next: u64, window: &ReceiveWindow) -> Selected {
        if !self.begun {
            return Selected {
                window: self.window.min(FIELD),
                crowded: false,
            };
        }
        let mut selected = self.select(window);
        let (left, shift) = (self.window_left(next), window.shift());
        if std::mem::take(&mut self.full) {
            selected.window = 0;
        } else if selected.window < left && !window.shrinks() {
            // RFC 9293 section 3.8.6.2.1: what was offered is not taken back.
            selected.window = left.next_multiple_of(1 << shift);
        }
        self.window = selected.window;
        self.said_at = next;
        self.edge = self.edge.max(next + self.window);
        selected.window = self.window.min(FIELD << shift) >> shift << shift;
        selected
    }

    /// The application has read `bytes`. Answers whether the window has become so much larger that the peer is told.
    pub(super) fn read(&mut self, bytes: u64, next: u64, window: &ReceiveWindow) -> bool {
        self.read = (self.read + bytes).min(next);
        while self.packets.front().is_some_and(|packet| packet.0 <= self.read) {
            let (_, memory) = self.packets.pop_front().expect("there is one");
            self.counters.taken -= memory;
        }
        let left = self.window_left(next);
        let selected = self.select(window).window;
        bytes > 0 && 2 * left <= window.clamp() && selected > 0 && selected >= 2 * left
    }

    /// Whether all that has come was read.
    pub(super) fn is_empty(&self) -> bool {
        self.counters.taken == 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::TcpParams;
    use crate::variant::Variant;
    use crate::window::ReceiveMemory;
    use sojourn_units::Time;

    /// A buffer of so many bytes that the application has set, after the handshake.
    fn locked(size: u64) -> (ReceiveWindow, Unread) {
        let memory = ReceiveMemory {
            size,
            locked: true,
            largest: 15 << 20,
            shrinks: false,
            segment: 1460,
            parts: Some(1000),
        };
        let mut window = ReceiveWindow::new(&TcpParams {
            variant: Variant::Linux73,
            heads: Variant::Linux73.heads(),
            receive_memory: Some(memory),
            window_shift: memory.shift(4 << 20),
            ..TcpParams::default()
        });
        let mut unread = Unread::new(&window);
        window.begin(Time::ZERO);
        unread.begin();
        (window, unread)
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
        let (mut window, mut unread) = locked(20_000);
        assert_eq!((window.shift(), unread.window), (0, 8760));
        assert_eq!(window.offered(), 8540);
        assert_eq!(unread.judge(arrival(1, 4000), 1, &mut window), Verdict::Taken);
        assert_eq!(unread.say(4001, &window).window, 5000);
        // Beyond it, and nothing was read: only an empty buffer takes a segment that is too long.
        assert_eq!(unread.judge(arrival(4001, 50_000), 4001, &mut window), Verdict::Dropped);
        assert_eq!(unread.judge(arrival(70_001, 1000), 4001, &mut window), Verdict::Dropped);
        assert_eq!(unread.held(&window).beyond_window, 2);
        // The window is more than half of what it can be: nobody is told.
        assert!(!unread.read(4000, 4001, &window));
        assert_eq!(unread.judge(arrival(4001, 50_000), 4001, &mut window), Verdict::Taken);
        assert_eq!(unread.say(54_001, &window).window, 0);
        assert_eq!(unread.judge(arrival(54_001, 1), 54_001, &mut window), Verdict::Dropped);
        assert_eq!(unread.held(&window).beyond_window, 3);
        // Within what was offered once, but not now.
        unread.edge = 60_000;
        assert_eq!(unread.judge(arrival(54_001, 1), 54_001, &mut window), Verdict::Dropped);
        assert_eq!(unread.held(&window).shut, 1);
        assert!(unread.read(50_000, 54_001, &window));
        assert!(unread.is_empty());
    }

    #[test]
    fn a_buffer_takes_one_packet_more_than_fits_and_then_none() {
        let (mut window, mut unread) = locked(40_000);
        for start in [1, 20_001] {
            assert_eq!(unread.judge(arrival(start, 20_000), start, &mut window), Verdict::Taken);
            unread.edge = 100_000;
            unread.window = 50_000;
        }
        assert_eq!(unread.held(&window).taken, 41_472);
        assert_eq!(
            unread.judge(arrival(40_001, 1000), 40_001, &mut window),
            Verdict::Dropped
        );
        assert_eq!(unread.held(&window).no_room, 1);
        assert_eq!(unread.say(40_001, &window).window, 0);
    }
}
