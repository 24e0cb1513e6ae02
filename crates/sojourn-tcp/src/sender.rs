//! The sending half of an endpoint: what may be sent now, and what an acknowledgement means.

use crate::acked::Times;
use crate::cc::{Ack, CongestionControl, Controller, Window};
use crate::fack::Fack;
use crate::rack::Rack;
use crate::recovery::Undo;
use crate::rtt::{MinRtt, RttEstimator};
use crate::scoreboard::Scoreboard;
use crate::segment::{Flags, Segment};
use crate::send_buffer::{SendBuffer, View};
use crate::small_queue::SmallQueue;
use crate::timers::TimerKind;
use crate::{TcpParams, Variant, WINDOW_UNIT};
use sojourn_units::{Duration, Time};

/// Congestion state, by Linux's names.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaState {
    /// Nothing unusual.
    Open,
    /// SACKs or duplicates, but nothing judged lost.
    Disorder,
    /// Reducing the window after an ECN echo or a tail loss probe.
    Cwr,
    /// Fast recovery (RFC 6675, 6937, 8985).
    Recovery,
    /// After a retransmission time-out.
    Loss,
}

/// Counters of a sender.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderStats {
    /// Segments with data or a FIN sent, retransmissions included.
    pub segments_sent: u64,
    /// Retransmissions, probes included.
    pub retransmissions: u64,
    /// Retransmission time-outs.
    pub timeouts: u64,
    /// Tail loss probes (RFC 8985 section 7).
    pub loss_probes: u64,
    /// Times fast recovery was entered.
    pub recoveries: u64,
    /// Reductions taken back because the retransmissions were unnecessary (RFC 4015, 5682).
    pub undone: u64,
}

/// A segment to be sent, without the receiver half's fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Outgoing {
    pub(crate) seq: u64,
    pub(crate) len: u16,
    pub(crate) flags: Flags,
}

/// What is new in an acknowledgement.
#[derive(Clone, Copy, Debug, Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts, as Linux's FLAG_ bits are"
)]
pub(crate) struct News {
    /// The cumulative acknowledgement moved.
    pub(crate) advanced: bool,
    /// Segments were SACKed.
    pub(crate) sacked: bool,
    /// A segment that was never retransmitted, sent before the time-out, was delivered.
    pub(crate) original_delivered: bool,
    /// Of what was acknowledged, some had been retransmitted.
    pub(crate) retransmitted_acked: bool,
    /// It reports a duplicate (RFC 2883).
    pub(crate) dsack: bool,
    /// It carries data or changes the window: not a duplicate in the sense of RFC 5681.
    pub(crate) not_dup: bool,
    /// ECN echo.
    pub(crate) ece: bool,
    /// A retransmission was judged lost.
    pub(crate) lost_retransmission: bool,
    /// Segments newly delivered.
    pub(crate) delivered: u32,
}

/// What to send after an acknowledgement.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Resend {
    /// New data only.
    Nothing,
    /// Lost segments first.
    Lost,
    /// New data first, to tell a false time-out (RFC 5682 step 2b); lost segments only if there is none.
    NewFirst,
}

