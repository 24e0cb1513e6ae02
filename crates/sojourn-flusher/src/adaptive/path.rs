//! What the method `adaptive` has learned about the way to one receiver.

use crate::plan::packets_in;
use crate::{FlusherParams, Verdict};
use sojourn_units::{Bytes, Duration, Rate, Time};

/// Loss events whose peaks are remembered.
const EVENTS: usize = 4;
/// A boost of one, in eighths.
const ONE: u32 = 8;
/// After so many bursts that helped, smaller ones are tried that once were too small.
const RETRY: u32 = 32;
/// Small bursts in a row that nobody noticed, after which the buffer is taken to count bytes.
const UNNOTICED: u32 = 4;
/// A queue below this share of a full buffer leaves room for a burst of small packets: numerator and denominator.
const ROOM: (u64, u64) = (3, 4);
/// A delay below this share of a full buffer's is far from it: numerator and denominator.
const FAR: (u64, u64) = (7, 8);
/// Least and most boost: half the free space, and eight times it.
const BOOST: (u32, u32) = (4, 64);

/// The way to one receiver: what its buffer holds, how large a burst must be, and whether bursts help at all.
///
/// How large a burst must be is searched for in two places. The free space comes from measurement: at a loss the
/// largest RTT is that of a full buffer, and the present RTT tells how much of it is taken. Where that is not enough,
/// because others use the buffer whom the flusher does not see, or because it drains while the burst comes in, a
/// factor, the boost, grows by half with each burst that nobody noticed and shrinks by an eighth with each that
/// helped; but for a while not to where it was too small before.
///
/// A buffer counts packets or bytes. One that counts packets is filled by small packets as well as by large ones, for
/// a twentieth of the link's time. So bursts are of small packets until several in a row were noticed by nobody: then
/// the buffer is taken to count bytes, bursts are of full packets, and after many of those that helped one of small
/// packets is tried again.
#[derive(Debug)]
pub(crate) struct Path {
    /// Flows that take it; it is forgotten with the last.
    pub(crate) flows: u32,
    /// Segments of theirs that were sent again.
    pub(crate) retransmissions: u64,
    /// Loss events of theirs.
    pub(crate) losses: u64,
    /// Queueing delay at the last loss events, of a full buffer or less if the loss had another cause; and that after
    /// bursts which nobody noticed: the buffer holds as much.
    peaks: [Option<Duration>; EVENTS],
    next_peak: usize,
    /// Whether there was a loss event among them yet.
    measured: bool,
    counts: Counts,
    /// Small bursts in a row that nobody noticed.
    unnoticed: u32,
    /// Full bursts that helped since the buffer was taken to count bytes, and how many must before a small one is
    /// tried.
    full_bursts: u32,
    retry: u32,
    /// The searches for the size of bursts, by [`Kind`].
    searches: [Search; 2],
    failures: u32,
    forced_failures: u32,
    /// Until when losses may be those that a burst of small packets caused.
    small_until: Time,
    cool_until: Time,
}

/// What the packets of a burst are.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Full,
    Small,
}

/// What a buffer's limit is of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Counts {
    Packets,
    Bytes,
}

/// The search for the size of a burst.
#[derive(Clone, Copy, Debug)]
struct Search {
    boost: u32,
    /// The boost of a burst that was too small, and how many helped since.
    too_small: u32,
    helped: u32,
}

impl Search {
    const NEW: Self = Self {
        boost: ONE,
        too_small: 0,
        helped: 0,
    };

    fn helped(&mut self, heavy: bool) {
        self.helped += 1;
        if self.helped >= RETRY {
            self.too_small = 0;
            self.helped = 0;
        }
        if heavy || self.boost > ONE.max(self.too_small + 1) {
            self.boost = (self.boost - 1).max(BOOST.0);
        }
    }

