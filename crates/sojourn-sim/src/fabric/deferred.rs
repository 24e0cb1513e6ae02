//! Egresses without an event of their own ([`Deferred`]).

use super::Fabric;
use crate::link::{Deferred, END, Sink};
use crate::packet::Packet;
use sojourn_qdisc::Next;
use sojourn_units::Time;

impl Fabric {
    /// A packet comes to the egress of `link`, which is served next at `due`.
    pub(super) fn offer_deferred(&mut self, link: u16, due: Time, packet: Packet) {
        let now = self.now;
        if due <= now {
            self.serve_deferred(link, due);
        }
        let l = &mut self.links[usize::from(link)];
        let Some(egress) = &mut l.egress else { return };
        if let Some(sending) = egress.pacing.pass(&packet, now) {
            egress.meter.on_pass(&packet, now);
            self.leave_deferred(link, packet, now + sending);
            return;
        }
        egress.meter.on_offer(&packet, now);
        egress.pacing.tell_ack(&packet, &self.segments);
        let mut sink = Sink {
            meter: &mut egress.meter,
            spared: None,
            segments: &mut self.segments,
            released: None,
            now,
        };
        egress.pacing.enqueue(packet, now, &mut sink);
        egress.meter.offered();
        if egress.deferred.is_some_and(|deferred| deferred.due == Time::MAX) || egress.pacing.overtakes() {
            self.serve_deferred(link, now);
        }
    }

    /// Lets out of the egress of `link` what leaves from `at` up to now, and sees to it that its line wakes in time.
    #[inline(never)]
    pub(super) fn serve_deferred(&mut self, link: u16, mut at: Time) {
        let now = self.now;
        while at <= now {
            let Some(egress) = &mut self.links[usize::from(link)].egress else {
                return;
            };
            let mut sink = Sink {
                meter: &mut egress.meter,
                spared: None,
                segments: &mut self.segments,
                released: None,
                now: at,
            };
            let (next, sending) = egress.pacing.next(at, &mut sink);
            match next {
                Next::Departs(departure) => {
                    let packet = departure.packet;
                    egress
                        .meter
                        .on_departure(&packet, departure.sojourn, departure.marked, at);
                    self.leave_deferred(link, packet, at + sending);
                }
                Next::At(then) => at = then,
                Next::Idle => at = Time::MAX,
            }
        }
        let egress = self.links[usize::from(link)].egress.as_mut();
        let Some(deferred) = egress.and_then(|egress| egress.deferred.as_mut()) else {
            return;
        };
        deferred.due = at;
        let deferred = *deferred;
        self.await_deferred(deferred);
    }

    /// A line that is empty wakes when the first packet may be there.
    #[inline]
    fn await_deferred(&mut self, Deferred { due, line, delay }: Deferred) {
        let line = &self.links[usize::from(line)];
        if line.line.is_empty()
            && let Some(slot) = line.slot
        {
            match due {
                Time::MAX => self.calendar.clear(slot),
                due => self.calendar.set(slot, due + delay),
            }
        }
    }

    /// A packet leaves a deferred egress at `at` and enters a delay.
    #[inline]
    fn leave_deferred(&mut self, link: u16, packet: Packet, at: Time) {
        let l = &self.links[usize::from(link)];
        let line = if l.delay.is_zero() {
            l.next[usize::from(packet.route)]
        } else {
            link
        };
        let delay = self.links[usize::from(line)].delay;
        self.enter_line(line, packet, at + delay);
    }

    /// Serves the egress of `link`, if it is deferred, up to now.
    pub(super) fn catch_up(&mut self, link: u16) {
        let egress = self.links.get(usize::from(link)).and_then(|link| link.egress.as_ref());
        if let Some(deferred) = egress.and_then(|egress| egress.deferred) {
            self.serve_deferred(link, deferred.due);
        }
    }

    /// Serves all deferred egresses up to now: somebody looks.
    pub(crate) fn catch_up_all(&mut self) {
        for link in 0..self.links.len() as u16 {
            self.catch_up(link);
        }
    }

    /// The line of `link` is empty: what leaves the deferred egress behind it may be in time. Answers whether there is
    /// a packet that comes out now.
    #[cold]
    pub(super) fn ask_behind(&mut self, link: u16) -> bool {
        self.catch_up(self.links[usize::from(link)].behind);
        let front = self.links[usize::from(link)].line.front();
        front.is_some_and(|&(at, _)| at <= self.now)
    }

    /// The last packet has come out of the line of `link`.
    pub(super) fn emptied(&mut self, link: u16) {
        let l = &self.links[usize::from(link)];
        match (l.behind, l.slot) {
            (END, Some(slot)) => self.calendar.clear(slot),
            (behind, _) => self.catch_up(behind),
        }
    }
}
