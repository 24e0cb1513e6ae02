//! Policies of a cell's access point: what `wifi` says beyond strict airtime fairness.
//!
//! What is off is left out of the canonical text, so that a scenario without policies has the text that it had before there were any.

use crate::wifi::WifiText;
use crate::{ScenarioError, fail};
use serde::{Deserialize, Serialize};
use sojourn_units::{Duration, Rate, format_duration, format_rate, parse_duration, parse_rate};
use sojourn_wifi::{DEFAULT_WEIGHT, GroupSpec, Policies, QosOrder, SchedulerKind};

/// One group of stations.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct GroupText {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cap: Option<f64>,
}

/// Reads the policies. What of a value is a matter of the cell is checked there.
///
/// # Errors
/// [`ScenarioError`] for a name or a duration that is none.
pub(crate) fn read(t: &WifiText) -> Result<Policies, ScenarioError> {
    let span = |key: &str, text: &str| parse_duration(text).map_err(|e| ScenarioError(format!("wifi.{key}: {e}")));
    let group = |g: &GroupText| GroupSpec {
        name: g.name.clone(),
        weight: g.weight.unwrap_or(DEFAULT_WEIGHT),
        cap: g.cap,
    };
    let scheduler = match t.scheduler.as_deref() {
        None => SchedulerKind::Deficit,
        Some(text) => match SchedulerKind::ALL.into_iter().find(|s| s.name() == text) {
            Some(scheduler) => scheduler,
            None => return fail("wifi.scheduler", format!("{text:?}"), "\"deficit\" or \"credit\""),
        },
    };
    let qos = match t.qos.as_deref() {
        None => QosOrder::Priority,
        Some(text) => match QosOrder::ALL.into_iter().find(|q| q.name() == text) {
            Some(qos) => qos,
            None => return fail("wifi.qos", format!("{text:?}"), "\"priority\" or \"fairness\""),
        },
    };
    let riders = match (t.vo_in_aggregate.unwrap_or(false), t.vo_in_aggregate_max) {
        (true, most) => Some(most.unwrap_or(Policies::VO_IN_AGGREGATE)),
        (false, None) => None,
        (false, Some(most)) => {
            return fail(
                "wifi.vo_in_aggregate_max",
                most,
                "absent unless vo_in_aggregate is true",
            );
        }
    };
    let hold = match (riders, t.vo_in_aggregate_hold) {
        (None, Some(hold)) => {
            return fail(
                "wifi.vo_in_aggregate_hold",
                hold,
                "absent unless vo_in_aggregate is true",
            );
        }
        (_, hold) => hold.unwrap_or(0),
    };
    Ok(Policies {
        groups: t.groups.iter().map(group).collect(),
        scheduler,
        accounting_delay: match &t.accounting_delay {
            None => Duration::ZERO,
            Some(text) => span("accounting_delay", text)?,
        },
        vo_in_aggregate: riders,
        vo_hold: hold,
        demote: t.demote.as_deref().map(|text| span("demote", text)).transpose()?,
        qos,
    })
}

/// Writes them.
pub(crate) fn write(policies: &Policies, t: &mut WifiText) {
    let group = |g: &GroupSpec| GroupText {
        name: g.name.clone(),
        weight: Some(g.weight),
        cap: g.cap,
    };
    t.groups = policies.groups.iter().map(group).collect();
    let credit = policies.scheduler != SchedulerKind::Deficit;
    t.scheduler = credit.then(|| policies.scheduler.name().into());
    let delay = policies.accounting_delay;
    t.accounting_delay = (!delay.is_zero()).then(|| format_duration(delay));
    t.vo_in_aggregate = policies.vo_in_aggregate.map(|_| true);
    t.vo_in_aggregate_max = policies.vo_in_aggregate;
    t.vo_in_aggregate_hold = policies.vo_in_aggregate.map(|_| policies.vo_hold);
    t.demote = policies.demote.map(format_duration);
    t.qos = (policies.qos != QosOrder::Priority).then(|| policies.qos.name().into());
}

/// Reads a station's minimum rate.
///
/// # Errors
/// [`ScenarioError`] for what is no rate.
pub(crate) fn min_rate(who: &str, text: Option<&str>) -> Result<Option<Rate>, ScenarioError> {
    let rate = |text| parse_rate(text).map_err(|e| ScenarioError(format!("{who}.min_rate: {e}")));
    text.map(rate).transpose()
}

/// Writes it.
pub(crate) fn min_rate_text(rate: Option<Rate>) -> Option<String> {
    rate.map(format_rate)
}
