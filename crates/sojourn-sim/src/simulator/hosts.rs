//! The ends of the network: TCP hosts and their applications, probes, and the sampling of series.

use super::Simulator;
use crate::packet::Packet;
use sojourn_units::Time;

impl Simulator {
    // ------------------------------------------------------------------ hosts

    /// Takes everything that an endpoint wants to send, and sets its timer.
    ///
    /// The timer is lazy: a wake-up that is too early stays, because TCP moves its timers with every segment and almost
    /// none of them goes off.
    #[inline]
    pub(super) fn pump(&mut self, host: u32) {
        let h = &mut self.hosts[host as usize];
        let (route, hash) = (h.route, h.hash);
        while let Some(segment) = self.hosts[host as usize].endpoint.poll_transmit(self.now) {
            let packet = Packet::of_segment(&segment, self.segments.keep(&segment), hash, route);
            self.send(packet);
        }
        let h = &self.hosts[host as usize];
        if let Some(at) = h.endpoint.timeout()
            && self.calendar.due(h.slot).is_none_or(|due| due > at)
            && at < Time::MAX
        {
            self.calendar.set(h.slot, at.max(self.now));
        }
    }

    pub(super) fn endpoint_due(&mut self, host: u32) {
        let h = &mut self.hosts[host as usize];
        match h.endpoint.timeout() {
            Some(at) if at > self.now && at < Time::MAX => {
                // A lazy timer that has moved on: most wake-ups end here.
                self.calendar.set(h.slot, at);
                return;
            }
            _ => self.calendar.clear(h.slot),
        }
        h.endpoint.on_timeout(self.now);
        self.pump(host);
        self.deliver_arrived();
    }

    /// The application starts, or one that is limited in rate writes a segment's worth.
    pub(super) fn application_due(&mut self, flow: u32) {
        let f = &mut self.flows[flow as usize];
        let sender = &mut self.hosts[2 * flow as usize].endpoint;
        if !f.started {
            f.started = true;
            sender.connect(self.now);
        }
        let chunk = match (f.spec.writes, f.spec.write_rate) {
            (Some(writes), _) => writes.bytes.get().min(f.unwritten),
            (None, Some(_)) => u64::from(f.spec.tcp.mss).min(f.unwritten),
            (None, None) => f.unwritten,
        };
        if let Some(trace) = &mut f.writes {
            trace.on_write(chunk, self.now);
        }
        f.unwritten -= chunk;
        sender.write(chunk);
        if f.unwritten == 0 && f.spec.bytes.is_some() {
            sender.close();
        }
        let pause = match (f.spec.writes, f.spec.write_rate) {
            _ if f.unwritten == 0 => None,
            (Some(writes), _) => Some(writes.interval),
            (None, rate) => rate.map(|rate| rate.time_to_send(sojourn_units::Bytes::new(chunk))),
        };
        match pause {
            Some(pause) => self.calendar.set(f.slot, self.now + pause),
            None => self.calendar.clear(f.slot),
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
            trace.on_delivered(in_order, self.now);
        }
    }

    // ------------------------------------------------------------------ probes

    pub(super) fn probe_due(&mut self, probe: u32) {
        let p = &mut self.probes[probe as usize];
        let sent = p.on_due(self.now);
        match p.due() {
            Some(at) => self.calendar.set(p.slot, at),
            None => self.calendar.clear(p.slot),
        }
        if let Some(number) = sent {
            self.send_probe(probe, false, number);
        }
        self.deliver_arrived();
    }

    pub(super) fn send_probe(&mut self, probe: u32, back: bool, number: u64) {
        let p = &self.probes[probe as usize];
        let route = p.routes[usize::from(back)];
        let packet = Packet::probe(number as u32, self.hashes[usize::from(route)], p.spec.size, route);
        self.send(packet);
    }

    pub(super) fn probe_arrived(&mut self, probe: u32, at_server: bool, packet: &Packet) {
        let number = u64::from(packet.body);
        let p = &mut self.probes[probe as usize];
        if at_server && p.echoes() {
            self.send_probe(probe, true, number);
            return;
        }
        if !self.dismissed && p.on_answer(number, self.now) {
            // A closed loop asks again at once.
            self.calendar.set(p.slot, self.now);
        }
    }

    // ------------------------------------------------------------------ series

    pub(super) fn sample(&mut self) {
        self.calendar.set(self.sampler_slot, self.now + self.sample_interval);
        for (i, flow) in self.flows.iter_mut().enumerate() {
            let delivered = self.hosts[2 * i + 1].endpoint.receiver().bytes_in_order();
            let cwnd = self.hosts[2 * i].endpoint.sender().cwnd();
            flow.cwnd_sum += u64::from(cwnd);
            flow.cwnd_samples += 1;
            self.series.push_flow(i, delivered - flow.delivered_before, cwnd);
        }
        for (i, flood) in self.floods.iter().enumerate() {
            self.series.push_flood(i, flood.delivered());
        }
        if let Some(radio) = self.radios.first() {
            for i in 0..radio.cell.stations() {
                let sent = radio.cell.station_stats(i).down.sent;
                self.series
                    .push_airtime(usize::from(i), sent.airtime_tx + sent.airtime_rx);
            }
        }
        for (i, link) in self.links.iter().enumerate() {
            if let Some(e) = &link.egress {
                self.series
                    .push_link(i, e.meter.backlog().packets, e.meter.dropped(), e.meter.packets);
            }
        }
        if self.watch.is_some() {
            self.sample_flusher();
        }
        self.series.push_time(self.now);
    }
}
