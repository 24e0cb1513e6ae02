//! The receiving half of an endpoint: reassembly by numbers, SACK, and when to acknowledge.

mod delay;
mod ecn;
mod overdue;
mod reading;
mod unread;

pub use unread::Held;

use crate::params::TcpParams;
use crate::rules::Rules;
use crate::sacks::Sacks;
use crate::segment::{Flags, Segment, WINDOW_UNIT};
use crate::window::ReceiveWindow;
use sojourn_units::ticks::{self, Ticks};
use sojourn_units::{Duration, Time};
use unread::Unread;

/// Smallest delay of an acknowledgement, and unit of the delay estimate. Source: Linux `TCP_DELACK_MIN`,
/// `TCP_ATO_MIN`.
const DELAY_MIN: Ticks = Ticks::from_millis(40);
/// Segments acknowledged at once at the start of a connection and after a pause. Source: Linux `TCP_MAX_QUICKACKS`.
const QUICK_ACKS: u32 = 16;
/// Duplicate acknowledgements before compression begins, so that it never delays a fast retransmit.
const DUP_THRESH: u32 = 3;
/// Duplicate acknowledgements compressed into one, at most. Source: Linux `tcp_comp_sack_nr`.
const COMPRESSED_MAX: u8 = 44;
/// Longest delay of a compressed acknowledgement. Source: Linux `tcp_comp_sack_delay_ns`.
const COMPRESSION_DELAY: Duration = Duration::from_millis(1);

/// Counters of a receiver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverStats {
    /// Segments with data or a FIN that arrived, duplicates included.
    pub segments: u64,
    /// Data segments of which nothing was new.
    pub duplicates: u64,
    /// Data segments that arrived above a gap.
    pub out_of_order: u64,
    /// Data segments that arrived with congestion experienced.
    pub marked: u64,
}

/// What the receiver wants to do about acknowledging.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AckNeed {
    None,
    /// Only if nothing else is sent before this time.
    At(Time),
    Now,
}

/// The receiver's state machine. The application reads everything at once.
///
/// Source: RFC 9293 section 3.10.7.4, RFC 5681 section 4.2, RFC 2018, RFC 2883; the policy of delays, quick
/// acknowledgements and SACK compression is Linux 6.1's.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Receiver {
    /// Next byte expected.
    next: u64,
    /// `next` as of the last acknowledgement sent.
    acked: u64,
    /// One past the last byte that any window sent admits.
    edge: u64,
    need: AckNeed,
    ts_recent: u32,
    quick: u32,
    compression_due: Option<Time>,
    /// Current delay of acknowledgements; `None` before the first segment.
    delay: Option<Ticks>,
    /// The longest that one is delayed.
    delay_max: Ticks,
    last_arrival: Ticks,
    /// Received ranges above `next`, disjoint and in order.
    ranges: Vec<(u64, u64)>,
    /// Bytes in `ranges`.
    above: u64,
    /// The duplicate that the next acknowledgement reports.
    dsack: Option<Box<(u64, u64)>>,
    /// An acknowledgement of what was before the segment at hand. DCTCP: one that was delayed when the marks began or
    /// ended. Else one above a gap that was held back, and that would not report all any more.
    overdue: Option<Box<Segment>>,
    compressed: u8,
    /// Both ends have agreed on ECN.
    ecn: bool,
    /// On AccECN, which counts marks apart: nothing is echoed.
    ace: bool,
    /// A segment has come whose sender takes marks.
    ect_seen: bool,
    /// CE was seen and the sender has not yet answered with CWR (RFC 3168 section 6.1.3).
    echo_ce: bool,
    /// DCTCP: each mark is echoed once, and everything that is sent is ECN-capable (RFC 8257 section 3.2).
    accurate: bool,
    delayed: bool,
    rules: &'static Rules,
    /// What the application has read since the last acknowledgement ended with PSH or with less than a full segment.
    /// It is acknowledged at once, unless this end answers with data. Source: Linux `tcp_measure_rcv_mss`,
    /// `tcp_cleanup_rbuf`.
    pushed: bool,
    /// This end has closed.
    closing: bool,
    /// This end sends data soon after it has received some. Source: Linux `tcp_event_data_sent`.
    answers: bool,
    window: ReceiveWindow,
    /// One past the peer's FIN, once it has come.
    last: Option<u64>,
    largest_segment: u64,
    /// This side's own retransmission time-out: what counts as a long pause, and bounds the delay.
    rto: Duration,
    stats: ReceiverStats,
    /// What is reported of `ranges`.
    sacks: Sacks,
    dup_acks: u32,
    dup_acks_of: u64,
    srtt: Option<Duration>,
    /// What is not read; without it the application reads at once.
    unread: Option<Box<Unread>>,
}

