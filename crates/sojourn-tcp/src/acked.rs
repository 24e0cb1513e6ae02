//! What an acknowledgement newly covers: SACK blocks, the cumulative part, reordering, and the RTT.

use crate::segment::Segment;
use crate::sender::{CaState, News, Sender, now_ms};
use sojourn_units::{Duration, Time};

/// When the first and last of the segments that an acknowledgement newly covers were sent.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Times {
    pub(crate) acked: Option<(Time, Time)>,
    pub(crate) sacked: Option<(Time, Time)>,
}

impl Sender {
    pub(crate) fn take_sacks(
        &mut self,
        segment: &Segment,
        now: Time,
        highest: u64,
        news: &mut News,
        times: &mut Times,
    ) {
        let mut blocks = [(0, 0); 3];
        let mut n = 0;
        for b in segment.sack_ranges() {
            blocks[n] = b;
            n += 1;
        }
        // RFC 2883 section 4: the first block is a D-SACK if it lies below the acknowledgement or inside the second.
        let (start, end) = blocks[0];
        let inside_second = n > 1 && blocks[1].0 <= start && end <= blocks[1].1;
        let first = if end <= segment.ack || inside_second {
            news.dsack = true;
            if self.undo.marker.is_some_and(|m| end > m)
                && let Some(k) = &mut self.undo.outstanding
            {
                *k = k.saturating_sub(1);
            }
            1
        } else {
            0
        };
        let (mut low, min_rtt) = (None::<u64>, self.min_rtt.get());
        // In order of sequence, so that what was sent last is told last: its RTT is the one that counts.
        blocks[first..n].sort_unstable();
        for &(start, end) in &blocks[first..n] {
            if start >= end || end > self.nxt || end <= self.una {
                continue;
            }
            let (rack, high_seq) = (&mut self.rack, self.high_seq);
            self.board.sack(start.max(self.una), end, |s| {
                news.sacked = true;
                news.delivered += 1;
                rack.delivered(s, now, min_rtt);
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

    pub(crate) fn take_cumulative(&mut self, ack: u64, highest: u64, now: Time, news: &mut News, times: &mut Times) {
        let (mut low, min_rtt) = (None::<u64>, self.min_rtt.get());
        let (rack, high_seq, state, echo) = (&mut self.rack, self.high_seq, self.state, self.undo.echo_ms);
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
                // The receiver echoes the time of what filled its gap: if that is older than the retransmission, it was not that.
                // Source: Linux 6.1 `tcp_skb_spurious_retrans`, which only a cumulative acknowledgement asks.
                let spurious = s.retransmitted() && echo != 0 && echo < now_ms(s.sent_at);
                if !spurious {
                    rack.delivered(s, now, min_rtt);
                }
            }
        });
        if let Some(low) = low {
            self.saw_reordering(low, highest);
        }
    }

    fn saw_reordering(&mut self, low: u64, highest: u64) {
        let segments = ((highest - low).div_ceil(u64::from(self.mss))) as u32;
        self.reordering = self.reordering.max(segments.min(300));
        self.rack.saw_reordering();
        if let Some(fack) = &mut self.fack {
            fack.saw_reordering();
        }
    }

    /// Updates the RTT estimate; answers the RTT that congestion control sees.
    ///
    /// The estimate takes the first segment newly acknowledged (its delay includes the receiver's), congestion control
    /// the last. Karn's rule: nothing retransmitted counts, unless the timestamp tells (RFC 7323 section 4.1).
    pub(crate) fn take_rtt(&mut self, segment: &Segment, now: Time, news: &News, times: &Times) -> Option<Duration> {
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
        Some(last)
    }
}
