//! The cell between the clients and the first router.

use crate::name::check_name;
use crate::wifi_keys::{Categories, Category, Edca, Station, Wifi};
use crate::{ScenarioError, fail, policies, wifi_latency};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use sojourn_qdisc::QdiscSpec;
use sojourn_tcp::Heads;
use sojourn_wifi::{
    AccessCategory, CellSpec, EdcaParams, EdcaSpec, EdcaTable, FadeSpec, NodeSpec, Scheme, StationSpec, Variant,
};

/// A cell: an access point, which is the first router, and stations, which are the clients.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Wifi", into = "Wifi")]
pub struct WifiScenario {
    /// All of it.
    pub cell: CellSpec,
}

impl TryFrom<Wifi> for WifiScenario {
    type Error = ScenarioError;

    fn try_from(keys: Wifi) -> Result<Self, ScenarioError> {
        let mut access_point = node(
            &keys,
            &NodeSpec::ACCESS_POINT,
            keys.scheme,
            keys.qdisc.as_ref(),
            (keys.driver_frames, None),
        );
        if let (Some(quantum), Variant::Linux612) = (&keys.airtime_quantum, access_point.variant) {
            let rule = "left out with the variant \"linux-6.12\", where a turn is the weight in microseconds";
            return fail("wifi.airtime_quantum", quantum, rule);
        }
        access_point.policies = policies::read(&keys)?;
        access_point.latency = wifi_latency::read(&keys)?;
        let stations = keys.stations.iter().enumerate().map(|(i, s)| station(i, s, &keys));
        let cell = CellSpec {
            band: keys.band.unwrap_or_default(),
            access_point,
            stations: stations.collect::<Result<_, _>>()?,
            edca: keys.edca.as_ref().map_or_else(EdcaSpec::default, Edca::spec),
            rate_control: keys.rate_control.unwrap_or_default(),
        };
        Ok(Self { cell })
    }
}

impl From<WifiScenario> for Wifi {
    /// With every default written out.
    fn from(WifiScenario { cell: c }: WifiScenario) -> Self {
        let ap = &c.access_point;
        let mut keys = Self {
            scheme: Some(ap.scheme),
            variant: Some(ap.variant).filter(|variant| *variant != Variant::Paper),
            qdisc: ap.above_driver(),
            band: Some(c.band),
            stations: c.stations.iter().map(|s| Station::of(s, ap)).collect(),
            driver_frames: Some(ap.driver_frames),
            hardware_queue: Some(ap.hardware_queue),
            aggregate_frames: Some(ap.aggregate_frames),
            aggregate_time: Some(ap.aggregate_time),
            retries: Some(ap.retries),
            queues: Some(ap.queues),
            limit: Some(ap.limit),
            memory: Some(ap.memory),
            quantum: Some(ap.quantum),
            airtime_quantum: Some(ap.airtime_quantum).filter(|_| ap.variant == Variant::Paper),
            airtime_tx: Some(ap.airtime_tx),
            airtime_rx: Some(ap.airtime_rx),
            codel_target: Some(ap.codel_target),
            codel_interval: Some(ap.codel_interval),
            ecn: Some(ap.ecn),
            slow_station_codel: Some(ap.slow_station_codel),
            edca: Some(Edca {
                ap: Categories::of(c.edca.access_point),
                station: Categories::of(c.edca.station),
            }),
            rate_control: Some(c.rate_control),
            ..Self::default()
        };
        policies::write(&ap.policies, &mut keys);
        wifi_latency::write(&ap.latency, &mut keys);
        keys
    }
}

impl JsonSchema for WifiScenario {
    fn schema_name() -> std::borrow::Cow<'static, str> {
        Wifi::schema_name()
    }

    fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
        Wifi::json_schema(generator)
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

/// The sending side of one node: `base`, with what the scenario says of all nodes and of this one, whose frames in the driver
/// and in an aggregate come last.
fn node(
    keys: &Wifi,
    base: &NodeSpec,
    scheme: Option<Scheme>,
    qdisc: Option<&QdiscSpec>,
    (driver_frames, aggregate_frames): (Option<u32>, Option<u32>),
) -> NodeSpec {
    NodeSpec {
        scheme: scheme.unwrap_or(base.scheme),
        variant: keys.variant.unwrap_or(base.variant),
        qdisc: qdisc.cloned(),
        driver_frames: driver_frames.unwrap_or(base.driver_frames),
        hardware_queue: keys.hardware_queue.unwrap_or(base.hardware_queue),
        aggregate_frames: aggregate_frames
            .or(keys.aggregate_frames)
            .unwrap_or(base.aggregate_frames),
        aggregate_time: keys.aggregate_time.unwrap_or(base.aggregate_time),
        retries: keys.retries.unwrap_or(base.retries),
        queues: keys.queues.unwrap_or(base.queues),
        limit: keys.limit.unwrap_or(base.limit),
        memory: keys.memory.unwrap_or(base.memory),
        quantum: keys.quantum.unwrap_or(base.quantum),
        airtime_quantum: keys.airtime_quantum.unwrap_or(base.airtime_quantum),
        airtime_tx: keys.airtime_tx.unwrap_or(base.airtime_tx),
        airtime_rx: keys.airtime_rx.unwrap_or(base.airtime_rx),
        codel_target: keys.codel_target.unwrap_or(base.codel_target),
        codel_interval: keys.codel_interval.unwrap_or(base.codel_interval),
        ecn: keys.ecn.unwrap_or(base.ecn),
        slow_station_codel: keys.slow_station_codel.unwrap_or(base.slow_station_codel),
        policies: base.policies.clone(),
        latency: base.latency,
    }
}

