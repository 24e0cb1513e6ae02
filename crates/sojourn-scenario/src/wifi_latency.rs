//! The keys under `wifi` that shorten the time below the queues.

use crate::wifi::WifiText;
use crate::{ScenarioError, fail};
use sojourn_units::{Duration, format_duration, parse_duration};
use sojourn_wifi::{AqlSpec, DenseSpec, LatencySpec};

/// What the scenario says of them.
pub(crate) fn read(t: &WifiText) -> Result<LatencySpec, ScenarioError> {
    let aql = span("aql", t.aql.as_deref())?;
    let high = span("aql_high", t.aql_high.as_deref())?;
    let total = span("aql_total", t.aql_total.as_deref())?;
    let aql = match (aql, &t.aql_high, &t.aql_total) {
        (Some(low), ..) => Some(AqlSpec {
            low,
            high: high.unwrap_or(AqlSpec::LINUX.high),
            total: total.unwrap_or(AqlSpec::LINUX.total),
        }),
        (None, Some(high), _) => return without("aql_high", high, "aql"),
        (None, _, Some(total)) => return without("aql_total", total, "aql"),
        (None, None, None) => None,
    };
    let dense_time = span("dense_aggregate_time", t.dense_aggregate_time.as_deref())?;
    let dense = match (t.dense_stations, dense_time) {
        (Some(stations), Some(aggregate_time)) => Some(DenseSpec {
            stations,
            aggregate_time,
        }),
        (Some(stations), None) => return without("dense_stations", &stations.to_string(), "dense_aggregate_time"),
        (None, Some(time)) => return without("dense_aggregate_time", &time.to_string(), "dense_stations"),
        (None, None) => None,
    };
    Ok(LatencySpec {
        aql,
        defer: span("defer", t.defer.as_deref())?,
        build_time: span("build_time", t.build_time.as_deref())?.unwrap_or_default(),
        retry_time: span("retry_time", t.retry_time.as_deref())?,
        retry_sojourn: span("retry_sojourn", t.retry_sojourn.as_deref())?,
        dense,
    })
}

/// Writes what is set, so that a scenario without any of it has the text that it had before there was any.
pub(crate) fn write(spec: &LatencySpec, t: &mut WifiText) {
    let text = |span: Option<Duration>| span.map(format_duration);
    t.aql = text(spec.aql.map(|aql| aql.low));
    t.aql_high = text(spec.aql.map(|aql| aql.high));
    t.aql_total = text(spec.aql.map(|aql| aql.total));
    t.defer = text(spec.defer);
    t.build_time = text(Some(spec.build_time).filter(|time| !time.is_zero()));
    t.retry_time = text(spec.retry_time);
    t.retry_sojourn = text(spec.retry_sojourn);
    t.dense_stations = spec.dense.map(|dense| dense.stations);
    t.dense_aggregate_time = text(spec.dense.map(|dense| dense.aggregate_time));
}

fn span(key: &str, text: Option<&str>) -> Result<Option<Duration>, ScenarioError> {
    let parse = |text| parse_duration(text).map_err(|e| ScenarioError(format!("wifi.{key}: {e}")));
    text.map(parse).transpose()
}

fn without<T>(key: &str, value: &str, other: &str) -> Result<T, ScenarioError> {
    fail(&format!("wifi.{key}"), value, format!("left out without wifi.{other}"))
}
