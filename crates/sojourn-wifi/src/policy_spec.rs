//! What can be set of an access point beyond strict airtime fairness: seed 002 sections 4.2 and 4.3.

use crate::{Scheme, WifiError};
use sojourn_units::{Duration, words};
use std::collections::BTreeSet;

/// Stations that are scheduled together.
#[derive(Clone, Debug, PartialEq)]
pub struct GroupSpec {
    /// Its name, unique.
    pub name: String,
    /// Its share of the airtime, relative to the other groups and to the stations without a group.
    pub weight: u32,
    /// The share of all time that its stations' frames may take, above 0 to 1; `None` for no limit. What it leaves
    /// unused others may use, but what others leave unused it may not.
    pub cap: Option<f64>,
}

words! {
    /// How the next station is found.
    #[derive(Default)]
    pub enum SchedulerKind {
        /// Algorithm 3.
        #[default]
        Deficit = "deficit",
        /// The airtime of what was sent is divided among the stations that wait: [`crate::CreditScheduler`].
        Credit = "credit",
    }
}

words! {
    /// What goes first if priority and airtime fairness disagree.
    #[derive(Default)]
    pub enum QosOrder {
        /// Each access category has a hardware queue, lists and deficits of its own: a station that has used up its share of best effort
        /// has all of its share of voice left.
        #[default]
        Priority = "priority",
        /// A station has one deficit; the station is chosen first, then its most urgent category. All categories together may have
        /// as many aggregates in the hardware as one of them otherwise.
        Fairness = "fairness",
    }
}

/// The policies of an access point; the default is none of them. Only for the scheme `airtime`.
#[derive(Clone, Debug, PartialEq)]
pub struct Policies {
    /// Groups of stations.
    pub groups: Vec<GroupSpec>,
    /// How the next station is found.
    pub scheduler: SchedulerKind,
    /// How much later than it was used airtime is charged.
    pub accounting_delay: Duration,
    /// Voice frames that an aggregate of another category takes along at most; `None`: none, they wait for their own.
    pub vo_in_aggregate: Option<u32>,
    /// How many voice packets of a station with other data queued wait for such an aggregate, before voice is sent by
    /// itself; 0: none waits, only what happens to be queued rides.
    pub vo_hold: u32,
    /// The wait beyond which a flow of voice or video goes on as best effort.
    pub demote: Option<Duration>,
    /// What goes first if priority and fairness disagree.
    pub qos: QosOrder,
}

impl Default for Policies {
    fn default() -> Self {
        Self::NONE
    }
}

impl Policies {
    /// Strict airtime fairness.
    pub const NONE: Self = Self {
        groups: Vec::new(),
        scheduler: SchedulerKind::Deficit,
        accounting_delay: Duration::ZERO,
        vo_in_aggregate: None,
        vo_hold: 0,
        demote: None,
        qos: QosOrder::Priority,
    };

    /// The voice frames that an aggregate takes along where no number is given.
    pub const VO_IN_AGGREGATE: u32 = 8;

    /// The number of the group of this name.
    #[must_use]
    pub fn group(&self, name: &str) -> Option<u16> {
        let at = self.groups.iter().position(|group| group.name == name)?;
        u16::try_from(at).ok()
    }

    /// Checks everything; `who` names the node in the error.
    ///
    /// # Errors
    /// [`WifiError`] for the first value that breaks its rule.
    pub(crate) fn validate(&self, who: &str, scheme: Scheme) -> Result<(), WifiError> {
        if scheme != Scheme::Airtime
            && let Some((field, value)) = self.first_set()
        {
            let rule = format!("left out with the scheme {}: it belongs to airtime", scheme.name());
            return Err(WifiError::new(who, field, value, rule));
        }
        if self.groups.len() > 4096 {
            let rule = "4096 groups at most";
            return Err(WifiError::new(
                who,
                "groups",
                format!("{} groups", self.groups.len()),
                rule,
            ));
        }
        if self.scheduler == SchedulerKind::Credit && !self.groups.is_empty() {
            let rule = "\"deficit\" where there are groups: credits know none";
            return Err(WifiError::new(who, "scheduler", "\"credit\"", rule));
        }
        let mut names = BTreeSet::new();
        for (i, group) in self.groups.iter().enumerate() {
            let who = format!("{who}.groups[{i}]");
            if group.name.is_empty() || !names.insert(group.name.as_str()) {
                let rule = "a name that no other group has";
                return Err(WifiError::new(&who, "name", format!("{:?}", group.name), rule));
            }
            WifiError::unless_in(1..=65_535, &who, "weight", group.weight, "1 to 65535")?;
            if let Some(cap) = group.cap {
                WifiError::unless_in(1e-6..=1.0, &who, "cap", cap, "0.000001 to 1")?;
            }
        }
        let longest = Duration::from_secs(10);
        WifiError::unless_in(..=longest, who, "accounting_delay", self.accounting_delay, "0 to 10s")?;
        if let Some(frames) = self.vo_in_aggregate {
            let rule = "1 to 64 (the Block Ack window)";
            WifiError::unless_in(1..=64, who, "vo_in_aggregate_max", frames, rule)?;
        }
        let rule = "0 to 64 (the Block Ack window)";
        WifiError::unless_in(..=64, who, "vo_in_aggregate_hold", self.vo_hold, rule)?;
        if let Some(demote) = self.demote {
            WifiError::unless_in(Duration::from_micros(1)..=longest, who, "demote", demote, "1us to 10s")?;
        }
        Ok(())
    }

    /// The first option that is not as in [`Policies::NONE`], with its value.
    fn first_set(&self) -> Option<(&'static str, String)> {
        if !self.groups.is_empty() {
            Some(("groups", format!("{} groups", self.groups.len())))
        } else if self.scheduler != SchedulerKind::Deficit {
            Some(("scheduler", format!("\"{}\"", self.scheduler.name())))
        } else if !self.accounting_delay.is_zero() {
            Some(("accounting_delay", self.accounting_delay.to_string()))
        } else if self.vo_in_aggregate.is_some() {
            Some(("vo_in_aggregate", "true".into()))
        } else if let Some(demote) = self.demote {
            Some(("demote", demote.to_string()))
        } else if self.qos != QosOrder::Priority {
            Some(("qos", format!("\"{}\"", self.qos.name())))
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests;
