//! What is measured at an egress, aggregated as it happens.

use crate::histogram::Histogram;
use crate::network::RouteId;
use crate::packet::Packet;
use crate::standing::Standing;
use sojourn_qdisc::{Backlog, DropReason, Packet as _};
use sojourn_scenario::Direction;
use sojourn_units::{Duration, Time};

/// Counters of one route at one egress.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RouteCounts {
    /// Packets with payload that were dropped; probes, frames of voice and look-ups among them.
    pub(crate) data_dropped: u64,
    /// Bare acknowledgements that were dropped.
    pub(crate) acks_dropped: u64,
    /// Packets with payload that departed, probes among them; their sojourn times added up, and the longest.
    pub(crate) data_sent: u64,
    pub(crate) data_sojourn_ns: u64,
    pub(crate) data_sojourn_max_ns: u64,
    /// Packets marked with congestion experienced.
    pub(crate) marked: u64,
}

/// Times between successive drops of the data of one route, ns.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct DropGaps {
    last: Option<Time>,
    pub(crate) count: u64,
    sum: u128,
    squares: u128,
}

impl DropGaps {
    fn on_drop(&mut self, now: Time) {
        if let Some(last) = self.last.replace(now) {
            let gap = u128::from(now.since(last).as_nanos());
            self.count += 1;
            self.sum += gap;
            self.squares += gap * gap;
        }
    }

    /// Mean, ms, and coefficient of variation (standard deviation by mean); `None` without a gap, the latter also if
    /// all gaps are zero.
    pub(crate) fn mean_and_cv(&self) -> (Option<f64>, Option<f64>) {
        if self.count == 0 {
            return (None, None);
        }
        let n = self.count as f64;
        let mean = self.sum as f64 / n;
        // Exact: n^2 times the variance. Gaps add up to a day at most, whose square is below 2^93.
        let spread = u128::from(self.count) * self.squares - self.sum * self.sum;
        let cv = (self.sum > 0).then(|| (spread as f64).sqrt() / n / mean);
        (Some(mean / 1e6), cv)
    }
}

/// The measurements of one egress, over the measured window.
#[derive(Clone, Debug, Default)]
pub(crate) struct Meter {
    routes: Vec<RouteCounts>,
    /// Apart from the other counts of a route, because few packets are dropped.
    gaps: Vec<DropGaps>,
    pub(crate) drops: [u64; DropReason::ALL.len()],
    pub(crate) first_drops: [Option<Time>; DropReason::ALL.len()],
    /// SYNs and SYN-ACKs.
    pub(crate) syns_offered: u64,
    pub(crate) syns_dropped: u64,
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
    /// The packets that are queued, if somebody watches.
    pub(crate) standing: Option<Box<Standing>>,
}

impl Meter {
    /// One more route may pass here.
    pub(crate) fn add_route(&mut self) -> RouteId {
        self.routes.push(RouteCounts::default());
        self.gaps.push(DropGaps::default());
        RouteId((self.routes.len() - 1) as u16)
    }

    /// The counters of a route.
    pub(crate) fn counts(&self, route: RouteId) -> &RouteCounts {
        &self.routes[usize::from(route.0)]
    }

    /// The times between the drops of a route's data.
    pub(crate) fn drop_gaps(&self, route: RouteId) -> &DropGaps {
        &self.gaps[usize::from(route.0)]
    }

    /// The measured window begins: forgets what was before.
    pub(crate) fn begin(&mut self, now: Time) {
        let routes = vec![RouteCounts::default(); self.routes.len()];
        let gaps = vec![DropGaps::default(); self.gaps.len()];
        let standing = self.standing.take();
        *self = Self {
            routes,
            gaps,
            since: now,
            begun: now,
            backlog: self.backlog,
            standing,
            ..Self::default()
        };
    }

    /// A packet is offered to the discipline. The meter keeps the backlog itself: what was offered and has neither
    /// departed nor been dropped is queued.
    #[inline]
    pub(crate) fn on_offer(&mut self, packet: &Packet, now: Time) {
        self.advance(now);
        self.backlog.packets += 1;
        self.backlog.bytes += packet.size();
        self.syns_offered += u64::from(packet.syns());
        if let Some(standing) = &mut self.standing {
            standing.come(packet, now);
        }
    }

    /// The offer is over, and so are the drops that it caused.
    #[inline]
    pub(crate) fn offered(&mut self) {
        self.backlog_max.packets = self.backlog_max.packets.max(self.backlog.packets);
        self.backlog_max.bytes = self.backlog_max.bytes.max(self.backlog.bytes);
    }

