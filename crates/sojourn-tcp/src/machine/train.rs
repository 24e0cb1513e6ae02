//! Trains: TCP hands several segments down as one packet, whose segments leave back to back (GSO).

use super::{LossRecovery, Machine};
use crate::cc::{CaState, CongestionControl};
use crate::rules::Rules;
use sojourn_units::{Duration, Time};

/// What a packet of several segments holds at most, bytes. Source: Linux `GSO_LEGACY_MAX_SIZE` less headers.
const LARGEST: u64 = 65_536 - 1 - 320;
/// Part of the window that is sent although a whole train does not fit. Source: Linux `tcp_tso_win_divisor`.
const DIVISOR: u32 = 3;
/// Who has sent nothing for so long sends what fits.
const RECENT: Duration = Duration::from_millis(1);

/// How far the sender is in its train.
#[derive(Clone, Copy, Debug)]
pub(super) struct Train {
    rules: &'static Rules,
    /// Segments of it that are still to leave.
    left: u32,
    /// Segments that it began with.
    length: u32,
    /// Segments that the pacer is still to be charged for.
    charge: u32,
    /// The window has room, but the sender waits until a longer train fits.
    waits: bool,
}

impl Train {
    pub(super) fn new(rules: &'static Rules) -> Self {
        Self {
            rules,
            left: 0,
            length: 0,
            charge: 0,
            waits: false,
        }
    }
}

impl<R: LossRecovery> Machine<R> {
    /// Whether a train is under way: its segments wait for nothing.
    #[inline]
    pub(super) fn in_train(&self) -> bool {
        self.train.is_some_and(|train| train.left > 0)
    }

    /// Whether the sender waits until a longer train fits.
    #[inline]
    pub(super) fn waits_for_train(&self) -> bool {
        self.train.is_some_and(|train| train.waits)
    }

    /// Whether the segment that leaves is the last of a train, which asks its receiver to hurry: who reads it then
    /// acknowledges at once. Source: Linux `tcp_write_xmit` since 5.4, "force a PSH flag on TSO packets".
    pub(super) fn ends_train(&self) -> bool {
        R::PUSHES_TRAINS && self.train.is_some_and(|train| train.length > 1 && train.left == 0)
    }

    /// How many segments the pacer charges with the one that leaves: a whole train with its first.
    pub(super) fn take_charge(&mut self) -> u32 {
        self.train.as_mut().map_or(1, |train| std::mem::take(&mut train.charge))
    }

    /// Whether a new full segment may leave: as the next of a train, or as the first of one that is long enough.
    ///
    /// Source: Linux `tcp_write_xmit`, `tcp_tso_should_defer`. Deviation: a retransmission is one segment, and of
    /// data that do not fill the window nothing waits.
    #[inline]
    pub(super) fn takes_train(&mut self, now: Time) -> bool {
        self.train.is_none() || self.train_goes_on(now)
    }

    #[cold]
    fn train_goes_on(&mut self, now: Time) -> bool {
        let Some(mut train) = self.train else { return true };
        train.waits = false;
        if train.left > 0 {
            train.left -= 1;
            self.train = Some(train);
            return true;
        }
        let mss = u64::from(self.payload());
        let whole = |end: u64| u32::try_from(end.saturating_sub(self.nxt) / mss).unwrap_or(u32::MAX);
        let room = (self.window.cwnd - self.board.in_flight()).min(whole(self.window_end));
        let ready = whole(self.buffer.end());
        let longest = self.longest_train(train.rules);
        train.waits = room < ready && room < longest && self.may_wait(room, train.rules.train_near, now);
        if !train.waits {
            // At most half of the window, so that two trains are under way. Source: Linux `tcp_cwnd_test`.
            train.length = room.min(ready).min(longest).min(self.window.cwnd / 2).max(1);
            train.charge = train.length;
            train.left = train.length - 1;
        }
        self.train = Some(train);
        !train.waits
    }

    /// Segments of the longest train: what leaves in 1 ms at the pacing rate, or as the control has it.
    ///
    /// Source: Linux 6.1 `tcp_tso_autosize`.
    fn longest_train(&self, rules: &Rules) -> u32 {
        let mss = u64::from(self.payload());
        let known = self.una > 1;
        let linux = || self.pacing_rate().filter(|_| known);
        let Some(rate) = self.cc.pacing_rate().or_else(linux) else {
            return u32::try_from(LARGEST / mss).unwrap_or(u32::MAX);
        };
        let mut bytes = rate >> self.small_queue.shift();
        if let Some(spread) = rules.train_rtt_shift {
            let halvings = self.min_rtt.get().map_or(0, Duration::as_micros) >> spread;
            bytes += LARGEST
                .checked_shr(u32::try_from(halvings).unwrap_or(u32::MAX))
                .unwrap_or(0);
        }
        let segments = bytes.min(LARGEST) / mss;
        let usual = u32::try_from(segments).unwrap_or(u32::MAX);
        self.cc.longest_train(usual, rate, self.payload())
    }

    /// Whether the sender, whose window has `room` segments, may wait for more room.
    fn may_wait(&self, room: u32, near: Duration, now: Time) -> bool {
        // Of a paced flow the time from which it may send again counts (`tcp_wstamp_ns`).
        let last = self.pacing_next().or(self.burst.last_send).unwrap_or(Time::ZERO);
        if self.episode.state >= CaState::Recovery || now.since(last) > RECENT {
            return false;
        }
        if room * DIVISOR >= self.window.cwnd {
            return false;
        }
        let srtt = self.rtt.srtt().unwrap_or(Duration::ZERO);
        let near = near.min(srtt / 2);
        let expected = |sent: Time| (sent + srtt).since(now) <= near;
        self.board.head().is_some_and(|head| expected(head.sent_at))
    }
}