impl Receiver {
    pub(crate) fn new(p: &TcpParams) -> Self {
        let rules = p.variant.rules();
        let window = ReceiveWindow::new(p);
        let edge = 1 + window.offered().next_multiple_of(WINDOW_UNIT);
        let unread = p.receive_memory.map(|_| Box::new(Unread::new(&window)));
        Self {
            next: 1,
            last: None,
            acked: 1,
            edge: unread.as_ref().map_or(edge, |unread| unread.edge),
            ranges: Vec::new(),
            above: 0,
            sacks: Sacks::default(),
            dsack: None,
            need: AckNeed::None,
            delay: None,
            delay_max: delay::longest(rules.longest_delay, p.min_rto),
            rules,
            last_arrival: Ticks::default(),
            quick: 0,
            compressed: 0,
            dup_acks: 0,
            dup_acks_of: 0,
            compression_due: None,
            largest_segment: u64::from(p.mss),
            ts_recent: 0,
            ecn: false,
            ace: false,
            ect_seen: false,
            echo_ce: false,
            accurate: p.echoes_each_mark(),
            overdue: None,
            delayed: p.delayed_ack,
            pushed: false,
            closing: false,
            answers: false,
            window,
            unread,
            srtt: None,
            rto: crate::rtt::RTO_INITIAL,
            stats: ReceiverStats::default(),
        }
    }

    /// Payload bytes received in order: what an application has read.
    #[must_use]
    pub fn bytes_in_order(&self) -> u64 {
        self.next - 1 - u64::from(self.is_finished())
    }
    /// Whether the peer's FIN has arrived, and all that came before it.
    #[inline]
    #[must_use]
    pub fn is_finished(&self) -> bool {
        self.last == Some(self.next)
    }
    /// Counters.
    #[must_use]
    pub fn stats(&self) -> &ReceiverStats {
        &self.stats
    }
    /// The window it advertises, bytes.
    #[must_use]
    pub fn window(&self) -> u64 {
        self.window.offered()
    }

    /// The handshake took `rtt`; this side's time-out is now `rto`.
    pub(crate) fn established(&mut self, rtt: Duration, rto: Duration, now: Time) {
        self.srtt = Some(rtt);
        self.rto = rto;
        self.window.begin(now);
        if let Some(unread) = &mut self.unread {
            unread.begin();
        }
    }

    /// Whether all that the segment has came before.
    pub(crate) fn knows(&self, segment: &Segment) -> bool {
        segment.span() > 0 && segment.seq.saturating_add(segment.span()) <= self.next
    }

    /// The next byte expected.
    pub(crate) fn next(&self) -> u64 {
        self.next
    }

    /// Whether this number is in the window.
    pub(crate) fn admits(&self, seq: u64) -> bool {
        self.next <= seq && seq < self.edge
    }

    /// Notes the timestamp of the handshake.
    pub(crate) fn set_ts_recent(&mut self, ts: u32) {
        self.ts_recent = ts;
    }

    /// Any segment arrived, also a bare acknowledgement. RFC 7323 section 4.3: the timestamp to echo is that of the
    /// segment that spans the last acknowledgement sent. Answers whether it is newer than those before.
    #[inline]
    pub(crate) fn on_timestamp(&mut self, segment: &Segment) -> bool {
        if segment.seq > self.acked || segment.ts_val < self.ts_recent {
            return false;
        }
        let newer = segment.ts_val > self.ts_recent;
        self.ts_recent = segment.ts_val;
        newer
    }

