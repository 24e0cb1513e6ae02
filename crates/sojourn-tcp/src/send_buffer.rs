//! The send buffer: what the application has handed to the kernel, in how large pieces, and when it may hand over
//! more.

use crate::rules::Rules;
use crate::variant::Heads;
use std::collections::VecDeque;

/// `tcp_wmem`'s largest size.
const BYTES: u32 = 4 << 20;
/// What a full segment occupies there when nothing is offloaded. Linux 3.14: a 4 KiB slab with its bookkeeping.
const SEGMENT_3_14: u32 = 4352;
/// The buffer is enlarged to this many windows, unless its control says otherwise. Source: `tcp_sndbuf_expand`.
const WINDOWS: u32 = 2;
/// The smallest window that it reckons with. Source: `TCP_INIT_CWND`.
const LEAST_WINDOW: u32 = 10;

/// What the buffer must know of its sender.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub(crate) mss: u16,
    /// First unacknowledged byte.
    pub(crate) una: u64,
    /// One past the last byte that the application wants to send, or past the FIN.
    pub(crate) written: u64,
    pub(crate) cwnd: u32,
    /// Segments: a window may be reordered by as much.
    pub(crate) reordering: u32,
    /// One past the last byte that the peer admits.
    pub(crate) window_end: u64,
    /// SACKed segments that the kernel has merged into the one before: their heads are free.
    pub(crate) merged: u32,
}

/// A send buffer.
///
/// Linux 6.1: it begins with two windows and follows the congestion window, twice as large.
/// (`tcp_should_expand_sndbuf` asks for a window that is not filled; one that has just grown is not, for small queues
/// (`tcp_small_queue_check`) let two segments out at once and the third a moment later. Measured with
/// `INET_DIAG_SKMEMINFO`: 2.08 windows throughout.) The application fills it at once; when it is full, the
/// application is woken when a third of it is free (`sk_stream_is_writeable`). Each time, and whenever half the
/// peer's window has been written, the last segment carries PSH, which the receiver answers at once. With `tcp_wmem`
/// at 64 MiB the kernel's flows go as far as its window; with 4 MiB, one flow at 400 ms goes no further than this.
///
/// A SACKed segment beside another becomes part of that: it takes its payload only, and its head is free for new
/// data (`tcp_shift_skb_data`, `tcp_shifted_skb`). Above a gap a full buffer so takes up to half as much again.
///
/// Deviation: of Linux 3.14 only the size is modelled. Segments that are not full count as full ones. Linux merges no
/// more than 362 full segments (`tcp_skb_shift`: 524,280 bytes), and not one that was sent again without being lost.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct SendBuffer {
    /// One past the last byte that it has taken.
    end: u64,
    /// It writes again when this is the first unacknowledged byte, or a later one.
    wakes_at: u64,
    /// The window, in segments, that the size follows.
    fits: u32,
    /// It was full, and the application waits.
    full: bool,
    /// It is enlarged, and counts memory (Linux 6.1). If not, it counts segments.
    grows: bool,
    /// Ends of segments yet to be sent that carry PSH, ascending.
    pushes: VecDeque<u64>,
    /// What a segment takes, and what is reckoned for one when the buffer is enlarged, bytes.
    segment: u32,
    expanded_by: u32,
    /// The windows that it is enlarged to.
    windows: u32,
    /// Bytes, of memory.
    size: u32,
    /// The last byte that got PSH, plus one.
    pushed: u64,
    /// The largest window that the peer has offered.
    largest_window: u64,
    /// PSH is set where the application says, in place of the rule above.
    explicit_push: bool,
}

impl SendBuffer {
    pub(crate) fn new(rules: &Rules, heads: Heads) -> Self {
        let (segment, expanded_by, size) = if rules.send_buffer_grows {
            let reckoned = heads.reckoned();
            (heads.segment(), reckoned, WINDOWS * LEAST_WINDOW * reckoned)
        } else {
            (SEGMENT_3_14, 0, BYTES)
        };
        Self {
            grows: rules.send_buffer_grows,
            segment,
            expanded_by,
            windows: WINDOWS,
            size,
            end: 1,
            full: false,
            wakes_at: 1,
            fits: LEAST_WINDOW,
            pushed: 1,
            pushes: VecDeque::new(),
            largest_window: 0,
            explicit_push: false,
        }
    }

    /// It is enlarged to so many windows.
    pub(crate) fn with_windows(self, windows: u32) -> Self {
        Self {
            size: self.size / self.windows * windows,
            windows,
            ..self
        }
    }

    /// It begins with so many bytes of memory, if that is more.
    pub(crate) fn with_at_least(self, bytes: Option<u32>) -> Self {
        Self {
            size: self.size.max(bytes.unwrap_or(0).min(BYTES)),
            ..self
        }
    }

