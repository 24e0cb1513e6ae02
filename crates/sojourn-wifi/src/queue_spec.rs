//! What can be set of one node's sending side.

use crate::{BLOCK_ACK_WINDOW, LatencySpec, NodeId, PPDU_MAX, PhyRate, Policies, Scheme, Variant, WifiError};
use sojourn_qdisc::{CodelParams, QdiscSpec};
use sojourn_units::{Bytes, Duration, Rate};

/// The weight of a station that has none of its own. Source: mac80211, `IEEE80211_DEFAULT_AIRTIME_WEIGHT`.
pub const DEFAULT_WEIGHT: u32 = 256;

/// One node's sending side. What a scheme does not use is checked all the same.
#[derive(Clone, Debug, PartialEq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent switches, each a key of a scenario"
)]
pub struct NodeSpec {
    /// How it queues.
    pub scheme: Scheme,
    /// Whose scheduler and airtime queue limits it has; a scheme with a discipline above the driver has neither.
    pub variant: Variant,
    /// The discipline of each access category above the driver's queues; `None` for the scheme's own
    /// ([`Scheme::default_qdisc`]). Only for a scheme that has one.
    pub qdisc: Option<QdiscSpec>,
    /// Frames of an access category in the driver at most, those in the hardware queue included; beyond it they wait
    /// in the discipline. Source: ath9k, `ATH_MAX_QDEPTH`: 512 / 4 - 5 = 123; iwlwifi: 256.
    pub driver_frames: u32,
    /// Aggregates of an access category in the hardware queue at most. Source: ath9k, seed 002 section 3.1.
    pub hardware_queue: u32,
    /// Frames in an aggregate at most. Source: ath9k, `ATH_AMPDU_SUBFRAME_DEFAULT`.
    pub aggregate_frames: u32,
    /// How long an aggregate's PPDU may be at most; a single frame may be longer. Source: ath9k, 4 ms.
    pub aggregate_time: Duration,
    /// How often a frame is sent at most. Source: ath9k, `ATH_MAX_SW_RETRIES` of the time.
    pub retries: u8,
    /// Queues that all TIDs share. Source: mac80211, `fq_init(4096)`.
    pub queues: u32,
    /// Packets in all of them at most. Source: mac80211, `fq.h`.
    pub limit: u32,
    /// Memory of all packets in them at most, as [`sojourn_qdisc::memory_of`] counts. Source: mac80211, 16 MiB with
    /// VHT.
    pub memory: Bytes,
    /// Bytes that a queue may send in its turn. Source: mac80211.
    pub quantum: u32,
    /// Airtime that a station of weight 256 may use in its turn. Source: ath9k, `ATH_AIRTIME_QUANTUM`.
    pub airtime_quantum: Duration,
    /// Whether what is sent to a station is charged to it.
    pub airtime_tx: bool,
    /// Whether what is received from a station is charged to it.
    pub airtime_rx: bool,
    /// `CoDel`'s target. Source: mac80211.
    pub codel_target: Duration,
    /// `CoDel`'s interval. Source: mac80211.
    pub codel_interval: Duration,
    /// Whether `CoDel` marks packets that can be marked.
    pub ecn: bool,
    /// Whether a slow station gets target 50 ms, interval 300 ms and no marking. Slow is an expected throughput below
    /// 6 Mbit/s times the number of stations. Source: mac80211, `sta_update_codel_params` (4.11 to 6.13).
    pub slow_station_codel: bool,
    /// What shortens the time below the queues; only an access point has any.
    pub latency: LatencySpec,
    /// Policies beyond strict airtime fairness; only an access point has any.
    pub policies: Policies,
}

impl Default for NodeSpec {
    fn default() -> Self {
        Self::ACCESS_POINT
    }
}

impl NodeSpec {
    /// An access point with airtime fairness.
    pub const ACCESS_POINT: Self = Self::with_defaults(Scheme::Airtime, 123);
    /// A laptop: FIFOs, 256 frames in the driver. Source: iwlwifi.
    pub const STATION: Self = Self::with_defaults(Scheme::Fifo, 256);

    const fn with_defaults(scheme: Scheme, driver_frames: u32) -> Self {
        Self {
            scheme,
            variant: Variant::Paper,
            qdisc: None,
            driver_frames,
            hardware_queue: 2,
            aggregate_frames: 32,
            aggregate_time: Duration::from_millis(4),
            retries: 10,
            queues: 4096,
            limit: 8192,
            memory: Bytes::new(16 << 20),
            quantum: 300,
            airtime_quantum: Duration::from_micros(300),
            airtime_tx: true,
            airtime_rx: true,
            codel_target: Duration::from_millis(20),
            codel_interval: Duration::from_millis(100),
            ecn: true,
            slow_station_codel: false,
            latency: LatencySpec::OFF,
            policies: Policies::NONE,
        }
    }