fn station(i: usize, s: &Station, keys: &Wifi) -> Result<StationSpec, ScenarioError> {
    check_name(&format!("wifi.stations[{i}].name"), &s.name)?;
    let mut node = node(
        keys,
        &NodeSpec::STATION,
        s.scheme,
        s.qdisc.as_ref(),
        (s.driver_frames, s.aggregate_frames),
    );
    // In Linux 6.12 every node has the limits.
    if node.variant == Variant::Linux612 && !node.scheme.has_qdisc() {
        node.latency.aql = wifi_latency::read(keys)?.aql;
    }
    // Plus zero: -0 is 0.
    let error = s.error.unwrap_or(0.0) + 0.0;
    Ok(StationSpec {
        name: s.name.clone(),
        rate: s.rate,
        rate_up: s.rate_up.unwrap_or(s.rate),
        error,
        error_up: s.error_up.unwrap_or(error) + 0.0,
        fade: fade(&format!("wifi.stations[{i}]"), s)?,
        weight: s.weight.unwrap_or(sojourn_wifi::DEFAULT_WEIGHT),
        group: s.group.clone(),
        min_rate: s.min_rate,
        node,
    })
}

/// The fades of a station's link.
fn fade(who: &str, s: &Station) -> Result<Option<FadeSpec>, ScenarioError> {
    let without = |key: &str, value: String, other: &str| {
        fail(
            &format!("{who}.{key}"),
            value,
            format!("left out without {who}.{other}"),
        )
    };
    match (s.fade, s.fade_gap, s.fade_error) {
        (Some(length), Some(gap), error) => Ok(Some(FadeSpec {
            length,
            gap,
            error: error.unwrap_or(1.0),
        })),
        (Some(length), None, _) => without("fade", length.to_string(), "fade_gap"),
        (None, Some(gap), _) => without("fade_gap", gap.to_string(), "fade"),
        (None, None, Some(error)) => without("fade_error", error.to_string(), "fade"),
        (None, None, None) => Ok(None),
    }
}

impl Station {
    /// What a station shares with the access point is left out.
    fn of(s: &StationSpec, access_point: &NodeSpec) -> Self {
        Self {
            name: s.name.clone(),
            rate: s.rate,
            rate_up: Some(s.rate_up),
            error: Some(s.error),
            error_up: Some(s.error_up),
            fade: s.fade.map(|fade| fade.length),
            fade_gap: s.fade.map(|fade| fade.gap),
            fade_error: s.fade.map(|fade| fade.error),
            weight: Some(s.weight),
            group: s.group.clone(),
            min_rate: s.min_rate,
            scheme: Some(s.node.scheme),
            qdisc: s.node.above_driver(),
            driver_frames: Some(s.node.driver_frames),
            aggregate_frames: Some(s.node.aggregate_frames).filter(|own| *own != access_point.aggregate_frames),
        }
    }
}

impl Edca {
    fn spec(&self) -> EdcaSpec {
        EdcaSpec {
            access_point: self.ap.table(EdcaTable::ACCESS_POINT),
            station: self.station.table(EdcaTable::STATION),
        }
    }
}

impl Categories {
    fn table(&self, mut table: EdcaTable) -> EdcaTable {
        // In the order of AccessCategory::ALL.
        for (category, keys) in AccessCategory::ALL
            .into_iter()
            .zip([&self.vo, &self.vi, &self.be, &self.bk])
        {
            let own = &mut table.categories[category.index()];
            *own = EdcaParams {
                aifsn: keys.aifsn.unwrap_or(own.aifsn),
                cw_min: keys.cw_min.unwrap_or(own.cw_min),
                cw_max: keys.cw_max.unwrap_or(own.cw_max),
                txop_limit: keys.txop.unwrap_or(own.txop_limit),
            };
        }
        table
    }

    fn of(table: EdcaTable) -> Self {
        let of = |category| {
            let own = table.of(category);
            Category {
                aifsn: Some(own.aifsn),
                cw_min: Some(own.cw_min),
                cw_max: Some(own.cw_max),
                txop: Some(own.txop_limit),
            }
        };
        Self {
            vo: of(AccessCategory::Voice),
            vi: of(AccessCategory::Video),
            be: of(AccessCategory::BestEffort),
            bk: of(AccessCategory::Background),
        }
    }
}
