//! One direction of the bottleneck: the frames that a bed saw, replayed into the meter of the simulator.
//!
//! A frame that came and never left was dropped, but for those that are still queued when the measured window ends.
//! How many are is the kernel's count; of the frames that may be, they are the last that came.
//!
//! Deviation: a bed sees frames come and leave, not drops. A discipline that drops arrivals drops when they come. One
//! that drops out of its queue is taken to drop when the next frame of the queue that came later leaves, or when the
//! window ends; the queue is that of the discipline where it has one, else that of the conversation. So such a frame
//! counts as queued for up to one departure longer than it was (an overflow of `fq_codel` or `sfq`: until its
//! conversation is served again). A discipline with several queues that drops out of them has the backlog of the
//! kernel's samples, one each [`Scenario::sample_interval`], because a starved conversation may never be served again.
//!
//! Deviation: how many frames were dropped for which reason is the kernel's count. Where there are several reasons, a
//! single drop, of which only the first of each reason is told, is put down to the limit if the queue was full, else
//! to congestion.
//!
//! Deviation: a bare FIN counts as a bare acknowledgement, and so does a RST; the simulator tells them apart.

use super::error::{MeasuredError, fail};
use super::frames::{FARTHEST_NS, Frames, Passage};
use super::routes::BedRoutes;
use crate::meter::Meter;
use crate::packet::{FrameKind, Packet};
use crate::record::assemble::{DropsByReason, bottleneck};
use crate::record::numbers::{seconds_from, signed_ns};
use crate::record::programs::Departed;
use crate::record::{BacklogRecord, BottleneckRecord};
use sojourn_bed::{Conversation, QdiscMeasured, QdiscSample, Watched};
use sojourn_qdisc::{Descriptor, DropReason, OptionValue};
use sojourn_scenario::{BottleneckScenario, Direction, Scenario};
use sojourn_units::{Duration, Time};
use std::borrow::Cow;
use std::collections::{BTreeMap, VecDeque};

/// What a bed saw of one direction.
pub(super) struct Side<'a> {
    pub(super) scenario: &'a Scenario,
    pub(super) routes: &'a BedRoutes,
    pub(super) direction: Direction,
    pub(super) seen: &'a QdiscMeasured,
}

/// How much a queue holds.
#[derive(Clone, Copy, Debug)]
enum Limit {
    Packets(u64),
    Bytes(u64),
}

impl Limit {
    fn of(b: &BottleneckScenario) -> Option<Self> {
        let options = b.qdisc.kernel_options().ok()?.options;
        let number = |name: &str| match options.get(name) {
            Some(OptionValue::Number(n)) => u64::try_from(*n).ok(),
            _ => None,
        };
        number("limit")
            .map(Self::Packets)
            .or_else(|| number("limit_bytes").map(Self::Bytes))
    }

    /// Whether a queue of this backlog has no room for `size` bytes more.
    fn is_full(self, meter: &Meter, size: u64) -> bool {
        match self {
            Self::Packets(n) => meter.backlog().packets >= n,
            Self::Bytes(n) => meter.backlog().bytes.get() + size > n,
        }
    }
}

/// What the kernel counted in the measured window, by [`DropReason::index`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Counted([u64; DropReason::ALL.len()]);

impl Counted {
    fn total(self) -> u64 {
        self.0.iter().sum()
    }

    /// The reason of a drop, as well as it can be told.
    fn reason(self, full: bool) -> DropReason {
        let counted = |reason: &DropReason| self.0[reason.index()] > 0;
        let likely = if full {
            [DropReason::QueueLimit, DropReason::MemoryLimit, DropReason::Congestion]
        } else {
            [DropReason::Congestion, DropReason::MemoryLimit, DropReason::QueueLimit]
        };
        likely.into_iter().find(counted).unwrap_or(DropReason::QueueLimit)
    }
}