    /// Asks for an acknowledgement at once.
    pub(crate) fn acknowledge_now(&mut self) {
        self.need = AckNeed::Now;
    }

    /// Takes the data and the FIN in `segment` (at least one of them).
    #[expect(
        clippy::inline_always,
        reason = "called for every packet, and from more than one place: a call costs 2 %"
    )]
    #[inline(always)]
    pub(crate) fn on_data(&mut self, segment: &Segment, now: Time) {
        self.stats.segments += 1;
        if self.unread.is_some() {
            if !self.has_memory_for(segment) {
                return;
            }
        } else if segment.seq >= self.edge {
            // RFC 9293 section 3.10.7.4: beyond the window it is not acceptable, and is answered with an
            // acknowledgement.
            self.acknowledge_now();
            return;
        }
        let (start, end) = (segment.seq, segment.seq + segment.span());
        if segment.flags.has(Flags::FIN) {
            self.on_fin(end);
        }
        if self.last.is_some_and(|last| end > last) {
            // RFC 9293 section 3.10.7.4: text after the FIN should not occur, and is ignored.
            self.acknowledge_now();
            return;
        }
        if self.accurate && self.ecn {
            self.note_mark(segment);
        } else if segment.flags.has(Flags::CWR) {
            self.on_reduced();
        }
        let len = u64::from(segment.len);
        let full =
            len >= self.largest_segment || len + u64::from(segment.accecn.occupied(false)) >= self.largest_segment;
        let mut enlarges = false;
        if end > self.next {
            self.window.on_echo(full, segment.ts_ecr, now);
            enlarges = self.unread.is_none() && self.enlarges(segment.len);
        }
        if start > self.next {
            self.on_codepoint(segment);
            self.make_room(start, end);
        }
        if enlarges {
            // Linux: a segment that enlarges the window is acknowledged at once.
            self.quick |= 1;
        }
        if !full || self.rules.heeds_full_push && segment.flags.has(Flags::PSH) {
            self.pushed = self.rules.heeds_push;
        }
        if start == self.next && self.ranges.is_empty() {
            self.next = end;
            if segment.len > 0 {
                self.estimate_delay(now);
            }
            self.on_codepoint(segment);
            self.decide(now);
            self.on_read(now);
        } else if end <= self.next {
            self.duplicate(start, end);
        } else if start <= self.next {
            self.next = end;
            self.absorb(start);
            self.estimate_delay(now);
            self.on_codepoint(segment);
            if self.ranges.is_empty() {
                // RFC 5681 section 4.2: at once when a gap is filled.
                self.acknowledge_now();
            }
            self.decide(now);
            self.on_read(now);
        } else {
            self.stats.out_of_order += 1;
            self.add_range(start, end);
            if self.unread.is_none() {
                self.window
                    .on_span(self.ranges.last().map_or(0, |range| range.1 - self.next));
            }
            self.decide_out_of_order(now);
        }
    }

    /// A FIN arrived whose sequence number ends at `end`; it counts once it is in order. An end that has not closed
    /// itself will soon: its own FIN can carry the acknowledgement, so it does not hurry. Source: Linux `tcp_fin`,
    /// which enters pingpong mode in ESTABLISHED and answers at once in FIN-WAIT. Deviation: Linux 3.14 answers at
    /// once here.
    #[cold]
    #[inline(never)]
    fn on_fin(&mut self, end: u64) {
        let known = self.ranges.last().map_or(self.next, |r| r.1);
        if self.last.is_none() && end > known {
            self.last = Some(end);
        }
        if self.closing || !self.rules.heeds_push {
            self.acknowledge_now();
        } else {
            self.answers = true;
        }
    }

    /// This end has closed, so that the peer's FIN is acknowledged at once.
    pub(crate) fn on_close(&mut self) {
        self.closing = true;
    }

    #[inline(never)]
    fn duplicate(&mut self, start: u64, end: u64) {
        self.stats.duplicates += 1;
        self.dsack = Some(Box::new((start, end)));
        self.quick = self.quick.max(QUICK_ACKS);
        self.answers = false;
        self.acknowledge_now();
    }

    /// The application reads at once what has come in order, unless it says when it reads.
    #[inline]
    fn on_read(&mut self, now: Time) {
        if self.unread.is_none() {
            self.window.on_read(self.next, now);
        }
    }

    /// A segment of `len` bytes arrived: whether the window grows.
    #[inline]
    fn enlarges(&mut self, len: u16) -> bool {
        self.window.on_segment(len) && self.window.grow_for(len, self.held())
    }

    /// The memory of what is above a gap.
    #[inline]
    fn held(&self) -> u64 {
        self.above + self.window.beside() * self.ranges.len() as u64
    }

    /// Moves `next`, the end of a segment that began at `start`, over the ranges that now join it. What the segment had
    /// of them is a duplicate; of several the first is told. Source: Linux `tcp_data_queue`, `tcp_ofo_queue`.
    #[inline(never)]
    fn absorb(&mut self, start: u64) {
        let n = self.ranges.partition_point(|r| r.0 <= self.next);
        if n > 0 {
            let (first, last) = self.ranges[0];
            if first < self.next {
                self.stats.duplicates += 1;
                self.dsack = Some(Box::new((first.max(start), last.min(self.next))));
            }
            self.next = self.next.max(self.ranges[n - 1].1);
            self.above -= self.ranges.drain(..n).map(|(s, e)| e - s).sum::<u64>();
        }
        self.sacks.remove_before(self.next);
        if self.is_finished() {
            // Source: Linux `tcp_fin`, `tcp_sack_reset`.
            self.dsack = None;
        }
    }

    #[inline(never)]
    fn add_range(&mut self, start: u64, end: u64) {
        let first = self.ranges.partition_point(|r| r.1 < start);
        let mut last = first;
        let mut merged = (start, end);
        let mut before = 0;
        while let Some(&(s, e)) = self.ranges.get(last) {
            if s > end {
                break;
            }
            if s <= start && end <= e {
                self.stats.duplicates += 1;
                self.dsack = Some(Box::new((start, end)));
            }
            merged = (merged.0.min(s), merged.1.max(e));
            before += e - s;
            last += 1;
        }
        if last == first {
            self.ranges.insert(first, merged);
        } else {
            self.ranges[first] = merged;
            self.ranges.drain(first + 1..last);
        }
        self.above += merged.1 - merged.0 - before;
        self.sacks.add(start, end);
    }

    /// RFC 5681 section 4.2 with Linux's quick acknowledgements: at once for more than one full segment, else later. An
    /// end that answers with data does not hurry. Source: Linux `__tcp_ack_snd_check`, `tcp_in_quickack_mode`.
    #[inline]
    fn decide(&mut self, now: Time) {
        if self.need == AckNeed::Now {
            return;
        }
        let mut many = self.next - self.acked > self.largest_segment;
        let mut pushed = self.pushed;
        if self.unread.is_some() {
            // What is read tells of PSH.
            (many, pushed) = (many && self.keeps_window(), false);
        }
        let hurries = (pushed || self.quick > 0) && !self.answers;
        if many || hurries || !self.delayed {
            self.need = AckNeed::Now;
        } else if self.ranges.is_empty() {
            self.delay_ack(now);
        } else {
            self.compress(now);
        }
    }

    #[inline(never)]
    fn decide_out_of_order(&mut self, now: Time) {
        if self.need == AckNeed::Now {
            return;
        }
        let hurries = self.quick > 0 && !self.answers;
        if hurries || self.next - self.acked > self.largest_segment || self.dsack.is_some() {
            self.need = AckNeed::Now;
        } else {
            self.compress(now);
        }
    }

    /// Above a gap each segment asks for an acknowledgement at once; after the third for the same gap they are merged
    /// for up to 1 ms. Source: Linux SACK compression.
    fn compress(&mut self, now: Time) {
        if self.rules.compression == 0 || self.compressed >= COMPRESSED_MAX {
            self.need = AckNeed::Now;
            return;
        }
        if self.dup_acks_of != self.next {
            self.dup_acks_of = self.next;
            self.dup_acks = 0;
        }
        if self.dup_acks < DUP_THRESH {
            self.dup_acks += 1;
            self.need = AckNeed::Now;
            return;
        }
        self.compressed += 1;
        if self.compression_due.is_none() {
            // At most this part of the round trip, as far as this side knows it.
            let rtt = self.window.rtt().into_iter().chain(self.srtt).min();
            let part = |rtt: Duration| COMPRESSION_DELAY.min(rtt * u64::from(self.rules.compression) / 100);
            self.compression_due = Some(now + rtt.map_or(COMPRESSION_DELAY, part));
        }
    }

    /// When [`Receiver::on_timeout`] wants to be called.
    pub(crate) fn timeout(&self) -> Option<Time> {
        match (self.need, self.compression_due) {
            (AckNeed::At(a), Some(b)) => Some(a.min(b)),
            (AckNeed::At(a), None) => Some(a),
            (_, due) => due,
        }
    }

    pub(crate) fn on_timeout(&mut self, now: Time) {
        if let AckNeed::At(at) = self.need
            && at <= now
        {
            if std::mem::take(&mut self.answers) {
                self.delay = self.delay.map(|_| DELAY_MIN);
            } else {
                // The delay was too short to be saved by a second segment.
                self.delay = self.delay.map(|d| (d * 2).min(ticks::up(self.rto)));
            }
            self.need = AckNeed::Now;
        }
        if self.compression_due.is_some_and(|at| at <= now) {
            self.compression_due = None;
            self.need = AckNeed::Now;
        }
    }

    /// This end sends data.
    #[inline]
    pub(crate) fn on_data_sent(&mut self, now: Time) {
        if let Some(delay) = self.delay
            && ticks::of(now) - self.last_arrival < delay
        {
            self.answers = self.rules.heeds_push;
        }
    }

    /// Whether there is an acknowledgement of what was before the segment at hand.
    #[inline]
    pub(crate) fn owes(&self) -> bool {
        self.overdue.is_some()
    }

    /// Whether an acknowledgement should be sent now, on its own if there is no data to carry it.
    #[inline]
    pub(crate) fn wants_ack(&self) -> bool {
        self.need == AckNeed::Now || self.overdue.is_some()
    }

    /// Writes the acknowledgement fields; whatever carries them is sent now.
    #[inline]
    pub(crate) fn write_ack(&mut self, segment: &mut Segment) {
        segment.flags |= Flags::ACK | self.ecn_flags();
        segment.ack = self.next;
        if self.unread.is_none() && self.ranges.is_empty() {
            self.write_whole_window(segment);
        } else {
            self.write_window(segment);
        }
        segment.ts_ecr = self.ts_recent;
        if self.dsack.is_some() || !self.ranges.is_empty() {
            self.write_sacks(segment);
        }
        self.need = AckNeed::None;
        self.pushed = false;
        self.acked = self.next;
        self.compressed = 0;
        self.compression_due = None;
        if self.quick > 0 {
            self.quick -= 1;
            if self.quick == 0 {
                // Quick acknowledgements are over: delays start small again.
                self.delay = self.delay.map(|_| DELAY_MIN);
            }
        }
    }

    /// Writes the window where nothing takes memory.
    #[inline]
    fn write_whole_window(&mut self, segment: &mut Segment) {
        segment.window = self.window.units();
        self.edge = self.edge.max(self.next + u64::from(segment.window) * WINDOW_UNIT);
    }

    #[inline(never)]
    fn write_sacks(&mut self, segment: &mut Segment) {
        let dsack = self.dsack.take().map(|block| *block);
        self.sacks.write(segment, dsack, self.next);
    }
}
