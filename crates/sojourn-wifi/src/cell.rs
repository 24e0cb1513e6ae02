//! The whole cell: nodes, medium, receivers.

mod link;

use crate::contention::{Contender, Contention, EdcafId, Outcome};
use crate::fade::Fading;
use crate::{
    AccessCategory, Aggregate, Band, CellSpec, Frame, FrameSink, NodeId, PeerSpec, PeerStats, PhyRate, Response,
    Transmitter, WifiError, WifiPacket,
};
use link::Link;
use sojourn_qdisc::Dropped;
use sojourn_units::{Bytes, Duration, Time};

/// Where a cell's packets go.
pub trait CellSink<P> {
    /// `from` is done with a packet for `to`: it was received and answered. It is delivered at once, or when those
    /// before it have come; or it came too late, and is dropped.
    fn sent(&mut self, from: NodeId, to: NodeId, packet: &P);
    /// A packet reached `to`. Packets of one sender, receiver and traffic identifier come in the order in which the
    /// sender's queues released them.
    fn delivered(&mut self, from: NodeId, to: NodeId, packet: P, times: FrameTimes);
    /// A packet was dropped by its sender, who is done with it; or, for the reason
    /// [`sojourn_qdisc::DropReason::ReorderTimeout`], by its receiver.
    fn dropped(&mut self, from: NodeId, to: NodeId, drop: Dropped<P>);
}

/// When a delivered packet was where.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameTimes {
    /// It came to the sender.
    pub enqueued: Time,
    /// It was built into its first aggregate.
    pub dequeued: Time,
    /// It was received: the exchange that carried it ended.
    pub received: Time,
    /// It was released in order: now. After `received` if it had to wait for one before it.
    pub delivered: Time,
    /// How often it was sent.
    pub transmissions: u8,
}

/// What a cell counts.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CellStats {
    /// Time in which the medium was busy: from the start of a PPDU to the end of its answer, or, if there was none,
    /// to when the medium counts as idle again. What is on the air now is not yet in it.
    pub busy: Duration,
    /// PPDUs with data.
    pub transmissions: u64,
    /// Those of them that collided.
    pub collisions: u64,
    /// Those of them that did not collide and of which nothing arrived.
    pub losses: u64,
    /// How often several access categories of one node could have begun at once.
    pub internal_collisions: u64,
}

/// What is counted for one direction of a link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LinkStats {
    /// The rate of the next aggregate to be built.
    pub rate: PhyRate,
    /// What the sender counts.
    pub sent: PeerStats,
    /// PPDUs that collided.
    pub collisions: u64,
    /// Packets delivered.
    pub packets: u64,
    /// Their sizes.
    pub bytes: Bytes,
}

/// What is counted for a station.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StationStats {
    /// From the access point to the station.
    pub down: LinkStats,
    /// From the station to the access point.
    pub up: LinkStats,
}

/// One who transmits.
#[derive(Clone, Copy, Debug)]
struct OnAir {
    edcaf: EdcafId,
    /// The direction of a link that it sends on.
    link: usize,
    /// Which MPDUs will arrive, bit by bit.
    received: u64,
    airtime: Duration,
}

/// Drops of one node, on their way to the cell's sink.
struct Drops<'a, P> {
    from: NodeId,
    sink: &'a mut dyn CellSink<P>,
}

impl<P> FrameSink<P> for Drops<'_, P> {
    fn dropped(&mut self, peer: NodeId, drop: Dropped<P>) {
        self.sink.dropped(self.from, peer, drop);
    }
}

/// An access point, its stations, and the channel on which all of them hear each other.
///
/// Told what is to be sent ([`Cell::enqueue`]) and what time it is ([`Cell::advance`], at the time of [`Cell::due`]).
/// Nodes contend as `Contention` says. If one transmits, each MPDU is lost with the link's error probability, drawn
/// from the link's own stream (that of a fade if the link is in one when the PPDU begins), and the receiver answers
/// if any arrived. If several do, nothing arrives; the medium counts as idle EIFS - DIFS after the longest PPDU, for
/// everybody, as after a PPDU without an answer. A node that has won may go on for its TXOP limit, SIFS apart, while
/// it is answered; its first exchange may be longer than the limit.
///
/// Source: IEEE 802.11-2020 section 10.23.2.
///
/// Deviation: no propagation delay, no hidden nodes, no capture, no RTS/CTS, no beacons, and answers are never lost.
/// A packet is delivered at the end of the answer, some 50 us after the end of its PPDU. A BlockAckReq that moves the
/// receiver's window is taken to come at once and to cost nothing. Received airtime is charged as the sender's
/// airtime, for what arrived.
#[derive(Debug)]
pub struct Cell<P> {
    band: Band,
    /// By [`NodeId`].
    nodes: Vec<Transmitter<P>>,
    /// TXOP limits by node and access category.
    limits: Vec<[Duration; 4]>,
    contention: Contention,
    /// Station i's: down at 2i, up at 2i + 1.
    links: Vec<Link<P>>,
    /// Station i's, both ways.
    fading: Vec<Option<Fading>>,
    /// When the first of their receivers gives up waiting for a frame.
    reorder_due: Option<Time>,
    /// Who transmits.
    on_air: Vec<OnAir>,
    /// When what is on the air began and ends.
    began: Time,
    ends: Time,
    /// When the TXOP of who transmits ends.
    txop_ends: Time,
    stats: CellStats,
    internal_before: u64,
    /// For the calls that fill them.
    winners: Vec<EdcafId>,
    arrived: Vec<Frame<P>>,
}