/// The sender's state machine.
///
/// Windows are counted in segments, as Linux counts them. Sources are named at each step; where they differ, Linux 6.1
/// is followed, because the measurements that the model is judged by are of Linux.
#[derive(Clone, Debug)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a state variable of its own in the RFCs"
)]
pub struct Sender {
    pub(crate) mss: u16,
    pub(crate) cc: Controller,
    pub(crate) window: Window,
    pub(crate) board: Scoreboard,
    pub(crate) rack: Rack,
    /// In place of RACK, in the variant of Linux 3.14.
    pub(crate) fack: Option<Box<Fack>>,
    pub(crate) rtt: RttEstimator,
    pub(crate) min_rtt: MinRtt,
    pub(crate) state: CaState,
    /// First unacknowledged byte.
    pub(crate) una: u64,
    /// Next byte to send.
    pub(crate) nxt: u64,
    /// One past the last byte that the application has written, or past the FIN.
    pub(crate) written: u64,
    /// Sequence number of the FIN; `u64::MAX` as long as the application has not closed.
    pub(crate) fin: u64,
    /// One past the last byte that the receiver's window admits.
    pub(crate) window_end: u64,
    /// `nxt` when the current state was entered: recovery ends when this is acknowledged.
    pub(crate) high_seq: u64,
    /// Proportional rate reduction (RFC 6937): window before, segments delivered and sent since.
    pub(crate) prior_cwnd: u32,
    pub(crate) prr_delivered: u32,
    pub(crate) prr_out: u32,
    pub(crate) undo: Undo,
    /// F-RTO is deciding whether the time-out was false.
    pub(crate) frto: bool,
    pub(crate) resend: Resend,
    /// `nxt` when the tail loss probe was sent, and whether it was a retransmission.
    pub(crate) probe: Option<(u64, bool)>,
    /// Consecutive time-outs.
    pub(crate) backoff: u32,
    pub(crate) timer: Option<(TimerKind, Time)>,
    /// Largest reordering seen, in segments.
    pub(crate) reordering: u32,
    pub(crate) ecn: bool,
    /// The next new segment announces a reduction to the receiver.
    pub(crate) send_cwr: bool,
    /// Whether the window limited sending in the current round, and the most that was out if not (Linux's reading of RFC 7661).
    limited: bool,
    max_out: u32,
    limited_until: u64,
    /// Segments sent since the last time sending stopped.
    sent_in_burst: u32,
    last_send: Option<Time>,
    initial_window: u32,
    buffer: SendBuffer,
    pub(crate) small_queue: SmallQueue,
    pub(crate) stats: SenderStats,
}

impl Sender {
    pub(crate) fn new(p: &TcpParams) -> Self {
        let buffer = SendBuffer::new(p.variant, p.heads);
        Self {
            mss: p.mss,
            cc: p.congestion_control.build(p.hystart, p.variant),
            window: Window {
                cwnd: p.initial_window,
                ssthresh: u32::MAX,
                credit: 0,
            },
            board: Scoreboard::new(p.mss),
            rack: Rack::new(),
            fack: (p.variant == Variant::Linux314).then(Box::default),
            rtt: RttEstimator::new(p.min_rto),
            min_rtt: MinRtt::default(),
            state: CaState::Open,
            una: 1,
            nxt: 1,
            written: 1,
            fin: u64::MAX,
            window_end: 1,
            high_seq: 1,
            prior_cwnd: 0,
            prr_delivered: 0,
            prr_out: 0,
            undo: Undo::default(),
            frto: false,
            resend: Resend::Nothing,
            probe: None,
            backoff: 0,
            timer: None,
            reordering: 3,
            ecn: p.ecn,
            send_cwr: false,
            limited: false,
            max_out: 0,
            limited_until: 1,
            sent_in_burst: 0,
            last_send: None,
            initial_window: p.initial_window,
            small_queue: SmallQueue::new(p.variant, buffer.segment()),
            buffer,
            stats: SenderStats::default(),
        }
    }

    /// Congestion window in segments.
    #[must_use]
    pub fn cwnd(&self) -> u32 {
        self.window.cwnd
    }
    /// Slow-start threshold in segments; `None` before the first congestion.
    #[must_use]
    pub fn ssthresh(&self) -> Option<u32> {
        (self.window.ssthresh != u32::MAX).then_some(self.window.ssthresh)
    }
    /// Congestion state.
    #[must_use]
    pub fn state(&self) -> CaState {
        self.state
    }
    /// Segments in the network, by the sender's reckoning (RFC 6675's pipe).
    #[must_use]
    pub fn in_flight(&self) -> u32 {
        self.board.in_flight()
    }
    /// Payload bytes acknowledged.
    #[must_use]
    pub fn bytes_acked(&self) -> u64 {
        self.una - 1 - u64::from(self.fin_acked())
    }
    /// Payload bytes written and not yet acknowledged.
    #[must_use]
    pub fn bytes_pending(&self) -> u64 {
        self.written - self.una - u64::from(self.fin != u64::MAX && !self.fin_acked())
    }
    /// Whether the peer has acknowledged the FIN, and so everything.
    #[inline]
    #[must_use]
    pub fn fin_acked(&self) -> bool {
        self.una > self.fin
    }
    /// Smoothed RTT.
    #[must_use]
    pub fn srtt(&self) -> Option<Duration> {
        self.rtt.srtt()
    }
    /// Retransmission time-out, without backoff.
    #[must_use]
    pub fn rto(&self) -> Duration {
        self.rtt.rto()
    }
    /// Counters.
    #[must_use]
    pub fn stats(&self) -> &SenderStats {
        &self.stats
    }

