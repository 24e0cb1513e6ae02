//! What is outstanding: every segment sent and not yet cumulatively acknowledged, with its fate so far.
//!
//! Costs: an acknowledgement takes O(segments that it newly covers), because the ranges already SACKed are kept as
//! intervals and a block that repeats known ranges is recognised by one binary search. A segment record is 24 bytes.

use sojourn_units::Time;
use std::collections::VecDeque;

/// The receiver has it out of order (RFC 2018).
const SACKED: u8 = 1;
/// Judged lost.
const LOST: u8 = 2;
/// A retransmission of it is outstanding.
const RETRANS: u8 = 4;
/// It was retransmitted at some time: its RTT is ambiguous (Karn).
const EVER_RETRANS: u8 = 8;
/// The host's own device holds it.
const HELD: u8 = 16;
/// It carries PSH, each time that it is sent.
const PUSHED: u8 = 32;

/// One segment sent.
#[derive(Clone, Copy, Debug)]
#[expect(
    clippy::struct_field_names,
    reason = "`sent_at` reads as it should wherever it stands"
)]
pub(crate) struct Sent {
    pub(crate) seq: u64,
    /// When it was last sent.
    pub(crate) sent_at: Time,
    pub(crate) len: u16,
    flags: u8,
}

impl Sent {
    pub(crate) fn end(&self) -> u64 {
        self.seq + u64::from(self.len)
    }
    pub(crate) fn sacked(&self) -> bool {
        self.flags & SACKED != 0
    }
    pub(crate) fn retransmitted(&self) -> bool {
        self.flags & EVER_RETRANS != 0
    }
    pub(crate) fn held(&self) -> bool {
        self.flags & HELD != 0
    }
    pub(crate) fn pushed(&self) -> bool {
        self.flags & PUSHED != 0
    }
}

/// The retransmission queue. Segments are named by an index that never changes while they are outstanding.
///
/// `in_flight = packets_out - sacked_out - lost_out + retrans_out`, Linux's reading of RFC 6675's pipe.
#[derive(Clone, Debug)]
#[repr(C)]
pub(crate) struct Scoreboard {
    ring: VecDeque<Sent>,
    /// Index of the front of `ring`.
    base: u64,
    sacked_out: u32,
    lost_out: u32,
    retrans_out: u32,
    /// Segments ever marked lost, counting repeats.
    lost_total: u64,
    /// Disjoint SACKed ranges above the cumulative acknowledgement, in order.
    ranges: Vec<(u64, u64)>,
    /// No lost and unretransmitted segment lies before this index.
    retransmit_from: u64,
    /// All originals before this index are SACKed, lost or retransmitted: RACK's scan starts here.
    originals_from: u64,
    /// Outstanding retransmissions in the order sent: index, when, and one past the last original sent before. Stale
    /// entries are skipped.
    retransmissions: VecDeque<(u64, Time, u64)>,
    mss: u64,
    /// What was judged lost and not told yet, if somebody wants to hear of it.
    losses: Option<Box<Losses>>,
}

/// A segment that was judged lost.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Loss {
    pub(crate) seq: u64,
    /// Segments ever marked lost, with this one.
    pub(crate) lost_total: u64,
}

/// Segments that were judged lost, in the order of judgement.
#[derive(Clone, Debug, Default)]
struct Losses(Vec<Loss>);

impl Scoreboard {
    pub(crate) fn new(mss: u16) -> Self {
        Self {
            ring: VecDeque::new(),
            base: 0,
            mss: u64::from(mss),
            ranges: Vec::new(),
            sacked_out: 0,
            lost_out: 0,
            retrans_out: 0,
            originals_from: 0,
            retransmit_from: 0,
            retransmissions: VecDeque::new(),
            lost_total: 0,
            losses: None,
        }
    }

    /// The same, which also keeps what is judged lost until [`Self::drain_losses`] if it is `wanted`.
    pub(crate) fn with_losses(mut self, wanted: bool) -> Self {
        self.losses = wanted.then(Box::default);
        self
    }

    /// Tells each segment that was judged lost since the last call, in the order of judgement.
    pub(crate) fn drain_losses(&mut self, tell: impl FnMut(Loss)) {
        if let Some(losses) = &mut self.losses {
            losses.0.drain(..).for_each(tell);
        }
    }

    /// Full segments have so many bytes from now on. It is only a guess of where a segment is.
    pub(crate) fn set_segment(&mut self, bytes: u16) {
        self.mss = u64::from(bytes);
    }

