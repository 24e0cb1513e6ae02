//! The flows, and how segments change them. Source: seed 003, Listings 4.3 and 4.6.

use crate::adaptive::Watch;
use crate::flow::Flow;
use crate::lru::{Lru, Slot};
use crate::outstanding::{Acked, Sent};
use crate::rtt::smooth;
use crate::{FlowKey, FlusherParams, FlusherStats, Segment};
use sojourn_units::{Duration, Rate, Time};

/// All flows, by the direction of their data.
///
/// Deviation: the thesis hashes addresses and ports; an ordered index needs no hash, and its order is the same
/// everywhere.
#[derive(Debug)]
pub(crate) struct FlowTable {
    pub(crate) flows: Lru<FlowKey, Flow>,
    /// Raised when the clock steps back: what was sent before gives no sample after.
    pub(crate) epoch: u32,
}

/// What a segment with data led to.
#[derive(Debug)]
pub(crate) struct Data {
    pub(crate) slot: Slot,
    pub(crate) sent: Sent,
    /// Whether the flow is new.
    pub(crate) created: bool,
    /// Who made room for it.
    pub(crate) evicted: Option<Flow>,
}

/// What a new acknowledgement led to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Ack {
    pub(crate) slot: Slot,
    /// The RTT sample.
    pub(crate) raw: Option<Duration>,
    /// Sequence space under way once the segment of the sample had left; 0 if that is not known.
    pub(crate) under_way: u32,
    /// Whether the base RTT changed by it.
    pub(crate) base_changed: bool,
    /// The throughput of an interval that ended with it.
    pub(crate) rate: Option<Rate>,
    /// Bytes of captured packets that another station of the link sent than the one that acknowledged them.
    pub(crate) answered: u64,
}

impl FlowTable {
    pub(crate) const fn new(params: &FlusherParams) -> Self {
        Self {
            flows: Lru::new(params.max_flows as usize),
            epoch: 0,
        }
    }

    /// A segment that moves the sequence: it will be acknowledged. Source: Listing 4.3.
    ///
    /// Deviation: the thesis remembers every packet, also bare acknowledgements. Those are never acknowledged, and
    /// share their key (sequence number plus length) with the last data before them, whose time they would
    /// overwrite.
    pub(crate) fn on_data(
        &mut self,
        segment: &Segment,
        now: Time,
        params: &FlusherParams,
        stats: &mut FlusherStats,
    ) -> Data {
        let key = segment.key();
        let (slot, created, evicted) = if let Some(slot) = self.flows.find(&key) {
            self.flows.touch(slot);
            (slot, false, None)
        } else {
            stats.flows += 1;
            let (slot, evicted) = self.flows.insert(key, Flow::new(key, now, params));
            (slot, true, evicted.map(|(_, flow)| flow))
        };
        let flow = self.flows.get_mut(slot);
        flow.last_seen = now;
        let most = params.max_outstanding as usize;
        let sent = flow
            .outstanding
            .on_data(segment, now, self.epoch, params.retransmissions, most);
        match sent {
            Sent::New | Sent::Stale => {}
            Sent::Untracked => stats.untracked += 1,
            // What was seen of the old sequence space, a loss that was not made up for above all, says nothing of the
            // new one.
            Sent::Anew => flow.watch = Watch::default(),
            Sent::Resync => {
                stats.resyncs += 1;
                flow.watch = Watch::default();
            }
            Sent::Again => {
                stats.retransmissions += 1;
                flow.retransmissions += 1;
            }
        }
        flow.watch.on_data(segment.payload, segment.wire);
        Data {
            slot,
            sent,
            created,
            evicted,
        }
    }

    /// An acknowledgement, looked up with the inverted key; `None` if it tells nothing new. Source: Listing 4.6.
    ///
    /// Deviation: the listing ignores acknowledgements that the local host sends. Here both ends' data is watched:
    /// where the receiver is near, its flow has a small base RTT and never a queue. What the listing cannot match
    /// with a packet it ignores; here it is told apart (old, never sent, in the middle of a segment) and counted.
    pub(crate) fn on_ack(
        &mut self,
        segment: &Segment,
        now: Time,
        params: &FlusherParams,
        stats: &mut FlusherStats,
    ) -> Option<Ack> {
        let slot = self.flows.find(&segment.key().inverted())?;
        let flow = self.flows.get_mut(slot);
        let covered = match flow
            .outstanding
            .on_ack(segment, now, self.epoch, params.retransmissions, params.sample_of)
        {
            Acked::New(covered) => covered,
            Acked::Unknown | Acked::Duplicate => return None,
            Acked::Old => {
                stats.acks_old += 1;
                return None;
            }
            Acked::Beyond => {
                stats.acks_beyond += 1;
                return None;
            }
        };
        flow.last_seen = now;
        let raw = covered.rtt.filter(|rtt| {
            let usable = !rtt.is_zero() && *rtt <= params.max_rtt;
            stats.absurd_rtts += u64::from(!usable);
            usable
        });
        let mut base_changed = false;
        if let Some(raw) = raw {
            flow.rtt = Some(smooth(flow.rtt, raw, params.rtt_weight));
            base_changed = flow.base.update(raw, now);
            flow.max_rtt = flow.max_rtt.max(Some(raw));
            flow.max_smoothed = flow.max_smoothed.max(flow.rtt);
            flow.samples += 1;
            flow.last_sample = now;
            stats.samples += 1;
        }
        let rate = flow.throughput.update(&covered, flow.rtt, now, params);
        let outstanding = &flow.outstanding;
        flow.watch.on_ack(now, |seq| outstanding.acknowledged(seq));
        self.flows.touch(slot);
        Some(Ack {
            slot,
            raw,
            under_way: covered.under_way,
            base_changed,
            rate,
            answered: covered.answered,
        })
    }

    /// When the flow that was silent longest expires.
    pub(crate) fn expiry(&self, params: &FlusherParams) -> Option<Time> {
        self.flows
            .oldest()
            .map(|slot| self.flows.get(slot).last_seen + params.flow_timeout)
    }
}
