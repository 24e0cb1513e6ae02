//! What the window is to become, which it follows by a segment for each acknowledgement.
//!
//! L4STeam's Linux counts this in two ways, by version of `tcp_prague.c`. They differ in three points:
//!
//! - A reduction may come while the window still follows the one before. With [`Aim::Change`] it takes its part of the
//!   window, and with [`Aim::Whole`] of what the window is to become.
//! - With `Change` the window is within a segment of the aim. With `Whole` it is the aim, rounded up.
//! - With `Whole` the aim may be below the least window of two segments.

use super::{LEAST, ONE};
use crate::cc::{Threshold, Window};

/// The aim; both ways count 2^20ths of a segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Aim {
    /// By what the window is to change yet: `cwnd_cnt` of 0.6.
    Change(i64),
    /// What it is to be: `frac_cwnd` of later versions. Nothing before the control begins.
    Whole(u64),
}

impl Aim {
    /// The aim of a window that need not change.
    pub(super) fn begin(&mut self, window: &Window) {
        if let Self::Whole(whole) = self {
            *whole = u64::from(window.cwnd) * ONE;
        }
    }

    /// Half of the share of marked packets less (`prague_enter_cwr`).
    pub(super) fn reduce(&mut self, alpha: u64, window: &Window) {
        match self {
            Self::Change(change) => *change -= ((alpha * u64::from(window.cwnd) + 1) >> 1).cast_signed(),
            Self::Whole(whole) => {
                let less = (u128::from(alpha) * u128::from(*whole) + u128::from(ONE)) / u128::from(2 * ONE);
                *whole = whole.saturating_sub(u64::try_from(less).unwrap_or(u64::MAX));
            }
        }
    }

    /// Half of it (`prague_enter_loss`).
    pub(super) fn halve(&mut self, window: &Window) {
        match self {
            Self::Change(change) => *change -= (u64::from(window.cwnd) * ONE / 2).cast_signed() + (*change >> 1),
            Self::Whole(whole) => *whole -= *whole >> 1,
        }
    }

    /// Growth by acknowledged segments without a mark; a window of them makes it larger by `growth`.
    ///
    /// With `by_window` that is the window as it is, also where the aim is whole (0.7).
    pub(super) fn grow(&mut self, acked: u32, growth: u64, window: &Window, by_window: bool) {
        let acked = u64::from(acked);
        let parts = match self {
            Self::Whole(whole) if !by_window => whole.div_ceil(ONE).max(1),
            Self::Change(_) | Self::Whole(_) => u64::from(window.cwnd.max(1)),
        };
        let more = ((acked * growth + parts / 2) / parts).max(acked);
        match self {
            Self::Change(change) => *change += more.cast_signed(),
            Self::Whole(whole) => *whole += more,
        }
    }

    /// Growth to a whole aim at least, and by a little for each acknowledged segment.
    pub(super) fn raise(&mut self, acked: u32, least: u64) {
        if let Self::Whole(whole) = self {
            *whole = (*whole + u64::from(acked)).max(least);
        }
    }

    /// Slow start has set the window, and a whole aim is that at least.
    pub(super) fn follow(&mut self, window: &Window) {
        if let Self::Whole(whole) = self {
            *whole = (*whole).max(u64::from(window.cwnd) * ONE);
        }
    }

    /// At least what it was before a reduction that was for nothing.
    pub(super) fn undo(&mut self, before: Self) {
        match (self, before) {
            (Self::Change(change), Self::Change(was)) => *change = (*change).max(was),
            (Self::Whole(whole), Self::Whole(was)) => *whole = (*whole).max(was),
            _ => {}
        }
    }

    /// Move the window by a segment towards it; whether it moved (`prague_update_cwnd`).
    pub(super) fn step(&mut self, window: &mut Window) -> bool {
        let one = ONE.cast_signed();
        let by = match self {
            Self::Change(change) => change.signum() * i64::from(change.abs() >= one),
            Self::Whole(whole) => {
                let wanted = whole.div_ceil(ONE).max(1);
                let there = u64::from(window.cwnd);
                let less = there > wanted && window.cwnd > LEAST;
                i64::from(there < wanted) - i64::from(less)
            }
        };
        if let Self::Change(change) = self {
            *change -= by * one;
        }
        match by {
            -1 => {
                window.cwnd = window.cwnd.saturating_sub(1);
                if window.cwnd < LEAST {
                    window.cwnd = LEAST;
                    *self = Self::Change(0);
                }
                window.ssthresh = Threshold::Segments(window.cwnd);
            }
            1 => window.cwnd = window.cwnd.saturating_add(1),
            _ => {}
        }
        by != 0
    }
}
