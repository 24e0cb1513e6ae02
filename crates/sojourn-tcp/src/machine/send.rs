//! What may be sent now.

use super::{LossRecovery, Machine, Outgoing, Resend, TimerKind};
use crate::cc::CongestionControl;
use crate::scoreboard::Sent;
use crate::segment::Flags;
use crate::send_buffer::View;
use crate::small_queue;
use sojourn_units::{Duration, Time};

impl<R: LossRecovery> Machine<R> {
    /// The next data segment that may be sent now.
    #[expect(
        clippy::inline_always,
        reason = "called for every packet, and from more than one place: a call costs 2 %"
    )]
    #[inline(always)]
    pub(crate) fn poll(&mut self, now: Time) -> Option<Outgoing> {
        if self.board.in_flight() < self.window.cwnd && !self.waits_for_pace(now) && !self.device_drops() {
            if self.episode.resend == Resend::Lost
                && let Some(index) = self.board.next_lost()
                && !self.waits_for_device(true)
                && !self.still_held(index)
            {
                return Some(self.retransmit(index, now));
            }
            if let Some(out) = self.next_new(now) {
                return Some(out);
            }
            if self.episode.resend == Resend::NewFirst && self.nxt <= self.episode.high_seq {
                // There was nothing new to send, and there still is not: fall back to the conventional recovery.
                self.episode.frto = false;
                self.episode.resend = Resend::Lost;
                if let Some(index) = self.board.next_lost()
                    && !self.waits_for_device(true)
                    && !self.still_held(index)
                {
                    return Some(self.retransmit(index, now));
                }
            }
        }
        self.finish_burst();
        let view = self.view();
        if !self.buffer.wakes(view) {
            self.watch_window(now);
            return None;
        }
        if self.rates.is_some() {
            self.rates_on_write();
        }
        self.buffer.write(view, self.expects_more());
        if self.board.in_flight() < self.window.cwnd && !self.waits_for_pace(now) {
            let out = self.next_new(now);
            if out.is_none() {
                self.watch_window(now);
            }
            return out;
        }
        None
    }

    /// Whether more is ready, but has to wait for its time or for the window. Only of a control that sets the window
    /// by itself: to others it matters what has stopped a burst. One that asks for that, too, is told.
    #[inline]
    pub(crate) fn rests(&mut self, now: Time) -> bool {
        let ready = self.buffer.end().saturating_sub(self.nxt) >= u64::from(self.payload());
        let rests = ready && self.is_steered() && (self.is_window_full() || self.waits_for_pace(now));
        if rests && self.tells_limit() {
            self.finish_burst();
        }
        rests
    }

    fn view(&self) -> View {
        View {
            mss: self.payload(),
            una: self.una,
            written: self.written,
            cwnd: self.window.cwnd,
            reordering: self.episode.reordering,
            window_end: self.window_end,
            merged: self.board.merged(),
        }
    }

    fn next_new(&mut self, now: Time) -> Option<Outgoing> {
        let len = self.next_len();
        if len == 0 || self.nxt + u64::from(len) > self.window_end || self.waits_for_device(false) {
            return None;
        }
        if self.options.is_some() && (self.holds_small(len) || self.device_refuses()) {
            return None;
        }
        if !self.takes_train(now) {
            return None;
        }
        Some(self.send_new(len, now))
    }

    /// Sequence numbers that the next new segment takes. A FIN rides on the last segment, which may be a full one.
    pub(crate) fn next_len(&self) -> u16 {
        // A FIN may have gone out before the buffer was told of it.
        let mut end = self.buffer.end();
        if let Some(&record) = self.records.front() {
            end = end.min(record);
        }
        let len = end.saturating_sub(self.nxt).min(u64::from(self.payload()));
        match self.fin {
            None => len as u16,
            Some(fin) => self.with_number_of_fin(len, fin),
        }
    }

    #[cold]
    #[inline(never)]
    fn with_number_of_fin(&self, len: u64, fin: u64) -> u16 {
        (len + u64::from(fin == self.nxt + len)) as u16
    }

    /// Flags of what is sent again: PSH as before (Linux keeps the flags of a segment), and never ECN-capable (RFC 3168
    /// section 6.1.5).
    pub(crate) fn flags_again(s: &Sent) -> Flags {
        if s.pushed() { Flags::PSH } else { Flags::NONE }
    }

    /// What goes out for sequence numbers `seq` to `seq + len`: the last of them may be the FIN.
    #[inline]
    pub(crate) fn outgoing(&self, seq: u64, len: u16, flags: Flags) -> Outgoing {
        match self.fin {
            None => Outgoing::new(seq, len, flags),
            Some(fin) => Self::with_fin(fin, seq, len, flags),
        }
    }

    #[cold]
    #[inline(never)]
    fn with_fin(fin: u64, seq: u64, len: u16, flags: Flags) -> Outgoing {
        if seq + u64::from(len) <= fin {
            return Outgoing::new(seq, len, flags);
        }
        // A FIN alone is a control segment, and those are not ECN-capable (RFC 3168 section 6.1.4).
        let flags = if len == 1 { Flags::FIN } else { flags | Flags::FIN };
        Outgoing::new(seq, len - 1, flags)
    }

    pub(crate) fn send_new(&mut self, len: u16, now: Time) -> Outgoing {
        let was_idle = self.board.is_empty();
        if was_idle && let Some(last) = self.burst.last_send {
            let idle = now.since(last);
            self.cc.on_restart(idle, now);
            self.restart_after_idle(idle);
        }
        self.note_start(now);
        let seq = self.nxt;
        self.nxt += u64::from(len);
        while self.records.front().is_some_and(|&end| end <= self.nxt) {
            self.records.pop_front();
        }
        self.board.push(seq, len, now);
        self.note_sent(seq, len, false, now);
        self.note_small(len);
        let timed = was_idle || self.timers.is(TimerKind::LossProbe);
        if R::PROBE_REPLACES {
            if !R::arm_probe(self, now, false) && timed {
                self.arm_rto(now);
            }
        } else {
            if timed {
                self.arm_rto(now);
            }
            R::arm_probe(self, now, false);
        }
        let mut flags = if self.ecn { Flags::ECT0 } else { Flags::NONE };
        // A FIN alone carries no data, and so no CWR.
        if self.episode.send_cwr && self.fin != Some(seq) {
            flags |= Flags::CWR;
            self.episode.send_cwr = false;
        }
        if self.buffer.takes_push(self.nxt) || self.ends_train() {
            flags |= Flags::PSH;
            self.board.push_last();
        }
        self.outgoing(seq, len, flags)
    }

    /// Before a segment goes out: a control that sets the window hears if nothing is in flight.
    #[inline]
    fn note_start(&mut self, now: Time) {
        if self.rates.is_some() && self.board.in_flight() == 0 {
            self.rates_on_sends_again(now);
        }
    }

    /// A segment goes out that the window let go.
    #[inline]
    fn note_sent(&mut self, seq: u64, len: u16, again: bool, now: Time) {
        self.stats.segments_sent += 1;
        self.burst.last_send = Some(now);
        self.burst.sent += 1;
        if self.in_reduction() {
            self.prr.out += 1;
        }
        if self.rates.is_some() {
            self.rates_on_sent(seq, len, again, now);
        }
    }

    fn retransmit(&mut self, index: u64, now: Time) -> Outgoing {
        if self.undo.first_retransmit.is_none() {
            self.undo.first_retransmit = Some(now);
        }
        self.note_start(now);
        self.board.resend(index, now, true);
        R::on_retransmit(self, index, now);
        self.undo.outstanding = Some(self.undo.outstanding.unwrap_or(0) + 1);
        self.stats.retransmissions += 1;
        let s = *self.board.get(index);
        self.note_sent(s.seq, s.len, true, now);
        if s.seq == self.una && !self.timers.is(TimerKind::Reordering) {
            self.arm_whole_rto(now);
        }
        self.outgoing(s.seq, s.len, Self::flags_again(&s))
    }

    /// Sending has stopped: notes whether the congestion window was what stopped it.
    fn finish_burst(&mut self) {
        let out = self.board.packets_out();
        let limited = self.is_window_full();
        if self.burst.sent == 0 && !limited {
            return;
        }
        self.burst.sent = 0;
        if self.una >= self.burst.until || limited || (!self.burst.limited && out > self.burst.max_out) {
            self.burst.limited = limited;
            self.burst.max_out = out;
            self.burst.until = self.nxt;
        }
    }

    /// Whether the window lets nothing more go: it is full, or has no room for the train that waits.
    fn is_window_full(&self) -> bool {
        self.board.in_flight() >= self.window.cwnd || self.waits_for_train()
    }

    /// Whether the window, not the application, limited what was sent: only then may it grow.
    pub(crate) fn window_limited(&self) -> bool {
        self.burst.limited || (self.window.in_slow_start() && self.window.cwnd < 2 * self.burst.max_out)
    }

    /// The window after an idle period halves for every time-out that passed (RFC 2861; Linux
    /// `slow_start_after_idle`).
    fn restart_after_idle(&mut self, mut idle: Duration) {
        let rto = self.rtt.rto();
        if idle <= rto || !self.restart_after_idle || self.is_steered() {
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

    /// The host's device took a segment with payload, which begins at `seq` if it tells its segments apart.
    pub(crate) fn on_device_took(&mut self, seq: Option<u64>) {
        self.small_queue.took();
        if let Some(seq) = seq {
            self.board.hold(seq, true);
        }
    }

    /// It is done with one. Answers whether something waited for that.
    pub(crate) fn on_device_released(&mut self, seq: Option<u64>) -> bool {
        if let Some(seq) = seq {
            self.board.hold(seq, false);
        }
        self.small_queue.released()
    }

    /// Whether segment `index` may not be sent again because the host's own device still holds it; if so, that is
    /// waited for.
    ///
    /// Source: Linux 6.1 `skb_still_in_host_queue`, which `__tcp_retransmit_skb` and `tcp_send_loss_probe` ask. Linux
    /// 3.14 counts such a retransmission and sends it.
    pub(crate) fn still_held(&mut self, index: u64) -> bool {
        let held = R::HEEDS_DEVICE && self.board.get(index).held();
        if held {
            self.small_queue.wait();
        }
        held
    }

    /// Whether the next segment must wait until the host's own device is done with others.
    #[inline]
    pub(crate) fn waits_for_device(&mut self, retransmission: bool) -> bool {
        !self.small_queue.is_empty() && self.small_queue_holds(retransmission)
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn small_queue_holds(&mut self, retransmission: bool) -> bool {
        // The end that connected has no rate before its first acknowledgement of data, unless its control has one of its
        // own. Source: `tcp_cong_control`.
        let known = self.una > 1;
        let linux = || self.pacing_rate().filter(|_| known);
        let view = small_queue::View {
            pacing_rate: self.cc.pacing_rate().or_else(linux),
            packets_out: self.board.packets_out(),
        };
        self.small_queue.holds(retransmission, view)
    }
}