#[cfg(test)]
mod tests {
    use crate::pacing::tests::{RTT, departures, established, fixed};
    use crate::segment::{Flags, Segment};
    use crate::variant::Variant;
    use crate::{Endpoint, TcpParams};
    use sojourn_units::{Duration, Time};

    const MSS: u64 = 1448;

    fn trains(window: u32, rate: u64) -> (Endpoint, Time) {
        established(&TcpParams {
            gso: true,
            ..fixed(window, rate)
        })
    }

    #[test]
    fn a_paced_flow_leaves_by_what_a_millisecond_holds_and_no_faster_than_its_rate() {
        // 11,584,000 bytes/s shifted right by 10 are 11,312: 7 segments of 1448. A train takes 7 / 8 ms.
        let (mut client, start) = trains(45, 8_000 * MSS);
        let (left, _) = departures(&mut client, start, start + Duration::from_millis(10));
        assert_eq!(left.len(), 45);
        // The first nine segments of a connection are not paced. The second train begins among them, but counts whole.
        let expected = (0..45).map(|k: u64| {
            let train = k / 7;
            start + Duration::from_micros(875) * train.saturating_sub(1)
        });
        assert_eq!(left, expected.collect::<Vec<_>>());
    }

    #[test]
    fn a_slow_flow_leaves_in_pairs() {
        let (mut client, start) = trains(20, 1_000 * MSS);
        let (left, _) = departures(&mut client, start, start + Duration::from_millis(100));
        let pairs: Vec<_> = left.chunks(2).map(|pair| (pair[0], pair[0] == pair[1])).collect();
        assert!(pairs.iter().all(|&(_, together)| together), "{pairs:?}");
        let apart = pairs
            .windows(2)
            .skip(5)
            .all(|two| two[1].0.since(two[0].0) == Duration::from_millis(2));
        assert!(apart, "{pairs:?}");
    }

    /// Acknowledges so many segments, and answers how many leave for that.
    fn acknowledge(client: &mut Endpoint, segments: u64, now: Time) -> usize {
        let ack = Segment {
            flags: Flags::ACK,
            ack: 1 + segments * MSS,
            window: 65_535,
            ts_val: 1,
            ..Segment::default()
        };
        client.on_segment(&ack, now);
        std::iter::from_fn(|| client.poll_transmit(now)).count()
    }

    #[test]
    fn a_window_that_opens_by_pairs_is_sent_by_thirds() {
        // Nothing is held back by the rate, and the longest train is longer than the window.
        let (mut client, start) = trains(12, 1 << 50);
        assert_eq!(std::iter::from_fn(|| client.poll_transmit(start)).count(), 12);
        let at = |us: u64| start + RTT + Duration::from_micros(us);
        // Nothing was sent within the last millisecond: what fits leaves.
        assert_eq!(acknowledge(&mut client, 2, at(0)), 2);
        // Two segments are less than a third of twelve, and four are a third.
        assert_eq!(acknowledge(&mut client, 4, at(200)), 0);
        assert_eq!(acknowledge(&mut client, 6, at(400)), 4);
        assert_eq!(acknowledge(&mut client, 8, at(600)), 0);
        // The last train is more than a millisecond ago.
        assert_eq!(acknowledge(&mut client, 9, at(1_500)), 3);
    }

    /// Acknowledgements come 20 ms earlier than a round trip takes. The next is expected 17 ms later, which is within half
    /// a round trip, but not within 1 ms.
    #[test]
    fn linux_5_15_waits_for_an_acknowledgement_within_half_a_round_trip() {
        let sent = |variant| {
            let (mut client, start) = established(&TcpParams {
                gso: true,
                variant,
                ..fixed(12, 1 << 50)
            });
            assert_eq!(std::iter::from_fn(|| client.poll_transmit(start)).count(), 12);
            let at = |us: u64| start + Duration::from_micros(us);
            // Nothing was sent within the last millisecond: what fits leaves.
            assert_eq!(acknowledge(&mut client, 2, at(30_000)), 2);
            acknowledge(&mut client, 4, at(30_200))
        };
        assert_eq!(sent(Variant::Linux61), 2);
        assert_eq!(sent(Variant::Linux515), 0);
    }

    #[test]
    fn a_train_has_at_most_half_of_the_window() {
        let trains_of = |window| {
            let (mut client, start) = trains(window, 8_000 * MSS);
            let sent = std::iter::from_fn(|| client.poll_transmit(start));
            let ends: Vec<_> = sent.map(|s| s.flags.has(Flags::PSH)).collect();
            (ends.len(), ends.iter().filter(|&&end| end).count())
        };
        // Seven segments at the rate. A train of one has no PSH.
        assert_eq!(trains_of(12), (12, 2));
        assert_eq!(trains_of(6), (6, 2));
        assert_eq!(trains_of(3), (3, 0));
    }

    #[test]
    fn the_last_segment_of_a_train_asks_to_hurry() {
        let (mut client, start) = trains(14, 8_000 * MSS);
        let flags: Vec<_> = std::iter::from_fn(|| client.poll_transmit(start))
            .map(|s| s.flags.has(Flags::PSH))
            .collect();
        let ends: Vec<_> = (1..=14).map(|k| k % 7 == 0).collect();
        assert_eq!(flags, ends);
    }

    #[test]
    fn without_it_what_fits_leaves() {
        let (mut client, start) = established(&fixed(12, 1 << 50));
        assert_eq!(std::iter::from_fn(|| client.poll_transmit(start)).count(), 12);
        for k in 1..=4 {
            let now = start + RTT + Duration::from_micros(200 * k);
            assert_eq!(acknowledge(&mut client, 2 * k, now), 2);
        }
    }
}
