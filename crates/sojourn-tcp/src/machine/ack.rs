//! What an acknowledgement newly covers: SACK blocks, the cumulative part, reordering, and the RTT.

use super::{CaState, LossRecovery, Machine, News, Resend, Times};
use crate::accecn::{AccEcn, Covered};
use crate::cc::{Ack, CongestionControl, Marked};
use crate::segment::{Flags, Segment};
use crate::timestamp::now_ms;
use sojourn_units::{Duration, Time};

impl<R: LossRecovery> Machine<R> {
    /// Takes the acknowledgement in `segment`. With AccECN its counters tell of marks, else an echo does.
    #[expect(
        clippy::inline_always,
        reason = "called for every packet, and from more than one place: a call costs 2 %"
    )]
    #[inline(always)]
    pub(crate) fn on_ack(&mut self, segment: &Segment, accecn: Option<&mut AccEcn>, now: Time) {
        let (ack, prior_una) = (segment.ack, self.una);
        if ack < self.una {
            self.take_old(segment, now);
            return;
        }
        if ack > self.nxt {
            // Of data never sent.
            return;
        }
        self.end_more();
        let outstanding = self.una < self.nxt;
        let window_end = ack + segment.window_bytes();
        let mut news = News {
            advanced: ack > self.una,
            not_dup: segment.len > 0 || ack > self.una,
            // A SYN-ACK has this flag to agree on ECN.
            ece: self.ecn && segment.flags.has(Flags::ECE) && !segment.flags.has(Flags::SYN),
            ..News::default()
        };
        // A window may shrink, but a segment that tells nothing newer does not tell it. Source: Linux
        // `tcp_may_update_window`, where a newer sequence number tells it too.
        let updates = window_end != self.window_end;
        if news.advanced || window_end > self.window_end {
            self.window_end = window_end;
        }
        if !outstanding {
            if let Some(accecn) = accecn {
                let marked = accecn.on_ack(segment, &self.covered(&news, false, prior_una));
                self.count_marks(marked);
            }
            self.watch_after_ack(now);
            self.take_late(segment, &mut news, now);
            return;
        }
        R::on_ack(self, now);
        let (lost_before, flight_before) = (self.board.lost_total(), self.board.in_flight());
        let out_before = self.board.packets_out();
        self.episode.echo_ms = segment.ts_ecr;
        let mut times = Times::default();
        // Before this acknowledgement: what it SACKs itself must not make the rest of it look reordered.
        let highest = self.board.highest_sacked().unwrap_or(self.una);
        if segment.sack_count > 0 {
            self.take_sacks(segment, now, highest, &mut news, &mut times);
        }
        if news.advanced {
            self.una = ack;
            self.timers.timeouts = 0;
            self.take_cumulative(ack, highest, now, &mut news, &mut times);
            if !self.sack {
                self.uncount_duplicates(&mut news);
            }
        } else if !self.sack && !news.not_dup && !updates {
            self.count_duplicate(&mut news);
        }
        let rtt = self.take_rtt(segment, now, &news, &times);
        if news.advanced && self.board.is_empty() {
            self.timers.armed = None;
        }
        let dsack = news.dsack && !news.dsack_of_probe;
        self.recovery.on_covered(self.una, self.nxt, dsack);
        if let Some(accecn) = accecn {
            let advanced = self.board.packets_out() < out_before;
            news.marked = accecn.on_ack(segment, &self.covered(&news, advanced, prior_una));
            news.ece = news.marked.packets > 0;
        } else if news.ece {
            news.marked = self.echoed(news.delivered);
        }
        if news.ece {
            self.count_marks(news.marked);
        }
        if self.probe.is_some() {
            self.probe_acked(ack, &news, now);
        }
        let ack_info = Ack {
            now,
            acked: news.delivered,
            una: self.una,
            nxt: self.nxt,
            rtt,
            mss: self.mss,
            ece: news.ece,
            marked: news.marked,
            pacing_rate: self.window.in_slow_start().then(|| self.pacing_rate()).flatten(),
        };
        self.cc.on_rtt(&ack_info, &mut self.window);
        self.episode.resend = Resend::Nothing;
        R::judge(self, prior_una, &mut news, &times, now);
        let newly_lost = self.board.lost_total() > lost_before;
        if self.rates.is_some() {
            self.rates_on_ack(&ack_info, &news, prior_una, (lost_before, flight_before));
        }
        if self.is_steered() {
            // The control has set the window.
        } else if self.in_reduction() {
            self.reduce_proportionally(news.delivered, newly_lost, news.advanced);
        } else if (news.advanced || (self.episode.reordering > 3 && news.sacked)) && R::was_limited(self, flight_before)
        {
            self.cc.grow(&ack_info, &mut self.window);
        }
        if self.rates.is_some() {
            self.set_pace(true);
        }
        R::on_acked(self, now);
    }

    /// Whether nothing is out or to be sent, and [`Machine::on_ack`] would change nothing: what an end that only receives
    /// asks for each segment.
    #[inline]
    pub(crate) fn knows_all_of(&self, segment: &Segment) -> bool {
        segment.ack == self.una
            && self.una == self.written
            && self.una == self.nxt
            && segment.ack + segment.window_bytes() <= self.window_end
            && segment.sack_count == 0
            && self.timers.armed.is_none()
            && self.probe.is_none()
            && self.options.is_none()
    }

    /// Whether an acknowledgement is of data never sent, or older than any window admits (RFC 9293 section 3.10.7.4,
    /// RFC 5961 section 5.2). Source: Linux `tcp_ack`, `tp->max_window`.
    #[inline]
    pub(crate) fn disbelieves(&self, ack: u64) -> bool {
        ack > self.nxt || ack < self.una && self.is_ancient(ack)
    }

    #[cold]
    fn is_ancient(&self, ack: u64) -> bool {
        let window = self.window_end.saturating_sub(self.una);
        let largest = self.buffer.largest_window().max(window);
        self.una - ack > largest.min(self.una - 1)
    }

    /// An acknowledgement while nothing is outstanding: it may still say that the last retransmissions were
    /// unnecessary. Source: Linux `tcp_ack` from `no_queue`.
    #[inline]
    fn take_late(&mut self, segment: &Segment, news: &mut News, now: Time) {
        if segment.sack_count == 0 && self.probe.is_none() {
            return;
        }
        let mut times = Times::default();
        if segment.sack_count > 0 {
            self.take_sacks(segment, now, self.una, news, &mut times);
        }
        if news.dsack {
            R::judge(self, self.una, news, &times, now);
        }
        self.probe_acked(segment.ack, news, now);
    }

    /// An acknowledgement older than what is known: its SACK blocks may still be news, because acknowledgements
    /// overtake each other. Source: Linux `tcp_ack` from `old_ack`.
    #[cold]
    #[inline(never)]
    fn take_old(&mut self, segment: &Segment, now: Time) {
        if segment.sack_count == 0 || self.una == self.nxt {
            return;
        }
        let (mut news, mut times) = (News::default(), Times::default());
        news.not_dup = segment.len > 0;
        self.episode.echo_ms = segment.ts_ecr;
        let highest = self.board.highest_sacked().unwrap_or(self.una);
        self.take_sacks(segment, now, highest, &mut news, &mut times);
        self.episode.resend = Resend::Nothing;
        R::judge(self, self.una, &mut news, &times, now);
        if self.rates.is_some() {
            self.rates_on_lost(0, now);
        }
    }

    /// An acknowledgement told of marks.
    #[cold]
    fn count_marks(&mut self, marked: Marked) {
        self.stats.echoes += u64::from(marked.packets > 0 || !self.accurate);
        self.stats.delivered_ce += u64::from(marked.packets);
    }

    /// What an echo (RFC 3168) says was marked, with an acknowledgement of so many segments. Source: Linux
    /// `tcp_newly_delivered`.
    #[cold]
    fn echoed(&self, delivered: u32) -> Marked {
        Marked {
            packets: delivered,
            bytes: u64::from(delivered) * u64::from(self.mss),
        }
    }

    /// What AccECN is to know of an acknowledgement; `advanced` if it took segments off the scoreboard. Source: Linux
    /// `tcp_sacktag_state`, whose `delivered_bytes` are those of the cumulative part if there is one.
    #[cold]
    fn covered(&self, news: &News, advanced: bool, prior_una: u64) -> Covered {
        let first = self.board.head().map_or(self.una, |head| head.seq);
        Covered {
            packets: news.delivered,
            bytes: if advanced {
                first.saturating_sub(prior_una)
            } else {
                news.sacked_bytes
            },
            progress: advanced || news.sacked,
            certain: self.sack || matches!(self.episode.state, CaState::Open | CaState::Cwr),
            mss: self.mss,
            sent: self.nxt,
        }
    }

    #[inline(never)]
    fn take_sacks(&mut self, segment: &Segment, now: Time, highest: u64, news: &mut News, times: &mut Times) {
        if !self.sack {
            return;
        }
        let mut blocks = [(0, 0); 3];
        let mut n = 0;
        for b in segment.sack_ranges() {
            blocks[n] = b;
            n += 1;
        }
        // RFC 2883 section 4: the first block is a D-SACK if it lies below the acknowledgement or inside the second.
        let (start, end) = blocks[0];
        let inside_second = n > 1 && blocks[1].0 <= start && end <= blocks[1].1;
        let first = usize::from((end <= segment.ack || inside_second) && self.take_dsack(start, end, news));
        let (mut low, min_rtt) = (None::<u64>, self.min_rtt.get());
        // In order of sequence, so that what was sent last is told last: its RTT is the one that counts.
        blocks[first..n].sort_unstable();
        for &(start, end) in &blocks[first..n] {
            if start >= end || end > self.nxt || end <= self.una {
                continue;
            }
            let (recovery, rates, high_seq) = (&mut self.recovery, &mut self.rates, self.episode.high_seq);
            self.board.sack(start.max(self.una), end, |s| {
                news.sacked = true;
                news.delivered += 1;
                news.sacked_bytes += u64::from(s.len);
                recovery.on_delivered(s, now, min_rtt);
                if let Some(rates) = rates {
                    rates.on_sacked(s);
                }
                if !s.retransmitted() {
                    if s.seq < highest {
                        low = Some(low.map_or(s.seq, |l| l.min(s.seq)));
                    }
                    news.original_delivered |= s.end() <= high_seq;
                    times.sacked.get_or_insert((s.sent_at, s.sent_at)).1 = s.sent_at;
                }
            });
        }
        if let Some(low) = low {
            self.saw_reordering(low, highest);
        }
    }

    /// A D-SACK reports a duplicate. Answers no if it cannot be one, because more duplicates are reported than were
    /// sent again. Source: Linux 6.1 `tcp_check_dsack`, `tcp_dsack_seen`.
    #[cold]
    fn take_dsack(&mut self, start: u64, end: u64, news: &mut News) -> bool {
        let segments = end.saturating_sub(start).div_ceil(u64::from(self.mss));
        self.stats.duplicates += segments;
        if R::COUNTS_DUPLICATES {
            if segments == 0 || self.stats.duplicates > self.stats.retransmissions {
                return false;
            }
            // A retransmission that was not needed is delivered as well.
            news.delivered += segments as u32;
        }
        news.dsack = true;
        news.dsack_of_probe = self.probe.is_some_and(|(probe, _)| end == probe);
        if self.undo.marker.is_some_and(|m| end > m)
            && let Some(k) = &mut self.undo.outstanding
        {
            *k = k.saturating_sub(1);
        }
        true
    }

    #[inline]
    fn take_cumulative(&mut self, ack: u64, highest: u64, now: Time, news: &mut News, times: &mut Times) {
        let (mut low, min_rtt) = (None::<u64>, self.min_rtt.get());
        let (recovery, rates) = (&mut self.recovery, &mut self.rates);
        let (high_seq, state, echo) = (self.episode.high_seq, self.episode.state, self.episode.echo_ms);
        // Of originals in order the last tells all that recovery wants to know.
        if rates.is_none()
            && state != CaState::Loss
            && let Some((first, last, count)) = self.board.acknowledge_plain(ack)
        {
            times.acked = Some((first, last.sent_at));
            news.delivered += count;
            recovery.on_delivered(&last, now, min_rtt);
            if self.board.is_after(ack) {
                return;
            }
        }
        self.board.acknowledge(ack, |s| {
            if s.retransmitted() {
                news.retransmitted_acked = true;
            } else if !s.sacked() {
                times.acked.get_or_insert((s.sent_at, s.sent_at)).1 = s.sent_at;
                if s.seq < highest {
                    low = Some(low.map_or(s.seq, |l| l.min(s.seq)));
                }
                news.original_delivered |= s.end() <= high_seq && state == CaState::Loss;
            }
            if !s.sacked() {
                news.delivered += 1;
                // The receiver echoes the time of what filled its gap: if that is older than the retransmission, it was
                // not that. Source: Linux 6.1 `tcp_skb_spurious_retrans`, which only a cumulative
                // acknowledgement asks.
                let spurious = s.retransmitted() && echo != 0 && echo < now_ms(s.sent_at);
                if !spurious {
                    recovery.on_delivered(s, now, min_rtt);
                }
                if let Some(rates) = rates {
                    rates.on_acked(s);
                }
            }
        });
        if let Some(low) = low {
            self.saw_reordering(low, highest);
        }
    }

    #[cold]
    #[inline(never)]
    fn saw_reordering(&mut self, low: u64, highest: u64) {
        let segments = ((highest - low).div_ceil(u64::from(self.mss))) as u32;
        self.episode.reordering = self.episode.reordering.max(segments.min(300));
        self.recovery.on_reordering();
    }

    /// Updates the RTT estimate; answers the RTT that congestion control sees.
    ///
    /// The estimate takes the first segment newly acknowledged (its delay includes the receiver's), congestion
    /// control the last. Karn's rule: nothing retransmitted counts, unless the timestamp tells (RFC 7323 section
    /// 4.1).
    #[inline]
    fn take_rtt(&mut self, segment: &Segment, now: Time, news: &News, times: &Times) -> Option<Duration> {
        let (first, last) = match (times.acked, times.sacked) {
            (Some((first, last)), sacked) if !news.retransmitted_acked => {
                (now.since(first), now.since(sacked.map_or(last, |s| s.1)))
            }
            (_, Some((first, last))) => (now.since(first), now.since(last)),
            _ if news.advanced && segment.ts_ecr > 0 => {
                let ms = u64::from(now_ms(now).wrapping_sub(segment.ts_ecr)).max(1);
                (Duration::from_millis(ms), Duration::from_millis(ms))
            }
            _ => return None,
        };
        self.min_rtt.sample(last, now);
        self.rtt.sample(first, self.una, self.nxt);
        self.timers.backoff = 0;
        Some(last)
    }
}
