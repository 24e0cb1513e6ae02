//! Policies of a cell's access point: what `wifi` says beyond strict airtime fairness.
//!
//! What is off is left out of the canonical text, so that a scenario without policies has the text that it had before there were any.

use crate::wifi_keys::{Group, Wifi};
use crate::{ScenarioError, fail, is_default};
use sojourn_wifi::{DEFAULT_WEIGHT, GroupSpec, Policies};

impl Wifi {
    /// Writes out what is left out of policies that are on, and leaves out those that are off. Answers the policies. What of
    /// a value is a matter of the cell is checked there.
    ///
    /// # Errors
    /// [`ScenarioError`] for what belongs to a policy that is off.
    pub(crate) fn policies(&mut self) -> Result<Policies, ScenarioError> {
        self.vo_in_aggregate.take_if(|on| !*on);
        if self.vo_in_aggregate.is_some() {
            self.vo_in_aggregate_max.get_or_insert(Policies::VO_IN_AGGREGATE);
            self.vo_in_aggregate_hold.get_or_insert(0);
        } else {
            for (key, value) in [
                ("vo_in_aggregate_max", self.vo_in_aggregate_max),
                ("vo_in_aggregate_hold", self.vo_in_aggregate_hold),
            ] {
                if let Some(value) = value {
                    return fail(&format!("wifi.{key}"), value, "absent unless vo_in_aggregate is true");
                }
            }
        }
        self.scheduler.take_if(|kind| is_default(kind));
        self.accounting_delay.take_if(|delay| delay.is_zero());
        self.qos.take_if(|order| is_default(order));
        let group = |group: &mut Group| GroupSpec {
            name: group.name.clone(),
            weight: *group.weight.get_or_insert(DEFAULT_WEIGHT),
            cap: group.cap,
        };
        Ok(Policies {
            groups: self.groups.iter_mut().map(group).collect(),
            scheduler: self.scheduler.unwrap_or_default(),
            accounting_delay: self.accounting_delay.unwrap_or_default(),
            vo_in_aggregate: self.vo_in_aggregate_max,
            vo_hold: self.vo_in_aggregate_hold.unwrap_or(0),
            demote: self.demote,
            qos: self.qos.unwrap_or_default(),
        })
    }
}
