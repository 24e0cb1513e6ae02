//! TCP small queues: how much of a connection its own host's device may hold.

use crate::params::Variant;
use sojourn_units::Duration;

/// `tcp_limit_output_bytes` of Linux 3.14, where it is a floor, and of Linux 6.1, where it is a ceiling.
const LIMIT_3_14: u64 = 128 << 10;
const LIMIT_6_1: u64 = 1 << 20;

/// What the limit is a function of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    pub(crate) mss: u16,
    pub(crate) cwnd: u32,
    /// Segments that were sent and are not acknowledged.
    pub(crate) packets_out: u32,
    pub(crate) half_ssthresh: u32,
    pub(crate) srtt: Option<Duration>,
}

/// The state of one sender.
///
/// Source: `tcp_small_queue_check` and `tcp_update_pacing_rate`. A segment counts, with the memory that it occupies, from when TCP
/// hands it to the device until the device is done with it, queue disciplines included. Above the limit TCP waits for the device. Linux
/// 3.14: 128 KiB, or a millisecond at the pacing rate if that is more; what is sent again does not wait. Linux 6.1: 8 ms at the pacing
/// rate (a device of mac80211 asks for so much, `tx_sk_pacing_shift` 7; a wire has 1 ms), between two segments and 1 MiB; twice that
/// for what is sent again; and no limit while at most one segment is out.
///
/// Deviation: every segment occupies what a full one does.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SmallQueue {
    variant: Variant,
    /// What a segment occupies, bytes.
    segment: u64,
    /// Segments that the device holds.
    held: u64,
    /// New segments wait.
    pub(crate) holds_new: bool,
    /// Segments to be sent again wait.
    pub(crate) holds_resent: bool,
}

impl SmallQueue {
    pub(crate) fn new(variant: Variant, segment: u32) -> Self {
        Self {
            variant,
            segment: u64::from(segment),
            held: 0,
            holds_new: false,
            holds_resent: false,
        }
    }

    /// The device took a segment.
    pub(crate) fn took(&mut self, view: View) {
        self.held += 1;
        self.judge(view);
    }

    /// The device is done with a segment. Answers whether what waited for that may go.
    pub(crate) fn released(&mut self, view: View) -> bool {
        self.held = self.held.saturating_sub(1);
        let held_back = self.holds_new;
        self.judge(view);
        held_back && !self.holds_new
    }

    fn judge(&mut self, view: View) {
        let bytes = self.held * self.segment;
        match self.variant {
            Variant::Linux314 => {
                let rate = pacing_rate(view, 200);
                self.holds_new = bytes > LIMIT_3_14.max(rate >> 10);
            }
            Variant::Linux61 => {
                let percent = if view.cwnd < view.half_ssthresh { 200 } else { 120 };
                let limit = (2 * self.segment).max(pacing_rate(view, percent) >> 7).min(LIMIT_6_1);
                let few = view.packets_out <= 1;
                self.holds_new = !few && bytes > limit;
                self.holds_resent = !few && bytes > 2 * limit;
            }
        }
    }
}

/// Bytes in a second. Source: `tcp_update_pacing_rate`: so many percent of a window for each smoothed round-trip time; no limit before the
/// first sample.
fn pacing_rate(view: View, percent: u64) -> u64 {
    let window = u64::from(view.mss) * u64::from(view.cwnd.max(view.packets_out));
    match view.srtt.map_or(0, Duration::as_nanos) {
        0 => u64::MAX,
        srtt => (u128::from(window * percent / 100) * 1_000_000_000 / u128::from(srtt)) as u64,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(cwnd: u32, srtt: u64) -> View {
        View {
            mss: 1448,
            cwnd,
            packets_out: cwnd,
            half_ssthresh: 0,
            srtt: Some(Duration::from_millis(srtt)),
        }
    }

    /// Hands over segments until one has to wait.
    fn fill(queue: &mut SmallQueue, view: View) -> u64 {
        while !queue.holds_new {
            queue.took(view);
        }
        queue.held
    }

    #[test]
    fn linux_3_14_has_128_kib_in_its_device() {
        // 30 x 4352 = 130560 is below 131072, and is tested before a segment is sent: the 31st goes.
        assert_eq!(fill(&mut SmallQueue::new(Variant::Linux314, 4352), view(100, 50)), 31);
    }

    #[test]
    fn linux_3_14_has_a_millisecond_of_a_fast_flow() {
        // 2 x 1448 x 10000 / 50 ms = 579.2 MB/s, of which a 1024th is 565,625 bytes: 129.97 segments, and one more.
        assert_eq!(fill(&mut SmallQueue::new(Variant::Linux314, 4352), view(10_000, 50)), 130);
    }

    #[test]
    fn linux_6_1_has_8_ms_in_a_wireless_device() {
        // 1.2 x 1448 x 100 / 50 ms = 3.4752 MB/s, of which a 128th is 27,150 bytes: 12.25 segments of 2216, and one more.
        let mut queue = SmallQueue::new(Variant::Linux61, 2216);
        assert_eq!(fill(&mut queue, view(100, 50)), 13);
        assert!(!queue.holds_resent);
        // A slow flow may have two segments and the one that is over.
        assert_eq!(fill(&mut SmallQueue::new(Variant::Linux61, 2216), view(4, 400)), 3);
        // A megabyte is the most: 473.2 segments.
        assert_eq!(fill(&mut SmallQueue::new(Variant::Linux61, 2216), view(100_000, 10)), 474);
    }

    #[test]
    fn a_segment_that_leaves_the_device_lets_the_next_one_go() {
        let mut queue = SmallQueue::new(Variant::Linux314, 4352);
        fill(&mut queue, view(100, 50));
        assert!(queue.released(view(100, 50)), "130,560 bytes are not above 131,072");
        assert!(!queue.holds_new);
        assert!(!queue.released(view(100, 50)), "nothing waited");
    }

    #[test]
    fn linux_6_1_lets_a_lone_segment_be_followed() {
        let mut queue = SmallQueue::new(Variant::Linux61, 2216);
        let one_out = View { packets_out: 1, ..view(1, 50) };
        for _ in 0..9 {
            queue.took(one_out);
        }
        assert!(!queue.holds_new);
    }
}
