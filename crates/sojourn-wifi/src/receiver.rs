//! The receiver's side of a Block Ack agreement: frames leave it in the order of their sequence numbers.

use crate::retry::ahead;
use crate::{BLOCK_ACK_WINDOW, Frame};
use sojourn_units::{Duration, Time};

/// Half of the sequence numbers: what lies further ahead counts as behind.
const HALF: u16 = 1 << 11;

/// How often Linux's clock of timers ticks at HZ 1000.
const TICK: Duration = Duration::from_millis(1);

/// Ticks for which mac80211 lets a frame wait for one before it. Source: Linux 6.12, `net/mac80211/rx.c`,
/// `HT_RX_REORDER_BUF_TIMEOUT`: a tenth of a second.
const PATIENCE: u64 = 100;

/// A frame that waits, with the time when it came.
type Slot<P> = Option<(Frame<P>, Time)>;

/// One TID of one sender: the receive reorder buffer.
///
/// A frame is released when all before it have come, or when the window moves over the gap: because a frame came that
/// lies beyond the window, or because the sender said so (BlockAckReq) after it gave a frame up. The standard has no
/// timer; mac80211 has one ([`Reorder::due`]): what waited for 100 ms is released, gap or not, and what was to fill
/// the gap is thrown away when it comes, though it is acknowledged. It goes off at a boundary of the kernel's timer
/// wheel, 2 to 9 ms later; a frame that is stored in between lets out what has waited long enough, too.
///
/// Source: IEEE 802.11-2020 section 10.25.6.6; Linux 6.12, `ieee80211_sta_reorder_release`.
#[derive(Clone, Debug)]
pub(crate) struct Reorder<P> {
    /// The first sequence number that has not come.
    start: u16,
    /// Frames that came out of order, by sequence number modulo the window.
    held: Box<[Slot<P>]>,
    /// How many.
    holds: u16,
    /// It is mac80211's, and waits only so long.
    impatient: bool,
    timer: Option<Timer>,
}

/// A timer of Linux, in ticks.
#[derive(Clone, Copy, Debug)]
struct Timer {
    /// What it is set to.
    expires: u64,
    /// When it goes off.
    fires: u64,
}

impl Timer {
    /// It is set at `now`: it goes off at the next boundary after `expires`, and boundaries of what is 63 ticks off
    /// or more are eight apart.
    ///
    /// Source: Linux 6.12 `kernel/time/timer.c`, `calc_wheel_index`, `calc_index`.
    fn set(now: u64, expires: u64) -> Self {
        let shift = if expires.saturating_sub(now) < 63 { 0 } else { 3 };
        let fires = (((expires >> shift) + 1) << shift).max(now + 1);
        Self { expires, fires }
    }
}

impl<P> Reorder<P> {
    /// One in which nothing waits. `impatient` is whether it is mac80211's.
    pub(crate) fn new(impatient: bool) -> Self {
        Self {
            start: 0,
            held: (0..BLOCK_ACK_WINDOW).map(|_| None).collect(),
            holds: 0,
            impatient,
            timer: None,
        }
    }

    /// A frame came. It and those it releases go to `release` in order, each with the time when it came. A frame from
    /// behind the window comes back: a duplicate, or one that was given up.
    #[inline]
    pub(crate) fn receive(
        &mut self,
        frame: Frame<P>,
        now: Time,
        mut release: impl FnMut(Frame<P>, Time),
    ) -> Option<Frame<P>> {
        let sequence = frame.sequence;
        let distance = ahead(sequence, self.start);
        if distance == 0 && self.holds == 0 {
            self.start = ahead(self.start + 1, 0);
            release(frame, now);
            return None;
        }
        if distance >= HALF {
            return Some(frame);
        }
        if distance >= BLOCK_ACK_WINDOW {
            self.move_to(ahead(sequence, BLOCK_ACK_WINDOW - 1), &mut release);
        }
        let slot = &mut self.held[usize::from(sequence % BLOCK_ACK_WINDOW)];
        if slot.is_some() {
            return Some(frame);
        }
        *slot = Some((frame, now));
        self.holds += 1;
        self.release(now, &mut release);
        None
    }

