//! Policies of a cell's access point: what `wifi` says beyond strict airtime fairness.
//!
//! What is off is left out of the canonical text, so that a scenario without policies has the text that it had before there were any.

use crate::wifi_keys::{Group, Wifi};
use crate::{ScenarioError, fail};
use sojourn_wifi::{DEFAULT_WEIGHT, GroupSpec, Policies, QosOrder, SchedulerKind};

/// Reads the policies. What of a value is a matter of the cell is checked there.
///
/// # Errors
/// [`ScenarioError`] for what belongs to a policy that is off.
pub(crate) fn read(keys: &Wifi) -> Result<Policies, ScenarioError> {
    let group = |g: &Group| GroupSpec {
        name: g.name.clone(),
        weight: g.weight.unwrap_or(DEFAULT_WEIGHT),
        cap: g.cap,
    };
    let riders = keys.vo_in_aggregate.unwrap_or(false);
    for (key, value) in [
        ("vo_in_aggregate_max", keys.vo_in_aggregate_max),
        ("vo_in_aggregate_hold", keys.vo_in_aggregate_hold),
    ] {
        if let (false, Some(value)) = (riders, value) {
            return fail(&format!("wifi.{key}"), value, "absent unless vo_in_aggregate is true");
        }
    }
    let most = keys.vo_in_aggregate_max.unwrap_or(Policies::VO_IN_AGGREGATE);
    Ok(Policies {
        groups: keys.groups.iter().map(group).collect(),
        scheduler: keys.scheduler.unwrap_or_default(),
        accounting_delay: keys.accounting_delay.unwrap_or_default(),
        vo_in_aggregate: riders.then_some(most),
        vo_hold: keys.vo_in_aggregate_hold.unwrap_or(0),
        demote: keys.demote,
        qos: keys.qos.unwrap_or_default(),
    })
}

/// Writes them.
pub(crate) fn write(policies: &Policies, keys: &mut Wifi) {
    let group = |g: &GroupSpec| Group {
        name: g.name.clone(),
        weight: Some(g.weight),
        cap: g.cap,
    };
    keys.groups = policies.groups.iter().map(group).collect();
    keys.scheduler = Some(policies.scheduler).filter(|kind| *kind != SchedulerKind::default());
    keys.accounting_delay = Some(policies.accounting_delay).filter(|delay| !delay.is_zero());
    keys.vo_in_aggregate = policies.vo_in_aggregate.map(|_| true);
    keys.vo_in_aggregate_max = policies.vo_in_aggregate;
    keys.vo_in_aggregate_hold = policies.vo_in_aggregate.map(|_| policies.vo_hold);
    keys.demote = policies.demote;
    keys.qos = Some(policies.qos).filter(|order| *order != QosOrder::default());
}
