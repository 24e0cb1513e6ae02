//! The cell between the clients and the first router, as a file has it: key `wifi`.

use schemars::JsonSchema;
use serde::de::Error as _;
use serde::{Deserialize, Deserializer, Serialize};
use serde_with::skip_serializing_none;
use sojourn_qdisc::{QdiscSpec, SpecError};
use sojourn_units::{Bytes, Duration, Rate};
use sojourn_wifi::{Band, PhyRate, QosOrder, RateControl, SchedulerKind, Scheme, Variant};

/// A cell, which takes the place of the links between the clients and the first router.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("required" = ["stations"]))]
pub(crate) struct Wifi {
    /// Of the access point, how it queues: `"airtime"` (default; queues in the MAC with airtime fairness), `"fq_mac"` (those queues
    /// alone), `"fq_codel"` or `"fifo"` (a discipline above the driver's FIFOs).
    pub(crate) scheme: Option<Scheme>,
    /// Of all nodes that queue in the MAC: `"paper"` (default), Algorithm 3 of the paper, or `"linux-6.12"`: mac80211's one list,
    /// deficits less what is pending, a quantum of the weight in microseconds, and limits (`aql`, then of stations too) that
    /// count each frame by mac80211's estimate from the queue to its end. Of all nodes, with `"linux-6.12"`: receivers that
    /// wait for a missing frame for 100 ms and throw it away when it comes later (`reorder_timeout` among the drops), and code
    /// points by RFC 8325; without policies.
    pub(crate) variant: Option<Variant>,
    /// Of the access point, the discipline above the driver, one for each access category; only with the schemes `"fifo"`
    /// (default `pfifo_fast limit 1000`, with the variant `"paper"` that of `linux-3.14`) and `"fq_codel"`.
    #[serde(deserialize_with = "modelled")]
    #[schemars(with = "Option<String>")]
    pub(crate) qdisc: Option<QdiscSpec>,
    /// `"5ghz"` (default) or `"2.4ghz"`.
    pub(crate) band: Option<Band>,
    /// At least one.
    pub(crate) stations: Vec<Station>,
    /// Of the access point: frames of an access category that the driver holds below a discipline (default 123).
    pub(crate) driver_frames: Option<u32>,
    /// Aggregates built ahead, of each access category (default 2).
    pub(crate) hardware_queue: Option<u32>,
    /// Of all nodes, unless a station has its own: frames of an aggregate at most (default 32).
    pub(crate) aggregate_frames: Option<u32>,
    /// Of all nodes: time of an aggregate at most (default 4 ms).
    pub(crate) aggregate_time: Option<Duration>,
    /// Of all nodes: transmissions of a frame at most (default 10).
    pub(crate) retries: Option<u8>,
    /// Queues in the MAC (default 4096).
    pub(crate) queues: Option<u32>,
    /// Packets in all of them (default 8192).
    pub(crate) limit: Option<u32>,
    /// Their memory (default 16 MB).
    pub(crate) memory: Option<Bytes>,
    /// Bytes of a turn of one of them (default 300).
    pub(crate) quantum: Option<u32>,
    /// Airtime of a turn (default 300 us; left out with `linux-6.12`, whose turn is the weight in microseconds).
    pub(crate) airtime_quantum: Option<Duration>,
    /// Whether what is sent is charged (default yes).
    pub(crate) airtime_tx: Option<bool>,
    /// Whether what is received is charged (default yes).
    pub(crate) airtime_rx: Option<bool>,
    /// Of CoDel in the MAC (default 20 ms).
    pub(crate) codel_target: Option<Duration>,
    /// Of CoDel in the MAC (default 100 ms).
    pub(crate) codel_interval: Option<Duration>,
    /// Whether CoDel in the MAC marks (default yes).
    pub(crate) ecn: Option<bool>,
    /// Whether slow stations have 50 ms, 300 ms and no marks (default no).
    pub(crate) slow_station_codel: Option<bool>,
    /// How nodes contend.
    pub(crate) edca: Option<Edca>,
    /// `"fixed"` (default) or `"simple"`.
    pub(crate) rate_control: Option<RateControl>,
    /// Stations that are scheduled together, by Algorithm 3 over the groups and within each; this and what follows belong to the
    /// access point, those up to `qos` only with the scheme `"airtime"`.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) groups: Vec<Group>,
    /// `"deficit"` (default), or `"credit"`: airtime is divided among the stations that wait when it is charged; not with groups.
    pub(crate) scheduler: Option<SchedulerKind>,
    /// How much later than it was used airtime is charged (default 0).
    pub(crate) accounting_delay: Option<Duration>,
    /// Whether queued voice frames of a station go at the head of its other aggregates (default no).
    pub(crate) vo_in_aggregate: Option<bool>,
    /// How many of them at most (default 8).
    pub(crate) vo_in_aggregate_max: Option<u32>,
    /// So many wait for such an aggregate while the station has other data queued (default 0).
    pub(crate) vo_in_aggregate_hold: Option<u32>,
    /// A voice or video flow of which a packet waits longer, with more than a full frame behind it, goes on as best effort until its
    /// queue is empty and that is a second ago (default: never).
    pub(crate) demote: Option<Duration>,
    /// `"priority"` (default), or `"fairness"`: the station is chosen first, by one deficit over all access categories, then its
    /// most urgent category.
    pub(crate) qos: Option<QosOrder>,
    /// Airtime of built aggregates that may be pending for each station and access category (default: no limit); only with
    /// `"fq_mac"` and `"airtime"`, and of use with a `hardware_queue` above 2.
    pub(crate) aql: Option<Duration>,
    /// That of one station while all together have less than `aql_total` (default 12 ms).
    pub(crate) aql_high: Option<Duration>,
    /// See `aql_high` (default 24 ms).
    pub(crate) aql_total: Option<Duration>,
    /// The next aggregate is built this long before the expected end of what is on the air, and no other waits.
    pub(crate) defer: Option<Duration>,
    /// From what lets building begin (an arrival, a completion, the time of `defer`) until the aggregate can contend (default 0).
    pub(crate) build_time: Option<Duration>,
    /// A frame that failed is given up when its first transmission began this long ago.
    pub(crate) retry_time: Option<Duration>,
    /// A frame that failed is given up when it came this long ago.
    pub(crate) retry_sojourn: Option<Duration>,
    /// While at least so many stations have data queued in the category, `dense_aggregate_time` is the longest aggregate.
    pub(crate) dense_stations: Option<u32>,
    /// See `dense_stations`.
    pub(crate) dense_aggregate_time: Option<Duration>,
}

