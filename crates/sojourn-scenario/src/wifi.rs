//! The cell between the clients and the first router.

use crate::name::check_name;
use crate::wifi_keys::{Categories, Edca, Station, Wifi};
use crate::{ScenarioError, fail, is_default};
use serde::{Deserialize, Serialize};
use sojourn_tcp::Heads;
use sojourn_wifi::{
    CellSpec, DEFAULT_WEIGHT, EdcaParams, EdcaSpec, EdcaTable, FadeSpec, LatencySpec, NodeSpec, Policies, StationSpec,
    Variant,
};

/// A cell: an access point, which is the first router, and stations, which are the clients.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Wifi", into = "Wifi")]
pub struct WifiScenario {
    /// All of it.
    pub cell: CellSpec,
    /// What a file says of it, with every default written out.
    pub(crate) keys: Wifi,
}

impl TryFrom<Wifi> for WifiScenario {
    type Error = ScenarioError;

    fn try_from(mut keys: Wifi) -> Result<Self, ScenarioError> {
        let cell = keys.complete()?;
        Ok(Self { cell, keys })
    }
}

impl From<WifiScenario> for Wifi {
    fn from(wifi: WifiScenario) -> Self {
        wifi.keys
    }
}

impl WifiScenario {
    /// What the hosts' kernels reserve for the headers of a segment: those of a cell of Linux 6.12 are built with wireless.
    pub(crate) fn heads(&self) -> Heads {
        match self.cell.access_point.variant {
            Variant::Linux612 => Heads::Wireless612,
            _ => Heads::default(),
        }
    }
}

impl Wifi {
    /// Writes out what is left out. Answers the cell.
    fn complete(&mut self) -> Result<CellSpec, ScenarioError> {
        let access_point = self.access_point()?;
        let stations = self.stations.iter_mut().enumerate();
        let stations = stations.map(|(i, station)| station.complete(i, &access_point));
        let stations = stations.collect::<Result<_, _>>()?;
        Ok(CellSpec {
            band: *self.band.get_or_insert_default(),
            access_point,
            stations,
            edca: self.edca.get_or_insert_default().complete(),
            rate_control: *self.rate_control.get_or_insert_default(),
        })
    }

    fn access_point(&mut self) -> Result<NodeSpec, ScenarioError> {
        let usual = NodeSpec::ACCESS_POINT;
        let variant = self.variant.unwrap_or(usual.variant);
        self.variant.take_if(|variant| is_default(variant));
        if variant == Variant::Paper {
            self.airtime_quantum.get_or_insert(usual.airtime_quantum);
        } else if let Some(quantum) = self.airtime_quantum {
            let rule = "left out with the variant \"linux-6.12\", where a turn is the weight in microseconds";
            return fail("wifi.airtime_quantum", quantum, rule);
        }
        let node = NodeSpec {
            scheme: *self.scheme.get_or_insert(usual.scheme),
            variant,
            qdisc: self.qdisc.take(),
            driver_frames: *self.driver_frames.get_or_insert(usual.driver_frames),
            hardware_queue: *self.hardware_queue.get_or_insert(usual.hardware_queue),
            aggregate_frames: *self.aggregate_frames.get_or_insert(usual.aggregate_frames),
            aggregate_time: *self.aggregate_time.get_or_insert(usual.aggregate_time),
            retries: *self.retries.get_or_insert(usual.retries),
            queues: *self.queues.get_or_insert(usual.queues),
            limit: *self.limit.get_or_insert(usual.limit),
            memory: *self.memory.get_or_insert(usual.memory),
            quantum: *self.quantum.get_or_insert(usual.quantum),
            airtime_quantum: self.airtime_quantum.unwrap_or(usual.airtime_quantum),
            airtime_tx: *self.airtime_tx.get_or_insert(usual.airtime_tx),
            airtime_rx: *self.airtime_rx.get_or_insert(usual.airtime_rx),
            codel_target: *self.codel_target.get_or_insert(usual.codel_target),
            codel_interval: *self.codel_interval.get_or_insert(usual.codel_interval),
            ecn: *self.ecn.get_or_insert(usual.ecn),
            slow_station_codel: *self.slow_station_codel.get_or_insert(usual.slow_station_codel),
            policies: self.policies()?,
            latency: self.latency()?,
        };
        self.qdisc = node.above_driver();
        Ok(node)
    }
}