impl<P: WifiPacket> Cell<P> {
    /// A silent cell.
    ///
    /// # Errors
    /// [`WifiError`] for a value of `spec` that cannot be used.
    pub fn new(spec: &CellSpec, seed: u64) -> Result<Self, WifiError> {
        spec.validate()?;
        let mut links = Vec::with_capacity(2 * spec.stations.len());
        for station in &spec.stations {
            let name = &station.name;
            for (way, rate, error, receiver) in [
                ("down", station.rate, station.error, &station.node),
                ("up", station.rate_up, station.error_up, &spec.access_point),
            ] {
                links.push(Link::new(
                    rate,
                    error,
                    spec.rate_control,
                    receiver.variant,
                    seed,
                    &format!("wifi error {way} {name}"),
                ));
            }
        }
        let peers: Vec<PeerSpec> = (0..spec.stations.len())
            .map(|i| spec.peer(i, links[2 * i].rate))
            .collect();
        let band = spec.band;
        let mut nodes = vec![Transmitter::new(&spec.access_point, &peers, band, seed, "wifi")?];
        let mut contenders = vec![Contender {
            edca: spec.edca.access_point,
            retries: spec.access_point.retries,
        }];
        for (i, station) in spec.stations.iter().enumerate() {
            let access_point = [PeerSpec::new(NodeId::ACCESS_POINT, links[2 * i + 1].rate)];
            let name = format!("wifi station {}", station.name);
            nodes.push(Transmitter::new(&station.node, &access_point, band, seed, &name)?);
            contenders.push(Contender {
                edca: spec.edca.station,
                retries: station.node.retries,
            });
        }
        Ok(Self {
            band,
            nodes,
            limits: contenders
                .iter()
                .map(|c| c.edca.categories.map(|p| p.txop_limit))
                .collect(),
            contention: Contention::new(band, &contenders, seed),
            links,
            fading: spec
                .stations
                .iter()
                .map(|s| {
                    s.fade
                        .map(|fade| Fading::new(fade, seed, &format!("wifi fade {}", s.name)))
                })
                .collect(),
            reorder_due: None,
            on_air: Vec::with_capacity(contenders.len()),
            began: Time::ZERO,
            ends: Time::ZERO,
            txop_ends: Time::ZERO,
            stats: CellStats::default(),
            internal_before: 0,
            winners: Vec::with_capacity(contenders.len()),
            arrived: Vec::with_capacity(64),
        })
    }

    /// Offers a packet at node `from` for `to`, one of whom is the access point. Everything due before `now` must
    /// have been done ([`Cell::advance`]).
    ///
    /// # Panics
    /// If a node is not of this cell, or neither is the access point.
    pub fn enqueue(&mut self, from: NodeId, to: NodeId, packet: P, now: Time, sink: &mut dyn CellSink<P>) {
        let category = packet.tid().access_category();
        let mut drops = Drops { from, sink };
        self.nodes[usize::from(from.0)].enqueue(to, packet, now, &mut drops);
        if self.nodes[usize::from(from.0)].couples_categories() {
            self.contend(from, now);
        } else if self.head(from, category).is_some() {
            self.contention.wants(edcaf_of(from, category), now);
        }
    }

    /// When [`Cell::advance`] must be called next; `None` if only a packet can change that.
    #[inline]
    #[must_use]
    pub fn due(&self) -> Option<Time> {
        let medium = if self.contention.busy() {
            Some(self.ends)
        } else {
            self.contention.due()
        };
        let first = |a: Option<Time>, b: Option<Time>| match (a, b) {
            (Some(a), Some(b)) => Some(a.min(b)),
            (a, b) => a.or(b),
        };
        first(first(medium, self.nodes[0].due()), self.reorder_due)
    }

