//! The way of a packet through the links.

use super::Fabric;
use crate::link::{Air, END, Released, Sink};
use crate::packet::Packet;
use crate::spared::Spared;
use crate::tap::Passing;
use sojourn_qdisc::{DropReason, Next};
use sojourn_units::{Duration, Time};

impl Fabric {
    /// Puts a packet onto the first link of its route.
    #[inline]
    pub(crate) fn send(&mut self, packet: Packet) {
        self.forward(self.entry[usize::from(packet.route)], packet);
    }

    /// Something happens to a packet at a link: those who look at packets are told.
    #[inline]
    pub(super) fn watched(&mut self, passing: Passing, link: u16, packet: Packet) {
        if let Some(watch) = &mut self.watch {
            watch.pass((passing, link), packet, &self.segments, &mut self.calendar, self.now);
        }
    }

    /// Puts a packet onto `link`, or into the hands of its host.
    #[inline]
    pub(super) fn forward(&mut self, link: u16, packet: Packet) {
        let Some(l) = self.links.get_mut(usize::from(link)) else {
            self.arrived.push_back(packet);
            return;
        };
        if l.wire.is_some() {
            self.take_wire(link, packet, self.now);
            return;
        }
        let Some(egress) = &mut l.egress else {
            self.propagate(link, packet, Duration::ZERO);
            return;
        };
        if let Some(deferred) = egress.deferred {
            self.offer_deferred(link, deferred.due, packet, self.now);
            return;
        }
        if let Some(watch) = &mut self.watch {
            watch.pass(
                (Passing::Offered, link),
                packet,
                &self.segments,
                &mut self.calendar,
                self.now,
            );
        }
        let spared = self.spared[usize::from(link)].as_mut();
        // A bucket that is somebody's own device is served, and tells so at once.
        let free = match &egress.own {
            None => true,
            Some(own) => own.until().is_none() && egress.pacing.wire_rate().is_some(),
        };
        if spared.is_none()
            && free
            && let Some(sending) = egress.pacing.pass(&packet, self.now)
        {
            egress.meter.on_pass(&packet, self.now);
            if let Some(own) = &mut egress.own {
                own.takes(&packet, self.now, sending);
                if let Some(at) = own.until() {
                    self.calendar.set(egress.slot, at);
                }
            }
            self.watched(Passing::Departed, link, packet);
            self.propagate(link, packet, sending);
            return;
        }
        egress.meter.on_offer(&packet, self.now);
        egress.pacing.tell_ack(&packet, &self.segments);
        let mut sink = Sink {
            meter: &mut egress.meter,
            spared,
            segments: &mut self.segments,
            released: egress.own.is_some().then_some(&mut self.released),
            now: self.now,
        };
        egress.pacing.enqueue(packet, self.now, &mut sink);
        egress.meter.offered();
        if self.spared[usize::from(link)].is_some() {
            self.release_spared(link);
        }
        let Some(egress) = &self.links[usize::from(link)].egress else {
            return;
        };
        // A wake-up is set as long as a packet waits; without one the packet may be able to leave at once.
        if self.calendar.due(egress.slot).is_none() || egress.pacing.overtakes() {
            self.serve(link);
        }
    }

    /// Puts a packet that comes at `at` onto the computed wire of `link`.
    #[inline]
    fn take_wire(&mut self, link: u16, packet: Packet, at: Time) {
        let l = &mut self.links[usize::from(link)];
        let Some(wire) = &mut l.wire else { return };
        let Some(sent) = wire.take(packet.size, at) else {
            self.refuse(link, packet);
            return;
        };
        if let Some(device) = &mut wire.device
            && packet.is_data()
            && matches!(self.senders.get(usize::from(packet.route)), Some(Some(_)))
        {
            device.takes(sent, packet.route);
        }
        let delay = l.delay;
        self.enter_line(link, packet, sent + delay);
    }

    /// A computed wire has no room for a packet.
    #[cold]
    #[inline(never)]
    fn refuse(&mut self, link: u16, packet: Packet) {
        let l = &mut self.links[usize::from(link)];
        if let Some(egress) = &mut l.egress {
            egress.meter.on_offer(&packet, self.now);
            egress.meter.on_drop(&packet, DropReason::QueueLimit, self.now);
        }
        if packet.is_data() && l.wire.as_ref().is_some_and(|wire| wire.device.is_some()) {
            self.released.push(Released::from_wire(packet.route));
        }
        self.segments.discard(&packet);
    }

    /// The device of a computed wire is done with a segment, and somebody waits for that.
    #[cold]
    #[inline(never)]
    pub(super) fn device_due(&mut self, link: u16) {
        let l = &mut self.links[usize::from(link)];
        let (Some(egress), Some(device)) = (&l.egress, l.wire.as_mut().and_then(|wire| wire.device.as_mut())) else {
            return;
        };
        while let Some(route) = device.done(self.now) {
            self.released.push(Released::from_wire(route));
        }
        match device.until().filter(|_| device.waiting > 0) {
            Some(at) => self.calendar.set(egress.slot, at),
            None => self.calendar.clear(egress.slot),
        }
    }