    fn was_too_small(&mut self) {
        self.too_small = self.too_small.max(self.boost);
        self.helped = 0;
        self.boost = (self.boost + self.boost / 2).min(BOOST.1);
    }
}

/// The burst to be made.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Burst {
    pub(crate) packets: u32,
    /// The queueing delay at which the buffer is believed to be full.
    pub(crate) full: Duration,
}

/// What is known when a burst is sized.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Now {
    pub(crate) rate: Rate,
    pub(crate) base: Duration,
    /// The least RTT of the last window.
    pub(crate) least: Duration,
    pub(crate) max_rtt: Duration,
}

impl Path {
    pub(crate) const fn new() -> Self {
        Self {
            flows: 0,
            retransmissions: 0,
            losses: 0,
            peaks: [None; EVENTS],
            next_peak: 0,
            measured: false,
            counts: Counts::Packets,
            unnoticed: 0,
            full_bursts: 0,
            retry: RETRY,
            searches: [Search::NEW; 2],
            failures: 0,
            forced_failures: 0,
            small_until: Time::ZERO,
            cool_until: Time::ZERO,
        }
    }

    pub(crate) const fn cooling(&self, now: Time) -> bool {
        self.cool_until.as_nanos() > now.as_nanos()
    }

    pub(crate) const fn stopped(&self, params: &FlusherParams) -> bool {
        self.failures >= params.max_failures
    }

    /// A burst of small packets has left, which may lose something until then.
    pub(crate) fn small_burst(&mut self, until: Time) {
        self.small_until = until;
    }

    /// A flow lost something while its queueing delay had been up to `queue`. If it was by a burst of small packets,
    /// that delay says nothing of a full buffer: small packets take places and no time.
    pub(crate) fn on_loss(&mut self, queue: Duration, now: Time) {
        if now < self.small_until && self.full().is_some_and(|full| queue < full) {
            return;
        }
        if !self.measured {
            // From here on the free space is measured; what was guessed before has done its work.
            self.measured = true;
            self.counts = Counts::Packets;
            self.unnoticed = 0;
            self.searches = [Search::NEW; 2];
        }
        self.remember(queue);
    }

    fn remember(&mut self, queue: Duration) {
        self.peaks[self.next_peak] = Some(queue);
        self.next_peak = (self.next_peak + 1) % EVENTS;
    }

    /// The queueing delay of a full buffer. The largest of the last events, so that a loss by noise does not hide
    /// what an overflow showed, and that a buffer grown smaller is believed after four.
    pub(crate) fn full(&self) -> Option<Duration> {
        self.peaks.iter().flatten().copied().max()
    }

    /// Length of the packets of the next burst into a buffer in which a queue of `queue` stands. Where it is nearly
    /// full a burst of full packets costs little, and what one of small packets did could not be told from an
    /// overflow.
    pub(crate) fn packet(&self, full: Option<Duration>, queue: Duration, params: &FlusherParams) -> Bytes {
        let room = full.is_some_and(|full| queue < full.saturating_mul(ROOM.0) / ROOM.1);
        params
            .small_packet
            .filter(|small| *small < params.packet && self.measured && room && self.counts == Counts::Packets)
            .unwrap_or(params.packet)
    }

    /// The search that bursts of packets of this kind belong to.
    const fn search(&self, kind: Kind) -> &Search {
        &self.searches[kind as usize]
    }

