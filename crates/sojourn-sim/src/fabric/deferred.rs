//! Egresses without an event of their own ([`Deferred`]).

use super::Fabric;
use crate::link::{Deferred, END, Sink};
use crate::meter::Meter;
use crate::packet::Packet;
use sojourn_qdisc::{Departure, DropSink, Dropped, Outlet};
use sojourn_units::{Duration, Time};

/// What leaves a deferred egress, which is out of its link meanwhile.
pub(crate) struct Leaving<'a> {
    meter: &'a mut Meter,
    fabric: &'a mut Fabric,
    link: u16,
    deferred: Deferred,
    now: Time,
}

impl Leaving<'_> {
    /// A packet leaves; its last bit `sending` later.
    #[inline]
    pub(crate) fn leaves(&mut self, departure: &Departure<Packet>, sending: Duration) {
        let Departure {
            packet,
            sojourn,
            marked,
        } = departure;
        self.meter.on_departure(packet, *sojourn, *marked, self.now);
        let at = self.now + sending;
        if self.deferred.is_straight {
            // The line is woken when all have left.
            let line = &mut self.fabric.links[usize::from(self.deferred.line)].line;
            line.push_back((at + self.deferred.delay, *packet));
        } else {
            self.fabric.leave_deferred(self.link, *packet, at);
        }
    }
}

impl Outlet<Packet> for Leaving<'_> {
    #[inline]
    fn set_now(&mut self, now: Time) {
        self.now = now;
    }

    #[inline]
    fn departs(&mut self, departure: Departure<Packet>) {
        self.leaves(&departure, Duration::ZERO);
    }
}

impl DropSink<Packet> for Leaving<'_> {
    fn dropped(&mut self, drop: Dropped<Packet>) {
        self.meter.on_drop(&drop.packet, drop.reason, self.now);
        self.fabric.segments.discard(&drop.packet);
    }
}

impl Fabric {
    /// A packet comes at `now` to the egress of `link`, which is served next at `due`. Answers when it is then.
    #[expect(
        clippy::inline_always,
        reason = "called for every packet, and from two places: a call costs 1 %"
    )]
    #[inline(always)]
    pub(super) fn offer_deferred(&mut self, link: u16, mut due: Time, packet: Packet, now: Time) -> Time {
        if due <= now {
            due = self.serve_deferred(link, due, now);
        }
        let l = &mut self.links[usize::from(link)];
        let Some(egress) = &mut l.egress else { return due };
        if due == Time::MAX
            && let Some(sending) = egress.pacing.pass(&packet, now)
        {
            egress.meter.on_pass(&packet, now);
            self.leave_deferred(link, packet, now + sending);
            return due;
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
        if due == Time::MAX || egress.deferred.is_some_and(|deferred| deferred.overtakes) {
            due = self.serve_deferred(link, now, now);
        }
        due
    }

    /// Lets out of the egress of `link` what leaves from `at` to `until`, and sees to it that its line wakes in time.
    /// Answers when it is to be served next.
    #[inline(never)]
    pub(super) fn serve_deferred(&mut self, link: u16, at: Time, until: Time) -> Time {
        let Some(mut egress) = self.links[usize::from(link)].egress.take() else {
            return Time::MAX;
        };
        let Some(mut deferred) = egress.deferred else {
            unreachable!("only deferred egresses are served so");
        };
        let waits = self.links[usize::from(deferred.line)].line.is_empty();
        let mut out = Leaving {
            meter: &mut egress.meter,
            fabric: self,
            link,
            deferred,
            now: at,
        };
        let due = egress.pacing.serve(at, until, &mut out);
        deferred.due = due;
        egress.deferred = Some(deferred);
        self.links[usize::from(link)].egress = Some(egress);
        if waits {
            self.await_deferred(deferred);
        }
        due
    }

    /// A line that was empty wakes when its first packet comes out, or when the next may.
    #[inline(never)]
    fn await_deferred(&mut self, deferred: Deferred) {
        let l = &self.links[usize::from(deferred.line)];
        let Some(slot) = l.slot else { return };
        if let Some(&(at, _)) = l.line.front() {
            self.calendar.set(slot, at);
            return;
        }
        let inbox = self.links.get(usize::from(deferred.inbox));
        let comes = inbox
            .and_then(|inbox| inbox.line.front())
            .map_or(Time::MAX, |&(at, _)| at);
        match deferred.due.min(comes) {
            Time::MAX => self.calendar.clear(slot),
            next => self.calendar.set(slot, next + deferred.delay),
        }
    }

    /// The first packet has entered the line of `link`, out of which it comes at `at`.
    #[inline]
    pub(super) fn wake_line(&mut self, link: u16, at: Time) {
        let l = &self.links[usize::from(link)];
        if l.ahead != END {
            self.wake_ahead(l.ahead);
        } else if let Some(slot) = l.slot {
            self.calendar.set(slot, at);
        }
    }

    /// A packet will come to the deferred egress of `link`.
    fn wake_ahead(&mut self, link: u16) {
        let egress = self.links[usize::from(link)].egress.as_ref();
        if let Some(deferred) = egress.and_then(|egress| egress.deferred)
            && self.links[usize::from(deferred.line)].line.is_empty()
        {
            self.await_deferred(deferred);
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
        let Some(deferred) = egress.and_then(|egress| egress.deferred) else {
            return;
        };
        let (mut due, now) = (deferred.due, self.now);
        if deferred.inbox != END {
            let inbox = usize::from(deferred.inbox);
            while let Some(&(at, packet)) = self.links[inbox].line.front()
                && at <= now
            {
                self.links[inbox].line.pop_front();
                due = self.offer_deferred(link, due, packet, at);
            }
        }
        self.serve_deferred(link, due, now);
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
