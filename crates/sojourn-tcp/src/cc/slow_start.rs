//! Slow start, and what ends it before a loss or a mark does.

mod hystart;
mod hystart_plus_plus;

use super::{Ack, Window};
use crate::variant::Variant;
use hystart::HyStart;
use hystart_plus_plus::HyStartPlusPlus;
use sojourn_units::{Duration, Time};

/// By what slow start ends, beside losses and marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum SlowStart {
    /// By nothing else.
    Plain,
    /// By `HyStart`. Source: Linux `tcp_cubic/hystart`.
    #[default]
    HyStart,
    /// By `HyStart++` (RFC 9406), which Linux has not adopted.
    HyStartPlusPlus,
}

/// The slow start of one connection.
#[derive(Clone, Debug)]
pub(super) enum Phase {
    Plain,
    HyStart(HyStart),
    /// The first of a connection; later ones are plain.
    PlusPlus(Box<HyStartPlusPlus>),
}

impl Phase {
    /// As `variant` of Linux has it.
    pub(super) fn new(kind: SlowStart, variant: Variant) -> Self {
        match kind {
            SlowStart::Plain => Self::Plain,
            SlowStart::HyStart => Self::HyStart(HyStart::new(variant)),
            SlowStart::HyStartPlusPlus => Self::PlusPlus(Box::default()),
        }
    }

    /// An acknowledgement, whether it tells a round trip or not. It may end slow start.
    #[inline]
    pub(super) fn on_ack(&mut self, ack: &Ack, window: &mut Window) {
        if let Self::PlusPlus(start) = self
            && window.in_slow_start()
        {
            start.on_ack(ack, window);
        }
    }

    /// A round trip of `rtt`, where the smallest is `base`. It may end slow start.
    #[inline]
    pub(super) fn on_rtt(&mut self, ack: &Ack, rtt: Duration, base: Duration, window: &mut Window) {
        if window.in_slow_start()
            && let Self::HyStart(start) = self
        {
            start.on_rtt(ack, rtt, base, window);
        }
    }

    /// The window grows for `acked` segments. Answers how many of them are left for congestion avoidance.
    #[inline]
    pub(super) fn grow(&mut self, acked: u32, window: &mut Window) -> u32 {
        let acked = match self {
            Self::PlusPlus(start) => start.growth(acked),
            _ => acked,
        };
        window.slow_start(acked)
    }

    /// There was congestion.
    pub(super) fn on_reduction(&mut self) {
        if let Self::PlusPlus(_) = self {
            *self = Self::Plain;
        }
    }

    /// A time-out has passed, after which slow start begins anew.
    pub(super) fn on_timeout(&mut self, now: Time, nxt: u64) {
        self.on_reduction();
        if let Self::HyStart(start) = self {
            start.restart(now, nxt);
        }
    }
}