    /// The burst that overflows a buffer, whose queueing delay is `full` when it is full, by `margin` packets. Before
    /// anything is known of the buffer its free space is taken for one base RTT: the thesis's first flush, which
    /// takes twice the base RTT, less what the pipe itself holds.
    pub(crate) fn burst(&self, full: Option<Duration>, kind: Kind, now: &Now, params: &FlusherParams) -> Burst {
        let queue = now.least.saturating_sub(now.base);
        let full = full.unwrap_or_else(|| queue + now.base);
        let free = full.saturating_sub(queue);
        let boosted = |time: Duration| {
            Duration::from_nanos(time.as_nanos() / u64::from(ONE)).saturating_mul(u64::from(self.search(kind).boost))
        };
        // A buffer does not drain while small packets come in: if they do not fill it, it is larger than it was
        // believed to be.
        let wanted = if kind == Kind::Small {
            boosted(full).saturating_sub(queue)
        } else {
            boosted(free)
        };
        let room = packets_in(
            now.rate,
            now.max_rtt.saturating_mul(2),
            params.packet,
            params.max_packets,
        );
        let packets = packets_in(now.rate, wanted, params.packet, u32::MAX).saturating_add(1 + params.margin);
        Burst {
            packets: packets.min(room),
            full,
        }
    }

    /// Whether a forced flush is due `since` the last flush or the flow's beginning. Its interval doubles, up to
    /// sixteenfold, with each that showed nothing.
    pub(crate) fn overdue(&self, since: Duration, params: &FlusherParams) -> bool {
        params
            .forced_after
            .is_some_and(|after| since > after.saturating_mul(1 << self.forced_failures.min(4)))
    }

    /// Whether the delay after a burst was far from that of a full buffer. Of small packets it remains so: they take
    /// places, and next to no time.
    fn far_from_full(&self, flush: &Judged) -> bool {
        self.full()
            .is_some_and(|full| flush.reached < full.saturating_mul(FAR.0) / FAR.1)
    }

    /// What a burst tells of what the buffer counts. If a flow lost something while the delay was far from that of a
    /// full buffer, a burst of small packets did it. If the queue stands, and nobody lost anything or somebody
    /// did in a buffer full of data, it took no places. Otherwise it tells nothing: a flow that is not seen may
    /// have lost something.
    fn tells(&mut self, flush: &Judged) {
        if flush.kind == Kind::Full {
            self.full_bursts += u32::from(flush.verdict == Verdict::Helped);
            if self.counts == Counts::Bytes && self.full_bursts >= self.retry {
                // One small burst, unless it is noticed.
                self.counts = Counts::Packets;
                self.unnoticed = UNNOTICED - 1;
            }
            return;
        }
        let far = self.far_from_full(flush);
        if flush.lost && far {
            self.unnoticed = 0;
            self.retry = RETRY;
        } else if matches!(flush.verdict, Verdict::TooSmall | Verdict::Useless) {
            self.unnoticed += 1;
            if self.unnoticed >= UNNOTICED {
                self.counts = Counts::Bytes;
                self.full_bursts = 0;
                self.retry = self.retry.saturating_mul(2);
            }
        }
    }

    /// Learns from a flush.
    pub(crate) fn judged(&mut self, flush: &Judged, now: Time, params: &FlusherParams) {
        if flush.forced {
            let failed = flush.verdict != Verdict::Helped;
            self.forced_failures = if failed {
                self.forced_failures.saturating_add(1)
            } else {
                0
            };
            return;
        }
        let unnoticed = flush.kind == Kind::Small && !(flush.lost && self.far_from_full(flush));
        self.tells(flush);
        let pause = match flush.verdict {
            Verdict::Unknown => return,
            Verdict::Helped => {
                self.failures = 0;
                self.searches[flush.kind as usize].helped(flush.heavy);
                return;
            }
            Verdict::TooSmall | Verdict::Useless if unnoticed => {
                // Nobody lost anything by it, and it took next to no time.
                self.searches[Kind::Small as usize].was_too_small();
                self.cool_until = now + flush.round;
                return;
            }
            Verdict::TooSmall => {
                self.searches[Kind::Full as usize].was_too_small();
                if self.full().is_none_or(|full| flush.reached > full) {
                    self.remember(flush.reached);
                }
                flush.round
            }
            Verdict::Useless => flush.round.max(Duration::from_secs(1)),
        };
        self.failures = self.failures.saturating_add(1);
        let doubled = pause.saturating_mul(1 << (self.failures - 1).min(20));
        let pause = if self.stopped(params) {
            params.max_cool_down
        } else {
            doubled.min(params.max_cool_down)
        };
        self.cool_until = now + pause;
    }
}

