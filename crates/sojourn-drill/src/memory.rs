//! The memory of a send buffer: the pieces that writes make, which say where PSH is, and what a write may put in if
//! the application has set the size (`SO_SNDBUF`).
//!
//! Linux keeps what is written in pieces. A piece grows as long as it is not sent, and is cut where segmentation offload
//! cuts what leaves (which TCP always reckons with, even if the device has none). Each takes its payload and a head. A new piece is begun as long as all together are below the limit;
//! a write that waits goes on when a third of the limit is free. Source: Linux 7.3 `tcp_sendmsg_locked`,
//! `tcp_bound_to_half_wnd`, `tcp_tso_autosize`, `tcp_cwnd_test`, `sk_stream_memory_free`, `__sk_stream_is_writeable`.

use sojourn_tcp::{Endpoint, Heads, Variant};
use std::collections::VecDeque;

/// The largest piece, bytes: what segmentation offload takes, less headers. Source: Linux `GSO_LEGACY_MAX_SIZE`,
/// `MAX_TCP_HEADER`.
const LARGEST_PIECE: u64 = 65_535 - 320;
/// A window of so many bytes or less is used whole. Source: Linux `TCP_MSS_DEFAULT`.
const SMALL_WINDOW: u64 = 536;
/// The largest size that an application may set, bytes. Source: Linux 7.3 `net.core.wmem_max`.
const LARGEST: i64 = 4 << 20;
/// The smallest limit that can be set. Source: Linux `SOCK_MIN_SNDBUF`.
const SMALLEST: i64 = 4608;

/// What Linux makes of a size that an application sets, bytes.
pub(crate) fn doubled(set: i64) -> i64 {
    (2 * set.clamp(0, LARGEST)).max(SMALLEST)
}

/// What a piece takes beside its payload.
fn head() -> u64 {
    let heads: Heads = Variant::Linux73.heads();
    u64::from(heads.segment()) - 1448
}

/// What is in the buffer.
#[derive(Clone, Debug, Default)]
pub(crate) struct SendMemory {
    /// Sequence numbers of pieces: the first, and one past the last. They follow each other.
    pieces: VecDeque<(u64, u64)>,
    /// All up to here is sent and cut into pieces.
    cut: u64,
    /// The last piece ends a record, and does not grow.
    ends_record: bool,
    /// One past the last byte that got PSH. Source: Linux `pushed_seq`.
    pushed: u64,
    /// The last piece has PSH, at its end wherever that comes to be.
    has_push: bool,
    /// What was put in last lets only one burst go at once. Source: Linux `tcp_push_one`.
    lets_one: bool,
}

/// How large pieces are.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Sizes {
    pub(crate) mss: u64,
    /// The largest window that the peer has offered, bytes.
    pub(crate) largest_window: u64,
    /// Segments that leave as one piece, if the pacing rate gives fewer.
    pub(crate) least: u64,
}

impl Sizes {
    /// How far a piece grows.
    fn goal(self) -> u64 {
        let window = self.largest_window;
        let bound = if window > SMALL_WINDOW { window / 2 } else { window };
        LARGEST_PIECE.min(bound).max(self.mss) / self.mss * self.mss
    }

    /// Bytes that leave as one piece: what the pacing rate gives in a millisecond, and at most half a window.
    fn burst(self, endpoint: &Endpoint) -> u64 {
        let sender = endpoint.sender();
        let cwnd = u64::from(sender.cwnd());
        let starts = sender.ssthresh().is_none_or(|threshold| sender.cwnd() < threshold / 2);
        let percent = if starts { 200 } else { 120 };
        let out = cwnd.max(sender.outstanding().packets.into()) * self.mss;
        let micros = sender.srtt().map_or(1_000_000, |srtt| srtt.as_micros().max(1));
        let rate = out * percent / 100 * 1_000_000 / micros;
        (rate / 1024 / self.mss).max(self.least).min((cwnd / 2).max(1)) * self.mss
    }
}

impl SendMemory {
    /// Bytes that it holds.
    fn used(&self) -> u64 {
        self.pieces.iter().map(|piece| piece.1 - piece.0 + head()).sum()
    }

