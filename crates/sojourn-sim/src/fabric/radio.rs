//! Cells on the network: links through the air.

use super::Fabric;
use crate::calendar::Slot;
use crate::histogram::Histogram;
use crate::identity::Identity;
use crate::link::{END, Released};
use crate::network::Hop;
use crate::packet::{Packet, Segments};
use crate::standing::Standing;
use crate::tap::Passing;
use sojourn_qdisc::{DropReason, Dropped, Packet as QdiscPacket, packet_without};
use sojourn_units::{Bytes, Duration, Ecn, Time};
use sojourn_wifi::{Cell, CellSink, CellSpec, FrameTimes, NodeId, Tid, WifiPacket};

/// A packet in a cell: with its traffic identifier and what its route says of it, so that a packet on a wire needs none.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Framed {
    packet: Packet,
    identity: Identity,
    tid: Tid,
}

impl QdiscPacket for Framed {
    // The one discipline that reads acknowledgements, `cake`, shapes, and a cell takes none that does. What comes from
    // the stack of an access point has lost its socket.
    packet_without!(ack, socket);

    #[inline]
    fn size(&self) -> Bytes {
        self.packet.size()
    }
    #[inline]
    fn flow_hash(&self) -> u32 {
        self.packet.hash
    }
    #[inline]
    fn ecn(&self) -> Ecn {
        self.packet.ecn()
    }
    #[inline]
    fn set_ecn(&mut self, ecn: Ecn) {
        self.packet.set_ecn(ecn);
    }
    /// mac80211 makes the traffic identifier a packet's priority before the discipline sees it.
    ///
    /// Source: `ieee80211_select_queue`, and `prio2band` of `pfifo_fast`.
    #[inline]
    fn band(&self) -> u8 {
        match self.tid.value() {
            0 | 4 => 1,
            6 | 7 => 0,
            _ => 2,
        }
    }
    /// Source: `cfg80211_classify8021d`, whose answer mac80211 makes the packet's priority.
    #[inline]
    fn priority(&self) -> u8 {
        self.tid.value()
    }
    #[inline]
    fn dscp(&self) -> u8 {
        self.identity.dscp
    }
    #[inline]
    fn source(&self) -> u32 {
        self.identity.source
    }
    #[inline]
    fn destination(&self) -> u32 {
        self.identity.destination
    }
    #[inline]
    fn set_dscp(&mut self, dscp: u8) {
        self.identity.dscp = dscp;
        if dscp == 0 {
            self.packet.wash();
        }
    }
}

impl WifiPacket for Framed {
    #[inline]
    fn tid(&self) -> Tid {
        self.tid
    }
}

/// The measurements of one way through a cell that the cell does not make itself, over the measured window.
#[derive(Debug, Default)]
pub(crate) struct AirMeter {
    pub(crate) drops: [u64; DropReason::ALL.len()],
    /// From the arrival at the sender until the packet was built into an aggregate, of those delivered.
    pub(crate) queue: Histogram,
    /// From then until it was delivered.
    pub(crate) hardware: Histogram,
}

/// A cell and where it sits.
#[derive(Debug)]
pub(crate) struct Radio {
    pub(crate) spec: CellSpec,
    pub(crate) cell: Cell<Framed>,
    /// Its slot in the calendar, once the simulation runs.
    pub(super) slot: Slot,
    /// The links from each station and to it; [`END`] if there is none.
    links: Vec<[u16; 2]>,
    /// Packets in the cell, wherever they wait in it.
    pub(crate) held: u64,
    /// What was measured of each station's ways: from it, and to it.
    pub(crate) meters: Vec<[AirMeter; 2]>,
    /// What has come out and is not yet on its next link.
    pub(crate) arrived: Vec<(u16, Packet)>,
    /// The packets that are in the cell on their way from the stations, and to them, if somebody watches.
    pub(crate) standing: Option<Box<[Standing; 2]>>,
}

impl Radio {
    pub(super) fn new(spec: CellSpec, cell: Cell<Framed>) -> Self {
        let links = vec![[END; 2]; spec.stations.len()];
        let meters = links.iter().map(|_| Default::default()).collect();
        Self {
            spec,
            cell,
            slot: Slot::default(),
            links,
            held: 0,
            meters,
            arrived: Vec::new(),
            standing: None,
        }
    }

    /// The measured window begins: forgets what was counted before.
    pub(super) fn begin(&mut self, now: Time) {
        self.cell.begin(now);
        self.meters.fill_with(Default::default);
    }

    /// The cell, and what takes its packets.
    #[inline]
    fn with_sink<'a>(
        &'a mut self,
        segments: &'a mut Segments,
        released: &'a mut Vec<Released>,
        now: Time,
    ) -> (&'a mut Cell<Framed>, Out<'a>) {
        let out = Out {
            now,
            links: &self.links,
            held: &mut self.held,
            meters: &mut self.meters,
            arrived: &mut self.arrived,
            standing: self.standing.as_deref_mut(),
            released,
            segments,
        };
        (&mut self.cell, out)
    }

    /// `link` is this way through the cell.
    pub(super) fn connect(&mut self, link: u16, from: NodeId, to: NodeId) {
        if let Some((station, down)) = way(from, to) {
            self.links[usize::from(station)][usize::from(down)] = link;
        }
    }
}

/// The station at one end of a way, and whether the way leads to it.
fn way(from: NodeId, to: NodeId) -> Option<(u16, bool)> {
    match (from.station(), to.station()) {
        (Some(station), None) => Some((station, false)),
        (None, Some(station)) => Some((station, true)),
        _ => None,
    }
}