impl Side<'_> {
    fn bottleneck(&self) -> BottleneckScenario {
        self.scenario.bottleneck(self.direction)
    }

    /// The end of the measured window.
    fn end_ns(&self) -> i64 {
        signed_ns(self.scenario.duration.as_nanos())
    }

    fn field(&self, name: &str) -> String {
        format!("{name} of the discipline {}", self.direction.name())
    }

    /// By how much one of the kind's own counters rose in the measured window; 0 if it has none of that name.
    fn rose(&self, name: &str) -> Result<u64, MeasuredError> {
        let of = |all: &BTreeMap<String, f64>| all.get(name).copied().unwrap_or(0.0);
        let rise = of(&self.seen.extra_end) - of(&self.seen.extra_begin);
        if (0.0..9e15).contains(&rise) && rise.fract() == 0.0 {
            Ok(rise as u64)
        } else {
            fail(
                self.field(name),
                format!("risen by {rise}"),
                "a counter, which only rises",
            )
        }
    }

    /// The drops in the measured window, by what the kernel counted: how each kind tells is in its descriptor.
    fn counted(&self) -> Result<Counted, MeasuredError> {
        let (first, last) = match (self.seen.samples.first(), self.seen.samples.last()) {
            (Some(first), Some(last)) => (first.drops, last.drops),
            _ => (0, 0),
        };
        let Some(total) = last.checked_sub(first) else {
            return fail(
                self.field("drops"),
                format!("{last} after {first}"),
                "a counter, which only rises",
            );
        };
        if let Some(reasons) = &self.seen.reasons {
            let mut counted = Counted([0; DropReason::ALL.len()]);
            for reason in DropReason::OF_A_QDISC {
                counted.0[reason.index()] = reasons.get(reason.name()).copied().unwrap_or(0);
            }
            if counted.total() != total {
                let rule = format!("{total}, the sum of its drops by reason");
                return fail(self.field("drops"), counted.total(), rule);
            }
            return Ok(counted);
        }
        let counters = &self.bottleneck().qdisc.about().drops;
        let memory = counters.memory.map_or(Ok(0), |name| self.rose(name))?;
        let mut limit = total;
        if let Some(names) = counters.room {
            limit = 0;
            for name in names {
                limit = self.rose(name)?.saturating_add(limit);
            }
            if counters.room_has_memory {
                limit = limit.saturating_sub(memory);
            }
        }
        let Some(congestion) = total.checked_sub(limit.saturating_add(memory)) else {
            let rule = format!("at least {}, those for want of room", limit.saturating_add(memory));
            return fail(self.field("drops"), total, rule);
        };
        let mut counted = Counted([0; DropReason::ALL.len()]);
        counted.0[DropReason::QueueLimit.index()] = limit;
        counted.0[DropReason::MemoryLimit.index()] = memory;
        counted.0[DropReason::Congestion.index()] = congestion;
        Ok(counted)
    }

    /// The record of this direction, the meter that it comes from, and what departed of each flow of programs.
    ///
    /// # Errors
    /// [`MeasuredError`] for counters that fall, and where frames and counters do not fit together: where the drops
    /// told from the frames, or the frames that left without having come, are off by more than 16 and a fiftieth.
    pub(super) fn record(
        &self,
        frames: &Frames<'_>,
    ) -> Result<(BottleneckRecord, Meter, Vec<Departed>), MeasuredError> {
        let counted = self.counted()?;
        let passage = frames.passage(self.direction == Direction::Down, self.end_ns());
        let most = 16 + passage.left / 50;
        if passage.unmatched > most {
            let rule = format!("at most {most} of {}", passage.left);
            let field = format!(
                "number of watched frames that left {} and had not come",
                self.direction.name()
            );
            return fail(field, passage.unmatched, rule);
        }
        let (meter, departed) = Replay::new(self, frames, &passage, counted).run();
        let (by_frames, total) = (meter.dropped(), counted.total());
        let most = 16 + total / 50;
        if by_frames.abs_diff(total) > most {
            let rule = format!("{total}, as the kernel counted, give or take {most}");
            let field = format!("number of drops {} by watched frames", self.direction.name());
            return fail(field, by_frames, rule);
        }
        let begin = place_in_time(0);
        let reasons = DropReason::OF_A_QDISC.iter();
        let drops = DropsByReason {
            drops: reasons.clone().map(|r| (r.name(), counted.0[r.index()])).collect(),
            first_drop_s: reasons
                .filter(|r| counted.0[r.index()] > 0)
                .filter_map(|r| Some((r.name(), seconds_from(begin, meter.first_drops[r.index()]?))))
                .collect(),
        };
        let own = self
            .seen
            .extra_end
            .iter()
            .map(|(name, value)| (Cow::Owned(name.clone()), *value));
        let mut extra: BTreeMap<Cow<'static, str>, f64> = own.collect();
        if let Some(late) = &self.seen.lateness {
            for (name, us) in [
                ("late_p50_us", late.p50_us),
                ("late_p99_us", late.p99_us),
                ("late_max_us", late.max_us),
            ] {
                extra.insert(Cow::Borrowed(name), us);
            }
        }
        extra.insert(Cow::Borrowed("drops_unmatched"), by_frames as f64 - total as f64);
        let mut record = bottleneck(self.scenario, &self.bottleneck(), &meter, drops, extra);
        if let Some(sampled) = self.sampled_backlog(total) {
            (record.backlog_packets, record.backlog_bytes) = sampled;
        }
        Ok((record, meter, departed))
    }

    /// The backlog as the kernel's samples have it, packets and bytes, where frames cannot tell when one was dropped.
    fn sampled_backlog(&self, drops: u64) -> Option<(BacklogRecord, BacklogRecord)> {
        let about = self.bottleneck().qdisc.about();
        let in_window: Vec<_> = self.seen.samples.iter().filter(|sample| sample.at_ns > 0).collect();
        if about.one_queue || about.drops_arrivals_only || drops == 0 || in_window.is_empty() {
            return None;
        }
        let of = |value: fn(&QdiscSample) -> u64| {
            let values: Vec<u64> = in_window.iter().map(|sample| value(sample)).collect();
            let n = values.len() as f64;
            let mean = values.iter().map(|&v| v as f64).sum::<f64>() / n;
            let variance = values.iter().map(|&v| (v as f64 - mean).powi(2)).sum::<f64>() / n;
            BacklogRecord {
                mean,
                max: values.into_iter().max().unwrap_or(0),
                std: Some(variance.sqrt()),
            }
        };
        let bytes = BacklogRecord {
            std: None,
            ..of(|sample| sample.backlog)
        };
        Some((of(|sample| sample.queued), bytes))
    }
}

