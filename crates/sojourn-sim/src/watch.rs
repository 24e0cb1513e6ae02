//! What looks at packets on their way: a capture, a flusher, or both. A run without either pays one test of an
//! `Option` for each packet at each link.

use crate::calendar::Calendar;
use crate::flusher::FlusherHost;
use crate::packet::{Packet, Segments};
use crate::tap::{Passing, Tap};
use sojourn_units::Time;

/// All that looks.
#[derive(Debug, Default)]
pub(crate) struct Watch {
    /// A packet capture, if one was asked for.
    pub(crate) tap: Option<Tap>,
    /// A queue flusher and the measurement of its flows, if the scenario has one.
    pub(crate) flusher: Option<FlusherHost>,
}

impl Watch {
    /// Something happens to a packet at a link.
    ///
    /// By value: a reference would keep each packet in memory instead of registers, with and without anyone who
    /// looks.
    #[cold]
    #[inline(never)]
    pub(crate) fn pass(
        &mut self,
        (passing, link): (Passing, u16),
        packet: Packet,
        segments: &Segments,
        calendar: &mut Calendar,
        at: Time,
    ) {
        if let Some(tap) = &mut self.tap {
            tap.pass(passing, link, packet, segments, at);
        }
        if let Some(flusher) = &mut self.flusher {
            flusher.pass(passing, link, &packet, segments, calendar, at);
        }
    }

    /// The measured window is over.
    pub(crate) fn finish(&mut self, calendar: &mut Calendar) {
        if let Some(tap) = &mut self.tap {
            tap.finish();
        }
        if let Some(flusher) = &mut self.flusher {
            flusher.finish(calendar);
        }
    }
}
