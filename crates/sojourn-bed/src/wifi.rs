//! A cell of real network stacks: what its radios and its access point are told, and what was seen of them.

use crate::qdisc::QdiscPlan;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// A cell: `r1` is the access point, radio 0; station `i` is a client, radio `i + 1`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WifiPlan {
    /// How the access point queues: `airtime`, `fq_mac` or `fifo`.
    pub scheme: String,
    /// The queue below the stack of the access point, and of the stations.
    pub access_point: WifiQueuePlan,
    /// That of the stations.
    pub station: WifiQueuePlan,
    /// Aggregates of an access category that may be out to the radio.
    pub hardware_queue: u32,
    /// Frames of an aggregate at most.
    pub aggregate_frames: u32,
    /// How long an aggregate's PPDU may be, microseconds.
    pub aggregate_us: u64,
    /// How often a frame is sent at most.
    pub retries: u8,
    /// Limits of the airtime that is pending at the access point; `None` for none.
    pub aql: Option<AqlPlan>,
    /// And at the stations.
    #[serde(default)]
    pub station_aql: Option<AqlPlan>,
    /// mac80211's `airtime_flags`: 1 charges what is sent, 2 what is received.
    pub airtime_flags: u8,
    /// Packets in all queues of the access point's MAC, at most.
    pub fq_limit: u32,
    /// Their memory at most, bytes.
    pub fq_memory: u64,
    /// Bytes of a turn of a queue.
    pub fq_quantum: u32,
    /// The widest channel that a link needs, MHz.
    pub channel_mhz: u16,
    /// Whether a link has a VHT rate.
    pub vht: bool,
    /// How the access point contends: voice, video, best effort, background.
    pub edca_access_point: [CategoryPlan; 4],
    /// How the stations contend.
    pub edca_station: [CategoryPlan; 4],
    /// The stations.
    pub stations: Vec<WifiStationPlan>,
}

/// How a node queues.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WifiQueuePlan {
    /// Frames of an access category in the driver's own queue, from which it aggregates; 0: the queues are the MAC's.
    pub fifo: u32,
    /// The discipline of each access category above it; `None` without such a queue.
    pub qdisc: Option<QdiscPlan>,
}

/// Airtime queue limits, microseconds: `aql_txq_limit` and `aql_threshold` of mac80211.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct AqlPlan {
    /// What a station may have pending in an access category whatever others have.
    pub low_us: u64,
    /// What it may have while all together stay below `total_us`.
    pub high_us: u64,
    /// See there.
    pub total_us: u64,
}

/// How an access category contends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CategoryPlan {
    /// Slots after SIFS.
    pub aifsn: u8,
    /// Contention window at first, slots.
    pub cw_min: u16,
    /// At most.
    pub cw_max: u16,
    /// TXOP limit, microseconds; 0 for one exchange.
    pub txop_us: u64,
}

/// A station.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WifiStationPlan {
    /// Its name.
    pub name: String,
    /// Its airtime weight.
    pub weight: u32,
    /// From the access point to it.
    pub down: WifiLinkPlan,
    /// From it to the access point.
    pub up: WifiLinkPlan,
}

/// A way through the air.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WifiLinkPlan {
    /// `legacy`, `ht` or `vht`.
    pub format: String,
    /// MCS index; of a legacy rate, in units of 500 kbit/s.
    pub mcs: u16,
    /// Spatial streams.
    pub streams: u8,
    /// Width, MHz.
    pub mhz: u16,
    /// Whether the guard interval is 400 ns.
    pub short_guard: bool,
    /// Probability that an MPDU is lost, in parts of 2^32.
    pub error: u32,
}

/// The counters of one transmitter, receiver and access category at a time, by name.
pub type RadioSample = BTreeMap<String, u64>;

/// All counters of the radios at a time.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct RadioTotals {
    /// When.
    pub at_ns: i64,
    /// A line for each transmitter, receiver and access category.
    pub links: Vec<RadioSample>,
    /// Of the medium.
    pub medium: RadioSample,
}

/// What was seen of a cell.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct WifiMeasured {
    /// The radios at the beginning of the measured window.
    pub begin: RadioTotals,
    /// And at its end.
    pub end: RadioTotals,
    /// Airtime of each station, sent and received, from the beginning of the window to the end of each bin, ns.
    pub airtime_ns: Vec<Vec<u64>>,
    /// Files of mac80211 in debugfs when the window began, by `STATION/FILE` or `FILE`.
    pub text_begin: BTreeMap<String, String>,
    /// And when it ended.
    pub text_end: BTreeMap<String, String>,
}
