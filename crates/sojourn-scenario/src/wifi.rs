//! The cell between the clients and the first router: key `wifi`.

use crate::load::check_name;
use crate::policies::{self, GroupText};
use crate::{ScenarioError, fail, wifi_latency};
use serde::{Deserialize, Serialize};
use sojourn_qdisc::{QdiscSpec, SpecError};
use sojourn_tcp::Heads;
use sojourn_units::{Bytes, Duration, format_duration, parse_bytes, parse_duration};
use sojourn_wifi::{
    AccessCategory, Band, CellSpec, EdcaParams, EdcaSpec, EdcaTable, NodeSpec, PhyRate, RateControl, Scheme,
    StationSpec, Variant,
};

/// A cell: an access point, which is the first router, and stations, which are the clients.
#[derive(Clone, Debug, PartialEq)]
pub struct WifiScenario {
    /// All of it.
    pub cell: CellSpec,
}

/// The text form. What is left out has the default of [`NodeSpec`].
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct WifiText {
    #[serde(skip_serializing_if = "Option::is_none")]
    scheme: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    variant: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    qdisc: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    band: Option<String>,
    stations: Vec<StationText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    driver_frames: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    hardware_queue: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    aggregate_frames: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    aggregate_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    retries: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    queues: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    limit: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    quantum: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    airtime_quantum: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    airtime_tx: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    airtime_rx: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    codel_target: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    codel_interval: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    ecn: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    slow_station_codel: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    edca: Option<EdcaText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_control: Option<String>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) groups: Vec<GroupText>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) scheduler: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) accounting_delay: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) vo_in_aggregate: Option<bool>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) vo_in_aggregate_max: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) vo_in_aggregate_hold: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) demote: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) qos: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) aql: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) aql_high: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) aql_total: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) defer: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) build_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) retry_time: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) retry_sojourn: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dense_stations: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dense_aggregate_time: Option<String>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct StationText {
    name: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    rate: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rate_up: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    error_up: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    weight: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    group: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    min_rate: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    scheme: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    qdisc: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    driver_frames: Option<u32>,
    #[serde(skip_serializing_if = "Option::is_none")]
    aggregate_frames: Option<u32>,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct EdcaText {
    ap: TableText,
    station: TableText,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct TableText {
    vo: CategoryText,
    vi: CategoryText,
    be: CategoryText,
    bk: CategoryText,
}

#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
struct CategoryText {
    #[serde(skip_serializing_if = "Option::is_none")]
    aifsn: Option<u8>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cw_min: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    cw_max: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    txop: Option<String>,
}

impl WifiScenario {
    /// What the hosts' kernels reserve for the headers of a segment: those of a cell of Linux 6.12 are built with wireless.
    pub(crate) fn heads(&self) -> Heads {
        match self.cell.access_point.variant {
            Variant::Linux612 => Heads::Wireless612,
            _ => Heads::default(),
        }
    }

    /// Reads and checks it.
    ///
    /// # Errors
    /// [`ScenarioError`] for what no cell can have.
    pub(crate) fn read(t: &WifiText) -> Result<Self, ScenarioError> {
        let band = match t.band.as_deref() {
            None => Band::Ghz5,
            Some(text) => match [Band::Ghz5, Band::Ghz2].into_iter().find(|b| b.name() == text) {
                Some(band) => band,
                None => return fail("wifi.band", format!("{text:?}"), "\"5ghz\" or \"2.4ghz\""),
            },
        };
        let rate_control = match t.rate_control.as_deref() {
            None => RateControl::Fixed,
            Some(text) => match RateControl::ALL.into_iter().find(|r| r.name() == text) {
                Some(rate_control) => rate_control,
                None => return fail("wifi.rate_control", format!("{text:?}"), "\"fixed\" or \"simple\""),
            },
        };
        let mut access_point = node(
            "wifi",
            t,
            &NodeSpec::ACCESS_POINT,
            t.scheme.as_deref(),
            t.qdisc.as_deref(),
            (t.driver_frames, None),
        )?;
        if let (Some(quantum), Variant::Linux612) = (&t.airtime_quantum, access_point.variant) {
            let rule = "left out with the variant \"linux-6.12\", where a turn is the weight in microseconds";
            return fail("wifi.airtime_quantum", quantum, rule);
        }
        access_point.policies = policies::read(t)?;
        access_point.latency = wifi_latency::read(t)?;
        let stations = t.stations.iter().enumerate().map(|(i, s)| station(i, s, t));
        let stations: Vec<StationSpec> = stations.collect::<Result<_, _>>()?;
        let cell = CellSpec {
            band,
            access_point,
            stations,
            edca: t.edca.as_ref().map_or(Ok(EdcaSpec::default()), edca)?,
            rate_control,
        };
        cell.validate().map_err(|e| ScenarioError(e.to_string()))?;
        Ok(Self { cell })
    }

    /// The text form with every default written out.
    pub(crate) fn text(&self) -> WifiText {
        let c = &self.cell;
        let ap = &c.access_point;
        let mut text = WifiText {
            scheme: Some(ap.scheme.name().into()),
            variant: Some(ap.variant.name().into()).filter(|_| ap.variant != Variant::Paper),
            qdisc: qdisc_text(ap),
            band: Some(c.band.name().into()),
            stations: c.stations.iter().map(|s| station_text(s, ap)).collect(),
            driver_frames: Some(ap.driver_frames),
            hardware_queue: Some(ap.hardware_queue),
            aggregate_frames: Some(ap.aggregate_frames),
            aggregate_time: Some(format_duration(ap.aggregate_time)),
            retries: Some(ap.retries),
            queues: Some(ap.queues),
            limit: Some(ap.limit),
            memory: Some(ap.memory.to_string()),
            quantum: Some(ap.quantum),
            airtime_quantum: Some(format_duration(ap.airtime_quantum)).filter(|_| ap.variant == Variant::Paper),
            airtime_tx: Some(ap.airtime_tx),
            airtime_rx: Some(ap.airtime_rx),
            codel_target: Some(format_duration(ap.codel_target)),
            codel_interval: Some(format_duration(ap.codel_interval)),
            ecn: Some(ap.ecn),
            slow_station_codel: Some(ap.slow_station_codel),
            edca: Some(EdcaText {
                ap: table_text(c.edca.access_point),
                station: table_text(c.edca.station),
            }),
            rate_control: Some(c.rate_control.name().into()),
            ..WifiText::default()
        };
        policies::write(&ap.policies, &mut text);
        wifi_latency::write(&ap.latency, &mut text);
        text
    }
}

/// The sending side of one node: `base`, with what the scenario says of all nodes and of this one, whose frames in the driver
/// and in an aggregate come last.
fn node(
    who: &str,
    t: &WifiText,
    base: &NodeSpec,
    scheme: Option<&str>,
    qdisc: Option<&str>,
    (driver_frames, aggregate_frames): (Option<u32>, Option<u32>),
) -> Result<NodeSpec, ScenarioError> {
    let field = |key: &str| format!("{who}.{key}");
    let scheme = match scheme {
        None => base.scheme,
        Some(name) => {
            let Some(scheme) = Scheme::from_name(name) else {
                let rule = "\"fifo\", \"fq_codel\", \"fq_mac\" or \"airtime\"";
                return fail(&field("scheme"), format!("{name:?}"), rule);
            };
            scheme
        }
    };
    let variant = match t.variant.as_deref() {
        None => base.variant,
        Some(name) => match Variant::from_name(name) {
            Some(variant) => variant,
            None => return fail("wifi.variant", format!("{name:?}"), "\"paper\" or \"linux-6.12\""),
        },
    };
    let qdisc = qdisc.map(|text| {
        QdiscSpec::parse(text, None).map_err(|e| match e {
            SpecError::KernelOnly { .. } => ScenarioError(format!(
                "{} is {text:?}, but a cell has only disciplines that are modelled",
                field("qdisc")
            )),
            e => ScenarioError(format!("{}: {e}", field("qdisc"))),
        })
    });
    let span = |key: &str, text: &Option<String>, default: Duration| match text {
        None => Ok(default),
        Some(text) => parse_duration(text).map_err(|e| ScenarioError(format!("wifi.{key}: {e}"))),
    };
    Ok(NodeSpec {
        scheme,
        variant,
        qdisc: qdisc.transpose()?,
        driver_frames: driver_frames.unwrap_or(base.driver_frames),
        hardware_queue: t.hardware_queue.unwrap_or(base.hardware_queue),
        aggregate_frames: aggregate_frames.or(t.aggregate_frames).unwrap_or(base.aggregate_frames),
        aggregate_time: span("aggregate_time", &t.aggregate_time, base.aggregate_time)?,
        retries: t.retries.unwrap_or(base.retries),
        queues: t.queues.unwrap_or(base.queues),
        limit: t.limit.unwrap_or(base.limit),
        memory: bytes("wifi.memory", t.memory.as_deref(), base.memory)?,
        quantum: t.quantum.unwrap_or(base.quantum),
        airtime_quantum: span("airtime_quantum", &t.airtime_quantum, base.airtime_quantum)?,
        airtime_tx: t.airtime_tx.unwrap_or(base.airtime_tx),
        airtime_rx: t.airtime_rx.unwrap_or(base.airtime_rx),
        codel_target: span("codel_target", &t.codel_target, base.codel_target)?,
        codel_interval: span("codel_interval", &t.codel_interval, base.codel_interval)?,
        ecn: t.ecn.unwrap_or(base.ecn),
        slow_station_codel: t.slow_station_codel.unwrap_or(base.slow_station_codel),
        policies: base.policies.clone(),
        latency: base.latency,
    })
}

fn bytes(field: &str, text: Option<&str>, default: Bytes) -> Result<Bytes, ScenarioError> {
    text.map_or(Ok(default), |text| {
        parse_bytes(text).map_err(|e| ScenarioError(format!("{field}: {e}")))
    })
}

fn station(i: usize, s: &StationText, t: &WifiText) -> Result<StationSpec, ScenarioError> {
    let who = format!("wifi.stations[{i}]");
    let field = |key: &str| format!("{who}.{key}");
    check_name(&field("name"), &s.name)?;
    let Some(rate) = &s.rate else {
        return fail(&field("rate"), "missing", "given, such as \"ht mcs 15 20mhz sgi\"");
    };
    let rate = phy_rate(&field("rate"), rate)?;
    let rate_up = s.rate_up.as_deref();
    let mut node = node(
        &who,
        t,
        &NodeSpec::STATION,
        s.scheme.as_deref(),
        s.qdisc.as_deref(),
        (s.driver_frames, s.aggregate_frames),
    )?;
    // In Linux 6.12 every node has the limits.
    if node.variant == Variant::Linux612 && !node.scheme.has_qdisc() {
        node.latency.aql = wifi_latency::read(t)?.aql;
    }
    // Plus zero: -0 is 0.
    let error = s.error.unwrap_or(0.0) + 0.0;
    Ok(StationSpec {
        name: s.name.clone(),
        rate,
        rate_up: rate_up.map_or(Ok(rate), |text| phy_rate(&field("rate_up"), text))?,
        error,
        error_up: s.error_up.unwrap_or(error) + 0.0,
        weight: s.weight.unwrap_or(sojourn_wifi::DEFAULT_WEIGHT),
        group: s.group.clone(),
        min_rate: policies::min_rate(&who, s.min_rate.as_deref())?,
        node,
    })
}

fn phy_rate(field: &str, text: &str) -> Result<PhyRate, ScenarioError> {
    PhyRate::parse(text).map_err(|e| ScenarioError(format!("{field} is {text:?}, but {}", e.rule)))
}

fn edca(t: &EdcaText) -> Result<EdcaSpec, ScenarioError> {
    Ok(EdcaSpec {
        access_point: table("wifi.edca.ap", &t.ap, EdcaTable::ACCESS_POINT)?,
        station: table("wifi.edca.station", &t.station, EdcaTable::STATION)?,
    })
}

fn table(who: &str, t: &TableText, mut table: EdcaTable) -> Result<EdcaTable, ScenarioError> {
    // In the order of AccessCategory::ALL.
    for (category, text) in AccessCategory::ALL.into_iter().zip([&t.vo, &t.vi, &t.be, &t.bk]) {
        let own = &mut table.categories[category.index()];
        *own = EdcaParams {
            aifsn: text.aifsn.unwrap_or(own.aifsn),
            cw_min: text.cw_min.unwrap_or(own.cw_min),
            cw_max: text.cw_max.unwrap_or(own.cw_max),
            txop_limit: match &text.txop {
                None => own.txop_limit,
                Some(txop) => {
                    parse_duration(txop).map_err(|e| ScenarioError(format!("{who}.{}.txop: {e}", category.name())))?
                }
            },
        };
    }
    Ok(table)
}

fn qdisc_text(node: &NodeSpec) -> Option<String> {
    node.above_driver().map(|qdisc| qdisc.to_string())
}

/// What a station shares with the access point is left out.
fn station_text(s: &StationSpec, access_point: &NodeSpec) -> StationText {
    StationText {
        name: s.name.clone(),
        rate: Some(s.rate.to_string()),
        rate_up: Some(s.rate_up.to_string()),
        error: Some(s.error),
        error_up: Some(s.error_up),
        weight: Some(s.weight),
        group: s.group.clone(),
        min_rate: policies::min_rate_text(s.min_rate),
        scheme: Some(s.node.scheme.name().into()),
        qdisc: qdisc_text(&s.node),
        driver_frames: Some(s.node.driver_frames),
        aggregate_frames: Some(s.node.aggregate_frames).filter(|own| *own != access_point.aggregate_frames),
    }
}

fn table_text(table: EdcaTable) -> TableText {
    let of = |category| {
        let own = table.of(category);
        CategoryText {
            aifsn: Some(own.aifsn),
            cw_min: Some(own.cw_min),
            cw_max: Some(own.cw_max),
            txop: Some(format_duration(own.txop_limit)),
        }
    };
    TableText {
        vo: of(AccessCategory::Voice),
        vi: of(AccessCategory::Video),
        be: of(AccessCategory::BestEffort),
        bk: of(AccessCategory::Background),
    }
}