    /// A packet is offered and departs at once: `on_offer`, `offered` and `on_departure` in one, without a mark.
    #[inline]
    pub(crate) fn on_pass(&mut self, packet: &Packet, now: Time) {
        self.advance(now);
        self.backlog_max.packets = self.backlog_max.packets.max(self.backlog.packets + 1);
        self.backlog_max.bytes = self.backlog_max.bytes.max(self.backlog.bytes + packet.size());
        self.syns_offered += u64::from(packet.syns());
        self.packets += 1;
        self.bytes += u64::from(packet.size);
        self.sojourn.record(Duration::ZERO);
        if packet.has_payload() {
            self.routes[usize::from(packet.route)].data_sent += 1;
        }
        if let Some(standing) = &mut self.standing {
            standing.pass(packet, now);
        }
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
        if let Some(standing) = &mut self.standing {
            standing.leave(packet);
        }
    }

    pub(crate) fn on_drop(&mut self, packet: &Packet, reason: DropReason, now: Time) {
        self.advance(now);
        self.leave(packet);
        self.drops[reason.index()] += 1;
        self.first_drops[reason.index()].get_or_insert(now);
        let route = &mut self.routes[usize::from(packet.route)];
        if packet.is_data() {
            self.gaps[usize::from(packet.route)].on_drop(now);
        }
        if packet.syns() > 0 {
            self.syns_dropped += 1;
        } else if packet.is_pure_ack() {
            route.acks_dropped += 1;
            self.ack_drops += 1;
        } else {
            route.data_dropped += 1;
        }
        if let Some(standing) = &mut self.standing {
            standing.lose(packet, now);
        }
    }

    /// A packet leaves that was offered `sojourn` ago.
    #[expect(clippy::inline_always, reason = "called for every packet: a call costs 1 %")]
    #[inline(always)]
    pub(crate) fn on_departure(&mut self, packet: &Packet, sojourn: Duration, marked: bool, now: Time) {
        self.advance(now);
        self.leave(packet);
        self.packets += 1;
        self.bytes += u64::from(packet.size);
        if marked {
            self.marks += 1;
            self.routes[usize::from(packet.route)].marked += 1;
        }
        self.sojourn.record(sojourn);
        if packet.has_payload() {
            let route = &mut self.routes[usize::from(packet.route)];
            route.data_sent += 1;
            route.data_sojourn_ns = route.data_sojourn_ns.saturating_add(sojourn.as_nanos());
            route.data_sojourn_max_ns = route.data_sojourn_max_ns.max(sojourn.as_nanos());
        }
        if let Some(standing) = &mut self.standing {
            standing.depart(packet, sojourn, marked, now);
        }
    }

    /// Brings the integrals up to now.
    #[inline]
    pub(crate) fn advance(&mut self, now: Time) {
        let dt = now.since(self.since).as_nanos();
        if dt > 0 {
            // Below 2^32, so that the square has no carry.
            let n = u64::from(self.backlog.packets as u32);
            let dt = u128::from(dt);
            self.packet_ns += u128::from(n) * dt;
            self.packet_squared_ns += u128::from(n * n) * dt;
            self.byte_ns += u128::from(self.backlog.bytes.get()) * dt;
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

/// What was measured at the two bottlenecks.
#[derive(Clone, Copy)]
pub(crate) struct Meters<'a> {
    pub(crate) up: &'a Meter,
    pub(crate) down: &'a Meter,
}

impl<'a> Meters<'a> {
    /// The meter that packets in this direction pass, and that of their answers.
    pub(crate) const fn along(self, direction: Direction) -> (&'a Meter, &'a Meter) {
        match direction {
            Direction::Up => (self.up, self.down),
            Direction::Down => (self.down, self.up),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By hand: gaps of 10, 30 and 20 ms have mean 20 and standard deviation sqrt(200/3).
    #[test]
    fn gaps_between_drops_have_a_mean_and_a_variation() {
        let mut gaps = DropGaps::default();
        assert_eq!(gaps.mean_and_cv(), (None, None));
        gaps.on_drop(Time::from_millis(5));
        assert_eq!(gaps.mean_and_cv(), (None, None));
        for ms in [15, 45, 65] {
            gaps.on_drop(Time::from_millis(ms));
        }
        let (mean, cv) = gaps.mean_and_cv();
        assert_eq!((gaps.count, mean), (3, Some(20.0)));
        assert!((cv.unwrap_or_default() - (200.0f64 / 3.0).sqrt() / 20.0).abs() < 1e-12);
    }

    #[test]
    fn drops_at_one_time_have_no_variation() {
        let mut gaps = DropGaps::default();
        gaps.on_drop(Time::from_millis(5));
        gaps.on_drop(Time::from_millis(5));
        assert_eq!(gaps.mean_and_cv(), (Some(0.0), None));
    }
}
