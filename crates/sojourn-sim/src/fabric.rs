//! The network under way: what carries packets between hosts, and the clock.

mod deferred;
mod passage;
mod radio;
mod settle;

pub(crate) use deferred::Leaving;
pub(crate) use radio::{AirMeter, Radio};

use crate::calendar::{Calendar, Slot};
use crate::error::SimError;
use crate::identity::Identity;
use crate::link::{Air, END, Egress, Link, Model, Pacing, Released, Weather};
use crate::meter::Meter;
use crate::network::{EgressSpec, LinkId, Network, NetworkError, RouteId, RoutePair};
use crate::packet::{Packet, Segments};
use crate::spared::Spared;
use crate::watch::Watch;
use sojourn_units::{Bytes, Duration, Stream, Time};
use sojourn_wifi::{Cell, Tid};
use std::collections::VecDeque;

/// What a link's slot wakes.
#[derive(Clone, Copy, Debug)]
pub(crate) enum LinkPart {
    Egress(u16),
    Line(u16),
    Cell(u16),
    /// The hosts that pace.
    Paces,
}

/// Links, cells and routes, the packets on them, and the calendar of all events. It knows no hosts: what has come to
/// the end of its route is in `arrived`, or is answered.
#[derive(Debug)]
pub(crate) struct Fabric {
    pub(crate) now: Time,
    pub(crate) calendar: Calendar,
    pub(crate) link_parts: Vec<LinkPart>,
    pub(crate) links: Vec<Link>,
    pub(crate) radios: Vec<Radio>,
    /// Traffic identifier of each route's packets in a cell, and of the routes that come next.
    pub(crate) tids: Vec<Tid>,
    pub(crate) tid: Tid,
    /// Whose packets each route has, and the pairs of routes that come next, forth.
    pub(crate) identities: Vec<Identity>,
    pub(crate) identity: Identity,
    /// Links whose discipline looks at code points and hosts.
    pub(crate) askers: Vec<(u16, EgressSpec)>,
    /// First link of each route.
    pub(crate) entry: Vec<u16>,
    /// By route: the TCP host that sends on it by a device that queues.
    pub(crate) senders: Vec<Option<u32>>,
    /// Routes of data segments that such a device is done with, and whose senders are yet to be told.
    pub(crate) released: Vec<Released>,
    pub(crate) hashes: Vec<u32>,
    /// Packets that reached their host while an egress was being served; delivered before the next event.
    pub(crate) arrived: VecDeque<Packet>,
    /// Acknowledgements on their way around a queue, by link (ablation `spare_acks`).
    pub(crate) spared: Vec<Option<Spared>>,
    pub(crate) segments: Segments,
    /// What looks at packets on their way, if anything does.
    pub(crate) watch: Option<Box<Watch>>,
    pub(crate) seed: u64,
}

/// The seed of the discipline before link `link`.
fn seed_of_qdisc(seed: u64, link: usize) -> u64 {
    Stream::derive_seed(seed, &format!("qdisc {link}"))
}

impl Fabric {
    /// The idle network that `network` describes, with random streams derived from `seed`.
    pub(crate) fn new(network: &Network, seed: u64) -> Result<Self, SimError> {
        let mut links = Vec::new();
        let mut spared = Vec::new();
        let mut askers = Vec::new();
        for (i, spec) in network.links().iter().enumerate() {
            let egress = match &spec.egress {
                None => None,
                Some(e) => Some(Box::new(Egress {
                    pacing: Pacing::Plain(Model::new(&e.shaping, e.rate, e.qdisc.build(seed_of_qdisc(seed, i)))?),
                    meter: Meter::default(),
                    reported: e.name.is_some(),
                    slot: Slot::default(),
                    own: None,
                    deferred: None,
                })),
            };
            let asks = |e: &&EgressSpec| e.qdisc.reads_identity();
            askers.extend(spec.egress.as_ref().filter(asks).map(|e| (i as u16, e.clone())));
            spared.push(spec.egress.as_ref().filter(|e| e.spare_acks).map(|_| Spared::default()));
            let wire = egress.as_ref().is_some_and(|e| e.pacing.wire_rate().is_some());
            let impairment = spec.egress.as_ref().map_or_else(Default::default, |e| e.impairment);
            let name = spec.egress.as_ref().and_then(|e| e.name.clone());
            let weather = || Weather::new(impairment, seed, &name.unwrap_or_else(|| i.to_string()));
            let air = match network.hop(i) {
                Some(hop) => Some(Air::Cell(hop)),
                None => (!impairment.is_none()).then(|| Air::Impaired(Box::new(weather()))),
            };
            links.push(Link {
                egress,
                delay: spec.delay,
                air,
                tick: spec.tick,
                line: VecDeque::new(),
                slot: (wire || !spec.delay.is_zero() || !impairment.jitter.is_zero()).then(Slot::default),
                wire: None,
                feeds: false,
                behind: END,
                ahead: END,
                next: Vec::new(),
            });
        }
        let mut radios = Vec::new();
        for (i, spec) in network.cells().iter().enumerate() {
            let cell = Cell::new(spec, Stream::derive_seed(seed, &format!("cell {i}")))?;
            radios.push(Radio::new(spec.clone(), cell));
        }
        for (i, link) in links.iter().enumerate() {
            if let Some(Air::Cell(hop)) = &link.air {
                radios[usize::from(hop.cell.0)].connect(i as u16, hop.from, hop.to);
            }
        }
        Ok(Self {
            now: Time::ZERO,
            calendar: Calendar::default(),
            link_parts: Vec::new(),
            links,
            radios,
            tids: Vec::new(),
            tid: Tid::BEST_EFFORT,
            identities: Vec::new(),
            identity: Identity::default(),
            askers,
            entry: Vec::new(),
            senders: Vec::new(),
            released: Vec::new(),
            hashes: Vec::new(),
            arrived: VecDeque::new(),
            spared,
            segments: Segments::default(),
            watch: None,
            seed,
        })
    }

