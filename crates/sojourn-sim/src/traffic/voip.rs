//! One direction of a voice call: a packet every frame, whatever happens to them.

use crate::source::{Context, Packet, Source};
use crate::traffic::voice_trace::{VoiceBin, VoiceTrace};
use sojourn_units::{Duration, Time};

/// A voice stream from one node to another.
#[derive(Clone, Debug)]
pub struct VoipSpec {
    /// Time between packets.
    pub frame: Duration,
    /// Bytes on the wire of each.
    pub size: u16,
    /// When it begins.
    pub start: Time,
    /// Packets sent before this are not measured.
    pub measured_from: Time,
}

/// A voice stream under way. When a packet was sent follows from its number.
#[derive(Debug)]
pub struct Voip {
    spec: VoipSpec,
    /// Delay on the empty path: propagation, and serialisation on wires.
    pub(crate) base_delay: Duration,
    /// Packets sent.
    sent: u32,
    /// Number of the first measured packet.
    first: u32,
    /// What befell the measured packets.
    pub(crate) trace: VoiceTrace,
    stopped: bool,
}

impl Voip {
    /// A voice stream that has not begun, on a path that takes `base_delay` if it is empty:
    /// [`Simulator::empty_delay`](crate::Simulator::empty_delay).
    #[must_use]
    pub fn new(spec: VoipSpec, base_delay: Duration) -> Self {
        let before = spec.measured_from.since(spec.start).as_nanos();
        let first = before.div_ceil(spec.frame.as_nanos()) as u32;
        Self {
            spec,
            base_delay,
            sent: 0,
            first,
            trace: VoiceTrace::default(),
            stopped: false,
        }
    }

    /// When packet `number` leaves.
    fn sent_at(&self, number: u32) -> Time {
        self.spec.start + self.spec.frame * u64::from(number)
    }

    /// When the next packet leaves; `None` once the stream has stopped.
    fn due(&self) -> Option<Time> {
        (!self.stopped).then(|| self.sent_at(self.sent))
    }

    /// The stream's time has come: the number of the packet to send.
    fn on_due(&mut self) -> u32 {
        let number = self.sent;
        self.sent += 1;
        if number >= self.first {
            self.trace.send();
        }
        number
    }

    /// Packet `number` has arrived.
    fn on_arrival(&mut self, number: u32, now: Time) {
        if let Some(place) = number.checked_sub(self.first) {
            self.trace.arrive(place as usize, now.since(self.sent_at(number)));
        }
    }

    /// The first `count` bins of width `width` from the beginning of the measurement, by time of sending.
    pub(crate) fn bins(&self, width: Duration, count: usize) -> Vec<VoiceBin> {
        let sent_at = |place: usize| self.sent_at(self.first + place as u32).since(self.spec.measured_from);
        self.trace.bins(width, count, sent_at)
    }
}

/// For those who watch.
impl Voip {
    /// When each measured packet from number `from` on was sent, and its delay; `None` if it was lost. It ends before the
    /// first that may still come: none that was sent later has come, and it is not `lost` on its way yet.
    pub(crate) fn settled(
        &self,
        from: usize,
        now: Time,
        lost: Duration,
    ) -> impl Iterator<Item = (Time, Option<Duration>)> + '_ {
        let last = self.trace.last_arrived();
        let all = (from..self.trace.sent() as usize).map(|place| {
            let sent = self.sent_at(self.first + place as u32);
            (place, sent, self.trace.delay(place))
        });
        all.take_while(move |(place, sent, delay)| {
            delay.is_some() || last.is_some_and(|last| last > *place) || now.since(*sent) >= lost
        })
        .map(|(_, sent, delay)| (sent, delay))
    }
}

impl Source for Voip {
    fn start(&self) -> Time {
        self.spec.start
    }

    fn on_wake(&mut self, context: &mut Context<'_>) {
        if !self.stopped {
            let number = self.on_due();
            context.wake(self.due());
            context.send(true, number, self.spec.size);
        }
    }

    fn on_packet(&mut self, packet: &Packet, _: bool, context: &mut Context<'_>) {
        self.on_arrival(packet.number(), context.now());
    }

    fn end_window(&mut self) -> bool {
        self.stopped = true;
        true
    }

    fn awaits(&self) -> bool {
        self.trace.lost() > 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stream(start_ms: u64, from_ms: u64) -> Voip {
        let spec = VoipSpec {
            frame: Duration::from_millis(20),
            size: 214,
            start: Time::from_millis(start_ms),
            measured_from: Time::from_millis(from_ms),
        };
        Voip::new(spec, Duration::ZERO)
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

    fn near(ns: Option<f64>, expected: f64) {
        assert!(ns.is_some_and(|ns| (ns - expected).abs() < 1e-3), "{ns:?}");
    }

    #[test]
    fn one_packet_has_neither_jitter_nor_ipdv() {
        let mut v = stream(0, 0);
        with_delays(&mut v, &[Some(10), None]);
        assert_eq!((v.trace.jitter_ns(), v.trace.ipdv_ns()), (None, None));
    }

    /// By hand: delays 10, 26, 10, 10 ms give |D| 16, 16, 0: J = 1, then 1 + 15/16, then 15/16 of that.
    #[test]
    fn jitter_is_that_of_rfc_3550() {
        let mut v = stream(0, 0);
        with_delays(&mut v, &[Some(10), Some(26), Some(10), Some(10)]);
        let expected = (1.0 + 15.0 / 16.0) * 15.0 / 16.0;
        near(v.trace.jitter_ns(), expected * 1e6);
        near(v.trace.ipdv_ns(), 32e6 / 3.0);
    }

    /// The jitter goes over a gap, because it follows arrivals (|D| 16, then 1: J = 1); IPDV does not, because it
    /// follows the sequence.
    #[test]
    fn a_lost_packet_interrupts_ipdv_and_not_jitter() {
        let mut v = stream(0, 0);
        with_delays(&mut v, &[Some(10), None, Some(26), Some(27)]);
        near(v.trace.jitter_ns(), 1e6);
        near(v.trace.ipdv_ns(), 1e6);
        assert_eq!((v.trace.sent(), v.trace.lost()), (4, 1));
    }

    #[test]
    fn a_packet_that_overtakes_another_counts_for_its_own_bin() {
        let mut v = stream(0, 0);
        with_delays(&mut v, &[Some(90), Some(5), Some(5)]);
        let bins = v.bins(Duration::from_millis(20), 3);
        let means: Vec<u128> = bins.iter().map(|b| b.delay_sum_ns / 1_000_000).collect();
        assert_eq!(means, [90, 5, 5]);
        // Arrivals: 5, 5, 90 ms of delay: |D| is 0, then 85.
        near(v.trace.jitter_ns(), 85e6 / 16.0);
    }

    #[test]
    fn packets_sent_before_the_measurement_are_not_counted() {
        let mut v = stream(3, 50);
        // Sent at 3, 23, 43, 63 and 83 ms.
        with_delays(&mut v, &[Some(10), None, Some(10), None, Some(12)]);
        assert_eq!((v.trace.sent(), v.trace.lost()), (2, 1));
        let bins = v.bins(Duration::from_millis(20), 2);
        assert_eq!([bins[0].sent, bins[0].lost, bins[1].sent, bins[1].lost], [1, 1, 1, 0]);
        assert_eq!(v.trace.delays().collect::<Vec<_>>(), [Duration::from_millis(12)]);
    }
}
