//! The ends of the network: TCP hosts and their applications, probes, and the sampling of series.

use super::{Destination, Simulator};
use crate::calendar::{Slot, Turn};
use crate::ends;
use crate::link::{Air, END, OwnDevice, Released};
use crate::network::LinkId;
use crate::packet::Packet;
use sojourn_tcp::{Device, Endpoint};

/// One end of a flow and its slot.
///
/// What each packet needs lies in front of the endpoint, whose own fields are in the order of how often they are
/// touched.
#[derive(Debug)]
#[repr(C, align(64))]
pub(crate) struct Host {
    pub(super) slot: Slot,
    /// Flow hash of the packets it sends, and their route.
    pub(super) hash: u32,
    pub(super) route: u16,
    /// The link of its own device, if it is a computed wire; else [`END`].
    pub(super) device: u16,
    /// Its own device queues.
    pub(super) queues: bool,
    /// It is a radio.
    pub(super) radio: bool,
    /// It waits for its device to be done with a segment of its own.
    pub(super) waits: bool,
    /// Its departures are among [`Simulator::paces`].
    pub(super) paced: bool,
    pub(crate) endpoint: Endpoint,
    /// Its number there.
    pub(super) pace: u32,
}

impl Simulator {
    // ------------------------------------------------------------------ hosts

    /// Takes everything that an endpoint wants to send, and sets its timer.
    #[inline]
    pub(super) fn pump(&mut self, host: u32) {
        let device = self.hosts[host as usize].device;
        if device != END {
            self.hear_from_device(device);
        }
        loop {
            let h = &mut self.hosts[host as usize];
            if h.endpoint.is_quiet() {
                break;
            }
            let (body, segment) = self.fabric.segments.vacancy();
            if !h.endpoint.poll_into(segment, self.fabric.now) {
                break;
            }
            let packet = Packet::of_segment(segment, body, h.hash, h.route);
            if h.queues && packet.is_data() {
                let seq = h.radio.then_some(segment.seq);
                h.endpoint.on_device_took(seq);
            }
            self.fabric.segments.occupy();
            self.fabric.send(packet);
        }
        if device != END {
            self.wait_for_device(host);
        }
        let h = &self.hosts[host as usize];
        if h.paced {
            self.set_paced(host);
        } else {
            self.fabric.calendar.set_lazily(h.slot, h.endpoint.timeout());
        }
    }

    /// Sets the timer of a paced host, and its next departure.
    #[inline(never)]
    fn set_paced(&mut self, host: u32) {
        let h = &self.hosts[host as usize];
        self.fabric.calendar.set_lazily(h.slot, h.endpoint.timer());
        let departs = h.endpoint.departs();
        if departs != self.paces.of(h.pace) {
            let turn = departs.map_or(Turn::NEVER, |at| self.fabric.calendar.turn(h.pace, at));
            let first = self.paces.set(h.pace, turn);
            self.fabric.calendar.set_in_turn(self.paces_slot, first);
        }
    }

    /// A paced host may send what waits for its time.
    pub(super) fn pace_due(&mut self) {
        let host = self.paces.first();
        let h = &mut self.hosts[host as usize];
        h.endpoint.on_departure(self.fabric.now);
        if h.queues || !self.depart(host) {
            self.pump(host);
        }
    }

    /// Sends the segment whose time it is. Answers whether all is done: nothing has changed since the application
    /// could write last, so nothing but that segment is to be looked for.
    fn depart(&mut self, host: u32) -> bool {
        let h = &mut self.hosts[host as usize];
        let (route, hash) = (h.route, h.hash);
        let (body, segment) = self.fabric.segments.vacancy();
        if !ends::poll(&mut h.endpoint, segment, self.fabric.now) {
            return false;
        }
        let packet = Packet::of_segment(segment, body, hash, route);
        self.fabric.segments.occupy();
        let rests = h.endpoint.rests(self.fabric.now);
        self.fabric.send(packet);
        if rests {
            self.set_paced(host);
        }
        rests
    }

