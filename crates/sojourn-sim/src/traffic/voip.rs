//! One direction of a voice call: a packet every frame, whatever happens to them.
//!
//! Read first: RFC 3550 section 6.4.1 (interarrival jitter), RFC 5481 (delay variation).

use crate::calendar::Slot;
use crate::network::LinkId;
use sojourn_units::{Duration, Time};

/// A voice stream from one node to another.
#[derive(Clone, Debug)]
pub struct VoipSpec {
    /// Unique name.
    pub name: String,
    /// To the listener.
    pub route: Vec<LinkId>,
    /// And back; no packet takes it.
    pub back: Vec<LinkId>,
    /// Time between packets.
    pub frame: Duration,
    /// Bytes on the wire of each.
    pub size: u16,
    /// When it begins.
    pub start: Time,
    /// Packets sent before this are not measured.
    pub measured_from: Time,
}

/// Not there (yet).
const ABSENT: u64 = u64::MAX;

/// A voice stream under way. A measured packet costs eight bytes of memory: its delay. When it was sent follows from its
/// number.
#[derive(Debug)]
pub(crate) struct Voip {
    pub(crate) spec: VoipSpec,
    pub(crate) slot: Slot,
    pub(crate) route: u16,
    /// Delay on the empty path: propagation, and serialisation on wires.
    pub(crate) base_delay: Duration,
    /// Packets sent.
    sent: u32,
    /// Number of the first measured packet.
    first: u32,
    /// Delays of the measured packets by number, ns.
    delays: Vec<u64>,
    arrived: u64,
    /// RFC 3550's J, ns, and the delay of the packet that arrived last.
    jitter_ns: f64,
    last_delay: Option<u64>,
    stopped: bool,
}

/// What befell the packets that were sent in one bin of the series.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct VoipBin {
    pub(crate) sent: u32,
    pub(crate) lost: u32,
    pub(crate) delay_sum_ns: u64,
    pub(crate) delay_max_ns: u64,
}

impl Voip {
    pub(crate) fn new(spec: VoipSpec, slot: Slot, route: u16, base_delay: Duration) -> Self {
        let before = spec.measured_from.since(spec.start).as_nanos();
        let first = before.div_ceil(spec.frame.as_nanos()) as u32;
        Self {
            spec,
            slot,
            route,
            base_delay,
            sent: 0,
            first,
            delays: Vec::new(),
            arrived: 0,
            jitter_ns: 0.0,
            last_delay: None,
            stopped: false,
        }
    }

    /// When packet `number` leaves.
    fn sent_at(&self, number: u32) -> Time {
        self.spec.start + self.spec.frame * u64::from(number)
    }

    /// When the next packet leaves; `None` once the stream has stopped.
    pub(crate) fn due(&self) -> Option<Time> {
        (!self.stopped).then(|| self.sent_at(self.sent))
    }

    /// The stream's time has come: the number of the packet to send.
    pub(crate) fn on_due(&mut self) -> u32 {
        let number = self.sent;
        self.sent += 1;
        if number >= self.first {
            self.delays.push(ABSENT);
        }
        number
    }

    /// Packet `number` has arrived.
    pub(crate) fn on_arrival(&mut self, number: u32, now: Time) {
        let delay = now.since(self.sent_at(number)).as_nanos();
        let Some(place) = number.checked_sub(self.first) else {
            return;
        };
        let Some(slot) = self.delays.get_mut(place as usize).filter(|d| **d == ABSENT) else {
            return;
        };
        *slot = delay;
        self.arrived += 1;
        if let Some(last) = self.last_delay.replace(delay) {
            // RFC 3550 section 6.4.1: J(i) = J(i-1) + (|D(i-1,i)| - J(i-1)) / 16, in the order of arrival.
            self.jitter_ns += (delay.abs_diff(last) as f64 - self.jitter_ns) / 16.0;
        }
    }

    /// No more packets are sent.
    pub(crate) fn stop(&mut self) {
        self.stopped = true;
    }

    /// Whether a measured packet may still be under way.
    pub(crate) fn awaits(&self) -> bool {
        self.lost() > 0
    }

    /// Measured packets.
    pub(crate) fn sent(&self) -> u64 {
        self.delays.len() as u64
    }

    /// Of them, not arrived.
    pub(crate) fn lost(&self) -> u64 {
        self.sent() - self.arrived
    }

