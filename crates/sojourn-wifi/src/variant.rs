//! Whose scheduler and limits: the paper's or those of a later Linux.

/// How stations take turns and what airtime queue limits count. The queues and their `CoDel` are the same in both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[non_exhaustive]
pub enum Variant {
    /// Algorithm 3 of seed 002, as ath9k of Linux 4.11 had it ([`crate::AirtimeScheduler`], [`crate::RoundRobin`]).
    #[default]
    Paper,
    /// mac80211 of Linux 6.12 ([`crate::Mac80211Scheduler`]): one list, deficits less the airtime that is pending, and limits that are
    /// asked before each frame and add up estimates of frames.
    Linux612,
}

impl Variant {
    /// All.
    pub const ALL: [Self; 2] = [Self::Paper, Self::Linux612];

    /// The name in scenarios: `paper`, `linux-6.12`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Paper => "paper",
            Self::Linux612 => "linux-6.12",
        }
    }

    /// The variant of this name; `None` for any other.
    #[must_use]
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|variant| variant.name() == name)
    }
}