    /// What host `host` sends on `route`, whose first link is `first`, by: `None` for a device that never queues.
    ///
    /// Deviation: small queues are of flows only. Web clients and downloads hand their devices as much as their
    /// windows allow.
    pub(super) fn own_device(&mut self, host: u32, route: u16, first: Option<&LinkId>) -> Option<Device> {
        let link = self.fabric.links.get_mut(usize::from(first?.0))?;
        let device = match (&mut link.egress, &link.air) {
            (Some(egress), _) => {
                egress.own.get_or_insert_with(OwnDevice::default);
                Device::Wire
            }
            (None, Some(Air::Cell(hop))) if hop.from.station().is_some() => Device::Wireless,
            (None, _) => return None,
        };
        self.fabric.senders.resize(usize::from(route) + 1, None);
        self.fabric.senders[usize::from(route)] = Some(host);
        Some(device)
    }

    /// Before a host sends by the computed wire `link`, all whose device it is are told what it is done with, if
    /// nobody waited for that.
    #[inline]
    fn hear_from_device(&mut self, link: u16) {
        let wire = self.fabric.links[usize::from(link)].wire.as_mut();
        let Some(device) = wire.and_then(|wire| wire.device.as_mut()) else {
            return;
        };
        if device.waiting > 0 {
            return;
        }
        while let Some(route) = device.done(self.fabric.now) {
            if let Some(&Some(host)) = self.fabric.senders.get(usize::from(route)) {
                self.hosts[host as usize].endpoint.on_device_released(None);
            }
        }
    }

    /// If TCP holds something back until its device, a computed wire, is done with a segment, it is told so when that
    /// is.
    #[inline]
    fn wait_for_device(&mut self, host: u32) {
        let h = &mut self.hosts[host as usize];
        if h.waits || !h.endpoint.waits_for_device() {
            return;
        }
        h.waits = true;
        let l = &mut self.fabric.links[usize::from(h.device)];
        let (Some(egress), Some(device)) = (&l.egress, l.wire.as_mut().and_then(|wire| wire.device.as_mut())) else {
            return;
        };
        device.waiting += 1;
        if let Some(at) = device.until()
            && self.fabric.calendar.due(egress.slot).is_none()
        {
            self.fabric.calendar.set(egress.slot, at);
        }
    }

    /// Tells TCP what the hosts' own devices are done with, and sends what had waited for that.
    #[inline]
    pub(super) fn tell_senders(&mut self) {
        if !self.fabric.released.is_empty() {
            self.tell_all_senders();
        }
    }

    #[cold]
    #[inline(never)]
    fn tell_all_senders(&mut self) {
        let mut next = 0;
        while let Some(&Released { route, seq }) = self.fabric.released.get(next) {
            next += 1;
            let Some(&Some(host)) = self.fabric.senders.get(usize::from(route)) else {
                continue;
            };
            let h = &mut self.hosts[host as usize];
            if !h.endpoint.on_device_released(seq) {
                continue;
            }
            if std::mem::take(&mut h.waits)
                && let Some(wire) = &mut self.fabric.links[usize::from(h.device)].wire
                && let Some(device) = &mut wire.device
            {
                device.waiting -= 1;
            }
            if !self.frozen {
                self.pump(host);
                // What leaves at once may be at its host, and be answered.
                self.deliver_arrived();
            }
        }
        self.fabric.released.clear();
    }

    /// Both ends of the flow of `host` have closed: its sender remembers how it went.
    #[cold]
    #[inline(never)]
    pub(super) fn remember(&mut self, host: u32) {
        let f = &mut self.flows[host as usize / 2];
        let sender = self.hosts[host as usize / 2 * 2].endpoint.sender();
        if let Some(Destination(place)) = f.spec.destination
            && !f.remembered
            && sender.fin_acked()
        {
            f.remembered = true;
            self.metrics[usize::from(place)].learn(sender);
        }
    }