/// A time of a bed on the clock of the meter, which knows no time before its zero.
fn place_in_time(ns: i64) -> Time {
    // Frames outside of +-FARTHEST_NS were refused.
    Time::from_nanos((ns + FARTHEST_NS) as u64)
}

/// A frame that is to be dropped out of the queue.
#[derive(Clone, Copy, Debug)]
struct Doomed {
    place: usize,
    packet: Packet,
}

/// The frames of one direction on their way through a meter.
struct Replay<'a> {
    side: &'a Side<'a>,
    frames: &'a Frames<'a>,
    passage: &'a Passage,
    about: &'static Descriptor,
    limit: Option<Limit>,
    counted: Counted,
    meter: Meter,
    /// By flow of programs.
    departed: Vec<Departed>,
    /// By queue.
    doomed: BTreeMap<u32, VecDeque<Doomed>>,
    /// Frames that never left and are still queued when the window ends: those from this place on that may be.
    queued_from: usize,
    /// By queue: the last place at which a frame came that left.
    last_served: BTreeMap<u32, usize>,
}

impl<'a> Replay<'a> {
    fn new(side: &'a Side<'a>, frames: &'a Frames<'a>, passage: &'a Passage, counted: Counted) -> Self {
        let mut replay = Self {
            side,
            frames,
            passage,
            about: side.bottleneck().qdisc.about(),
            limit: Limit::of(&side.bottleneck()),
            counted,
            meter: side.routes.meter(),
            departed: vec![Departed::default(); side.routes.programs.len()],
            doomed: BTreeMap::new(),
            queued_from: usize::MAX,
            last_served: BTreeMap::new(),
        };
        replay.find_queued();
        replay
    }

