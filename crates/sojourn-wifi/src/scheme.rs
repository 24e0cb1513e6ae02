//! How a node queues what it sends.

use crate::Variant;
use sojourn_units::words;

words! {
    /// How a node queues what it sends. Source: seed 002 section 3.2.
    #[derive(Default)]
    #[non_exhaustive]
    pub enum Scheme {
        /// `pfifo_fast`, or another discipline, above the driver's own FIFOs.
        Fifo = "fifo",
        /// `fq_codel` above the driver's own FIFOs.
        FqCodel = "fq_codel",
        /// The queues of Algorithms 1 and 2 inside the MAC; stations take turns by aggregates.
        FqMac = "fq_mac",
        /// The same queues; stations take turns by airtime, Algorithm 3.
        #[default]
        Airtime = "airtime",
    }
}

impl Scheme {
    /// Whether a queue discipline stands above queues of the driver.
    #[must_use]
    pub const fn has_qdisc(self) -> bool {
        matches!(self, Self::Fifo | Self::FqCodel)
    }

    /// The discipline above the driver where none is named, in `tc`'s words; `None` for a scheme without one. The
    /// FIFO of the paper's kernel is a list, that of Linux 6.12 a ring, which lets packets in 16 at a time when
    /// it is full.
    #[must_use]
    pub const fn default_qdisc(self, variant: Variant) -> Option<&'static str> {
        match (self, variant) {
            (Self::Fifo, Variant::Paper) => Some("pfifo_fast limit 1000 variant linux-3.14"),
            (Self::Fifo, Variant::Linux612) => Some("pfifo_fast limit 1000"),
            (Self::FqCodel, _) => Some("fq_codel"),
            (Self::FqMac | Self::Airtime, _) => None,
        }
    }
}
