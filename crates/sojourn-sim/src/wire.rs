//! A wire behind a plain FIFO: what becomes of a packet there is known when it comes.

use sojourn_units::{Bytes, Duration, Rate, Time};
use std::collections::VecDeque;

/// A wire and the tail-drop FIFO before it, as a computation: a packet begins to be sent when it comes or when all
/// before it are sent, whichever is later. So its departure needs no event.
///
/// It does what `pfifo` before a wire does (see [`crate::link::Pacing`]): the packet whose bits are being sent is no
/// longer in the queue, and one that begins to be sent at an instant makes room for one that comes at the same
/// instant.
#[derive(Debug)]
pub(crate) struct Wire {
    rate: Rate,
    /// What a byte takes, if that is a whole number of nanoseconds: it saves a division.
    ns_per_byte: Option<u64>,
    /// Packets that may wait.
    limit: usize,
    /// When the last bit of the last packet is sent.
    free_at: Time,
    /// When each packet that waits begins to be sent. Those that have begun are forgotten when another comes.
    starts: VecDeque<Time>,
    /// The link from which all packets come, if that is one that only delays them: they are computed when they enter
    /// it.
    pub(crate) fed_by: Option<u16>,
    /// If it is the own device of a host that runs TCP.
    pub(crate) device: Option<WireDevice>,
}

/// What TCP is told of its own device: which data segments are sent.
///
/// As long as nobody waits for that, it is told when the host is about to send again.
#[derive(Debug, Default)]
pub(crate) struct WireDevice {
    /// Routes of data segments in the device, and when the last bit of each is sent.
    held: VecDeque<(Time, u16)>,
    /// Hosts that wait for the device to be done with a segment of theirs.
    pub(crate) waiting: u32,
}

impl WireDevice {
    /// A data segment's last bit is sent at `at`.
    #[inline]
    pub(crate) fn takes(&mut self, at: Time, route: u16) {
        self.held.push_back((at, route));
    }

    /// The route of a segment that was sent by `now`, told once.
    #[inline]
    pub(crate) fn done(&mut self, now: Time) -> Option<u16> {
        let &(_, route) = self.held.front().filter(|(at, _)| *at <= now)?;
        self.held.pop_front();
        Some(route)
    }

    /// When the next segment is sent.
    pub(crate) fn until(&self) -> Option<Time> {
        self.held.front().map(|&(at, _)| at)
    }
}

impl Wire {
    pub(crate) fn new(rate: Rate, limit: u32) -> Self {
        let ns = 8_000_000_000;
        Self {
            rate,
            ns_per_byte: (ns % rate.as_bps() == 0).then(|| ns / rate.as_bps()),
            limit: limit as usize,
            free_at: Time::ZERO,
            starts: VecDeque::new(),
            fed_by: None,
            device: None,
        }
    }

    /// A packet of `size` bytes comes at `at`, not before the last one: when its last bit is sent, or `None` if there
    /// is no room for it.
    #[inline]
    pub(crate) fn take(&mut self, size: u16, at: Time) -> Option<Time> {
        let start = if at >= self.free_at {
            self.starts.clear();
            at
        } else {
            while self.starts.front().is_some_and(|start| *start <= at) {
                self.starts.pop_front();
            }
            if self.starts.len() >= self.limit {
                return None;
            }
            self.starts.push_back(self.free_at);
            self.free_at
        };
        let sending = match self.ns_per_byte {
            Some(ns) => Duration::from_nanos(u64::from(size) * ns),
            None => self.rate.time_to_send(Bytes::new(u64::from(size))),
        };
        self.free_at = start + sending;
        Some(self.free_at)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use sojourn_qdisc::{Admission, Fifo, FifoLimit, Packet, Qdisc, packet_without};
    use sojourn_units::Stream;

    #[derive(Clone, Copy, Debug)]
    struct Frame(u16);

    impl Packet for Frame {
        packet_without!(ecn, dscp, hosts, ack, socket);

        fn size(&self) -> Bytes {
            Bytes::new(u64::from(self.0))
        }
        fn flow_hash(&self) -> u32 {
            0
        }
    }

    /// The FIFO itself, with a departure whenever the wire falls free; at one time departures come before arrivals.
    fn by_events(rate: Rate, limit: u32, arrivals: &[(Time, u16)]) -> Vec<Option<Time>> {
        let mut fifo = Fifo::new(FifoLimit::Packets(limit)).expect("a valid limit");
        let mut free_at = Time::ZERO;
        let mut out = vec![None; arrivals.len()];
        let (mut queued, mut dropped) = (VecDeque::new(), Vec::new());
        for (i, &(at, size)) in arrivals.iter().enumerate() {
            while free_at <= at && fifo.backlog().packets > 0 {
                serve(&mut fifo, &mut queued, &mut free_at, rate, &mut out);
            }
            if fifo.enqueue(Frame(size), at, &mut dropped) == Admission::Refused {
                continue;
            }
            queued.push_back(i);
            if free_at <= at {
                free_at = at;
                serve(&mut fifo, &mut queued, &mut free_at, rate, &mut out);
            }
        }
        while fifo.backlog().packets > 0 {
            serve(&mut fifo, &mut queued, &mut free_at, rate, &mut out);
        }
        out
    }

    fn serve(
        fifo: &mut Fifo<Frame>,
        queued: &mut VecDeque<usize>,
        free_at: &mut Time,
        rate: Rate,
        out: &mut [Option<Time>],
    ) {
        let packet = fifo.dequeue(*free_at, &mut Vec::new()).expect("a packet").packet;
        *free_at += rate.time_to_send(packet.size());
        out[queued.pop_front().expect("it was noted")] = Some(*free_at);
    }

    /// Times and sizes are such that many packets come at the very instant at which others leave.
    #[test]
    fn departures_and_drops_are_those_of_a_fifo_served_by_events() {
        let mut rng = Stream::new(5);
        for (bps, limit) in [
            (8_000_000_000, 1),
            (8_000_000_000, 3),
            (80_000_000, 30),
            (7_000_001, 10),
        ] {
            let rate = Rate::from_bps(bps);
            let unit = rate.time_to_send(Bytes::new(100)).as_nanos();
            let mut at = Time::ZERO;
            let arrivals: Vec<(Time, u16)> = (0..20_000)
                .map(|_| {
                    at += Duration::from_nanos(unit * rng.below(11));
                    (at, 100 * (1 + rng.below(9) as u16))
                })
                .collect();
            let mut wire = Wire::new(rate, limit);
            let computed: Vec<_> = arrivals.iter().map(|&(at, size)| wire.take(size, at)).collect();
            assert!(
                computed.iter().filter(|out| out.is_none()).count() > 100,
                "{bps} {limit}"
            );
            assert!(computed == by_events(rate, limit, &arrivals), "{bps} {limit}");
        }
    }

    #[test]
    fn a_device_tells_of_each_segment_once_and_in_order() {
        let mut device = WireDevice::default();
        for ms in [1, 2, 3] {
            device.takes(Time::from_millis(ms), ms as u16);
        }
        assert_eq!(device.done(Time::ZERO), None);
        let told: Vec<u16> = std::iter::from_fn(|| device.done(Time::from_millis(2))).collect();
        assert_eq!((told, device.until()), (vec![1, 2], Some(Time::from_millis(3))));
    }
}
