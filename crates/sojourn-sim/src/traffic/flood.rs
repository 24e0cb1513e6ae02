//! A UDP flow: datagrams at a constant bit rate, whatever becomes of them.

use crate::source::{Context, Packet, Source};
use sojourn_scenario::{Application, UDP_FRAME, UDP_PAYLOAD};
use sojourn_units::Time;

/// A UDP flow from one node to another: full datagrams, evenly spaced.
#[derive(Clone, Debug)]
pub struct FloodSpec {
    /// What its application does, which has a rate.
    pub application: Application,
    /// When the first datagram leaves.
    pub start: Time,
}

/// A UDP flow under way. When a datagram is sent follows from its number.
#[derive(Debug)]
pub struct Flood {
    spec: FloodSpec,
    counts: FloodCounts,
    /// Those when the measured window began.
    before: FloodCounts,
    /// Payload that had arrived at the end of each bin.
    pub(crate) series: Vec<u64>,
}

/// Datagrams since the beginning of the flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct FloodCounts {
    pub(crate) sent: u64,
    pub(crate) received: u64,
    /// The highest number received, and one: so many should be there.
    expected: u64,
}

impl FloodCounts {
    /// Those that did not arrive though one that was sent later did. What is still under way is not among them.
    pub(crate) fn lost(&self) -> u64 {
        self.expected - self.received
    }
}

impl Flood {
    /// A UDP flow that has not begun.
    #[must_use]
    pub fn new(spec: FloodSpec) -> Self {
        Self {
            spec,
            counts: FloodCounts::default(),
            before: FloodCounts::default(),
            series: Vec::new(),
        }
    }

    /// When the next datagram leaves: no rounding adds up. `None` once the application has stopped.
    fn due(&self) -> Option<Time> {
        let after = self.spec.application.datagram_due(self.counts.sent)?;
        Some(self.spec.start + after)
    }

    /// The next datagram leaves: its number, of which a packet carries the lower 32 bits.
    fn on_due(&mut self) -> u32 {
        self.counts.sent += 1;
        (self.counts.sent - 1) as u32
    }

    /// The datagram with this number has arrived.
    fn on_arrival(&mut self, number: u32) {
        self.counts.received += 1;
        // Ahead of what was expected by less than half of all numbers, or late.
        let ahead = number.wrapping_sub(self.counts.expected as u32);
        if ahead <= u32::MAX / 2 {
            self.counts.expected += u64::from(ahead) + 1;
        }
    }

    /// Datagrams of the measured window so far.
    pub(crate) fn measured(&self) -> FloodCounts {
        FloodCounts {
            sent: self.counts.sent - self.before.sent,
            received: self.counts.received - self.before.received,
            expected: self.counts.expected - self.before.expected,
        }
    }

    /// Payload that arrived in the measured window so far.
    pub(crate) fn delivered(&self) -> u64 {
        self.measured().received * u64::from(UDP_PAYLOAD)
    }
}

impl Source for Flood {
    fn start(&self) -> Time {
        self.spec.start
    }

    fn on_wake(&mut self, context: &mut Context<'_>) {
        let number = self.on_due();
        context.wake(self.due());
        context.send(true, number, UDP_FRAME);
    }

    fn on_packet(&mut self, packet: &Packet, _: bool, _: &mut Context<'_>) {
        self.on_arrival(packet.number());
    }

    fn begin_window(&mut self) {
        self.before = self.counts;
    }

    fn on_sample(&mut self) {
        self.series.push(self.delivered());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_units::Rate;

    fn flood(rate: Rate) -> Flood {
        let spec = FloodSpec {
            application: Application {
                rate: Some(rate),
                ..Application::default()
            },
            start: Time::from_millis(5),
        };
        Flood::new(spec)
    }

    /// 1472 bytes at 7 kbit/s: 11,776 bits take 1.682285714 s, and three of them 5.046857142 s.
    #[test]
    fn datagrams_leave_at_multiples_of_their_time() {
        let mut f = flood(Rate::from_bps(7_000));
        let mut at = Vec::new();
        for _ in 0..4 {
            at.extend(f.due().map(Time::as_nanos));
            f.on_due();
        }
        assert_eq!(at, [5_000_000, 1_687_285_714, 3_369_571_428, 5_051_857_142]);
    }

    #[test]
    fn what_is_under_way_is_not_lost() {
        let mut f = flood(Rate::from_mbit(1));
        for _ in 0..10 {
            f.on_due();
        }
        for number in [0, 1, 4, 5] {
            f.on_arrival(number);
        }
        let m = f.measured();
        assert_eq!((m.sent, m.received, m.lost()), (10, 4, 2));
    }

    #[test]
    fn a_late_datagram_is_not_lost() {
        let mut f = flood(Rate::from_mbit(1));
        for number in [0, 2, 1] {
            f.on_due();
            f.on_arrival(number);
        }
        assert_eq!(f.measured().lost(), 0);
    }

    #[test]
    fn numbers_go_on_after_32_bits() {
        let mut f = flood(Rate::from_mbit(1));
        f.counts = FloodCounts {
            sent: 1 << 32,
            received: (1 << 32) - 1,
            expected: (1 << 32) - 1,
        };
        f.begin_window();
        for number in [u32::MAX, 0, 2] {
            f.on_arrival(number);
        }
        assert_eq!((f.measured().received, f.measured().lost()), (3, 1));
    }
}