    /// Lets everything out of an egress that may leave now, and sets its next wake-up.
    pub(crate) fn serve(&mut self, link: u16) {
        let now = self.now;
        loop {
            let l = &mut self.links[usize::from(link)];
            if l.wire.is_some() {
                self.device_due(link);
                return;
            }
            let Some(egress) = &mut l.egress else { return };
            if egress.deferred.is_some() {
                self.serve_deferred(link, now, now);
                return;
            }
            if let Some(own) = &mut egress.own {
                self.released.extend(own.done(now).map(Released::from_wire));
            }
            let spared = &mut self.spared[usize::from(link)];
            let mut sink = Sink {
                meter: &mut egress.meter,
                spared: spared.as_mut(),
                segments: &mut self.segments,
                released: egress.own.is_some().then_some(&mut self.released),
                now,
            };
            let (next, sending) = egress.pacing.next(now, &mut sink);
            match next {
                Next::Departs(departure) => {
                    if let Some(own) = &mut egress.own {
                        own.takes(&departure.packet, now, sending);
                    }
                    egress
                        .meter
                        .on_departure(&departure.packet, departure.sojourn, departure.marked, now);
                    self.watched(Passing::Departed, link, departure.packet);
                    self.propagate(link, departure.packet, sending);
                    if let Some(spared) = &mut self.spared[usize::from(link)] {
                        spared.on_leave();
                        self.release_spared(link);
                    }
                }
                Next::At(at) => {
                    self.calendar.set(egress.slot, at);
                    break;
                }
                Next::Idle => {
                    match egress.own.and_then(|own| own.until()) {
                        Some(at) => self.calendar.set(egress.slot, at),
                        None => self.calendar.clear(egress.slot),
                    }
                    break;
                }
            }
        }
        if self.spared[usize::from(link)].is_some() {
            self.release_spared(link);
        }
    }

    /// Sends on the spared acknowledgements whose turn it is (ablation `spare_acks`).
    pub(super) fn release_spared(&mut self, link: u16) {
        while let Some(packet) = self.spared[usize::from(link)].as_mut().and_then(Spared::next) {
            let egress = self.links[usize::from(link)].egress.as_ref();
            let sending = egress.map_or(Duration::ZERO, |e| e.pacing.sending(self.now));
            self.watched(Passing::Departed, link, packet);
            self.propagate(link, packet, sending);
        }
    }

    /// Sends a packet down the delay of `link`; it arrives `sending` later than that.
    #[inline]
    pub(super) fn propagate(&mut self, link: u16, packet: Packet, sending: Duration) {
        let l = &mut self.links[usize::from(link)];
        let delay = l.delay + sending;
        if l.air.is_some() {
            self.propagate_through_air(link, packet, delay);
            return;
        }
        if delay.is_zero() {
            let next = l.next[usize::from(packet.route)];
            self.watched(Passing::Arrived, link, packet);
            self.forward(next, packet);
            return;
        }
        self.enter_line(link, packet, self.now + delay);
    }

    /// The same where packets go through a cell, are lost or late.
    #[cold]
    #[inline(never)]
    pub(super) fn propagate_through_air(&mut self, link: u16, packet: Packet, delay: Duration) {
        let l = &mut self.links[usize::from(link)];
        let weather = match &mut l.air {
            Some(Air::Impaired(weather)) => weather,
            Some(Air::Cell(hop)) => {
                let hop = *hop;
                self.enter_cell(link, packet, hop);
                return;
            }
            None => return,
        };
        if weather.loses() {
            self.segments.discard(&packet);
            return;
        }
        let at = weather.arrival(self.now + delay);
        if at == self.now && l.line.is_empty() {
            let next = l.next[usize::from(packet.route)];
            self.forward(next, packet);
            return;
        }
        self.enter_line(link, packet, at);
    }

    /// A packet comes out of the delay of `link` at `at`, or at the next tick.
    #[inline]
    pub(super) fn enter_line(&mut self, link: u16, packet: Packet, mut at: Time) {
        let l = &mut self.links[usize::from(link)];
        if !l.tick.is_zero() {
            at = Time::from_nanos(at.as_nanos().next_multiple_of(l.tick.as_nanos()));
        }
        if l.feeds {
            let next = l.next[usize::from(packet.route)];
            self.take_wire(next, packet, at);
            return;
        }
        let first = l.line.is_empty();
        l.line.push_back((at, packet));
        if first {
            self.wake_line(link, at);
        }
    }

    /// The first packet comes out of the delay of `link`. It is answered if that was its last link.
    #[inline]
    pub(crate) fn line_due(&mut self, link: u16) -> Option<Packet> {
        if self.links[usize::from(link)].line.is_empty() && !self.ask_behind(link) {
            return None;
        }
        let l = &mut self.links[usize::from(link)];
        let slot = l.slot?;
        let (_, packet) = l.line.pop_front()?;
        match l.line.front() {
            Some(&(at, _)) => self.calendar.set(slot, at),
            None => self.emptied(link),
        }
        let next = self.links[usize::from(link)].next[usize::from(packet.route)];
        self.watched(Passing::Arrived, link, packet);
        if next == END {
            return Some(packet);
        }
        self.forward(next, packet);
        None
    }
}
