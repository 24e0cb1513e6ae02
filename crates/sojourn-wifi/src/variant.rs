//! Whose scheduler and limits: the paper's or those of a later Linux.

use sojourn_units::words;

words! {
    /// How stations take turns and what airtime queue limits count. The queues and their `CoDel` are the same in both.
    #[derive(Default)]
    #[non_exhaustive]
    pub enum Variant {
        /// Algorithm 3 of seed 002, as ath9k of Linux 4.11 had it ([`crate::AirtimeScheduler`], [`crate::RoundRobin`]).
        #[default]
        Paper = "paper",
        /// mac80211 of Linux 6.12 ([`crate::Mac80211Scheduler`]): one list, deficits less the airtime that is pending, and limits that are
        /// asked before each frame and add up estimates of frames.
        Linux612 = "linux-6.12",
    }
}
