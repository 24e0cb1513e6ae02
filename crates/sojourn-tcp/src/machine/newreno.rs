//! Loss recovery with a peer that sends no SACK blocks: duplicate acknowledgements stand for segments (RFC 6582).
//!
//! Source: Linux 6.1 `tcp_add_reno_sack`, `tcp_remove_reno_sacks`, `tcp_newreno_mark_lost`.

use super::{CaState, LossRecovery, Machine, News};

impl<R: LossRecovery> Machine<R> {
    /// A duplicate acknowledgement: a segment has left the network, though it does not say which. After a time-out only
    /// one of new data counts.
    #[cold]
    #[inline(never)]
    pub(super) fn count_duplicate(&mut self, news: &mut News) {
        if self.episode.state == CaState::Loss && self.nxt <= self.episode.high_seq {
            return;
        }
        let counted = self.board.sacked_out();
        if counted < self.most_received() {
            self.board.count_as_sacked(counted + 1);
            news.delivered += 1;
        }
    }

    /// The acknowledgement moved: all but one of what it covers had been counted by duplicates.
    #[cold]
    #[inline(never)]
    pub(super) fn uncount_duplicates(&mut self, news: &mut News) {
        let counted = self.board.sacked_out();
        let acked = news.delivered;
        news.delivered = acked.saturating_sub(counted).max(1);
        let restarts = self.episode.state == CaState::Loss && self.nxt <= self.episode.high_seq;
        let left = if restarts {
            0
        } else {
            counted.saturating_sub(acked.saturating_sub(1))
        };
        self.board.count_as_sacked(left.min(self.most_received()));
    }

    /// At least the oldest, or what is lost, has not arrived.
    fn most_received(&self) -> u32 {
        let holes = self.board.lost_out().max(1);
        self.board.packets_out().saturating_sub(holes)
    }

    /// The oldest segment is lost after as many duplicates as the path reorders, and in recovery when the
    /// acknowledgement moves to it. Answers whether losses were looked for here.
    pub(crate) fn judge_without_sack(&mut self, advanced: bool) -> bool {
        if self.sack {
            return false;
        }
        let recovers = self.episode.state == CaState::Recovery;
        let lost = if recovers {
            advanced && self.una < self.episode.high_seq
        } else {
            self.episode.state < CaState::Recovery && self.board.sacked_out() >= self.episode.reordering
        };
        if lost {
            self.board.mark_head_lost();
            let counted = self.board.sacked_out();
            self.board.count_as_sacked(counted.min(self.most_received()));
        }
        true
    }

    /// Whether a recovery that has reached its end is held until something beyond it is acknowledged, lest duplicates
    /// of what was sent before begin another one (RFC 6582 section 4.1). Nothing is counted any more.
    pub(super) fn holds_recovery(&mut self) -> bool {
        if self.sack {
            return false;
        }
        self.board.count_as_sacked(0);
        self.una == self.episode.high_seq
    }
}