    /// The handshake took `rtt`, and the peer's window ends at `window_end`.
    pub(crate) fn established(&mut self, rtt: Option<Duration>, window_end: u64, now: Time) {
        self.window_end = window_end;
        if let Some(rtt) = rtt {
            self.min_rtt.sample(rtt, now);
            self.rtt.sample(rtt, self.una, self.nxt);
        }
    }

    /// Whose loss recovery it has: Linux 6.12 has that of 6.1.
    pub(crate) fn variant(&self) -> Variant {
        if self.fack.is_some() {
            Variant::Linux314
        } else {
            Variant::Linux61
        }
    }

    /// The application has written everything: a FIN follows the last byte.
    pub(crate) fn close(&mut self) {
        if self.fin == u64::MAX {
            self.fin = self.written;
            self.written += 1;
        }
    }

    /// Whether everything written was sent and acknowledged, and the FIN too if there is one.
    #[inline]
    pub(crate) fn is_idle(&self) -> bool {
        self.una == self.written
    }

    /// Whether fast recovery or the reduction after an ECN echo steers the window.
    pub(crate) fn in_reduction(&self) -> bool {
        matches!(self.state, CaState::Cwr | CaState::Recovery)
    }

    // ---------------------------------------------------------------- sending

    /// The next data segment that may be sent now.
    #[expect(
        clippy::inline_always,
        reason = "called for every packet, and from more than one place: a call costs 2 %"
    )]
    #[inline(always)]
    pub(crate) fn poll(&mut self, now: Time) -> Option<Outgoing> {
        let room = self.board.in_flight() < self.window.cwnd;
        if room {
            if self.resend == Resend::Lost
                && let Some(index) = self.board.next_lost()
                && !self.waits_for_device(true)
                && !self.still_held(index)
            {
                return Some(self.retransmit(index, now));
            }
            if let Some(out) = self.next_new(now) {
                return Some(out);
            }
            if self.resend == Resend::NewFirst && self.nxt <= self.high_seq {
                // There was nothing new to send, and there still is not: fall back to the conventional recovery.
                self.frto = false;
                self.resend = Resend::Lost;
                if let Some(index) = self.board.next_lost()
                    && !self.waits_for_device(true)
                    && !self.still_held(index)
                {
                    return Some(self.retransmit(index, now));
                }
            }
        }
        self.finish_burst();
        if self.buffer.fill(self.view()) && self.board.in_flight() < self.window.cwnd {
            return self.next_new(now);
        }
        None
    }

    fn view(&self) -> View {
        View {
            mss: self.mss,
            una: self.una,
            written: self.written,
            cwnd: self.window.cwnd,
            reordering: self.reordering,
            window_end: self.window_end,
        }
    }

    fn next_new(&mut self, now: Time) -> Option<Outgoing> {
        let len = self.next_len();
        if len == 0 || self.nxt + u64::from(len) > self.window_end || self.waits_for_device(false) {
            return None;
        }
        Some(self.send_new(len, now))
    }

    /// Sequence numbers that the next new segment takes. A FIN rides on the last segment, which may be a full one.
    pub(crate) fn next_len(&self) -> u16 {
        // A FIN may have gone out before the buffer was told of it.
        let len = self.buffer.end().saturating_sub(self.nxt).min(u64::from(self.mss));
        (len + u64::from(self.nxt + len == self.fin)) as u16
    }

    /// What goes out for sequence numbers `seq` to `seq + len`: the last of them may be the FIN.
    #[inline]
    pub(crate) fn outgoing(&self, seq: u64, len: u16, flags: Flags) -> Outgoing {
        if seq + u64::from(len) > self.fin {
            return Self::with_fin(seq, len, flags);
        }
        Outgoing { seq, len, flags }
    }

    #[cold]
    #[inline(never)]
    fn with_fin(seq: u64, len: u16, flags: Flags) -> Outgoing {
        // A FIN alone is a control segment, and those are not ECN-capable (RFC 3168 section 6.1.4).
        let flags = if len == 1 { Flags::FIN } else { flags | Flags::FIN };
        Outgoing {
            seq,
            len: len - 1,
            flags,
        }
    }

    pub(crate) fn send_new(&mut self, len: u16, now: Time) -> Outgoing {
        let was_idle = self.board.is_empty();
        if was_idle && let Some(last) = self.last_send {
            let idle = now.since(last);
            self.cc.on_restart(idle, now);
            self.restart_after_idle(idle);
        }
        let seq = self.nxt;
        self.nxt += u64::from(len);
        self.board.push(seq, len, now);
        self.stats.segments_sent += 1;
        self.last_send = Some(now);
        self.sent_in_burst += 1;
        if self.in_reduction() {
            self.prr_out += 1;
        }
        if was_idle || matches!(self.timer, Some((TimerKind::LossProbe, _))) {
            self.arm_rto(now);
        }
        self.schedule_probe(now, false);
        let mut flags = if self.ecn { Flags::ECT0 } else { Flags::NONE };
        if self.send_cwr {
            flags |= Flags::CWR;
            self.send_cwr = false;
        }
        if self.buffer.takes_push(self.nxt) {
            flags |= Flags::PSH;
        }
        self.outgoing(seq, len, flags)
    }

    fn retransmit(&mut self, index: u64, now: Time) -> Outgoing {
        if self.undo.first_retransmit.is_none() {
            self.undo.first_retransmit = Some(now);
        }
        self.board.resend(index, now, true);
        if let Some(fack) = &mut self.fack {
            fack.on_retransmit(index, now, self.nxt);
            self.board.forget_retransmissions();
        }
        self.undo.outstanding = Some(self.undo.outstanding.unwrap_or(0) + 1);
        self.stats.segments_sent += 1;
        self.stats.retransmissions += 1;
        self.last_send = Some(now);
        self.sent_in_burst += 1;
        if self.in_reduction() {
            self.prr_out += 1;
        }
        let s = *self.board.get(index);
        if s.seq == self.una && !matches!(self.timer, Some((TimerKind::Reordering, _))) {
            self.arm_whole_rto(now);
        }
        // Retransmissions are never marked ECN-capable (RFC 3168 section 6.1.5).
        self.outgoing(s.seq, s.len, Flags::NONE)
    }

    /// Sending has stopped: notes whether the congestion window was what stopped it.
    fn finish_burst(&mut self) {
        let out = self.board.packets_out();
        let limited = self.board.in_flight() >= self.window.cwnd;
        if self.sent_in_burst == 0 && !limited {
            return;
        }
        self.sent_in_burst = 0;
        if self.una >= self.limited_until || limited || (!self.limited && out > self.max_out) {
            self.limited = limited;
            self.max_out = out;
            self.limited_until = self.nxt;
        }
    }

    /// Whether the window, not the application, limited what was sent: only then may it grow.
    fn window_limited(&self) -> bool {
        self.limited || (self.window.in_slow_start() && self.window.cwnd < 2 * self.max_out)
    }

    /// The window after an idle period halves for every time-out that passed (RFC 2861; Linux `slow_start_after_idle`).
    fn restart_after_idle(&mut self, mut idle: Duration) {
        let rto = self.rtt.rto();
        if idle <= rto {
            return;
        }
        self.window.ssthresh = self.current_ssthresh();
        let floor = self.window.cwnd.min(self.initial_window);
        idle = idle.saturating_sub(rto);
        while !idle.is_zero() && self.window.cwnd > floor {
            self.window.cwnd /= 2;
            idle = idle.saturating_sub(rto);
        }
        self.window.cwnd = self.window.cwnd.max(floor);
    }

    // ---------------------------------------------------------------- acknowledgements

    /// Takes the acknowledgement in `segment`.
    #[expect(
        clippy::inline_always,
        reason = "called for every packet, and from more than one place: a call costs 2 %"
    )]
    #[inline(always)]
    pub(crate) fn on_ack(&mut self, segment: &Segment, now: Time) {
        let (ack, prior_una) = (segment.ack, self.una);
        if ack > self.nxt || ack < self.una {
            // Of data never sent, or older than what is known.
            return;
        }
        let window_end = ack + u64::from(segment.window) * WINDOW_UNIT;
        let mut news = News {
            advanced: ack > self.una,
            not_dup: segment.len > 0 || ack > self.una,
            ece: segment.flags.has(Flags::ECE),
            ..News::default()
        };
        self.window_end = self.window_end.max(window_end);
        if self.board.is_empty() {
            return;
        }
        if self.fack.is_some() && !matches!(self.timer, Some((TimerKind::Retransmission, _))) {
            self.arm_rto(now);
        }
        let (lost_before, flight_before) = (self.board.lost_total(), self.board.in_flight());
        self.undo.echo_ms = segment.ts_ecr;
        let mut times = Times::default();
        // Before this acknowledgement: what it SACKs itself must not make the rest of it look reordered.
        let highest = self.board.highest_sacked().unwrap_or(self.una);
        if segment.sack_count > 0 {
            self.take_sacks(segment, now, highest, &mut news, &mut times);
        }
        if news.advanced {
            self.una = ack;
            self.backoff = 0;
            self.take_cumulative(ack, highest, now, &mut news, &mut times);
        }
        let rtt = self.take_rtt(segment, now, &news, &times);
        if news.advanced && self.board.is_empty() {
            self.timer = None;
        }
        self.rack.update_reo_wnd(self.una, self.nxt, news.dsack);
        if self.probe.is_some() {
            self.probe_acked(ack, &news);
        }
        let ack_info = Ack {
            now,
            acked: news.delivered,
            una: self.una,
            nxt: self.nxt,
            rtt,
            pacing_rate: self.pacing_rate(),
        };
        self.cc.on_rtt(&ack_info, &mut self.window);
        self.resend = Resend::Nothing;
        if self.fack.is_some() {
            self.after_ack_3_14(prior_una, &mut news, &ack_info, (lost_before, flight_before), now);
            return;
        }
        // A SACK restarts the timer only if it measures data that is older than the head (so the head was retransmitted).
        let mut set_timer = news.advanced
            || times
                .sacked
                .is_some_and(|(first, _)| self.board.head().is_some_and(|head| head.sent_at > first));
        if self.state != CaState::Open || news.sacked || news.ece || news.dsack || !news.not_dup {
            set_timer &= !self.judge(prior_una, &mut news, now);
        }
        if set_timer {
            self.set_timer(now);
        }
        let newly_lost = self.board.lost_total() > lost_before;
        if self.in_reduction() {
            self.reduce_proportionally(news.delivered, newly_lost, news.advanced);
        } else if (news.advanced || (self.reordering > 3 && news.sacked)) && self.window_limited() {
            self.cc.grow(&ack_info, &mut self.window);
        }
    }

    /// Linux's pacing rate, bytes/s, which small queues and CUBIC's `HyStart` read: 2 windows a round trip in slow start, 1.2 after;
    /// in Linux 3.14 always 2.
    ///
    /// Source: `tcp_update_pacing_rate`.
    pub(crate) fn pacing_rate(&self) -> u64 {
        let Some(srtt) = self.rtt.srtt() else { return 0 };
        let percent = if self.fack.is_some() || self.window.cwnd < self.window.ssthresh / 2 {
            200
        } else {
            120
        };
        let bytes = u64::from(self.mss) * u64::from(self.window.cwnd.max(self.board.packets_out()));
        (bytes * percent / 100).saturating_mul(1_000_000_000) / srtt.as_nanos().max(1)
    }
}

/// The timestamp clock: whole milliseconds, never zero, because an echo of zero means none.
pub(crate) fn now_ms(now: Time) -> u32 {
    (now.as_nanos() / 1_000_000) as u32 + 1
}
