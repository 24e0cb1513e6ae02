//! What a sender hands to the air: frames, and aggregates of them.

use crate::{NodeId, PhyRate, Tid};
use sojourn_qdisc::{DropSink, Dropped, Packet};
use sojourn_units::{Bytes, Duration, Time};

/// A packet that a Wi-Fi sender can queue.
pub trait WifiPacket: Packet {
    /// The traffic identifier that it is sent with.
    fn tid(&self) -> Tid;
}

/// Where a sender's dropped packets go: a sink that is also told for whom the packet was.
pub trait FrameSink<P> {
    /// Takes one dropped packet that was for `peer`, in the order of the drops.
    fn dropped(&mut self, peer: NodeId, drop: Dropped<P>);
}

impl<P> FrameSink<P> for Vec<(NodeId, Dropped<P>)> {
    fn dropped(&mut self, peer: NodeId, drop: Dropped<P>) {
        self.push((peer, drop));
    }
}

/// A [`FrameSink`] as the [`DropSink`] of one peer's queue.
pub(crate) struct OfPeer<'a, P> {
    pub(crate) peer: NodeId,
    pub(crate) sink: &'a mut dyn FrameSink<P>,
}

impl<P> DropSink<P> for OfPeer<'_, P> {
    fn dropped(&mut self, drop: Dropped<P>) {
        self.sink.dropped(self.peer, drop);
    }
}

/// One MPDU with its packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame<P> {
    /// The packet.
    pub packet: P,
    /// For whom.
    pub peer: NodeId,
    /// Its traffic identifier.
    pub tid: Tid,
    /// The packet's size as [`Packet::size`] has it: an Ethernet frame.
    pub size: Bytes,
    /// When the packet came to the sender.
    pub enqueued: Time,
    /// When it was first built into an aggregate.
    pub dequeued: Time,
    /// 12 bits; assigned when the frame is first built into an aggregate, which is after flow queueing (seed 002
    /// section 3: before it, flows that overtake each other would make the receiver discard frames).
    pub sequence: u16,
    /// How often it was sent, the transmission that an aggregate at the head of a hardware queue waits for not
    /// counted.
    pub transmissions: u8,
    /// What airtime queue limits count for it, if they count frames; zero otherwise.
    pub pending: Duration,
}

/// What is sent at one transmit opportunity: an A-MPDU, or a single MPDU.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Aggregate<P> {
    /// For whom.
    pub peer: NodeId,
    /// The one traffic identifier of all frames.
    pub tid: Tid,
    /// At which rate.
    pub rate: PhyRate,
    /// The frames in the order of their sequence numbers, at least one.
    pub frames: Vec<Frame<P>>,
    /// The PPDU with its preamble, SIFS, and the Block Ack (the Ack of a single MPDU); contention is not in it.
    pub airtime: Duration,
    /// Sent as an MPDU of its own and answered by an Ack.
    pub single: bool,
}