    /// What a segment takes, bytes.
    pub(crate) fn segment(&self) -> u32 {
        self.segment
    }

    /// The largest window that the peer has offered when something was written.
    pub(crate) fn largest_window(&self) -> u64 {
        self.largest_window
    }

    /// One past the last byte that it has taken, or past the FIN.
    #[inline]
    pub(crate) fn end(&self) -> u64 {
        self.end
    }

    /// Whether the application waits until there is room.
    pub(crate) fn is_full(&self) -> bool {
        self.full
    }

    /// Whether the segment that ends at `end` carries PSH; it is sent now.
    #[inline]
    pub(crate) fn takes_push(&mut self, end: u64) -> bool {
        let mut found = false;
        while self.pushes.front().is_some_and(|&at| at <= end) {
            self.pushes.pop_front();
            found = true;
        }
        found
    }

    /// Whether the application wants to write, and may.
    #[inline]
    pub(crate) fn wakes(&mut self, view: View) -> bool {
        if self.end >= view.written {
            return false;
        }
        if self.full {
            if view.cwnd > self.fits {
                self.expand(view);
            }
            if view.una < self.wakes_at && !self.merging_made_room(view) {
                return false;
            }
        }
        true
    }

    /// Bytes of memory that merging has freed.
    fn freed(&self, view: View) -> u64 {
        if !self.grows {
            return 0;
        }
        u64::from(view.merged) * u64::from(self.segment.saturating_sub(view.mss.into()))
    }

    /// Whether a third is free because SACKed segments were merged. Source: `sk_stream_is_writeable`.
    fn merging_made_room(&self, view: View) -> bool {
        let held = (self.end - view.una).div_ceil(u64::from(view.mss));
        view.merged > 0 && held * u64::from(self.segment) <= u64::from(self.size / 3 * 2) + self.freed(view)
    }

    /// The application writes what the buffer takes. The end carries PSH unless the application writes `more` at once.
    pub(crate) fn write(&mut self, view: View, more: bool) {
        let mss = u64::from(view.mss);
        self.largest_window = self.largest_window.max(view.window_end - view.una);
        let held = (self.end - view.una).div_ceil(mss);
        // Linux 6.1 takes a segment as long as it is below the limit.
        let most = if self.grows {
            (u64::from(self.size) + self.freed(view)).div_ceil(u64::from(self.segment))
        } else {
            u64::from(self.size / self.segment)
        };
        for _ in held..most {
            if self.end >= view.written {
                break;
            }
            self.end = (self.end + mss).min(view.written);
            if !self.explicit_push && self.end > self.pushed + self.largest_window / 2 {
                self.push();
            }
        }
        if self.end + 1 == view.written {
            // A FIN takes no memory.
            self.end = view.written;
        }
        self.full = self.end < view.written;
        if !self.explicit_push && self.pushed < self.end && (self.full || !more) {
            self.push();
        }
        self.set_wake(mss);
    }

    fn set_wake(&mut self, mss: u64) {
        let most = if self.grows {
            self.size / 3 * 2 / self.segment
        } else {
            self.size / self.segment - 1
        };
        self.wakes_at = self.end.saturating_sub(u64::from(most) * mss);
    }

    /// What is written now goes behind a last segment that is not sent, which then carries no PSH; all up to `nxt` is
    /// sent. Source: Linux `tcp_sendmsg_locked`.
    pub(crate) fn unpush(&mut self, nxt: u64) {
        if !self.explicit_push && self.end > nxt && self.pushes.back() == Some(&self.end) {
            self.pushes.pop_back();
        }
    }

    /// The application says where PSH is, now and from now on: at `end`, or not there.
    pub(crate) fn tell_push(&mut self, end: u64, push: bool) {
        self.explicit_push = true;
        self.pushes.retain(|at| *at != end);
        if push {
            self.pushes.push_back(end);
        }
    }

    fn push(&mut self) {
        self.pushed = self.end;
        if self.grows {
            self.pushes.push_back(self.end);
        }
    }