    pub(crate) fn packets_out(&self) -> u32 {
        self.ring.len() as u32
    }
    pub(crate) fn sacked_out(&self) -> u32 {
        self.sacked_out
    }
    /// SACKed segments that follow another one.
    pub(crate) fn merged(&self) -> u32 {
        self.sacked_out.saturating_sub(self.ranges.len() as u32)
    }
    pub(crate) fn lost_out(&self) -> u32 {
        self.lost_out
    }
    pub(crate) fn retrans_out(&self) -> u32 {
        self.retrans_out
    }
    pub(crate) fn lost_total(&self) -> u64 {
        self.lost_total
    }
    pub(crate) fn in_flight(&self) -> u32 {
        // Not negative: SACKed and lost are disjoint subsets of the queue, and retransmissions are of lost segments.
        self.packets_out() + self.retrans_out - self.sacked_out - self.lost_out
    }
    pub(crate) fn is_empty(&self) -> bool {
        self.ring.is_empty()
    }
    pub(crate) fn head(&self) -> Option<&Sent> {
        self.ring.front()
    }
    pub(crate) fn last_index(&self) -> Option<u64> {
        (!self.ring.is_empty()).then(|| self.base + self.ring.len() as u64 - 1)
    }
    /// One past the highest SACKed byte.
    pub(crate) fn highest_sacked(&self) -> Option<u64> {
        self.ranges.last().map(|r| r.1)
    }

    pub(crate) fn get(&self, index: u64) -> &Sent {
        &self.ring[(index - self.base) as usize]
    }

    /// Appends a segment that is sent for the first time.
    pub(crate) fn push(&mut self, seq: u64, len: u16, now: Time) {
        self.ring.push_back(Sent {
            seq,
            sent_at: now,
            len,
            flags: 0,
        });
    }

    /// The segment that was appended last carries PSH.
    pub(crate) fn push_last(&mut self) {
        if let Some(last) = self.ring.back_mut() {
            last.flags |= PUSHED;
        }
    }

    /// Notes whether the host's own device holds the segment that begins at `seq`, if that is still outstanding.
    pub(crate) fn hold(&mut self, seq: u64, held: bool) {
        let at = self.position(seq);
        if let Some(s) = self.ring.get_mut(at).filter(|s| s.seq == seq) {
            s.flags = if held { s.flags | HELD } else { s.flags & !HELD };
        }
    }

    /// Notes that segment `index` goes out again. With `counted` it is a retransmission of a lost segment and
    /// occupies the network; a tail loss probe is not counted (its original still is).
    pub(crate) fn resend(&mut self, index: u64, now: Time, counted: bool) {
        let s = &mut self.ring[(index - self.base) as usize];
        s.flags |= EVER_RETRANS;
        s.sent_at = now;
        if counted && s.flags & RETRANS == 0 {
            s.flags |= RETRANS;
            self.retrans_out += 1;
        }
        let originals = self.base + self.ring.len() as u64;
        self.retransmissions.push_back((index, now, originals));
    }

    /// The first lost segment of which no retransmission is outstanding.
    pub(crate) fn next_lost(&mut self) -> Option<u64> {
        if self.lost_out <= self.retrans_out {
            return None;
        }
        let end = self.base + self.ring.len() as u64;
        let mut i = self.retransmit_from.max(self.base);
        while i < end {
            if self.get(i).flags & (LOST | RETRANS | SACKED) == LOST {
                self.retransmit_from = i;
                return Some(i);
            }
            i += 1;
        }
        self.retransmit_from = end;
        None
    }

    /// Removes, from the front, segments that end at or before `ack` and were sent once and neither SACKed nor lost, as
    /// long as nothing is SACKed: almost all. Answers when the first was sent, the last, and how many they are.
    #[inline]
    pub(crate) fn acknowledge_plain(&mut self, ack: u64) -> Option<(Time, Sent, u32)> {
        if !self.ranges.is_empty() {
            return None;
        }
        let plain = |s: &Sent| s.end() <= ack && s.flags & (SACKED | LOST | RETRANS | EVER_RETRANS) == 0;
        let mut last = *self.ring.front().filter(|s| plain(s))?;
        let (first, mut count) = (last.sent_at, 0);
        loop {
            self.ring.pop_front();
            count += 1;
            match self.ring.front() {
                Some(s) if plain(s) => last = *s,
                _ => break,
            }
        }
        self.base += u64::from(count);
        Some((first, last, count))
    }

    /// Whether something is outstanding, and nothing of it ends at or before `ack`.
    #[inline]
    pub(crate) fn is_after(&self, ack: u64) -> bool {
        self.ring.front().is_some_and(|s| s.end() > ack)
    }

    /// Removes all segments that end at or before `ack`, telling each to `gone`.
    pub(crate) fn acknowledge(&mut self, ack: u64, mut gone: impl FnMut(&Sent)) {
        while let Some(s) = self.ring.front() {
            if s.end() > ack {
                break;
            }
            if s.flags & SACKED != 0 {
                self.sacked_out -= 1;
            }
            if s.flags & LOST != 0 {
                self.lost_out -= 1;
            }
            if s.flags & RETRANS != 0 {
                self.retrans_out -= 1;
            }
            gone(s);
            self.ring.pop_front();
            self.base += 1;
        }
        if self.ranges.first().is_some_and(|r| r.0 < ack) {
            let n = self.ranges.iter().take_while(|r| r.1 <= ack).count();
            self.ranges.drain(..n);
        }
        if self.ring.is_empty() {
            self.retransmissions.clear();
        }
    }