    /// Does everything that is due at `now` or before.
    pub fn advance(&mut self, now: Time, sink: &mut dyn CellSink<P>) {
        while let Some(due) = self.due().filter(|&due| due <= now) {
            if self.nodes[0].due() == Some(due) {
                self.wake(due, sink);
            } else if self.reorder_due == Some(due) {
                self.give_up_waiting(due, sink);
            } else if self.contention.busy() {
                self.end(due, sink);
            } else {
                self.transmit(due);
            }
        }
    }

    /// Receivers release what has waited for too long.
    #[cold]
    fn give_up_waiting(&mut self, now: Time, sink: &mut dyn CellSink<P>) {
        for (number, link) in self.links.iter_mut().enumerate() {
            if link.due().is_some_and(|due| due <= now) {
                let station = NodeId::of_station((number / 2) as u16);
                let way = match number % 2 {
                    0 => (NodeId::ACCESS_POINT, station),
                    _ => (station, NodeId::ACCESS_POINT),
                };
                link.give_up_waiting(way, now, sink);
            }
        }
        self.set_reorder_due();
    }

    fn set_reorder_due(&mut self) {
        self.reorder_due = self.links.iter().filter_map(Link::due).min();
    }

    /// The access point builds what it put off.
    fn wake(&mut self, now: Time, sink: &mut dyn CellSink<P>) {
        let from = NodeId::ACCESS_POINT;
        self.nodes[0].wake(now, &mut Drops { from, sink });
        self.contend(from, now);
    }

    /// Every access category of a node that has something to send contends.
    fn contend(&mut self, node: NodeId, now: Time) {
        for category in AccessCategory::ALL {
            if self.head(node, category).is_some() {
                self.contention.wants(edcaf_of(node, category), now);
            }
        }
    }

    /// Those whose counters are zero begin to transmit.
    fn transmit(&mut self, now: Time) {
        let mut winners = std::mem::take(&mut self.winners);
        self.contention.transmit(&mut winners);
        let collide = winners.len() > 1;
        let mut ends = now;
        for &edcaf in &winners {
            let (node, category) = node_of(edcaf);
            let end = self.begin_exchange(edcaf, collide, now);
            ends = ends.max(end);
            self.txop_ends = now + self.limits[usize::from(node.0)][category.index()];
        }
        self.began = now;
        self.ends = ends;
        self.winners = winners;
    }

    /// The head of a hardware queue goes on the air. Answers when the medium counts as idle again, as far as this one
    /// is concerned.
    fn begin_exchange(&mut self, edcaf: EdcafId, collides: bool, now: Time) -> Time {
        let (node, category) = node_of(edcaf);
        let aggregate = self.nodes[usize::from(node.0)]
            .head(category)
            .expect("a contender wants the medium only while it has an aggregate");
        let link = link_of(node, aggregate.peer);
        let received = if collides {
            0
        } else {
            let fade = self.fading[link / 2].as_mut().and_then(|fading| fading.error(now));
            self.links[link].draw(aggregate.rate, aggregate.frames.len(), fade)
        };
        let airtime = aggregate.airtime;
        let end = if received == 0 {
            now + (airtime.saturating_sub(self.answer(aggregate))) + self.band.eifs_less_difs()
        } else {
            now + airtime
        };
        self.stats.transmissions += 1;
        if collides {
            self.stats.collisions += 1;
            self.links[link].collisions += 1;
        } else if received == 0 {
            self.stats.losses += 1;
        }
        self.on_air.push(OnAir {
            edcaf,
            link,
            received,
            airtime,
        });
        self.nodes[usize::from(node.0)].started(category, now);
        end
    }

    /// What of an aggregate's airtime is after its PPDU.
    fn answer(&self, aggregate: &Aggregate<P>) -> Duration {
        let response = if aggregate.single {
            Response::Ack
        } else {
            Response::BlockAck
        };
        self.band.sifs() + aggregate.rate.response(response, self.band)
    }

    /// What is on the air has ended.
    fn end(&mut self, now: Time, sink: &mut dyn CellSink<P>) {
        self.stats.busy += now.since(self.began);
        for i in 0..self.on_air.len() {
            let on_air = self.on_air[i];
            let (node, category) = node_of(on_air.edcaf);
            self.complete(on_air, now, sink);
            if self.nodes[usize::from(node.0)].couples_categories() {
                self.contend(node, now);
            }
            let next = self.head(node, category).map(|aggregate| aggregate.airtime);
            let answered = on_air.received != 0;
            let start = now + self.band.sifs();
            if let Some(airtime) = next
                && answered
                && start + airtime <= self.txop_ends
            {
                // The only one on the air: it was answered.
                self.on_air.clear();
                self.began = now;
                self.ends = self.begin_exchange(on_air.edcaf, false, start);
                return;
            }
            let outcome = if answered {
                Outcome::Answered
            } else {
                Outcome::Unanswered
            };
            self.contention.finished(on_air.edcaf, outcome, next.is_some());
        }
        self.on_air.clear();
        self.contention.idle(now);
    }

