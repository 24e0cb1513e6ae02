//! Pacing: an endpoint spreads its segments over time.

use sojourn_units::{Duration, Time};

/// Segments of a connection that are not paced. Source: Linux `tcp_update_skb_after_send`, after `sch_fq`.
const UNPACED: u64 = 10;

/// When the next segment may leave. One timer, armed only while something waits for it.
///
/// Source: Linux 6.1 `tcp_pacing_check`, `tcp_update_skb_after_send`: what an endpoint does that is to pace and has
/// no `fq` below it. A segment is charged at the rate of the moment. Who sends later than it could makes up for that,
/// by half of a segment's time at most for each segment.
#[derive(Clone, Debug, Default)]
pub(crate) struct Pacer {
    /// Bytes in a second; `None` as long as it is not known, which holds nothing back.
    pub(crate) rate: Option<u64>,
    next: Time,
    waits: bool,
}

impl Pacer {
    /// Whether the next segment has to wait; if so, [`Pacer::due`] says for how long.
    pub(crate) fn holds(&mut self, now: Time) -> bool {
        self.waits = self.next > now;
        self.waits
    }

    /// A segment with so much payload is sent, the `nth` of the connection, from 1. So many `segments` are charged with
    /// it: those of a train with its first, and none with the others, which leave without asking [`Pacer::holds`].
    pub(crate) fn on_sent(&mut self, bytes: u16, segments: u32, nth: u64, now: Time) {
        let late = now.since(self.next);
        self.next = self.next.max(now);
        let Some(rate) = self.rate.filter(|&rate| rate > 0 && nth >= UNPACED) else {
            return;
        };
        let bytes = u64::from(bytes) * u64::from(segments);
        let time = Duration::from_nanos(bytes * 1_000_000_000 / rate);
        self.next += time.saturating_sub(late.min(time / 2));
    }

    /// The time has come, or not yet.
    pub(crate) fn on_timeout(&mut self, now: Time) {
        self.waits &= self.next > now;
    }

    /// When what waits may leave.
    pub(crate) fn due(&self) -> Option<Time> {
        self.waits.then_some(self.next)
    }

    /// From when on a segment may leave.
    pub(crate) fn next(&self) -> Time {
        self.next
    }