    /// What is acknowledged is gone; what has left is cut into pieces.
    pub(crate) fn follow(&mut self, endpoint: &Endpoint, sizes: Sizes) {
        let sender = endpoint.sender();
        let una = 1 + sender.bytes_acked();
        let nxt = una + sender.bytes_pending() - sender.bytes_unsent();
        let burst = sizes.burst(endpoint);
        while let Some(i) = self.pieces.iter().position(|piece| piece.1 > self.cut) {
            let (start, end) = self.pieces[i];
            let at = (start + burst).min(end).min(nxt);
            if at <= start {
                break;
            }
            self.pieces[i] = (start, at);
            self.cut = at;
            if at < end {
                self.pieces.insert(i + 1, (at, end));
            }
            if std::mem::take(&mut self.lets_one) {
                break;
            }
        }
        self.lets_one = false;
        self.pieces.retain_mut(|piece| {
            piece.0 = piece.0.max(una);
            piece.0 < piece.1
        });
    }

    /// Whether the last piece takes more.
    fn grows(&self, sizes: Sizes) -> bool {
        let is_open = |&(start, end): &(u64, u64)| start >= self.cut && end - start < sizes.goal();
        !self.ends_record && self.pieces.back().is_some_and(is_open)
    }

    /// Bytes that a write may put in now, before it looks again.
    pub(crate) fn room(&self, limit: u64, sizes: Sizes) -> u64 {
        match self.pieces.back() {
            Some(&(start, end)) if self.grows(sizes) => sizes.goal() - (end - start),
            _ if self.used() < limit => sizes.goal(),
            _ => 0,
        }
    }

    /// Whether a write that waits goes on.
    pub(crate) fn wakes(&self, limit: u64) -> bool {
        let used = self.used();
        limit.saturating_sub(used) >= used / 2
    }

    /// A write has put in `bytes`. Answers whether the last piece has grown by them.
    pub(crate) fn put(&mut self, written: u64, bytes: u64, ends_record: bool, sizes: Sizes) -> bool {
        let grows = self.grows(sizes);
        match self.pieces.back_mut().filter(|_| grows) {
            Some((_, end)) => *end += bytes,
            None => self.pieces.push_back((written, written + bytes)),
        }
        self.ends_record = ends_record;
        grows
    }

    /// Whether the last piece, which ends at `end`, carries PSH: because the write ends (`whole`), because much has
    /// none, or because it has grown (`grows`) and had it before. Source: Linux `tcp_push`, `forced_push`.
    pub(crate) fn pushes(&mut self, end: u64, whole: bool, grows: bool, sizes: Sizes) -> bool {
        let pushes = whole || end > self.pushed.max(1) + sizes.largest_window / 2;
        if pushes {
            self.pushed = end;
        }
        self.lets_one = !pushes;
        self.has_push = pushes || grows && self.has_push;
        self.has_push
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Worked by hand: with a peer's window of 50,000 bytes a piece grows to 25,000. Two of them and their heads of 832
    /// take 51,664 bytes, more than 42,000, so a third does not begin. A third is free when no more than 28,000 are
    /// taken.
    #[test]
    fn a_piece_begins_below_the_limit_and_a_write_wakes_with_a_third_free() {
        let sizes = Sizes {
            mss: 1000,
            largest_window: 50_000,
            least: 2,
        };
        let mut memory = SendMemory::default();
        assert_eq!(memory.room(42_000, sizes), 25_000);
        assert!(!memory.put(1, 24_000, false, sizes));
        assert_eq!(memory.room(42_000, sizes), 1_000);
        assert!(memory.put(24_001, 1_000, false, sizes));
        assert!(!memory.put(25_001, 25_000, false, sizes));
        assert_eq!(memory.used(), 51_664);
        assert_eq!(memory.room(42_000, sizes), 0);
        assert!(!memory.wakes(42_000));
        memory.pieces = VecDeque::from([(1, 1 + 28_000 - 832)]);
        assert!(memory.wakes(42_000));
        memory.pieces = VecDeque::from([(1, 2 + 28_000 - 832)]);
        assert!(!memory.wakes(41_999));
    }

    #[test]
    fn a_small_size_is_made_larger_and_a_large_one_smaller() {
        assert_eq!((doubled(21_000), doubled(1)), (42_000, 4608));
        assert_eq!((doubled(i64::MAX), doubled(-1)), (8 << 20, 4608));
    }
}