    /// Delays of those that arrived, in the order of sending.
    pub(crate) fn delays(&self) -> impl Iterator<Item = Duration> + '_ {
        self.delays
            .iter()
            .filter(|&&d| d != ABSENT)
            .map(|&d| Duration::from_nanos(d))
    }

    /// RFC 3550's interarrival jitter at the end, ns. Deviation: without its rounding to units of the RTP clock.
    pub(crate) fn jitter_ns(&self) -> f64 {
        self.jitter_ns
    }

    /// Mean of |delay of a packet - delay of the one sent before it|, ns, over the pairs of which both arrived
    /// (RFC 5481 section 4.1: IPDV); zero without such a pair.
    pub(crate) fn ipdv_ns(&self) -> f64 {
        let pairs = self.delays.windows(2).filter(|w| w[0] != ABSENT && w[1] != ABSENT);
        let (n, sum) = pairs.fold((0u64, 0u128), |(n, sum), w| {
            (n + 1, sum + u128::from(w[0].abs_diff(w[1])))
        });
        if n == 0 { 0.0 } else { sum as f64 / n as f64 }
    }

    /// The first `count` bins of width `width` from the beginning of the measurement, by time of sending.
    pub(crate) fn bins(&self, width: Duration, count: usize) -> Vec<VoipBin> {
        let mut bins = vec![VoipBin::default(); count];
        for (i, &delay) in self.delays.iter().enumerate() {
            let at = self.sent_at(self.first + i as u32).since(self.spec.measured_from);
            let Some(bin) = bins.get_mut((at.as_nanos() / width.as_nanos()) as usize) else {
                break;
            };
            bin.sent += 1;
            if delay == ABSENT {
                bin.lost += 1;
            } else {
                bin.delay_sum_ns += delay;
                bin.delay_max_ns = bin.delay_max_ns.max(delay);
            }
        }
        bins
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calendar::Calendar;

    fn stream(start_ms: u64, from_ms: u64) -> Voip {
        let spec = VoipSpec {
            name: "voip".into(),
            route: Vec::new(),
            back: Vec::new(),
            frame: Duration::from_millis(20),
            size: 214,
            start: Time::from_millis(start_ms),
            measured_from: Time::from_millis(from_ms),
        };
        Voip::new(spec, Calendar::default().add_timer_slot(), 0, Duration::ZERO)
    }

    /// Sends packets 0 to n - 1 and lets those arrive that have a delay, in ms, in the order of arrival.
    fn with_delays(v: &mut Voip, delays: &[Option<u64>]) {
        let mut arrivals = Vec::new();
        for &delay in delays {
            let at = v.due().expect("not stopped");
            let number = v.on_due();
            arrivals.extend(delay.map(|ms| (at + Duration::from_millis(ms), number)));
        }
        arrivals.sort_unstable();
        for (at, number) in arrivals {
            v.on_arrival(number, at);
        }
    }

    /// By hand: delays 10, 26, 10, 10 ms give |D| 16, 16, 0: J = 1, then 1 + 15/16, then 15/16 of that.
    #[test]
    fn jitter_is_that_of_rfc_3550() {
        let mut v = stream(0, 0);
        with_delays(&mut v, &[Some(10), Some(26), Some(10), Some(10)]);
        let expected = (1.0 + 15.0 / 16.0) * 15.0 / 16.0;
        assert!((v.jitter_ns() / 1e6 - expected).abs() < 1e-9, "{}", v.jitter_ns());
        assert!((v.ipdv_ns() / 1e6 - 32.0 / 3.0).abs() < 1e-9);
    }

    /// The jitter goes over a gap, because it follows arrivals (|D| 16, then 1: J = 1); IPDV does not, because it follows
    /// the sequence.
    #[test]
    fn a_lost_packet_interrupts_ipdv_and_not_jitter() {
        let mut v = stream(0, 0);
        with_delays(&mut v, &[Some(10), None, Some(26), Some(27)]);
        assert!((v.jitter_ns() / 1e6 - 1.0).abs() < 1e-9);
        assert!((v.ipdv_ns() / 1e6 - 1.0).abs() < 1e-9);
        assert_eq!((v.sent(), v.lost()), (4, 1));
    }

    #[test]
    fn a_packet_that_overtakes_another_counts_for_its_own_bin() {
        let mut v = stream(0, 0);
        with_delays(&mut v, &[Some(90), Some(5), Some(5)]);
        let bins = v.bins(Duration::from_millis(20), 3);
        let means: Vec<u64> = bins.iter().map(|b| b.delay_sum_ns / 1_000_000).collect();
        assert_eq!(means, [90, 5, 5]);
        // Arrivals: 5, 5, 90 ms of delay: |D| is 0, then 85.
        assert!((v.jitter_ns() / 1e6 - 85.0 / 16.0).abs() < 1e-9);
    }

    #[test]
    fn packets_sent_before_the_measurement_are_not_counted() {
        let mut v = stream(3, 50);
        // Sent at 3, 23, 43, 63 and 83 ms.
        with_delays(&mut v, &[Some(10), None, Some(10), None, Some(12)]);
        assert_eq!((v.sent(), v.lost()), (2, 1));
        let bins = v.bins(Duration::from_millis(20), 2);
        assert_eq!([bins[0].sent, bins[0].lost, bins[1].sent, bins[1].lost], [1, 1, 1, 0]);
        assert_eq!(v.delays().collect::<Vec<_>>(), [Duration::from_millis(12)]);
    }
}