    /// How long until the next segment may leave: by so much other timers are later (`tcp_pacing_delay`).
    pub(crate) fn delay(&self, now: Time) -> Duration {
        self.next.since(now)
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::cc::{Algorithm, FixedParams, Params};
    use crate::segment::{Flags, Segment};
    use crate::{Endpoint, TcpParams};

    pub(crate) const RTT: Duration = Duration::from_millis(50);

    /// A client after a handshake of 50 ms at time zero, with more to write than it may send.
    pub(crate) fn established(params: &TcpParams) -> (Endpoint, Time) {
        let mut client = Endpoint::client(params).expect("valid parameters");
        client.connect(Time::ZERO);
        client.poll_transmit(Time::ZERO).expect("a SYN");
        let now = Time::ZERO + RTT;
        let syn_ack = Segment {
            flags: Flags::SYN | Flags::ACK | Flags::ECE,
            window: 65_535,
            ts_val: 1,
            ..Segment::default()
        };
        client.on_segment(&Segment { ack: 1, ..syn_ack }, now);
        assert_eq!(client.poll_transmit(now).map(|s| s.len), Some(0));
        client.write(1 << 40);
        (client, now)
    }

    /// Polls until nothing more leaves, and then at each time-out until `until`: when each data segment left, and the
    /// time-outs.
    pub(crate) fn departures(client: &mut Endpoint, mut now: Time, until: Time) -> (Vec<Time>, usize) {
        let (mut left, mut woken) = (Vec::new(), 0);
        loop {
            while let Some(segment) = client.poll_transmit(now) {
                assert_eq!(segment.len, 1448);
                left.push(now);
            }
            match client.timeout() {
                Some(at) if at <= until => {
                    assert!(at > now, "{at:?} after {now:?}");
                    now = at;
                    woken += 1;
                    client.on_timeout(now);
                }
                _ => return (left, woken),
            }
        }
    }

    pub(crate) fn fixed(window: u32, rate: u64) -> TcpParams {
        TcpParams {
            congestion_control: Algorithm::Fixed,
            cc: Params {
                fixed: FixedParams { rate },
                ..Params::default()
            },
            initial_window: window,
            ecn: true.into(),
            ..TcpParams::default()
        }
    }

    #[test]
    fn departures_are_a_segments_time_apart_by_one_timer_and_without_drift() {
        // 1448 bytes in a millisecond. Ten leave at once, then one a millisecond.
        let (mut client, start) = established(&fixed(60, 1_448_000));
        let (left, woken) = departures(&mut client, start, start + Duration::from_millis(60));
        let expected = (0..60).map(|k: u64| start + Duration::from_millis(k.saturating_sub(9)));
        assert_eq!(left, expected.collect::<Vec<_>>());
        assert_eq!(
            woken, 50,
            "a time-out for each departure but the first ten, and none in vain"
        );
    }

    #[test]
    fn who_is_woken_late_makes_up_for_it_by_half_a_segment_at_most() {
        let ms = |tenths: u64| Time::from_nanos(tenths * 100_000);
        let mut pacer = Pacer {
            rate: Some(1_448_000),
            ..Pacer::default()
        };
        pacer.on_sent(1448, 1, 10, ms(0));
        assert!(pacer.holds(ms(9)));
        assert_eq!(pacer.due(), Some(ms(10)));
        // 0.2 ms late: the next is due a segment's time after this was.
        assert!(!pacer.holds(ms(12)));
        pacer.on_sent(1448, 1, 11, ms(12));
        assert_eq!(pacer.delay(ms(12)), Duration::from_micros(800));
        // 3 ms late: half a segment's time is the least.
        pacer.on_sent(1448, 1, 12, ms(50));
        assert_eq!(pacer.delay(ms(50)), Duration::from_micros(500));
    }

    fn cubic(pacing: bool) -> TcpParams {
        TcpParams {
            pacing,
            ..TcpParams::default()
        }
    }

    /// Ten segments leave; an acknowledgement of two makes the window 12 and lets four go.
    fn released(params: &TcpParams) -> Vec<Duration> {
        let (mut client, start) = established(params);
        let (left, _) = departures(&mut client, start, start);
        assert_eq!(left.len(), 10);
        let now = start + RTT;
        let ack = Segment {
            ack: 1 + 2 * 1448,
            flags: Flags::ACK,
            window: 65_535,
            ts_val: 2,
            ts_ecr: 51,
            ..Segment::default()
        };
        client.on_segment(&ack, now);
        let (left, _) = departures(&mut client, now, now + Duration::from_millis(20));
        left.into_iter().map(|at| at.since(now)).collect()
    }

    #[test]
    fn cubic_is_paced_at_two_windows_a_round_trip_in_slow_start_if_it_is_to_be() {
        // 2 x 12 x 1448 bytes in 50 ms are 695,040 in a second: 2,083,333 ns for a segment.
        let apart = Duration::from_nanos(2_083_333);
        // The first leaves at once, and late: so the second follows after half of that.
        let half = Duration::from_nanos(1_041_667);
        assert_eq!(
            released(&cubic(true)),
            [Duration::ZERO, half, half + apart, half + apart * 2]
        );
    }

    #[test]
    fn cubic_is_not_paced_by_itself() {
        assert_eq!(released(&cubic(false)), [Duration::ZERO; 4]);
    }

    #[test]
    fn a_control_that_wants_samples_hears_of_each_acknowledgement() {
        let (mut client, start) = established(&fixed(20, 14_480_000));
        let (left, _) = departures(&mut client, start, start + Duration::from_millis(20));
        assert_eq!(left.len(), 20);
        let now = start + RTT;
        let ack = Segment {
            ack: 1 + 12 * 1448,
            flags: Flags::ACK | Flags::ECE,
            window: 65_535,
            ts_val: 2,
            ts_ecr: 51,
            ..Segment::default()
        };
        client.on_segment(&ack, now);
        let sample = client.sender().last_sample().expect("one sample");
        // The newest is the twelfth, sent 0.2 ms after the first; its acknowledgement came 50 ms after the first was
        // sent.
        assert_eq!(
            (sample.newly_delivered, sample.delivered, sample.delivered_ce),
            (12, 12, 12)
        );
        assert_eq!((sample.interval, sample.ece, sample.losses), (Some(RTT), true, 0));
        assert_eq!((sample.flight_before, sample.flight), (20, 8));
        // 20 segments of buffer were written at once: nothing was limited by the application but the first write.
        assert!(sample.app_limited);
    }
}