/// Takes what comes out of a cell.
struct Out<'a> {
    now: Time,
    links: &'a [[u16; 2]],
    held: &'a mut u64,
    meters: &'a mut [[AirMeter; 2]],
    arrived: &'a mut Vec<(u16, Packet)>,
    standing: Option<&'a mut [Standing; 2]>,
    released: &'a mut Vec<Released>,
    segments: &'a mut Segments,
}

impl Out<'_> {
    /// The device at the beginning of the way is done with `packet`.
    #[inline]
    fn release(&mut self, packet: &Packet, down: bool) {
        if !down && packet.is_data() {
            let seq = self.segments.peek(packet).seq;
            self.released.push(Released {
                route: packet.route,
                seq: Some(seq),
            });
        }
    }
}

impl CellSink<Framed> for Out<'_> {
    /// What was answered is the sender's no more, though its receiver may hold it until others have come: Linux frees
    /// a frame with its status (`ieee80211_tx_status_skb`), and small queues count it until then.
    #[inline]
    fn sent(&mut self, from: NodeId, to: NodeId, framed: &Framed) {
        if let Some((_, down)) = way(from, to) {
            self.release(&framed.packet, down);
        }
    }

    #[inline]
    fn delivered(&mut self, from: NodeId, to: NodeId, framed: Framed, times: FrameTimes) {
        *self.held -= 1;
        if let Some((station, down)) = way(from, to) {
            let link = self.links[usize::from(station)][usize::from(down)];
            let meter = &mut self.meters[usize::from(station)][usize::from(down)];
            meter.queue.record(times.dequeued.since(times.enqueued));
            meter.hardware.record(times.delivered.since(times.dequeued));
            self.arrived.push((link, framed.packet));
            if let Some(standing) = &mut self.standing {
                let waited = times.dequeued.since(times.enqueued);
                standing[usize::from(down)].depart(&framed.packet, waited, false, times.delivered);
            }
        }
    }

    fn dropped(&mut self, from: NodeId, to: NodeId, drop: Dropped<Framed>) {
        *self.held -= 1;
        if let Some((station, down)) = way(from, to) {
            self.meters[usize::from(station)][usize::from(down)].drops[drop.reason.index()] += 1;
            if let Some(standing) = &mut self.standing {
                standing[usize::from(down)].lose(&drop.packet.packet, self.now);
            }
            if drop.reason != DropReason::ReorderTimeout {
                self.release(&drop.packet.packet, down);
            }
        }
        self.segments.discard(&drop.packet.packet);
    }
}

impl Fabric {
    /// Hands a packet to the cell that `link` leads through.
    #[inline(never)]
    pub(super) fn enter_cell(&mut self, link: u16, packet: Packet, hop: Hop) {
        self.watched(Passing::Offered, link, packet);
        let mut identity = self.identities[usize::from(packet.route)];
        let tid = if packet.is_washed() {
            identity.dscp = 0;
            // That of code point 0 by every variant.
            Tid::BEST_EFFORT
        } else {
            self.tids[usize::from(packet.route)]
        };
        let radio = &mut self.radios[usize::from(hop.cell.0)];
        radio.held += 1;
        if let Some(standing) = &mut radio.standing {
            let down = hop.to.station().is_some();
            standing[usize::from(down)].come(&packet, self.now);
        }
        let (cell, mut out) = radio.with_sink(&mut self.segments, &mut self.released, self.now);
        let framed = Framed { packet, identity, tid };
        cell.enqueue(hop.from, hop.to, framed, self.now, &mut out);
        self.wake_cell(hop.cell.0);
    }

    /// What is to come out of a cell now is in its `arrived`.
    pub(crate) fn advance_cell(&mut self, cell: u16) {
        let radio = &mut self.radios[usize::from(cell)];
        let (own, mut out) = radio.with_sink(&mut self.segments, &mut self.released, self.now);
        own.advance(self.now, &mut out);
        self.wake_cell(cell);
    }

    #[inline]
    fn wake_cell(&mut self, cell: u16) {
        let radio = &self.radios[usize::from(cell)];
        let due = radio.cell.due();
        if due == self.calendar.due(radio.slot) {
            return;
        }
        match due {
            Some(at) => self.calendar.set(radio.slot, at),
            None => self.calendar.clear(radio.slot),
        }
    }

    /// A packet goes on from the cell that `link` leads through. It is answered if that was its last link.
    #[inline]
    pub(crate) fn leave_cell(&mut self, link: u16, packet: Packet) -> Option<Packet> {
        let l = &self.links[usize::from(link)];
        if !l.delay.is_zero() {
            self.enter_line(link, packet, self.now + l.delay);
            return None;
        }
        let next = l.next[usize::from(packet.route)];
        self.watched(Passing::Arrived, link, packet);
        if next == END {
            return Some(packet);
        }
        self.forward(next, packet);
        None
    }

    /// How long a packet of `size` bytes takes through an idle cell: AIFS, since a station that was idle long enough
    /// has no backoff left, and the frame alone.
    pub(super) fn empty_cell(&self, hop: Hop, size: u16) -> Duration {
        let spec = &self.radios[usize::from(hop.cell.0)].spec;
        let category = self.tid.access_category();
        let (rate, edca) = match way(hop.from, hop.to) {
            Some((station, true)) => (spec.stations[usize::from(station)].rate, &spec.edca.access_point),
            Some((station, false)) => (spec.stations[usize::from(station)].rate_up, &spec.edca.station),
            None => return Duration::ZERO,
        };
        let mpdu = sojourn_wifi::mpdu(Bytes::new(u64::from(size)));
        spec.band.aifs(edca.of(category).aifsn) + rate.ppdu(rate.single(mpdu), spec.band)
    }
}
