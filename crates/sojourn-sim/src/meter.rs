//! What is measured at an egress, aggregated as it happens.

use crate::histogram::Histogram;
use crate::packet::Packet;
use sojourn_qdisc::{Backlog, DropReason, Packet as _};
use sojourn_units::{Duration, Time};

/// Counters of one route at one egress.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RouteCounts {
    /// Packets with payload (or probes) that were dropped.
    pub(crate) data_dropped: u64,
    /// Bare acknowledgements that were dropped.
    pub(crate) acks_dropped: u64,
    /// Packets with payload that departed, and their sojourn times added up.
    pub(crate) data_sent: u64,
    pub(crate) data_sojourn_ns: u64,
}

/// The measurements of one egress, over the measured window.
#[derive(Debug, Default)]
pub(crate) struct Meter {
    pub(crate) routes: Vec<RouteCounts>,
    pub(crate) drops: [u64; DropReason::ALL.len()],
    pub(crate) ack_drops: u64,
    pub(crate) acks_spared: u64,
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    pub(crate) marks: u64,
    pub(crate) sojourn: Histogram,
    pub(crate) backlog_max: Backlog,
    /// Integrals over time of the backlog, its square, and the bytes.
    packet_ns: u128,
    packet_squared_ns: u128,
    byte_ns: u128,
    since: Time,
    begun: Time,
    backlog: Backlog,
}

impl Meter {
    /// One more route may pass here.
    pub(crate) fn add_route(&mut self) {
        self.routes.push(RouteCounts::default());
    }

    /// The measured window begins: forgets what was before.
    pub(crate) fn begin(&mut self, now: Time) {
        let routes = vec![RouteCounts::default(); self.routes.len()];
        *self = Self {
            routes,
            since: now,
            begun: now,
            backlog: self.backlog,
            ..Self::default()
        };
    }

    /// A packet is offered to the discipline. The meter keeps the backlog itself: what was offered and has neither departed
    /// nor been dropped is queued.
    #[inline]
    pub(crate) fn on_offer(&mut self, packet: &Packet, now: Time) {
        self.advance(now);
        self.backlog.packets += 1;
        self.backlog.bytes += packet.size();
    }

    /// The offer is over, and so are the drops that it caused.
    #[inline]
    pub(crate) fn offered(&mut self) {
        self.backlog_max.packets = self.backlog_max.packets.max(self.backlog.packets);
        self.backlog_max.bytes = self.backlog_max.bytes.max(self.backlog.bytes);
    }

    #[inline]
    fn leave(&mut self, packet: &Packet) {
        self.backlog.packets -= 1;
        self.backlog.bytes -= packet.size();
    }

    /// A bare acknowledgement was dropped and goes around the queue (ablation `spare_acks`).
    pub(crate) fn on_spared(&mut self, packet: &Packet, now: Time) {
        self.advance(now);
        self.leave(packet);
        self.acks_spared += 1;
    }

    pub(crate) fn on_drop(&mut self, packet: &Packet, reason: DropReason, now: Time) {
        self.advance(now);
        self.leave(packet);
        self.drops[reason.index()] += 1;
        let route = &mut self.routes[usize::from(packet.route)];
        if packet.is_pure_ack() {
            route.acks_dropped += 1;
            self.ack_drops += 1;
        } else {
            route.data_dropped += 1;
        }
    }

    #[inline]
    pub(crate) fn on_departure(&mut self, packet: &Packet, sojourn: Duration, marked: bool, now: Time) {
        self.advance(now);
        self.leave(packet);
        self.packets += 1;
        self.bytes += u64::from(packet.size);
        self.marks += u64::from(marked);
        self.sojourn.record(sojourn);
        if packet.is_data() {
            let route = &mut self.routes[usize::from(packet.route)];
            route.data_sent += 1;
            route.data_sojourn_ns += sojourn.as_nanos();
        }
    }

    /// Brings the integrals up to now.
    #[inline]
    pub(crate) fn advance(&mut self, now: Time) {
        let dt = now.since(self.since).as_nanos();
        if dt > 0 {
            let n = self.backlog.packets;
            self.packet_ns += u128::from(n * dt);
            self.packet_squared_ns += u128::from(n * n) * u128::from(dt);
            self.byte_ns += u128::from(self.backlog.bytes.get()) * u128::from(dt);
            self.since = now;
        }
    }

    pub(crate) fn backlog(&self) -> Backlog {
        self.backlog
    }

    pub(crate) fn dropped(&self) -> u64 {
        self.drops.iter().sum()
    }

    /// Time means since the window began: packets, their standard deviation, bytes.
    pub(crate) fn backlog_means(&self) -> (f64, f64, f64) {
        let t = self.since.since(self.begun).as_nanos();
        if t == 0 {
            return (0.0, 0.0, 0.0);
        }
        let t = t as f64;
        let mean = self.packet_ns as f64 / t;
        let variance = (self.packet_squared_ns as f64 / t - mean * mean).max(0.0);
        (mean, variance.sqrt(), self.byte_ns as f64 / t)
    }
}