/// A station.
#[skip_serializing_none]
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
#[schemars(extend("required" = ["name", "rate"]))]
pub(crate) struct Station {
    /// Unique; traffic names it as its `station`.
    #[serde(default)]
    pub(crate) name: String,
    /// What the access point sends to it at, such as `"ht mcs 15 20mhz sgi"`, `"vht mcs 9 nss 2 80mhz sgi"` or `"ofdm
    /// 54mbit"`.
    pub(crate) rate: PhyRate,
    /// What it sends at (default: the same).
    pub(crate) rate_up: Option<PhyRate>,
    /// Probability that a frame within an aggregate to it is lost (default 0).
    pub(crate) error: Option<f64>,
    /// Probability that a frame within an aggregate from it is lost (default: as `error`).
    pub(crate) error_up: Option<f64>,
    /// Mean length of a fade of its link, in which both directions lose more, 100 us to an hour (default: none). Fades and the
    /// times between them are exponential; an aggregate is in a fade if it begins in one.
    pub(crate) fade: Option<Duration>,
    /// Mean time from the end of a fade to the start of the next; with `fade`.
    pub(crate) fade_gap: Option<Duration>,
    /// Probability that a frame within an aggregate is lost in a fade (default 1); with `fade`.
    pub(crate) fade_error: Option<f64>,
    /// Of its airtime, 256 is one (default); only with the scheme `"airtime"`.
    pub(crate) weight: Option<u32>,
    /// Of `groups` (default: none, it is one of its own).
    pub(crate) group: Option<String>,
    /// Rate of delivered packets for which its weight is raised while it has data queued; all such stations together to half of
    /// the airtime in use.
    pub(crate) min_rate: Option<Rate>,
    /// Of what it sends: the scheme (default `"fifo"`).
    pub(crate) scheme: Option<Scheme>,
    /// Of what it sends: the discipline above its driver.
    #[serde(default, deserialize_with = "modelled")]
    #[schemars(with = "Option<String>")]
    pub(crate) qdisc: Option<QdiscSpec>,
    /// Of what it sends: how many frames the driver holds of each access category (default 256).
    pub(crate) driver_frames: Option<u32>,
    /// Frames in an aggregate that it sends at most (default: as all nodes); 1 for a driver that sends none.
    pub(crate) aggregate_frames: Option<u32>,
}

/// Stations that are scheduled together.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(extend("required" = ["name"]))]
pub(crate) struct Group {
    /// Unique; stations name it as their `group`.
    pub(crate) name: String,
    /// Of the airtime of all its stations together, 256 is one (default).
    pub(crate) weight: Option<u32>,
    /// Share of all time that their frames may take, above 0 and up to 1, in a bucket of 100 ms (default: no cap). What it
    /// forbids others use.
    pub(crate) cap: Option<f64>,
}

/// How the access point and the stations contend; the defaults are those of 802.11 and of hostapd.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Edca {
    /// The access point.
    pub(crate) ap: Categories,
    /// The stations.
    pub(crate) station: Categories,
}

/// The access categories of a node: voice, video, best effort and background.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub(crate) struct Categories {
    /// Voice.
    pub(crate) vo: Category,
    /// Video.
    pub(crate) vi: Category,
    /// Best effort.
    pub(crate) be: Category,
    /// Background.
    pub(crate) bk: Category,
}

/// How an access category contends.
#[skip_serializing_none]
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
#[schemars(rename = "Access")]
pub(crate) struct Category {
    /// Slots after SIFS before it counts down.
    pub(crate) aifsn: Option<u8>,
    /// Contention window at first, slots.
    pub(crate) cw_min: Option<u16>,
    /// Contention window at most, slots.
    pub(crate) cw_max: Option<u16>,
    /// How long it may send once it has won; `"0s"` is one frame exchange.
    pub(crate) txop: Option<Duration>,
}

/// Reads a discipline that is modelled, without a link whose rate could decide it.
fn modelled<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<QdiscSpec>, D::Error> {
    let Some(text) = Option::<String>::deserialize(deserializer)? else {
        return Ok(None);
    };
    let spec = QdiscSpec::parse(&text, None).map_err(|error| match error {
        SpecError::WordOfKernel { .. } => {
            format!("is {text:?}, but a cell has only disciplines that are modelled")
        }
        error => error.to_string(),
    });
    spec.map(Some).map_err(D::Error::custom)
}
