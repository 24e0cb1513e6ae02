//! Before the first event: what need not be simulated step by step.

use super::{Fabric, LinkPart, seed_of_qdisc};
use crate::identity::{Identity, WithIdentity};
use crate::link::{Deferred, END, Link, Model, Pacing};
use crate::wire::{Wire, WireDevice};
use sojourn_qdisc::{AnyQdisc, FifoLimit};
use sojourn_units::Time;

/// Where the packets of a link come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Source {
    Nowhere,
    Link(u16),
    /// Hosts, or several links.
    Many,
}

impl Source {
    fn and(self, other: Self) -> Self {
        if self == Self::Nowhere || self == other {
            other
        } else {
            Self::Many
        }
    }
}

/// Where packets come from and go to, by link: of sinks, one for each route.
struct Ways {
    sources: Vec<Source>,
    sinks: Vec<Vec<u16>>,
}

impl Fabric {
    /// Wires at which nobody looks become computations, other egresses are served later, and what then still has a
    /// time of its own gets a slot.
    pub(crate) fn settle(&mut self) {
        self.tell();
        if self.watch.is_none() {
            let ways = self.ways();
            self.find_wires(&ways);
            self.find_deferred(&ways);
        }
        self.add_slots();
    }

    /// Where packets come from and go to at each link.
    fn ways(&self) -> Ways {
        let mut ways = Ways {
            sources: vec![Source::Nowhere; self.links.len()],
            sinks: vec![Vec::new(); self.links.len()],
        };
        for (route, &entry) in self.entry.iter().enumerate() {
            let (mut from, mut link) = (Source::Many, entry);
            while link != END {
                let at = usize::from(link);
                ways.sources[at] = ways.sources[at].and(from);
                from = Source::Link(link);
                link = self.links[at].next[route];
                ways.sinks[at].push(link);
            }
        }
        ways
    }

    /// What has a time of its own gets a slot.
    fn add_slots(&mut self) {
        for i in 0..self.links.len() {
            let link = &mut self.links[i];
            let computed = link.wire.as_ref();
            // The slot of a computed wire's egress is its device's, for hosts that wait for it.
            if let Some(egress) = &mut link.egress
                && computed.is_none_or(|wire| wire.device.is_some())
                && egress.deferred.is_none()
            {
                self.link_parts.push(LinkPart::Egress(i as u16));
                egress.slot = self.calendar.add_egress_slot();
            }
            if let Some(slot) = &mut link.slot
                && !link.feeds
                && link.ahead == END
            {
                self.link_parts.push(LinkPart::Line(i as u16));
                *slot = self.calendar.add_link_slot();
            }
        }
        for (i, radio) in self.radios.iter_mut().enumerate() {
            self.link_parts.push(LinkPart::Cell(i as u16));
            radio.slot = self.calendar.add_egress_slot();
        }
    }

    /// Disciplines that look at code points and hosts are told them, if those of any two packets differ. Those that look at
    /// acknowledgements are told these, too.
    fn tell(&mut self) {
        let alike = Identity::all_alike(&self.identities);
        for (link, spec) in &self.askers {
            let reads_acks = spec.qdisc.reads_acks();
            if alike && !reads_acks {
                continue;
            }
            let qdisc = spec.qdisc.build(seed_of_qdisc(self.seed, usize::from(*link)));
            let qdisc = WithIdentity::new(qdisc, &self.identities, reads_acks);
            let model = Model::new(&spec.shaping, spec.rate, qdisc).expect("the same was made without an identity");
            if let Some(egress) = &mut self.links[usize::from(*link)].egress {
                egress.pacing = Pacing::WithIdentity(Box::new(model));
            }
        }
    }