/// A flush that has been judged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Judged {
    pub(crate) verdict: Verdict,
    pub(crate) forced: bool,
    /// What its packets were.
    pub(crate) kind: Kind,
    /// Whether a loss event began after it.
    pub(crate) lost: bool,
    /// The largest queueing delay that was seen after it.
    pub(crate) reached: Duration,
    /// The RTT of a full buffer: the shortest time after which to try again.
    pub(crate) round: Duration,
    /// Whether it made the flow lose more than half a window.
    pub(crate) heavy: bool,
}

#[cfg(test)]
mod tests {
    use super::*;

    const PARAMS: FlusherParams = FlusherParams {
        margin: 0,
        ..FlusherParams::ADAPTIVE
    };

    fn judge(path: &mut Path, verdict: Verdict, heavy: bool) {
        let round = Duration::from_millis(290);
        let judged = Judged {
            verdict,
            forced: false,
            kind: Kind::Full,
            lost: false,
            reached: Duration::ZERO,
            round,
            heavy,
        };
        path.judged(&judged, Time::from_secs(1), &PARAMS);
    }

    /// A small burst that was noticed, or not.
    fn small(path: &mut Path, verdict: Verdict, lost: bool) {
        let judged = Judged {
            verdict,
            forced: false,
            kind: Kind::Small,
            lost,
            reached: Duration::from_millis(60),
            round: Duration::from_millis(110),
            heavy: false,
        };
        path.judged(&judged, Time::from_secs(1), &PARAMS);
    }

    fn packet(path: &Path, queue: u64) -> u64 {
        path.packet(path.full(), Duration::from_millis(queue), &PARAMS).get()
    }

    #[test]
    fn bursts_are_of_small_packets_once_a_loss_showed_the_buffer_and_where_there_is_room() {
        let mut path = Path::new();
        assert_eq!(packet(&path, 48), 1500);
        path.on_loss(Duration::from_millis(240), Time::ZERO);
        // Three quarters of 240 ms are 180.
        assert_eq!(
            (packet(&path, 48), packet(&path, 179), packet(&path, 180)),
            (64, 64, 1500)
        );
        let off = FlusherParams {
            small_packet: None,
            ..PARAMS
        };
        assert_eq!(path.packet(path.full(), Duration::from_millis(48), &off).get(), 1500);
    }

    /// A buffer that counts bytes: four that nobody noticed in a row, and 64 full ones that helped, then one small
    /// one, and 128.
    #[test]
    fn small_packets_that_nobody_notices_are_given_up_and_tried_again() {
        let mut path = Path::new();
        path.on_loss(Duration::from_millis(240), Time::ZERO);
        for verdict in [
            Verdict::TooSmall,
            Verdict::Useless,
            Verdict::TooSmall,
            Verdict::TooSmall,
        ] {
            assert_eq!(packet(&path, 48), 64);
            small(&mut path, verdict, false);
        }
        for full_bursts in [64, 128] {
            for _ in 0..full_bursts {
                assert_eq!(packet(&path, 48), 1500);
                judge(&mut path, Verdict::Helped, false);
            }
            assert_eq!(packet(&path, 48), 64);
            small(&mut path, Verdict::TooSmall, false);
        }
        assert_eq!(packet(&path, 48), 1500);
        assert!(!path.stopped(&PARAMS));
    }

