//! TCP small queues: how much of a connection its own host's device may hold.

/// What the device may hold of a connection, bytes of memory (`tcp_limit_output_bytes`).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Limit {
    /// What leaves in a moment at the pacing rate, but at least so much. The device has no say (Linux 3.14).
    AtLeast(u64),
    /// What leaves in a moment at the pacing rate, but at most so much.
    AtMost(u64),
}

/// Memory that is charged to a socket that has sent nothing. Source: `sk_wmem_alloc` after `sk_alloc`.
const BASE: u64 = 1;

/// What a host sends by, where that queues.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Device {
    /// A wired one.
    Wire,
    /// One of mac80211, which builds aggregates.
    Wireless,
}

impl Device {
    /// The limit is what the pacing rate sends in a second, shifted right by so much: 1 ms, or 8 ms for aggregates.
    ///
    /// Source: Linux 6.1 `sk_pacing_shift`, `ieee80211_subif_start_xmit` with `tx_sk_pacing_shift` 7, mac80211's
    /// default, which none of ath9k, ath10k and iwlwifi changes. Linux 3.14 asks no device.
    fn shift(self, limit: Limit) -> u32 {
        match (self, limit) {
            (Self::Wire, _) | (_, Limit::AtLeast(_)) => 10,
            (Self::Wireless, Limit::AtMost(_)) => 7,
        }
    }
}

/// What the limit is a function of.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    /// Bytes in a second; `None` as long as nothing was acknowledged, which limits least.
    pub(crate) pacing_rate: Option<u64>,
    /// Segments that were sent and are not acknowledged.
    pub(crate) packets_out: u32,
}

/// The state of one sender.
///
/// Source: `tcp_small_queue_check`, `tcp_wfree`, `tcp_tsq_write`. A segment counts, with the memory that it occupies,
/// from when TCP hands it to the device until the device is done with it, queue disciplines included. Above the limit
/// TCP waits until the device is done with a segment. Linux 3.14: 128 KiB, or a millisecond at the pacing rate if
/// that is more; what is sent again does not wait. Linux 6.1: 1 ms at the pacing rate, 8 ms on a wireless device, at
/// least two segments and at most 1 MiB (Linux 7.3: 4 MiB); twice that for what is sent again; and no limit while at most one segment is
/// out. A socket has one byte charged from the beginning, so that two full segments are above a limit of two.
///
/// Deviation: every segment occupies what a full one does ([`crate::Heads`]), and bare acknowledgements, SYN and FIN
/// nothing. A device that cannot cut segments has them cut in software, after which each occupies 2304 bytes,
/// whatever the head.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SmallQueue {
    limit: Limit,
    shift: u32,
    /// What a segment occupies, bytes.
    segment: u64,
    /// Segments that the device holds.
    held: u64,
    /// Something waits for it.
    throttled: bool,
}

impl SmallQueue {
    pub(crate) fn new(limit: Limit, segment: u32) -> Self {
        Self {
            limit,
            shift: Device::Wire.shift(limit),
            segment: u64::from(segment),
            held: 0,
            throttled: false,
        }
    }

    /// The host sends by `device`.
    pub(crate) fn set_device(&mut self, device: Device) {
        self.shift = device.shift(self.limit);
    }

    /// Of the pacing rate: what its host's device may hold is what is sent in a second, shifted right by so much.
    pub(crate) fn shift(&self) -> u32 {
        self.shift
    }

    /// Something waits for the device to be done with a segment.
    pub(crate) fn wait(&mut self) {
        self.throttled = true;
    }

    /// The device took a segment.
    pub(crate) fn took(&mut self) {
        self.held += 1;
    }

    /// The device is done with a segment. Answers whether something waited for that.
    pub(crate) fn released(&mut self) -> bool {
        self.held = self.held.saturating_sub(1);
        std::mem::take(&mut self.throttled)
    }

    /// Whether something waits for the device to be done with a segment.
    #[inline]
    pub(crate) fn is_throttled(&self) -> bool {
        self.throttled
    }

