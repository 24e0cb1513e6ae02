//! The keys under `wifi` that shorten the time below the queues.

use crate::wifi_keys::Wifi;
use crate::{ScenarioError, fail};
use sojourn_wifi::{AqlSpec, DenseSpec, LatencySpec};

impl Wifi {
    /// Writes out what is left out of what is set. Answers what the scenario says of all of it.
    pub(crate) fn latency(&mut self) -> Result<LatencySpec, ScenarioError> {
        let aql = match (self.aql, self.aql_high, self.aql_total) {
            (Some(low), _, _) => Some(AqlSpec {
                low,
                high: *self.aql_high.get_or_insert(AqlSpec::LINUX.high),
                total: *self.aql_total.get_or_insert(AqlSpec::LINUX.total),
            }),
            (None, Some(high), _) => return without("aql_high", high, "aql"),
            (None, _, Some(total)) => return without("aql_total", total, "aql"),
            (None, None, None) => None,
        };
        let dense = match (self.dense_stations, self.dense_aggregate_time) {
            (Some(stations), Some(aggregate_time)) => Some(DenseSpec {
                stations,
                aggregate_time,
            }),
            (Some(stations), None) => return without("dense_stations", stations, "dense_aggregate_time"),
            (None, Some(time)) => return without("dense_aggregate_time", time, "dense_stations"),
            (None, None) => None,
        };
        self.build_time.take_if(|time| time.is_zero());
        Ok(LatencySpec {
            aql,
            defer: self.defer,
            build_time: self.build_time.unwrap_or_default(),
            retry_time: self.retry_time,
            retry_sojourn: self.retry_sojourn,
            dense,
        })
    }
}

fn without<T>(key: &str, value: impl std::fmt::Display, other: &str) -> Result<T, ScenarioError> {
    fail(&format!("wifi.{key}"), value, format!("left out without wifi.{other}"))
}
