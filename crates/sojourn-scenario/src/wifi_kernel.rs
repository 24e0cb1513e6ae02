//! What of a cell a kernel's mac80211, with Sojourn's radio below it, cannot be asked for.
//!
//! Source: mac80211 of Linux 6.12 (`tx.c`, `airtime.c`, `sta_info.c`), whose constants have no switch; `kernel/sojourn_radio`.

use crate::wifi_keys::Wifi;
use crate::{ScenarioError, WifiScenario, fail};
use sojourn_qdisc::{KernelOptions, kernel_options};
use sojourn_units::Duration;
use sojourn_wifi::{AccessCategory, Band, EdcaTable, NodeSpec, RateControl, Width};

/// Stations of a cell on a kernel at most: a bed has 64 network namespaces, of which routers and server take four.
const STATIONS: usize = 60;
/// mac80211's airtime of a turn at the default weight. Source: `IEEE80211_DEFAULT_AIRTIME_WEIGHT`, microseconds.
const KERNEL_QUANTUM: Duration = Duration::from_micros(256);

/// Checks that a kernel can run the cell.
///
/// # Errors
/// [`ScenarioError`]: the first field that it cannot, its value, and the rule.
pub(crate) fn check(WifiScenario { cell, keys }: &WifiScenario) -> Result<(), ScenarioError> {
    if cell.stations.len() > STATIONS {
        let value = format!("{} stations", cell.stations.len());
        return fail(
            "wifi.stations",
            value,
            format!("1 to {STATIONS} stations on the linux back end"),
        );
    }
    if cell.band != Band::Ghz5 {
        return fail(
            "wifi.band",
            "\"2.4ghz\"",
            "\"5ghz\" on the linux back end, whose cells are there",
        );
    }
    if cell.rate_control != RateControl::Fixed {
        return fail(
            "wifi.rate_control",
            "\"simple\"",
            "\"fixed\" on the linux back end: simple is the simulator's own",
        );
    }
    discipline("wifi", &cell.access_point)?;
    check_keys(keys)?;
    constants(&cell.access_point)?;
    edca("wifi.edca.ap", &cell.edca.access_point)?;
    edca("wifi.edca.station", &cell.edca.station)?;
    let first = &cell.stations[0].node;
    for (i, station) in cell.stations.iter().enumerate() {
        let who = format!("wifi.stations[{i}]");
        for (field, rate) in [("rate", station.rate), ("rate_up", station.rate_up)] {
            if rate.width() > Width::Mhz80 || rate.streams() > 4 {
                let rule = "at most 80 MHz and 4 streams on the linux back end";
                return fail(&format!("{who}.{field}"), format!("\"{rate}\""), rule);
            }
        }
        if station.min_rate.is_some() {
            return fail(
                &format!("{who}.min_rate"),
                "given",
                "left out on the linux back end: mac80211 has no minimum rates",
            );
        }
        if let Some(fade) = station.fade {
            let rule = "left out on the linux back end, whose radio draws the loss of each frame on its own";
            return fail(&format!("{who}.fade"), fade.length, rule);
        }
        let frames = station.node.aggregate_frames;
        if frames != cell.access_point.aggregate_frames {
            let rule = "that of the access point on the linux back end, whose radios have one limit";
            return fail(&format!("{who}.aggregate_frames"), frames.to_string(), rule);
        }
        let queues = |node: &NodeSpec| Ok::<_, ScenarioError>((discipline(&who, node)?, node.driver_frames));
        if queues(&station.node)? != queues(first)? {
            let rule =
                "as that of the first station on the linux back end, whose radios have one setting for all stations";
            return fail(
                &format!("{who}.scheme"),
                format!("\"{}\" with other queues", station.node.scheme.name()),
                rule,
            );
        }
    }
    Ok(())
}

