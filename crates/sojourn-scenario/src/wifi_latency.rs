//! The keys under `wifi` that shorten the time below the queues.

use crate::wifi_keys::Wifi;
use crate::{ScenarioError, fail};
use sojourn_wifi::{AqlSpec, DenseSpec, LatencySpec};

/// What the scenario says of them.
pub(crate) fn read(keys: &Wifi) -> Result<LatencySpec, ScenarioError> {
    let aql = match (keys.aql, keys.aql_high, keys.aql_total) {
        (Some(low), high, total) => Some(AqlSpec {
            low,
            high: high.unwrap_or(AqlSpec::LINUX.high),
            total: total.unwrap_or(AqlSpec::LINUX.total),
        }),
        (None, Some(high), _) => return without("aql_high", high, "aql"),
        (None, _, Some(total)) => return without("aql_total", total, "aql"),
        (None, None, None) => None,
    };
    let dense = match (keys.dense_stations, keys.dense_aggregate_time) {
        (Some(stations), Some(aggregate_time)) => Some(DenseSpec {
            stations,
            aggregate_time,
        }),
        (Some(stations), None) => return without("dense_stations", stations, "dense_aggregate_time"),
        (None, Some(time)) => return without("dense_aggregate_time", time, "dense_stations"),
        (None, None) => None,
    };
    Ok(LatencySpec {
        aql,
        defer: keys.defer,
        build_time: keys.build_time.unwrap_or_default(),
        retry_time: keys.retry_time,
        retry_sojourn: keys.retry_sojourn,
        dense,
    })
}

/// Writes what is set, so that a scenario without any of it has the text that it had before there was any.
pub(crate) fn write(spec: &LatencySpec, keys: &mut Wifi) {
    keys.aql = spec.aql.map(|aql| aql.low);
    keys.aql_high = spec.aql.map(|aql| aql.high);
    keys.aql_total = spec.aql.map(|aql| aql.total);
    keys.defer = spec.defer;
    keys.build_time = Some(spec.build_time).filter(|time| !time.is_zero());
    keys.retry_time = spec.retry_time;
    keys.retry_sojourn = spec.retry_sojourn;
    keys.dense_stations = spec.dense.map(|dense| dense.stations);
    keys.dense_aggregate_time = spec.dense.map(|dense| dense.aggregate_time);
}

fn without<T>(key: &str, value: impl std::fmt::Display, other: &str) -> Result<T, ScenarioError> {
    fail(&format!("wifi.{key}"), value, format!("left out without wifi.{other}"))
}