    /// Checks every option; `who` names the node in the error: `wifi`, `wifi.stations[1]`.
    ///
    /// # Errors
    /// [`WifiError`] for the first option that cannot be used.
    pub fn validate(&self, who: &str) -> Result<(), WifiError> {
        if let Some(qdisc) = &self.qdisc {
            if !self.scheme.has_qdisc() {
                let rule = format!("left out with the scheme {}, which has none", self.scheme.name());
                return Err(WifiError::new(who, "qdisc", quoted(qdisc), rule));
            }
            if qdisc.about().shapes {
                let rule = "a discipline that never makes a packet wait for tokens";
                return Err(WifiError::new(who, "qdisc", quoted(qdisc), rule));
            }
        }
        let window = u32::from(BLOCK_ACK_WINDOW);
        let frame = sojourn_qdisc::memory_of(sojourn_qdisc::MTU);
        let window_rule = format!("1 to {window} (the Block Ack window)");
        let memory_rule = format!("{frame}b (one full frame) to 4294967295b");
        let memory = frame..=u64::from(u32::MAX);
        WifiError::unless_in(1..=65_536, who, "driver_frames", self.driver_frames, "1 to 65536")?;
        WifiError::unless_in(1..=64, who, "hardware_queue", self.hardware_queue, "1 to 64")?;
        WifiError::unless_in(1..=window, who, "aggregate_frames", self.aggregate_frames, window_rule)?;
        WifiError::unless_in(1.., who, "retries", self.retries, "1 to 255")?;
        WifiError::unless_in(1..=65_536, who, "queues", self.queues, "1 to 65536")?;
        WifiError::unless_in(1..=1 << 24, who, "limit", self.limit, "1 to 16777216")?;
        WifiError::unless_in(memory, who, "memory", self.memory.get(), memory_rule)?;
        WifiError::unless_in(1..=1 << 20, who, "quantum", self.quantum, "1 to 1048576")?;
        let (us, one) = (Duration::from_micros(1), Duration::from_nanos(1));
        let turn = us..=Duration::from_secs(1);
        let codel = one..=Duration::from_micros(u64::from(u32::MAX));
        let ppdu_rule = format!("1ns to {PPDU_MAX} (the longest PPDU)");
        let codel_rule = "1ns to 4294.967295s (32 bits of microseconds)";
        WifiError::unless_in(one..=PPDU_MAX, who, "aggregate_time", self.aggregate_time, ppdu_rule)?;
        WifiError::unless_in(turn, who, "airtime_quantum", self.airtime_quantum, "1us to 1s")?;
        WifiError::unless_in(codel.clone(), who, "codel_target", self.codel_target, codel_rule)?;
        WifiError::unless_in(codel, who, "codel_interval", self.codel_interval, codel_rule)?;
        if self.variant == Variant::Linux612 && self.policies != Policies::NONE {
            let rule = "\"paper\" where groups, a scheduler or another policy are set, which Linux does not have";
            return Err(WifiError::new(
                who,
                "variant",
                format!("{:?}", self.variant.name()),
                rule,
            ));
        }
        self.latency
            .validate(who, self.scheme, self.aggregate_time, self.hardware_queue)?;
        self.policies.validate(who, self.scheme)
    }

    /// The discipline of each access category above the driver's queues; `None` for a scheme without one.
    #[must_use]
    pub fn above_driver(&self) -> Option<QdiscSpec> {
        let default = || QdiscSpec::parse(self.scheme.default_qdisc(self.variant)?, None).ok();
        self.qdisc.clone().or_else(default)
    }

    /// `CoDel` of a station's queues.
    ///
    /// Source: mac80211. Its one-packet test sees the backlog of the one queue, and spares only a queue's last
    /// packet: mac80211 leaves the MTU of `codel_params` at zero.
    #[must_use]
    pub fn codel(&self, slow: bool) -> CodelParams {
        let own = CodelParams {
            target: self.codel_target,
            interval: self.codel_interval,
            ecn: self.ecn,
            mtu: Bytes::new(0),
            ..CodelParams::DEFAULT
        };
        if slow && self.slow_station_codel {
            return CodelParams {
                target: Duration::from_millis(50),
                interval: Duration::from_millis(300),
                ecn: false,
                ..own
            };
        }
        own
    }
}

fn quoted(qdisc: &QdiscSpec) -> String {
    format!("\"{qdisc}\"")
}

/// A node that is sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PeerSpec {
    /// Who.
    pub node: NodeId,
    /// At which rate.
    pub rate: PhyRate,
    /// Its share of the airtime, relative to the other peers; only the scheme `airtime` looks at it.
    pub weight: u32,
    /// The number of its group in [`Policies::groups`].
    pub group: Option<u16>,
    /// The rate of delivered packets that it is given more airtime for.
    pub min_rate: Option<Rate>,
}

impl PeerSpec {
    /// A peer with the default weight.
    #[must_use]
    pub const fn new(node: NodeId, rate: PhyRate) -> Self {
        Self {
            node,
            rate,
            weight: DEFAULT_WEIGHT,
            group: None,
            min_rate: None,
        }
    }

    /// Checks the weight; `who` names the peer in the error.
    ///
    /// # Errors
    /// [`WifiError`] unless the weight is 1 to 65535 and the minimum rate one that the peer can have.
    pub fn validate(&self, who: &str) -> Result<(), WifiError> {
        WifiError::unless_in(1..=65_535, who, "weight", self.weight, "1 to 65535")?;
        if let Some(min_rate) = self.min_rate {
            let nominal = self.rate.nominal();
            let rule = format!("at most the station's rate, {nominal}");
            WifiError::unless_in(..=nominal, who, "min_rate", min_rate, rule)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests;