    /// Tells sender and receiver what became of an aggregate.
    fn complete(&mut self, on_air: OnAir, now: Time, sink: &mut dyn CellSink<P>) {
        let (node, category) = node_of(on_air.edcaf);
        let OnAir {
            link,
            received,
            airtime,
            ..
        } = on_air;
        let sender = &mut self.nodes[usize::from(node.0)];
        let link = &mut self.links[link];
        if let Some(learner) = &mut link.learner {
            let aggregate = sender.head(category).expect("what is on the air is at the head");
            link.rate = learner.sent(aggregate.rate, aggregate.frames.len() as u32, received.count_ones());
            let peer = aggregate.peer;
            sender.set_rate(peer, link.rate);
        }
        let mut drops = Drops { from: node, sink };
        let completion = sender.completed(category, received, airtime, now, &mut self.arrived, &mut drops);
        let to = completion.peer;
        for frame in &self.arrived {
            sink.sent(node, to, &frame.packet);
        }
        let due = link.due();
        link.receive(
            (node, to),
            completion.tid,
            &mut self.arrived,
            completion.window_start,
            now,
            sink,
        );
        if link.due() != due {
            self.set_reorder_due();
        }
        if received != 0 {
            self.nodes[usize::from(to.0)].on_receive(node, category, airtime, now);
        }
    }

    #[inline]
    fn head(&self, node: NodeId, category: AccessCategory) -> Option<&Aggregate<P>> {
        self.nodes[usize::from(node.0)].head(category)
    }

    /// The stations' number.
    #[must_use]
    pub fn stations(&self) -> u16 {
        (self.nodes.len() - 1) as u16
    }

    /// A node's sending side, to look at.
    ///
    /// # Panics
    /// If the node is not of this cell.
    #[must_use]
    pub fn transmitter(&self, node: NodeId) -> &Transmitter<P> {
        &self.nodes[usize::from(node.0)]
    }

    /// Packets in the cell: queued, on the air, or held by a receiver until those before them have come.
    #[must_use]
    pub fn packets(&self) -> u64 {
        let queued: u64 = self.nodes.iter().map(Transmitter::packets).sum();
        let held: u64 = self.links.iter().map(Link::held).sum();
        queued + held
    }

    /// What was counted for the cell since [`Cell::begin`].
    #[must_use]
    pub fn stats(&self) -> CellStats {
        CellStats {
            internal_collisions: self.contention.internal_collisions() - self.internal_before,
            ..self.stats
        }
    }

    /// What was counted for station number `station` (from 0) since [`Cell::begin`].
    ///
    /// # Panics
    /// If there is no such station.
    #[must_use]
    pub fn station_stats(&self, station: u16) -> StationStats {
        let node = NodeId::of_station(station);
        let stats = |from: NodeId, to: NodeId| {
            let link = &self.links[link_of(from, to)];
            LinkStats {
                rate: link.rate,
                sent: self.transmitter(from).peer_stats(to),
                collisions: link.collisions,
                packets: link.packets,
                bytes: link.bytes,
            }
        };
        StationStats {
            down: stats(NodeId::ACCESS_POINT, node),
            up: stats(node, NodeId::ACCESS_POINT),
        }
    }

    /// Statistics start over. What is on the air counts from `now`.
    pub fn begin(&mut self, now: Time) {
        self.stats = CellStats::default();
        self.internal_before = self.contention.internal_collisions();
        self.began = self.began.max(now);
        for node in &mut self.nodes {
            node.begin();
        }
        for link in &mut self.links {
            link.begin();
        }
    }
}

const fn edcaf_of(node: NodeId, category: AccessCategory) -> EdcafId {
    node.0 as EdcafId * 4 + category.index() as EdcafId
}

const fn node_of(edcaf: EdcafId) -> (NodeId, AccessCategory) {
    (NodeId((edcaf / 4) as u16), AccessCategory::ALL[edcaf as usize % 4])
}

/// Where the link from `from` to `to` is.
fn link_of(from: NodeId, to: NodeId) -> usize {
    match (from.station(), to.station()) {
        (None, Some(station)) => 2 * usize::from(station),
        (Some(station), None) => 2 * usize::from(station) + 1,
        _ => panic!("the access point is one end of every link"),
    }
}

#[cfg(test)]
mod tests;