/// The discipline above the driver's queue, as a kernel is told it; `None` for the MAC's own queues.
///
/// # Errors
/// [`ScenarioError`] for one that a kernel cannot be told.
pub fn discipline(who: &str, node: &NodeSpec) -> Result<Option<KernelOptions>, ScenarioError> {
    let Some(qdisc) = node.above_driver().filter(|_| node.scheme.has_qdisc()) else {
        return Ok(None);
    };
    let told = kernel_options(&qdisc.to_string(), None);
    told.map(Some)
        .map_err(|e| ScenarioError::because(format!("{who}.qdisc: {e}")))
}

/// Refuses what neither mac80211 nor its radio has. What is off is none of the keys.
fn check_keys(keys: &Wifi) -> Result<(), ScenarioError> {
    let policy = "left out on the linux back end: mac80211 has no such policy";
    let radio = "left out on the linux back end: neither mac80211 nor its radio has it";
    let groups = keys.groups.len();
    let shown = |time: Option<Duration>| time.map(|time| time.to_string());
    for (field, value, rule) in [
        ("groups", (groups > 0).then(|| format!("{groups} groups")), policy),
        (
            "scheduler",
            keys.scheduler.map(|kind| format!("{:?}", kind.name())),
            policy,
        ),
        ("accounting_delay", shown(keys.accounting_delay), policy),
        ("vo_in_aggregate", keys.vo_in_aggregate.map(|on| on.to_string()), policy),
        ("demote", shown(keys.demote), policy),
        ("qos", keys.qos.map(|order| format!("{:?}", order.name())), policy),
        ("defer", shown(keys.defer), radio),
        ("build_time", shown(keys.build_time), radio),
        ("retry_time", shown(keys.retry_time), radio),
        ("retry_sojourn", shown(keys.retry_sojourn), radio),
        ("dense_stations", keys.dense_stations.map(|n| n.to_string()), radio),
    ] {
        if let Some(value) = value {
            return fail(&format!("wifi.{field}"), value, rule);
        }
    }
    for (field, limit) in [
        ("aql", keys.aql),
        ("aql_high", keys.aql_high),
        ("aql_total", keys.aql_total),
    ] {
        if let Some(limit) = limit.filter(|limit| !limit.as_nanos().is_multiple_of(1000)) {
            let rule = "whole microseconds on the linux back end, as debugfs has it";
            return fail(&format!("wifi.{field}"), limit, rule);
        }
    }
    Ok(())
}

/// What mac80211 has as constants.
fn constants(node: &NodeSpec) -> Result<(), ScenarioError> {
    let usual = NodeSpec::ACCESS_POINT;
    let constant = |field: &str, value: String, has: &str| {
        fail(
            &format!("wifi.{field}"),
            value,
            format!("{has} on the linux back end, as mac80211 has it"),
        )
    };
    if node.queues != usual.queues {
        return constant("queues", node.queues.to_string(), "4096");
    }
    if ![usual.airtime_quantum, KERNEL_QUANTUM].contains(&node.airtime_quantum) {
        let has = "left out, or 256us at the weight 256,";
        return constant("airtime_quantum", node.airtime_quantum.to_string(), has);
    }
    if node.codel_target != usual.codel_target {
        return constant("codel_target", node.codel_target.to_string(), "20ms");
    }
    if node.codel_interval != usual.codel_interval {
        return constant("codel_interval", node.codel_interval.to_string(), "100ms");
    }
    if !node.ecn {
        return constant("ecn", "false".into(), "true");
    }
    if node.slow_station_codel {
        let rule =
            "false on the linux back end: Linux 6.12 asks its driver how slow a station is, and the radio does not say";
        return fail("wifi.slow_station_codel", "true", rule);
    }
    if !node.aggregate_time.as_nanos().is_multiple_of(1000) {
        let rule = "whole microseconds on the linux back end";
        return fail("wifi.aggregate_time", node.aggregate_time, rule);
    }
    Ok(())
}

fn edca(who: &str, table: &EdcaTable) -> Result<(), ScenarioError> {
    for category in AccessCategory::ALL {
        let txop = table.of(category).txop_limit;
        if !txop.as_nanos().is_multiple_of(1000) {
            let field = format!("{who}.{}.txop", category.name());
            return fail(&field, txop, "whole microseconds on the linux back end");
        }
    }
    Ok(())
}
