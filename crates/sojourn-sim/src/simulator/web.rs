//! Web clients on the network.

use super::{Added, Component, Owner, SimError, Simulator};
use crate::calendar::Slot;
use crate::network::RoutePair;
use crate::packet::Packet;
use crate::traffic::web::{Content, DNS_ANSWER, DNS_QUERY, WebClient, WebSpec, answer_hash};
use sojourn_tcp::Endpoint;
use sojourn_units::Stream;

/// A web client and where it sits. All its connections share its two routes and its one slot.
#[derive(Debug)]
pub(crate) struct Web {
    pub(crate) client: WebClient,
    pub(crate) slot: Slot,
    /// To the server, and back.
    routes: RoutePair,
}

impl Simulator {
    /// A web client, which starts at `spec.start`.
    ///
    /// # Errors
    /// [`SimError`] for unusable TCP parameters, or more routes than can be numbered.
    pub fn add_web(&mut self, spec: WebSpec) -> Result<Added, SimError> {
        Endpoint::client(&spec.tcp)?;
        let index = self.webs.len() as u32;
        let [at_server, at_client] = [true, false].map(|at_server| Owner::Web(index, at_server));
        let routes = self.add_routes(&spec.name, (&spec.route, at_server), (&spec.back, at_client))?;
        let slot = self.add_slot(Component::Web(index));
        self.fabric.calendar.set(slot, spec.start);
        let ports = Stream::named(self.fabric.seed, &format!("ports {}", spec.name));
        self.webs.push(Web {
            client: WebClient::new(spec, ports),
            slot,
            routes,
        });
        let index = index as usize;
        Ok(Added { index, routes })
    }

    pub(super) fn web_due(&mut self, web: u32) {
        let w = &mut self.webs[web as usize];
        self.fabric.calendar.clear(w.slot);
        w.client.on_timeout(self.fabric.now);
        self.web_pump(web);
        self.deliver_arrived();
    }

    pub(super) fn web_arrived(&mut self, web: u32, at_server: bool, packet: &Packet) {
        let segment = packet.is_tcp().then(|| self.fabric.segments.take(packet));
        if self.frozen {
            return;
        }
        let client = &mut self.webs[web as usize].client;
        match segment {
            Some(segment) => client.on_segment(at_server, packet.connection(), &segment, self.fabric.now),
            None => client.on_dns(at_server, packet.body, packet.hash, self.fabric.now),
        }
        self.web_pump(web);
    }

    /// Sends what a client and its servers want to send, and sets its timer: a lazy one, as that of
    /// [`Simulator::pump`].
    fn web_pump(&mut self, web: u32) {
        let routes = self.webs[web as usize].routes;
        while let Some(out) = self.webs[web as usize].client.poll() {
            let route = routes.of(out.to_server).0;
            let packet = match out.content {
                Content::Segment(number, segment) => {
                    let body = self.fabric.segments.keep(&segment);
                    Packet::of_segment(&segment, body, out.hash, route).of_connection(number)
                }
                Content::Dns(number) => {
                    let size = if out.to_server { DNS_QUERY } else { DNS_ANSWER };
                    Packet::probe(number, out.hash, size, route)
                }
            };
            if self.fabric.watch.is_some() {
                self.tell_tap(web, packet);
            }
            self.fabric.send(packet);
        }
        let w = &self.webs[web as usize];
        if let Some(at) = w.client.timeout()
            && self.fabric.calendar.due(w.slot).is_none_or(|due| due > at)
        {
            self.fabric.calendar.set(w.slot, at.max(self.fabric.now));
        }
    }

    /// Tells a capture of the connection or look-up that a packet may begin.
    #[cold]
    #[inline(never)]
    fn tell_tap(&mut self, web: u32, packet: Packet) {
        let Some(tap) = self.fabric.watch.as_mut().and_then(|watch| watch.tap.as_mut()) else {
            return;
        };
        let w = &self.webs[web as usize];
        if packet.is_tcp() {
            let number = packet.connection();
            if let Some(hashes) = w.client.hashes(number) {
                tap.open_next(web as usize, packet, hashes, number, w.routes);
            }
        } else if packet.route == w.routes.forth.0 {
            let hashes = [packet.hash, answer_hash(packet.hash)];
            tap.open_next(web as usize, packet, hashes, packet.body, w.routes);
        }
    }
}