    /// The two routes of what is called `name`, forth and back.
    pub(crate) fn add_routes(&mut self, name: &str, forth: &[LinkId], back: &[LinkId]) -> Result<RoutePair, SimError> {
        let pair = RoutePair {
            forth: self.add_route(forth, &format!("{name} forth"))?,
            back: self.add_route(back, &format!("{name} back"))?,
        };
        self.identities.extend([self.identity, self.identity.reversed()]);
        Ok(pair)
    }

    /// A new route. Links without rate and delay are left out: they would only be passed through.
    fn add_route(&mut self, route: &[LinkId], name: &str) -> Result<RouteId, SimError> {
        let index = self.entry.len();
        if index >= usize::from(END) {
            return Err(NetworkError::TooMany {
                what: "routes",
                count: index + 1,
                limit: usize::from(END),
            }
            .into());
        }
        let mut ids: Vec<u16> = Vec::new();
        for l in route {
            let link = &self.links[usize::from(l.0)];
            if link.egress.is_some() || link.air.is_some() || !link.delay.is_zero() {
                ids.push(l.0);
            }
        }
        for link in &mut self.links {
            link.next.push(END);
            if let Some(e) = &mut link.egress {
                e.meter.add_route();
            }
        }
        for pair in ids.windows(2) {
            self.links[usize::from(pair[0])].next[index] = pair[1];
        }
        self.entry.push(ids.first().copied().unwrap_or(END));
        self.tids.push(self.tid);
        // The kernel hashes addresses and ports with a key drawn at start; so does a run, once for all its egresses.
        self.hashes
            .push(Stream::named(self.seed, &format!("hash {name}")).u32());
        Ok(RouteId(index as u16))
    }

    /// The hash by which queues know the packets of a route.
    pub(crate) fn hash(&self, route: RouteId) -> u32 {
        self.hashes[usize::from(route.0)]
    }

    /// Whether anything is under way or queued anywhere.
    pub(crate) fn carries_packets(&self) -> bool {
        let in_the_air = self.radios.iter().any(|radio| radio.held > 0);
        in_the_air
            || self.links.iter().any(|link| {
                let queued = link.egress.as_ref().map_or(0, |e| e.meter.backlog().packets);
                queued > 0 || !link.line.is_empty()
            })
    }

    /// Packets that found no room before a link.
    pub(crate) fn losses_at(&self, link: u16) -> u64 {
        let egress = self.links.get(usize::from(link)).and_then(|link| link.egress.as_ref());
        egress.map_or(0, |egress| egress.meter.drops.iter().sum())
    }

    /// How long a packet of `size` bytes takes along `route` if nothing else is there: propagation, serialisation
    /// where the link is a wire, and a cell without others. A token bucket that is full holds nothing back.
    pub(crate) fn empty_delay(&self, route: &[LinkId], size: u16) -> Duration {
        route
            .iter()
            .map(|l| &self.links[usize::from(l.0)])
            .map(|link| match (&link.egress, &link.air) {
                (Some(egress), _) => match egress.pacing.wire_rate() {
                    Some(rate) => link.delay + rate.time_to_send(Bytes::new(u64::from(size))),
                    None => link.delay,
                },
                (None, Some(Air::Cell(hop))) => link.delay + self.empty_cell(*hop, size),
                (None, _) => link.delay,
            })
            .fold(Duration::ZERO, |sum, d| sum + d)
    }

    /// The measured window begins: what was counted before is forgotten.
    pub(crate) fn begin_window(&mut self, at: Time) {
        self.now = at;
        for link in &mut self.links {
            if let Some(e) = &mut link.egress {
                e.meter.begin(at);
            }
            if let Some(Air::Impaired(weather)) = &mut link.air {
                weather.lost = 0;
            }
        }
        for radio in &mut self.radios {
            radio.begin(at);
        }
    }

    /// The measured window ends: statistics are final, and nobody looks at packets any more.
    pub(crate) fn end_window(&mut self, at: Time) {
        self.now = at;
        for link in &mut self.links {
            if let Some(e) = &mut link.egress {
                e.meter.advance(at);
            }
        }
        if let Some(watch) = &mut self.watch {
            watch.finish(&mut self.calendar);
        }
    }
}