    /// The sender's window starts at `start` now: nothing before it will come any more. What follows without a gap is
    /// released with it; by mac80211 with the next frame that is stored, or by the timer (`ieee80211_rx_h_ctrl`).
    pub(crate) fn announced(&mut self, start: u16, mut release: impl FnMut(Frame<P>, Time)) {
        if ahead(start, self.start) < HALF {
            self.move_to(start, &mut release);
            if !self.impatient {
                self.release_run(&mut release);
            }
        }
    }

    /// When the timer goes off that mac80211 sets for the first frame that it holds: to 101 ticks after the one in
    /// which that frame came. `None` while nothing waits.
    pub(crate) fn due(&self) -> Option<Time> {
        self.timer.map(|timer| Time::ZERO + TICK * timer.fires)
    }

    /// To be called at the time of [`Reorder::due`], and not without one.
    pub(crate) fn give_up_waiting(&mut self, now: Time, mut release: impl FnMut(Frame<P>, Time)) {
        if self.due().is_some_and(|due| due <= now) {
            self.timer = None;
            self.release(now, &mut release);
        }
    }

    /// Releases what begins at the start without a gap. If that is not there, mac80211 goes on over each gap behind
    /// which a frame has waited for more than [`PATIENCE`]. And it sets its timer anew. Source: Linux 6.12
    /// `ieee80211_sta_reorder_release`.
    fn release(&mut self, now: Time, release: &mut impl FnMut(Frame<P>, Time)) {
        let start = self.start;
        self.release_run(release);
        if !self.impatient {
            return;
        }
        if self.start == start {
            while let Some((distance, came)) = self.first_held()
                && tick(now) > tick(came) + PATIENCE
            {
                self.start = ahead(self.start + distance, 0);
                self.release_run(release);
            }
        }
        let expires = self.first_held().map(|(_, came)| tick(came) + PATIENCE + 1);
        self.timer = expires.map(|expires| match self.timer {
            Some(timer) if timer.expires == expires => timer,
            _ => Timer::set(tick(now), expires),
        });
    }

    /// How far ahead of the start the first frame is that it holds, and when that came.
    fn first_held(&self) -> Option<(u16, Time)> {
        if self.holds == 0 {
            return None;
        }
        (0..BLOCK_ACK_WINDOW).find_map(|distance| {
            let slot = &self.held[usize::from((self.start + distance) % BLOCK_ACK_WINDOW)];
            slot.as_ref().map(|&(_, came)| (distance, came))
        })
    }

    /// Frames that wait for others.
    pub(crate) fn holds(&self) -> u16 {
        self.holds
    }

    /// Releases what is held before `start`, gaps or not.
    fn move_to(&mut self, start: u16, release: &mut impl FnMut(Frame<P>, Time)) {
        while self.start != start && self.holds > 0 {
            self.release_start(release);
            self.start = ahead(self.start + 1, 0);
        }
        self.start = start;
    }

    /// Releases what is held without a gap from the start on.
    fn release_run(&mut self, release: &mut impl FnMut(Frame<P>, Time)) {
        while self.holds > 0 && self.release_start(release) {
            self.start = ahead(self.start + 1, 0);
        }
    }

    fn release_start(&mut self, release: &mut impl FnMut(Frame<P>, Time)) -> bool {
        let taken = self.held[usize::from(self.start % BLOCK_ACK_WINDOW)].take();
        let Some((frame, came)) = taken else {
            return false;
        };
        self.holds -= 1;
        release(frame, came);
        true
    }
}

/// Ticks of the clock until then.
const fn tick(at: Time) -> u64 {
    at.as_nanos() / TICK.as_nanos()
}

#[cfg(test)]
mod tests;