    /// Notes that the receiver holds `[start, end)`, telling each segment that was not known to be there to `newly`.
    pub(crate) fn sack(&mut self, start: u64, end: u64, mut newly: impl FnMut(&Sent)) {
        // The first known range that reaches `start`.
        let first = self.ranges.partition_point(|r| r.1 < start);
        if let Some(r) = self.ranges.get(first)
            && r.0 <= start
            && end <= r.1
        {
            return;
        }
        let mut from = start;
        let mut last = first;
        let mut merged = (start, end);
        while let Some(&(s, e)) = self.ranges.get(last) {
            if s > end {
                break;
            }
            if from < s {
                self.tag(from, s, &mut newly);
            }
            from = from.max(e);
            merged = (merged.0.min(s), merged.1.max(e));
            last += 1;
        }
        if from < end {
            self.tag(from, end, &mut newly);
        }
        if last == first {
            self.ranges.insert(first, merged);
        } else {
            self.ranges[first] = merged;
            self.ranges.drain(first + 1..last);
        }
    }

    fn tag(&mut self, start: u64, end: u64, newly: &mut impl FnMut(&Sent)) {
        let mut i = self.position(start);
        while let Some(s) = self.ring.get_mut(i) {
            if s.seq + u64::from(s.len) > end {
                break;
            }
            if s.flags & SACKED == 0 {
                if s.flags & LOST != 0 {
                    self.lost_out -= 1;
                }
                if s.flags & RETRANS != 0 {
                    self.retrans_out -= 1;
                }
                s.flags = (s.flags & !(LOST | RETRANS)) | SACKED;
                self.sacked_out += 1;
                newly(s);
            }
            i += 1;
        }
    }

    /// Position in the ring of the first segment that starts at or after `seq`.
    fn position(&self, seq: u64) -> usize {
        let Some(front) = self.ring.front() else { return 0 };
        let guess = (seq.saturating_sub(front.seq) / self.mss) as usize;
        match self.ring.get(guess) {
            Some(s) if s.seq == seq => guess,
            _ => self.ring.partition_point(|s| s.seq < seq),
        }
    }

    fn mark_lost(&mut self, index: u64) {
        let s = &mut self.ring[(index - self.base) as usize];
        if s.flags & LOST == 0 {
            s.flags |= LOST;
            self.lost_out += 1;
        }
        if s.flags & RETRANS != 0 {
            s.flags &= !RETRANS;
            self.retrans_out -= 1;
        }
        let seq = s.seq;
        self.count_lost(seq);
        self.retransmit_from = self.retransmit_from.min(index);
    }

    #[inline]
    fn count_lost(&mut self, seq: u64) {
        self.lost_total += 1;
        if let Some(losses) = &mut self.losses {
            let lost_total = self.lost_total;
            losses.0.push(Loss { seq, lost_total });
        }
    }

    /// Without SACK blocks: so many segments count as received.
    pub(crate) fn count_as_sacked(&mut self, segments: u32) {
        self.sacked_out = segments;
    }

    /// The oldest segment is lost, unless that is known.
    pub(crate) fn mark_head_lost(&mut self) {
        if self.ring.front().is_some_and(|head| head.flags & LOST == 0) {
            self.mark_lost(self.base);
        }
    }

    /// The same, but a retransmission is only lost if its original was: one of a segment whose mark was taken back
    /// stays outstanding, so that nothing but a time-out sends that segment again. Source: Linux 6.1
    /// `tcp_mark_skb_lost` after `tcp_undo_cwnd_reduction`.
    fn mark_judged_lost(&mut self, index: u64) {
        let s = &mut self.ring[(index - self.base) as usize];
        if s.flags & (LOST | RETRANS) == RETRANS {
            s.flags |= LOST;
            self.lost_out += 1;
            let seq = s.seq;
            self.count_lost(seq);
        } else {
            self.mark_lost(index);
        }
    }