    /// A link is computed if it is a plain FIFO before a wire and nobody looks at it: neither a record nor a capture
    /// nor a flusher. If all its packets come from a link that only delays them, they are computed when they
    /// enter that one.
    fn find_wires(&mut self, ways: &Ways) {
        for (link, spared) in self.links.iter_mut().zip(&self.spared) {
            let Some(egress) = &link.egress else { continue };
            if let Pacing::Plain(Model::Wire(line)) = &egress.pacing
                && let AnyQdisc::Fifo(fifo) = &*line.qdisc
                && let FifoLimit::Packets(limit) = fifo.limit()
                && !egress.reported
                && spared.is_none()
                && link.air.is_none()
            {
                let mut wire = Wire::new(line.rate, limit);
                wire.device = egress.own.map(|_| WireDevice::default());
                link.wire = Some(wire);
            }
        }
        for (i, sinks) in ways.sinks.iter().enumerate() {
            let link = &self.links[i];
            // What comes out at a tick may meet other packets there, in an order that only events have.
            let delays_only = link.delays_only() && link.tick.is_zero();
            let ahead = |&sink: &u16| {
                let to = self.links.get(usize::from(sink));
                to.is_some_and(|to| to.wire.is_some()) && ways.sources[usize::from(sink)] == Source::Link(i as u16)
            };
            if delays_only && !sinks.is_empty() && sinks.iter().all(ahead) {
                self.links[i].feeds = true;
                for &sink in sinks {
                    if let Some(wire) = &mut self.links[usize::from(sink)].wire {
                        wire.fed_by = Some(i as u16);
                    }
                }
            }
        }
    }

    /// An egress is deferred if its packets enter a delay next, where nothing else enters, and nobody looks at them. They
    /// come out at any time: at a tick they may meet others, in an order that only events have.
    fn find_deferred(&mut self, ways: &Ways) {
        for i in 0..self.links.len() {
            let link = &self.links[i];
            let own = link.egress.as_ref().is_none_or(|egress| egress.own.is_some());
            if own || link.wire.is_some() || link.air.is_some() || self.spared[i].is_some() {
                continue;
            }
            let lines = if link.slot.is_none() {
                &*ways.sinks[i]
            } else {
                &[i as u16]
            };
            let delays = |&line: &u16| {
                let own = usize::from(line) == i;
                let alone = || own || ways.sources[usize::from(line)] == Source::Link(i as u16);
                let to = self.links.get(usize::from(line));
                to.is_some_and(|to| !to.delay.is_zero() && to.tick.is_zero() && (own || to.delays_only()) && alone())
            };
            if !lines.iter().all(delays) {
                continue;
            }
            let Some(&first) = lines.iter().min_by_key(|&&line| self.links[usize::from(line)].delay) else {
                continue;
            };
            let Link { delay, feeds, .. } = self.links[usize::from(first)];
            let mut line = first;
            if feeds {
                let sinks = &ways.sinks[usize::from(first)];
                line = sinks[0];
                if sinks.iter().any(|&sink| sink != line) {
                    continue;
                }
            }
            let inbox = self.inbox(i as u16, ways);
            let is_straight = !feeds && lines.iter().all(|&other| other == line);
            if let Some(egress) = &mut self.links[i].egress {
                egress.deferred = Some(Deferred {
                    due: Time::MAX,
                    inbox,
                    line,
                    delay,
                    is_straight,
                    overtakes: egress.pacing.overtakes(),
                });
                self.links[usize::from(line)].behind = i as u16;
                if let Some(from) = self.links.get_mut(usize::from(inbox)) {
                    from.ahead = i as u16;
                }
            }
        }
    }

    /// The link through which all packets come to `link`, if that is a computed wire of hosts which leads nowhere else:
    /// when they come is known as soon as they are sent.
    fn inbox(&self, link: u16, ways: &Ways) -> u16 {
        let Source::Link(from) = ways.sources[usize::from(link)] else {
            return END;
        };
        let known = self.links[usize::from(from)]
            .wire
            .as_ref()
            .is_some_and(|wire| wire.fed_by.is_none());
        if known && ways.sinks[usize::from(from)].iter().all(|&sink| sink == link) {
            from
        } else {
            END
        }
    }
}