    #[test]
    fn one_that_somebody_notices_keeps_small_packets_in_use() {
        let mut path = Path::new();
        path.on_loss(Duration::from_millis(240), Time::ZERO);
        for _ in 0..10 {
            for _ in 0..3 {
                small(&mut path, Verdict::TooSmall, false);
            }
            small(&mut path, Verdict::Helped, true);
        }
        assert_eq!(packet(&path, 48), 64);
        // A queue that falls while nobody is seen to lose anything tells nothing.
        for verdict in [Verdict::TooSmall, Verdict::Helped, Verdict::TooSmall, Verdict::TooSmall] {
            small(&mut path, verdict, false);
        }
        assert_eq!(packet(&path, 48), 64);
        small(&mut path, Verdict::TooSmall, false);
        assert_eq!(packet(&path, 48), 1500);
    }

    /// 240 ms x 3/2, less 48 ms: 130 packets at 5 Mbit/s, and one for rounding.
    #[test]
    fn small_packets_that_do_not_fill_the_buffer_show_that_it_is_larger() {
        let mut path = Path::new();
        path.on_loss(Duration::from_millis(240), Time::ZERO);
        small(&mut path, Verdict::TooSmall, false);
        let now = Now {
            rate: Rate::from_mbit(5),
            base: Duration::from_millis(50),
            least: Duration::from_millis(98),
            max_rtt: Duration::from_millis(2000),
        };
        assert_eq!(path.burst(path.full(), Kind::Small, &now, &PARAMS).packets, 131);
    }

    #[test]
    fn what_small_packets_lose_does_not_show_a_full_buffer() {
        let mut path = Path::new();
        path.on_loss(Duration::from_millis(240), Time::ZERO);
        path.small_burst(Time::from_millis(500));
        for _ in 0..EVENTS {
            path.on_loss(Duration::from_millis(40), Time::from_millis(499));
        }
        assert_eq!(path.full(), Some(Duration::from_millis(240)));
        path.on_loss(Duration::from_millis(300), Time::from_millis(499));
        assert_eq!(path.full(), Some(Duration::from_millis(300)));
    }

    /// 240 ms are a full buffer, 48 are taken: 80 packets at 5 Mbit/s, and one for rounding.
    fn burst(path: &Path) -> u32 {
        let now = Now {
            rate: Rate::from_mbit(5),
            base: Duration::from_millis(50),
            least: Duration::from_millis(98),
            max_rtt: Duration::from_millis(2000),
        };
        path.burst(path.full(), Kind::Full, &now, &PARAMS).packets
    }

    /// 80 packets are too small, and 120 help; 110, 100 and 90 (eleven, ten and nine eighths) help too. Eight eighths
    /// failed, so nine remain until 32 bursts have helped; then the smaller one is tried once more.
    #[test]
    fn the_search_stays_above_what_was_too_small() {
        let mut path = Path::new();
        path.on_loss(Duration::from_millis(240), Time::ZERO);
        assert_eq!(burst(&path), 81);
        judge(&mut path, Verdict::TooSmall, false);
        let mut sizes = Vec::new();
        for _ in 0..33 {
            sizes.push(burst(&path));
            judge(&mut path, Verdict::Helped, false);
        }
        assert_eq!(sizes[..5], [121, 111, 101, 91, 91]);
        assert!(sizes[5..32].iter().all(|n| *n == 91), "{sizes:?}");
        assert_eq!(sizes[32], 81);
    }

    #[test]
    fn a_burst_that_costs_half_a_window_is_made_smaller_than_the_free_space() {
        let mut path = Path::new();
        path.on_loss(Duration::from_millis(240), Time::ZERO);
        for _ in 0..10 {
            judge(&mut path, Verdict::Helped, true);
        }
        assert_eq!(burst(&path), 41);
    }

    #[test]
    fn a_loss_by_noise_does_not_hide_a_full_buffer_and_four_in_a_row_do() {
        let mut path = Path::new();
        for (queue, full) in [(240, 240), (20, 240), (20, 240), (20, 240), (20, 20)] {
            path.on_loss(Duration::from_millis(queue), Time::ZERO);
            assert_eq!(path.full(), Some(Duration::from_millis(full)));
        }
    }
}