    fn end_ns(&self) -> i64 {
        self.side.end_ns()
    }

    fn at(&self, place: usize) -> Watched {
        self.frames.get(self.passage.order[place])
    }

    /// The queue of a frame, as well as it can be told.
    fn queue(&self, frame: &Watched) -> u32 {
        if self.about.one_queue {
            return 0;
        }
        match frame.conversation {
            Conversation::Flow(n) => u32::from(n),
            Conversation::Probe(n) => 1 << 16 | u32::from(n),
            Conversation::Web(n) => 2 << 16 | u32::from(n),
            Conversation::Dns(n) => 3 << 16 | u32::from(n),
            Conversation::Other => 4 << 16,
            Conversation::Download(n) => 5 << 16 | u32::from(n),
            Conversation::Flush => 6 << 16,
            Conversation::Program(n) => 7 << 16 | u32::from(n),
        }
    }

    /// Whether the frame that came at this place never left, and no frame of its queue that came later left in the
    /// window.
    fn may_be_queued(&self, place: usize, frame: &Watched) -> bool {
        self.passage.partner(place).is_none()
            && frame.conversation != Conversation::Other
            && self
                .last_served
                .get(&self.queue(frame))
                .is_none_or(|&last| last < place)
    }

    /// Finds out which frames are still queued when the window ends.
    fn find_queued(&mut self) {
        let end = self.end_ns();
        let places = 0..self.passage.order.len();
        // Frames in the queue at the end that leave later.
        let mut leaving = 0;
        for place in places.clone() {
            let frame = self.at(place);
            if frame.left
                && let Some(came) = self.passage.partner(place)
            {
                // What comes after the end may be the reset of a connection, which a kernel hashes into another queue;
                // and what leaves after it may overtake frames that are dropped only then.
                if frame.at_ns > end {
                    leaving += u64::from(self.at(came).at_ns <= end);
                    continue;
                }
                let queue = self.queue(&frame);
                let last = self.last_served.entry(queue).or_insert(came);
                *last = came.max(*last);
            }
        }
        let queued = self.side.seen.samples.last().map_or(0, |sample| sample.queued);
        let mut staying = queued.saturating_sub(leaving);
        for place in places.rev() {
            if staying == 0 {
                break;
            }
            let frame = self.at(place);
            if !frame.left && frame.at_ns <= end && self.may_be_queued(place, &frame) {
                self.queued_from = place;
                staying -= 1;
            }
        }
    }

    fn packet(&self, frame: &Watched) -> Packet {
        let Side {
            scenario: s, routes, ..
        } = self.side;
        let number = match frame.conversation {
            Conversation::Flow(n) => Some(usize::from(n)),
            Conversation::Probe(n) => Some(s.flows.len() + usize::from(n)),
            Conversation::Download(n) => Some(s.flows.len() + s.probes.len() + s.web.len() + usize::from(n)),
            Conversation::Web(_)
            | Conversation::Dns(_)
            | Conversation::Flush
            | Conversation::Program(_)
            | Conversation::Other => None,
        };
        let route = match (number, frame.conversation) {
            (Some(number), _) => {
                let (pair, opens) = routes.traffic[number];
                pair.of(opens == self.side.direction)
            }
            (None, Conversation::Program(n)) => {
                routes.programs[usize::from(n)].of(self.side.direction == Direction::Up)
            }
            (None, _) => routes.others,
        };
        let kind = match frame.conversation {
            // Of a program's UDP and ICMP the agent says that they are data.
            Conversation::Flow(_) | Conversation::Web(_) | Conversation::Download(_) | Conversation::Program(_) => {
                match (frame.data, frame.syn) {
                    (true, _) => FrameKind::Data,
                    (false, true) => FrameKind::Syn,
                    (false, false) => FrameKind::Ack,
                }
            }
            Conversation::Probe(_) | Conversation::Dns(_) | Conversation::Flush | Conversation::Other => {
                FrameKind::Other
            }
        };
        Packet::observed(frame.length, route.0, kind)
    }