    /// Whether the device holds nothing, so that nothing has to wait.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.held == 0
    }

    /// Whether the next segment, a retransmission or not, has to wait; if so, it is waited for.
    pub(crate) fn holds(&mut self, retransmission: bool, view: View) -> bool {
        let bytes = BASE + self.held * self.segment;
        let rate = view.pacing_rate.map_or(u64::MAX, |rate| rate >> self.shift);
        let holds = match self.limit {
            Limit::AtLeast(least) => !retransmission && bytes > rate.max(least),
            Limit::AtMost(most) => {
                let limit = rate.max(2 * self.segment).min(most) << u32::from(retransmission);
                bytes > limit && view.packets_out > 1
            }
        };
        self.throttled |= holds;
        holds
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::variant::{Heads, Variant};

    fn queue(variant: Variant, device: Device) -> SmallQueue {
        let segment = if variant == Variant::Linux314 {
            4352
        } else {
            variant.heads().segment()
        };
        let mut queue = SmallQueue::new(variant.rules().small_queue, segment);
        queue.set_device(device);
        queue
    }

    fn at(pacing_rate: u64) -> View {
        View {
            pacing_rate: Some(pacing_rate),
            packets_out: 100,
        }
    }

    /// Hands over segments until one has to wait.
    fn fill(queue: &mut SmallQueue, retransmission: bool, view: View) -> u64 {
        while !queue.holds(retransmission, view) {
            queue.took();
        }
        queue.held
    }

    #[test]
    fn linux_3_14_has_128_kib_in_its_device() {
        // 30 x 4352 + 1 = 130,561 is not above 131,072: the 31st goes. On any device.
        for device in [Device::Wire, Device::Wireless] {
            let mut queue = queue(Variant::Linux314, device);
            assert_eq!(fill(&mut queue, false, at(5_000_000)), 31);
            assert!(!queue.holds(true, at(5_000_000)), "what is sent again does not wait");
        }
    }

    #[test]
    fn linux_3_14_has_a_millisecond_of_a_fast_flow() {
        // A 1024th of 579.2 MB/s is 565,625 bytes: 129.97 segments, and one more.
        assert_eq!(
            fill(&mut queue(Variant::Linux314, Device::Wire), false, at(579_200_000)),
            130
        );
    }

    #[test]
    fn linux_6_1_has_a_millisecond_in_a_wire_and_8_in_a_wireless_device() {
        // A 1024th of 12.1 MB/s is 11,816 bytes: 5.3 segments of 2216, and one more. A 128th is 94,531 bytes: 42.7.
        assert_eq!(
            fill(&mut queue(Variant::Linux61, Device::Wire), false, at(12_100_000)),
            6
        );
        let mut wireless = queue(Variant::Linux61, Device::Wireless);
        assert_eq!(fill(&mut wireless, false, at(12_100_000)), 43);
        // Twice as much, 85.3, when it is sent again.
        assert_eq!(fill(&mut wireless, true, at(12_100_000)), 86);
    }

    #[test]
    fn linux_6_1_has_two_segments_of_a_slow_flow_and_a_megabyte_of_any() {
        // 2 x 2216 + 1 is above 2 x 2216.
        assert_eq!(fill(&mut queue(Variant::Linux61, Device::Wire), false, at(100_000)), 2);
        // 1,048,576 / 2216 = 473.2, and one more.
        assert_eq!(
            fill(&mut queue(Variant::Linux61, Device::Wireless), false, at(u64::MAX)),
            474
        );
    }

    #[test]
    fn linux_6_12_takes_more_memory_for_a_segment() {
        // Measured with `ss -tm` in a shaped veth: 191,520 bytes for 84 segments, 139,080 for 61; 2280 each. With
        // wireless built in 225,024 for 96 and 171,112 for 73; 2344. Linux 6.1: 99,720 for 45, 62,048 for 28;
        // 2216.
        assert_eq!(Variant::Linux612.heads().segment(), 2280);
        assert_eq!(Heads::Wireless612.segment(), 2344);
        assert_eq!(Variant::Linux61.heads().segment(), 2216);
        // A 1024th of 16 MB/s is 15,625 bytes: 7.05 segments of 2216 and one more; 6.85 of 2280.
        assert_eq!(
            fill(&mut queue(Variant::Linux61, Device::Wire), false, at(16_000_000)),
            8
        );
        assert_eq!(
            fill(&mut queue(Variant::Linux612, Device::Wire), false, at(16_000_000)),
            7
        );
    }

    #[test]
    fn who_waits_is_told_once_when_a_segment_leaves_the_device() {
        let mut queue = queue(Variant::Linux61, Device::Wire);
        fill(&mut queue, false, at(100_000));
        assert!(queue.released());
        assert!(!queue.released(), "nobody asked since");
        assert!(queue.is_empty());
    }

    #[test]
    fn linux_6_1_lets_a_lone_segment_be_followed() {
        let mut queue = queue(Variant::Linux61, Device::Wireless);
        for _ in 0..9 {
            queue.took();
        }
        let lone = View {
            packets_out: 1,
            ..at(100_000)
        };
        assert!(!queue.holds(false, lone));
        assert!(queue.holds(false, at(100_000)));
    }
}