    /// Source: `tcp_should_expand_sndbuf`, `tcp_sndbuf_expand`.
    fn expand(&mut self, view: View) {
        if self.grows {
            self.fits = LEAST_WINDOW.max(view.cwnd).max(view.reordering + 1);
            let size = (self.windows * self.expanded_by).saturating_mul(self.fits).min(BYTES);
            self.size = self.size.max(size);
            self.set_wake(u64::from(view.mss));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variant::Variant;

    const MSS: u64 = 1448;

    impl SendBuffer {
        /// Lets the application write, if it may. Answers whether it did.
        fn fill(&mut self, view: View) -> bool {
            let wakes = self.wakes(view);
            if wakes {
                self.write(view, false);
            }
            wakes
        }
    }

    fn view(una: u64, cwnd: u32) -> View {
        View {
            mss: MSS as u16,
            una: 1 + una * MSS,
            written: 1 << 62,
            cwnd,
            reordering: 3,
            window_end: 1 + una * MSS + 64_088,
            merged: 0,
        }
    }

    fn taken(buffer: &SendBuffer) -> u64 {
        (buffer.end() - 1) / MSS
    }

    #[test]
    fn the_first_write_is_of_two_initial_windows() {
        // 2 * 10 * 2304 = 46080 bytes hold 20.8 segments of 2216; the last may exceed it.
        let mut buffer = SendBuffer::new(Variant::Linux61.rules(), Heads::Lean61);
        assert!(buffer.fill(view(0, 10)));
        assert_eq!(taken(&buffer), 21);
        // Its end carries PSH: 21 segments are less than half of the peer's 64,088 bytes.
        assert!(!buffer.takes_push(1 + 20 * MSS));
        assert!(buffer.takes_push(1 + 21 * MSS));
        assert!(!buffer.takes_push(1 + 22 * MSS));
    }

    #[test]
    fn the_next_is_when_a_third_is_free() {
        let mut buffer = SendBuffer::new(Variant::Linux61.rules(), Heads::Lean61);
        buffer.fill(view(0, 10));
        // Two thirds of 46080 are 30720: 13 segments, and not 14.
        assert!(!buffer.fill(view(7, 10)));
        assert!(buffer.fill(view(8, 10)));
        assert_eq!(taken(&buffer), 8 + 21);
    }

    #[test]
    fn it_follows_the_window() {
        let mut buffer = SendBuffer::new(Variant::Linux61.rules(), Heads::Lean61);
        buffer.fill(view(0, 10));
        // 2 * 40 * 2304 / 2216 = 83.2.
        assert!(buffer.fill(view(1, 40)));
        assert_eq!(taken(&buffer), 1 + 84);
        // Half of the peer's window, 32,044 bytes, is passed by the 23rd segment after the last PSH, at 21.
        assert!(buffer.takes_push(1 + 21 * MSS));
        let pushed: Vec<u64> = (22..=85).filter(|k| buffer.takes_push(1 + k * MSS)).collect();
        assert_eq!(pushed, [21 + 23, 21 + 46, 85]);
        // A smaller window leaves it as it is.
        assert!(!buffer.fill(view(2, 20)));
        assert!(!buffer.fill(view(28, 20)));
        assert!(buffer.fill(view(40, 20)));
        assert_eq!(taken(&buffer), 40 + 84);
    }

    #[test]
    fn with_large_heads_it_is_more_than_three_windows() {
        // 2 * 100 * 4352 / 2728 = 319.06.
        let mut buffer = SendBuffer::new(Variant::Linux61.rules(), Heads::Large61);
        buffer.fill(view(0, 10));
        buffer.fill(view(0, 100));
        // Two thirds of it are 212 segments.
        assert!(!buffer.fill(view(107, 100)));
        assert!(buffer.fill(view(108, 100)));
        assert_eq!(taken(&buffer), 108 + 320);
    }

    #[test]
    fn it_holds_1893_segments_at_most() {
        // 4194304 / 2216 = 1892.7; the segment that begins below the limit is taken whole.
        let mut buffer = SendBuffer::new(Variant::Linux61.rules(), Heads::Lean61);
        buffer.fill(view(0, 10));
        buffer.fill(view(0, 100_000));
        assert_eq!(taken(&buffer), 1893);
    }

    /// Worked by hand: of 1893 segments 800 are SACKed in one piece. 799 heads of 768 bytes are free, 613,632 bytes:
    /// 276.9 segments of 2216. A third of the buffer is free when 2,796,202 bytes are in use, which without merging are
    /// 1261.8 segments and with it 1538.7.
    #[test]
    fn the_heads_of_merged_segments_make_room() {
        let merged = |una, merged| View {
            merged,
            ..view(una, 100_000)
        };
        let mut buffer = SendBuffer::new(Variant::Linux61.rules(), Heads::Lean61);
        buffer.fill(view(0, 10));
        buffer.fill(view(0, 100_000));
        assert!(!buffer.fill(merged(354, 799)), "1539 are held");
        assert!(!buffer.fill(view(355, 100_000)), "1538 are held");
        assert!(buffer.fill(merged(355, 799)));
        // 4,194,304 and 613,632 bytes hold 2169.6.
        assert_eq!(taken(&buffer), 355 + 2170);
    }

    #[test]
    fn that_of_the_old_kernel_takes_963_and_more_as_soon_as_there_is_room() {
        let mut buffer = SendBuffer::new(Variant::Linux314.rules(), Heads::Lean61);
        buffer.fill(view(0, 10));
        assert_eq!(taken(&buffer), 963);
        assert!(!buffer.fill(view(0, 10)));
        assert!(buffer.fill(view(1, 10)));
        assert_eq!(taken(&buffer), 964);
    }
}