impl Station {
    /// Writes out what is left out, but for what the station shares with the access point. Answers the station.
    fn complete(&mut self, i: usize, access_point: &NodeSpec) -> Result<StationSpec, ScenarioError> {
        let who = format!("wifi.stations[{i}]");
        check_name(&format!("{who}.name"), &self.name)?;
        let scheme = *self.scheme.get_or_insert(NodeSpec::STATION.scheme);
        // In Linux 6.12 every node has the limits.
        let limited = access_point.variant == Variant::Linux612 && !scheme.has_qdisc();
        let node = NodeSpec {
            scheme,
            qdisc: self.qdisc.take(),
            driver_frames: *self.driver_frames.get_or_insert(NodeSpec::STATION.driver_frames),
            aggregate_frames: self.aggregate_frames.unwrap_or(access_point.aggregate_frames),
            policies: Policies::NONE,
            latency: LatencySpec {
                aql: access_point.latency.aql.filter(|_| limited),
                ..LatencySpec::OFF
            },
            ..access_point.clone()
        };
        self.qdisc = node.above_driver();
        self.aggregate_frames
            .take_if(|own| *own == access_point.aggregate_frames);
        // Plus zero: -0 is 0.
        let error = *self.error.insert(self.error.unwrap_or(0.0) + 0.0);
        Ok(StationSpec {
            name: self.name.clone(),
            rate: self.rate,
            rate_up: *self.rate_up.get_or_insert(self.rate),
            error,
            error_up: *self.error_up.insert(self.error_up.unwrap_or(error) + 0.0),
            fade: self.fade(&who)?,
            weight: *self.weight.get_or_insert(DEFAULT_WEIGHT),
            group: self.group.clone(),
            min_rate: self.min_rate,
            node,
        })
    }

    /// The fades of its link.
    fn fade(&mut self, who: &str) -> Result<Option<FadeSpec>, ScenarioError> {
        let without = |key: &str, value: String, other: &str| {
            let rule = format!("left out without {who}.{other}");
            fail(&format!("{who}.{key}"), value, rule)
        };
        match (self.fade, self.fade_gap, self.fade_error) {
            (Some(length), Some(gap), _) => Ok(Some(FadeSpec {
                length,
                gap,
                error: *self.fade_error.get_or_insert(1.0),
            })),
            (Some(length), None, _) => without("fade", length.to_string(), "fade_gap"),
            (None, Some(gap), _) => without("fade_gap", gap.to_string(), "fade"),
            (None, None, Some(error)) => without("fade_error", error.to_string(), "fade"),
            (None, None, None) => Ok(None),
        }
    }
}

impl Edca {
    fn complete(&mut self) -> EdcaSpec {
        EdcaSpec {
            access_point: self.ap.complete(EdcaTable::ACCESS_POINT),
            station: self.station.complete(EdcaTable::STATION),
        }
    }
}

impl Categories {
    /// Writes out what is left out, which is in `table`. Answers the whole table.
    fn complete(&mut self, mut table: EdcaTable) -> EdcaTable {
        // In the order of AccessCategory::ALL.
        let categories = [&mut self.vo, &mut self.vi, &mut self.be, &mut self.bk];
        for (keys, own) in categories.into_iter().zip(&mut table.categories) {
            *own = EdcaParams {
                aifsn: *keys.aifsn.get_or_insert(own.aifsn),
                cw_min: *keys.cw_min.get_or_insert(own.cw_min),
                cw_max: *keys.cw_max.get_or_insert(own.cw_max),
                txop_limit: *keys.txop.get_or_insert(own.txop_limit),
            };
        }
        table
    }
}