    /// Visits, oldest first, every segment that is neither SACKed nor waiting to be retransmitted, originals first
    /// and then retransmissions, until `judge` says [`Verdict::Later`] for one; marks those judged lost.
    ///
    /// Both sequences are in the order of sending, so the first that was sent too late ends its sequence (RFC 8985
    /// section 6.2, step 5 and the remark on its cost). Linux has one list of both, so an original that was sent too
    /// late also hides the retransmissions sent after it at the same instant, whose numbers are lower
    /// (`tcp_rack_detect_loss`, `tsorted_sent_queue`).
    pub(crate) fn judge_losses(&mut self, mut judge: impl FnMut(&Sent) -> Verdict) {
        let end = self.base + self.ring.len() as u64;
        let mut i = self.originals_from.max(self.base);
        let mut settled = true;
        let mut hidden_after = end;
        while i < end {
            let s = self.get(i);
            if s.flags & (SACKED | LOST | EVER_RETRANS) == 0 {
                match judge(s) {
                    Verdict::Later => {
                        hidden_after = i;
                        break;
                    }
                    Verdict::Wait => settled = false,
                    Verdict::Lost => self.mark_judged_lost(i),
                }
            }
            i += 1;
            if settled {
                self.originals_from = i;
            }
        }
        let mut k = 0;
        while let Some(&(index, at, originals)) = self.retransmissions.get(k) {
            if originals > hidden_after {
                break;
            }
            let live = index >= self.base && {
                let s = self.get(index);
                // A probe (uncounted) is live while it is neither SACKed nor lost.
                s.sent_at == at && s.flags & SACKED == 0 && (s.flags & RETRANS != 0 || s.flags & LOST == 0)
            };
            if live {
                match judge(self.get(index)) {
                    Verdict::Later => break,
                    Verdict::Wait => {
                        k += 1;
                        continue;
                    }
                    Verdict::Lost => self.mark_judged_lost(index),
                }
            }
            self.retransmissions.remove(k);
        }
    }

    /// First byte of the highest SACKed segment.
    pub(crate) fn highest_sacked_start(&self) -> Option<u64> {
        let end = self.highest_sacked()?;
        let i = self.position(end);
        (i > 0).then(|| self.ring[i - 1].seq)
    }

    /// Segments up to the highest SACKed one, SACKed or not.
    pub(crate) fn up_to_highest_sacked(&self) -> u32 {
        self.highest_sacked().map_or(0, |end| self.position(end) as u32)
    }

    /// Marks lost, of the first `count` segments, those that are not SACKed (Linux `tcp_mark_head_lost` with FACK).
    pub(crate) fn mark_first_lost(&mut self, count: u32) {
        let end = self.base + u64::from(count).min(self.ring.len() as u64);
        let mut i = self.originals_from.max(self.base);
        while i < end {
            if self.get(i).flags & (SACKED | LOST) == 0 {
                self.mark_lost(i);
            }
            i += 1;
        }
        self.originals_from = self.originals_from.max(end);
    }

    /// Marks lost what is not SACKED and has more than the reordering degree of SACKed segments above it: the first
    /// `below` SACKed segments are passed over on the way (Linux `tcp_mark_head_lost` without FACK).
    pub(crate) fn mark_lost_below(&mut self, below: u32) {
        let mut passed = 0;
        for i in self.base..self.base + self.ring.len() as u64 {
            if self.get(i).flags & SACKED != 0 {
                passed += 1;
                if passed > below {
                    return;
                }
            } else if self.get(i).flags & LOST == 0 {
                self.mark_lost(i);
            }
        }
    }

    /// Whether the retransmission of `index` sent at `at` is still outstanding.
    pub(crate) fn is_retransmission(&self, index: u64, at: Time) -> bool {
        index >= self.base && {
            let s = self.get(index);
            s.sent_at == at && s.flags & RETRANS != 0
        }
    }

    /// A retransmission is lost: the segment waits to be sent again.
    pub(crate) fn mark_retransmission_lost(&mut self, index: u64) {
        self.mark_lost(index);
    }

    /// What was retransmitted is no longer tracked: a time-out has marked it lost.
    pub(crate) fn forget_retransmissions(&mut self) {
        self.retransmissions.clear();
    }

    /// After a time-out: marks lost every segment that is not SACKed and for which `spare` is not true.
    pub(crate) fn mark_all_lost(&mut self, spare: impl Fn(&Sent) -> bool) {
        for i in self.base..self.base + self.ring.len() as u64 {
            let s = self.get(i);
            let waiting = s.flags & (LOST | RETRANS) == LOST;
            if s.flags & SACKED == 0 && !waiting && (i == self.base || !spare(s)) {
                self.mark_lost(i);
            }
        }
    }

    /// Takes every loss mark back: the congestion signal was false. What was retransmitted is now in the network
    /// twice.
    pub(crate) fn unmark_lost(&mut self) {
        for s in &mut self.ring {
            s.flags &= !LOST;
        }
        self.lost_out = 0;
        self.originals_from = self.base;
    }
}

/// RACK's answer for one segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    /// Sent after the most recently delivered one: no judgement, nor for any after it.
    Later,
    /// Sent before, but still within the reordering window.
    Wait,
    /// Lost.
    Lost,
}

#[cfg(test)]
mod tests;