    pub(super) fn endpoint_due(&mut self, host: u32) {
        let h = &mut self.hosts[host as usize];
        debug_assert!(
            h.endpoint.timeout().is_some_and(|at| at <= self.fabric.now),
            "a lazy timer went off early"
        );
        self.fabric.calendar.clear(h.slot);
        h.endpoint.on_timeout(self.fabric.now);
        self.pump(host);
        self.deliver_arrived();
    }

    /// The application starts, or one that is limited in rate writes a segment's worth.
    pub(super) fn application_due(&mut self, flow: u32) {
        let f = &mut self.flows[flow as usize];
        let sender = &mut self.hosts[2 * flow as usize].endpoint;
        if !f.started {
            f.started = true;
            if let Some(Destination(place)) = f.spec.destination {
                sender.set_metrics(self.metrics[usize::from(place)]);
            }
            sender.connect(self.fabric.now);
        }
        let application = &f.spec.application;
        let step = application.step(f.made, u64::from(f.spec.tcp.mss), self.fabric.now.since(f.spec.start));
        if step.stops {
            sender.abort();
            self.fabric.calendar.clear(f.slot);
            self.pump(2 * flow);
            return;
        }
        let bytes = step.bytes.unwrap_or(u64::MAX);
        if let Some(trace) = &mut f.writes {
            trace.on_write(bytes, self.fabric.now);
        }
        f.made += bytes;
        sender.write(bytes);
        if step.closes {
            sender.close();
        }
        match step.again {
            Some(after) => self.fabric.calendar.set(f.slot, f.spec.start + after),
            None => self.fabric.calendar.clear(f.slot),
        }
        self.pump(2 * flow);
        self.deliver_arrived();
    }

    /// Something has arrived at the receiver of a thin stream: some of what was written may be there.
    #[inline(never)]
    pub(super) fn thin_arrived(&mut self, host: u32, packet: &Packet) {
        self.endpoint_arrived(host, packet);
        if self.frozen {
            return;
        }
        let in_order = self.hosts[host as usize].endpoint.receiver().bytes_in_order();
        if let Some(trace) = &mut self.flows[host as usize / 2].writes {
            trace.on_delivered(in_order, self.fabric.now);
        }
    }

    // ------------------------------------------------------------------ series

    pub(super) fn sample(&mut self) {
        self.fabric.catch_up_all();
        self.fabric
            .calendar
            .set(self.sampler_slot, self.fabric.now + self.sample_interval);
        for (i, flow) in self.flows.iter_mut().enumerate() {
            let delivered = self.hosts[2 * i + 1].endpoint.receiver().bytes_in_order();
            let sender = self.hosts[2 * i].endpoint.sender();
            let cwnd = sender.cwnd();
            if let Some(srtt) = sender.srtt() {
                flow.srtt_us_sum += srtt.as_nanos() / 1000;
                flow.srtt_samples += 1;
            }
            flow.cwnd_sum += u64::from(cwnd);
            flow.cwnd_samples += 1;
            self.series.push_flow(i, delivered - flow.delivered_before, cwnd);
        }
        self.sample_sources();
        if let Some(radio) = self.fabric.radios.first() {
            for i in 0..radio.cell.stations() {
                let sent = radio.cell.station_stats(i).down.sent;
                self.series
                    .push_airtime(usize::from(i), sent.airtime_tx + sent.airtime_rx);
            }
        }
        for (i, link) in self.fabric.links.iter().enumerate() {
            if let Some(e) = &link.egress {
                self.series
                    .push_link(i, e.meter.backlog().packets, e.meter.dropped(), e.meter.packets);
            }
        }
        if self.fabric.watch.is_some() {
            self.sample_flusher();
        }
        self.series.push_time(self.fabric.now);
    }
}
