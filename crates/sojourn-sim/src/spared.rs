//! The ablation `spare_acks`: what if the bottleneck lost no bare acknowledgement?

use crate::packet::Packet;
use std::collections::VecDeque;

/// Bare acknowledgements that a discipline dropped, on their way around its queue.
///
/// Each keeps the place that it would have had: refused on arrival, it leaves with the last of the packets that were
/// queued then; dropped out of the queue, its turn had come or was near, and it leaves at once. It takes neither link
/// time nor room in the queue, so the other packets fare as if it had been dropped, and its flow as if it had not.
///
/// (Offering it to the queue again would be another experiment: it would wait in line from the back, take link time,
/// and lengthen the RTT of all.)
#[derive(Debug, Default)]
pub(crate) struct Spared {
    /// Packets that have left the queue, either way.
    left: u64,
    /// When `left` reaches the number, the packet goes. The numbers never fall: `left` and the backlog together are
    /// the packets that were ever admitted.
    waiting: VecDeque<(u64, Packet)>,
}

impl Spared {
    /// A packet departed, or was dropped after it had been queued.
    pub(crate) fn on_leave(&mut self) {
        self.left += 1;
    }

    /// `packet` was refused while `backlog` others were queued.
    pub(crate) fn refused(&mut self, packet: Packet, backlog: u64) {
        self.waiting.push_back((self.left + backlog, packet));
    }

    /// `packet` was dropped out of the queue. It overtakes the refused ones, all of which came later.
    pub(crate) fn dropped(&mut self, packet: Packet) {
        self.waiting.push_front((self.left, packet));
    }

    /// The next packet whose turn it is.
    pub(crate) fn next(&mut self) -> Option<Packet> {
        if self.waiting.front()?.0 > self.left {
            return None;
        }
        self.waiting.pop_front().map(|(_, packet)| packet)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_tcp::{Flags, Segment};

    fn ack(number: u32) -> Packet {
        let segment = Segment {
            flags: Flags::ACK,
            ..Segment::default()
        };
        Packet::of_segment(&segment, number, 0, 0)
    }

    fn out(spared: &mut Spared) -> Vec<u32> {
        std::iter::from_fn(|| spared.next()).map(|p| p.body).collect()
    }

    #[test]
    fn a_refused_acknowledgement_leaves_with_the_packet_that_was_last() {
        let mut spared = Spared::default();
        spared.refused(ack(1), 2);
        spared.refused(ack(2), 2);
        spared.on_leave();
        assert!(out(&mut spared).is_empty());
        spared.refused(ack(3), 2);
        spared.on_leave();
        assert_eq!(out(&mut spared), [1, 2]);
        spared.on_leave();
        assert_eq!(out(&mut spared), [3]);
    }

    #[test]
    fn one_dropped_from_the_queue_leaves_at_once_and_first() {
        let mut spared = Spared::default();
        spared.refused(ack(1), 5);
        spared.on_leave();
        spared.dropped(ack(0));
        assert_eq!(out(&mut spared), [0]);
        spared.refused(ack(9), 0);
        assert!(out(&mut spared).is_empty(), "the first refused one still waits");
    }

    #[test]
    fn an_empty_queue_holds_nothing_back() {
        let mut spared = Spared::default();
        spared.refused(ack(4), 0);
        assert_eq!(out(&mut spared), [4]);
    }
}
