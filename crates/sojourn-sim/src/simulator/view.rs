//! For those who watch a simulation and change it on the way.

use super::{SimError, Simulator};
use crate::network::LinkId;
use crate::standing::{Passage, Standing};
use sojourn_units::{Bytes, Duration, Rate};

impl Simulator {
    /// Keeps from now on which packets stand at the egress of `link`.
    pub(crate) fn keep_standing(&mut self, link: LinkId) {
        if let Some(egress) = &mut self.fabric.links[usize::from(link.0)].egress {
            egress.meter.standing.get_or_insert_default();
        }
    }

    /// Keeps from now on which packets are in the first cell.
    pub(crate) fn keep_standing_in_air(&mut self) {
        if let Some(radio) = self.fabric.radios.first_mut() {
            radio.standing.get_or_insert_default();
        }
    }

    /// What stands at the egress of `link`, if that is kept.
    pub(crate) fn standing(&self, link: LinkId) -> Option<&Standing> {
        let egress = self.fabric.links[usize::from(link.0)].egress.as_ref()?;
        egress.meter.standing.as_deref()
    }

    /// What is in the first cell from the stations, and to them, if that is kept.
    pub(crate) fn standing_in_air(&self) -> Option<&[Standing; 2]> {
        self.fabric.radios.first()?.standing.as_deref()
    }

    /// What came and left at the egress of `link` since the last call, if that is kept.
    pub(crate) fn take_passages(&mut self, link: LinkId) -> Vec<Passage> {
        if let Some(air) = self.fabric.radios.first_mut().and_then(|radio| radio.standing.as_mut()) {
            // They are not told.
            air.iter_mut().for_each(|one| one.passages.clear());
        }
        let egress = self.fabric.links[usize::from(link.0)].egress.as_mut();
        let standing = egress.and_then(|egress| egress.meter.standing.as_mut());
        standing.map_or_else(Vec::new, |standing| std::mem::take(&mut standing.passages))
    }

    /// The airtime of each station of the first cell since the beginning of the run; empty without a cell.
    pub(crate) fn airtimes(&self) -> Vec<Duration> {
        let Some(radio) = self.fabric.radios.first() else {
            return Vec::new();
        };
        let of = |station| {
            let sent = radio.cell.station_stats(station).down.sent;
            sent.airtime_tx + sent.airtime_rx
        };
        (0..radio.cell.stations()).map(of).collect()
    }

    /// The state of the discipline at the egress of `link`, by the names of `tc -s`.
    pub(crate) fn discipline_state(&self, link: LinkId) -> Vec<(&'static str, f64)> {
        let egress = self.fabric.links[usize::from(link.0)].egress.as_ref();
        egress.map_or_else(Vec::new, |egress| egress.pacing.extra_stats())
    }

    /// Changes the rate of the egress of `link` from now on, and the depth of its token bucket if it has one. The bucket
    /// is full then. What is queued stays.
    ///
    /// A link whose egress is not reported ([`crate::network::EgressSpec::name`]) may be computed ahead, so its rate
    /// stays as it is.
    ///
    /// # Errors
    /// [`SimError::Qdisc`] for a bucket that takes more than a day to fill at this rate; then nothing has changed.
    ///
    /// # Panics
    /// If the link is of another network, which has more of them.
    pub fn set_rate(&mut self, link: LinkId, rate: Rate, burst: Bytes) -> Result<(), SimError> {
        let egress = self.fabric.links[usize::from(link.0)].egress.as_mut();
        if let Some(egress) = egress.filter(|egress| egress.reported) {
            egress.pacing.set_rate(rate, burst)?;
            if self.settled && !self.frozen {
                // The wake-up of the packet that waits was that of the old rate.
                self.fabric.serve(link.0);
                self.deliver_arrived();
                self.tell_senders();
            }
        }
        Ok(())
    }
}
