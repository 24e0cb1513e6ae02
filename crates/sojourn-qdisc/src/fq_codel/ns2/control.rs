//! `CoDel` as each bin of [`SfqCodel`](super::SfqCodel) has it.

use crate::codel::{CodelParams, CodelStats, SMALLEST_MAX_PACKET, discard};
use crate::{DropSink, Packet, Queued};
use sojourn_units::{Bytes, Duration, Time};

/// A dropping state that ended less than this many intervals ago is remembered. ns-2's `CoDelQueue` and the RFC have
/// 16.
const RECENT_INTERVALS: u64 = 8;
/// The count starts again by so much less.
const COUNT_DECAY: u32 = 2;

/// What is remembered of one bin. It stays when the bin runs empty, but for the dropping state.
#[derive(Clone, Copy, Debug)]
pub(super) struct Control {
    /// Drops of the dropping state that were followed by a packet which was late too, and the count it began with.
    pub(super) count: u32,
    /// Whether the bin is in the dropping state.
    pub(super) dropping: bool,
    /// From when on a late packet may be dropped; `None` while the delay is below target.
    first_above: Option<Time>,
    /// When the next drop is, or was, due.
    drop_next: Option<Time>,
}

impl Control {
    /// A bin that had no packet yet. Source: ns-2 `sfqCoDelQueue::sfqCoDelQueue` sets `first_above_time_` to -1,
    /// which is neither "below target" (0) nor in the future.
    pub(super) const NEW: Self = Self {
        count: 0,
        dropping: false,
        first_above: Some(Time::ZERO),
        drop_next: None,
    };

    fn recently_dropping(&self, params: &CodelParams, now: Time) -> bool {
        self.drop_next
            .is_some_and(|at| now < at + params.interval * RECENT_INTERVALS)
    }

    /// `t + interval/sqrt(count)`. Source: ns-2 `sfqCoDelQueue::control_law`.
    fn control_law(&self, params: &CodelParams, t: Time) -> Time {
        t + Duration::from_secs_f64(params.interval.as_secs_f64() / f64::from(self.count).sqrt())
    }

    /// Judges a packet that has just been taken out: `left` is what all bins then hold, `alone` whether its bin is
    /// empty now. Source: ns-2 `sfqCoDelQueue::dodeque`.
    fn ok_to_drop<P>(&mut self, params: &CodelParams, stats: &mut CodelStats, taken: &Taken<P>, now: Time) -> bool {
        let Taken { queued, left, alone } = taken;
        stats.max_packet = stats.max_packet.max(queued.size.get());
        let one_packet = stats.max_packet.max(SMALLEST_MAX_PACKET);
        if now.since(queued.since) < params.target || left.get() <= one_packet || *alone {
            self.first_above = None;
            return false;
        }
        match self.first_above {
            None => {
                self.first_above = Some(now + params.interval);
                false
            }
            Some(at) => now >= at,
        }
    }

    /// Enters the dropping state. Source: ns-2 `sfqCoDelQueue::deque`, last part.
    fn enter(&mut self, params: &CodelParams, stats: &mut CodelStats, now: Time) {
        self.dropping = true;
        stats.drop_state_entries += 1;
        self.count = if self.count > COUNT_DECAY && self.recently_dropping(params, now) {
            self.count - COUNT_DECAY
        } else {
            1
        };
        self.drop_next = Some(self.control_law(params, now));
    }
}

/// A packet just taken out of its bin.
pub(super) struct Taken<P> {
    pub(super) queued: Queued<P>,
    /// Bytes that all bins then hold.
    pub(super) left: Bytes,
    /// Whether its bin is empty now.
    pub(super) alone: bool,
}

/// Takes the next packet of a bin that may leave, dropping those before it that are to be dropped; `None` if the bin
/// is empty. `pop` takes the oldest packet of the bin. The last packet of a bin is never dropped.
///
/// Source: ns-2 `sfqCoDelQueue::deque`.
#[inline]
pub(super) fn dequeue<P: Packet>(
    params: &CodelParams,
    state: &mut Control,
    stats: &mut CodelStats,
    now: Time,
    mut pop: impl FnMut() -> Option<Taken<P>>,
    drops: &mut dyn DropSink<P>,
) -> Option<Queued<P>> {
    let mut head = pop()?;
    let mut ok = state.ok_to_drop(params, stats, &head, now);
    if state.dropping {
        while ok && state.drop_next.is_some_and(|at| now >= at) {
            discard(head.queued, now, stats, drops);
            head = pop()?;
            ok = state.ok_to_drop(params, stats, &head, now);
            if ok {
                state.count = state.count.saturating_add(1);
                state.drop_next = state.drop_next.map(|at| state.control_law(params, at));
            }
        }
        state.dropping = ok;
    } else if ok {
        discard(head.queued, now, stats, drops);
        head = pop()?;
        state.ok_to_drop(params, stats, &head, now);
        state.enter(params, stats, now);
    }
    Some(head.queued)
}