    fn run(mut self) -> (Meter, Vec<Departed>) {
        let (begin, end) = (place_in_time(0), place_in_time(self.end_ns()));
        let mut begun = false;
        for place in 0..self.passage.order.len() {
            let frame = self.at(place);
            let now = place_in_time(frame.at_ns);
            if now > end {
                break;
            }
            if !begun && now >= begin {
                self.begin(begin);
                begun = true;
            }
            if frame.left {
                self.leave(place, &frame, now);
            } else {
                self.come(place, &frame, now);
            }
        }
        if !begun {
            self.begin(begin);
        }
        for (_, queue) in std::mem::take(&mut self.doomed) {
            for doomed in queue {
                if !self.stays(doomed.place) {
                    self.drop(&doomed.packet, end);
                }
            }
        }
        self.meter.advance(end);
        (self.meter, self.departed)
    }

    fn begin(&mut self, at: Time) {
        self.meter.begin(at);
    }

    /// Whether the frame that came at this place, and never left, is queued when the window ends.
    fn stays(&self, place: usize) -> bool {
        place >= self.queued_from && self.may_be_queued(place, &self.at(place))
    }

    fn drop(&mut self, packet: &Packet, now: Time) {
        // The packet is in the backlog.
        let full = self.limit.is_some_and(|limit| match limit {
            Limit::Packets(n) => self.meter.backlog().packets > n,
            Limit::Bytes(n) => self.meter.backlog().bytes.get() > n,
        });
        let reason = self.counted.reason(full);
        self.meter.on_drop(packet, reason, now);
    }

    fn come(&mut self, place: usize, frame: &Watched, now: Time) {
        let leaves = self.passage.partner(place).is_some();
        if !leaves && frame.conversation == Conversation::Other {
            // It may have been for the router itself.
            return;
        }
        let packet = self.packet(frame);
        let full = self
            .limit
            .is_some_and(|limit| limit.is_full(&self.meter, u64::from(frame.length)));
        self.meter.on_offer(&packet, now);
        if !leaves {
            let refused = self.about.drops_arrivals_only || self.about.one_queue && full;
            if refused && !self.stays(place) {
                self.drop(&packet, now);
            } else {
                let queue = self.queue(frame);
                self.doomed
                    .entry(queue)
                    .or_default()
                    .push_back(Doomed { place, packet });
            }
        }
        self.meter.offered();
    }

    fn leave(&mut self, place: usize, frame: &Watched, now: Time) {
        let Some(came) = self.passage.partner(place) else {
            return;
        };
        let queue = self.queue(frame);
        while let Some(waiting) = self.doomed.get_mut(&queue)
            && waiting.front().is_some_and(|doomed| doomed.place < came)
            && let Some(doomed) = waiting.pop_front()
        {
            self.drop(&doomed.packet, now);
        }
        let arrival = self.at(came);
        let packet = self.packet(&arrival);
        let sojourn = Duration::from_nanos(frame.at_ns.abs_diff(arrival.at_ns));
        self.meter
            .on_departure(&packet, sojourn, frame.marked && !arrival.marked, now);
        if let (Conversation::Program(n), Ok(at)) = (frame.conversation, u64::try_from(frame.at_ns)) {
            self.departed[usize::from(n)].add(at, frame.length, sojourn);
        }
    }
}
