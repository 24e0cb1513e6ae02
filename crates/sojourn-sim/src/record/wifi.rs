//! The record of a cell.

use super::SojournRecord;
use super::numbers::{jain, mbit, mean};
use crate::fabric::{AirMeter, Radio};
use crate::simulator::Simulator;
use schemars::JsonSchema;
use serde::Serialize;
use sojourn_qdisc::DropReason;
use sojourn_scenario::{Direction, Scenario};
use sojourn_wifi::{AccessCategory, LatencySpec, LinkStats, NodeId, Tid, TidStats, Variant};
use std::collections::BTreeMap;

/// A cell, over the measured window.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct WifiRecord {
    /// How the access point queues: `fifo`, `fq_codel`, `fq_mac`, `airtime`.
    pub scheme: &'static str,
    /// Share of the window in which the medium was in use: PPDUs, the gaps before their answers, and the answers.
    pub busy: f64,
    /// Times that a node, or several at once, began to send.
    pub transmissions: u64,
    /// Of them, those of several nodes at once.
    pub collisions: u64,
    /// Jain's index of the stations' airtimes; `None` if none had any.
    pub jain_airtime: Option<f64>,
    /// Each station.
    pub stations: Vec<WifiStationRecord>,
}

/// One station.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct WifiStationRecord {
    /// Its name.
    pub name: String,
    /// Rate of the frames to it when the window ended: nominal, Mbit/s.
    pub rate_mbit: f64,
    /// Its weight in the airtime scheduler.
    pub weight: u32,
    /// The weight that its minimum rate had given it when the window ended; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub adapted_weight: Option<u32>,
    /// Its group; absent without one.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub group: Option<String>,
    /// The airtime that it could still use when the window ended, by access category, us, as debugfs has it (`deficit`); absent
    /// unless the scheme is `airtime`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deficit_us: Option<BTreeMap<&'static str, i64>>,
    /// Voice frames to it that rode in aggregates of another category; absent unless they may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub voice_in_aggregates: Option<u64>,
    /// How often a flow to it went over from voice or video to best effort; absent unless flows may.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub demoted: Option<u64>,
    /// Its part of the airtime of all stations; `None` if none had any.
    pub airtime_share: Option<f64>,
    /// Airtime of what was sent to it, collisions and retries included, contention not, ms.
    pub airtime_tx_ms: f64,
    /// Airtime of what the access point received from it, ms.
    pub airtime_rx_ms: f64,
    /// Airtime of what the station sent to it, collisions included, ms: what a kernel's record has in `airtime_rx_ms`. Only with
    /// `variant: linux-6.12`, and only simulated.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub airtime_sent_ms: Option<f64>,
    /// To the station.
    pub down: WifiWayRecord,
    /// From it.
    pub up: WifiWayRecord,
    /// What the options that shorten the time below the queues did; only with one of them.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub latency: Option<WifiLatencyRecord>,
    /// The traffic identifiers that had packets.
    pub tids: Vec<WifiTidRecord>,
}

/// What `aql`, `defer`, `retry_time`, `retry_sojourn` and `dense_stations` did to a station.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct WifiLatencyRecord {
    /// Frames given up by their age, that could have been sent again by the limit of transmissions.
    pub expired: u64,
    /// Aggregates built to the station.
    pub built: u64,
    /// Of them, those built while the cell was dense.
    pub built_dense: u64,
    /// Airtime of its aggregates of an access category below the queues after one was built: the mean over aggregates, ms; `None`,
    /// as the next, if none was built.
    pub pending_mean_ms: Option<f64>,
    /// The largest, ms.
    pub pending_max_ms: Option<f64>,
}

/// One direction between the access point and a station.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
pub struct WifiWayRecord {
    /// Packets delivered.
    pub packets: u64,
    /// Their bytes, as Ethernet frames.
    pub bytes: u64,
    /// The same as a rate, Mbit/s.
    pub throughput_mbit: f64,
    /// Aggregates sent, single frames among them.
    pub aggregates: u64,
    /// Mean number of frames in them; `None`, as the next, without any.
    pub aggregate_frames: Option<f64>,
    /// Mean number of packet bytes in them; absent, as the next two, of a kernel, which does not tell it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(extend("x-null" = true))]
    pub aggregate_bytes: Option<Option<f64>>,
    /// Of them, those that collided.
    pub collisions: u64,
    /// Transmissions of frames.
    pub transmissions: u64,
    /// Of them, those of frames that had been sent before.
    pub retries: u64,
    /// Drops by reason.
    pub drops: BTreeMap<&'static str, u64>,
    /// Packets marked with congestion experienced.
    pub marks: u64,
    /// From the arrival of a packet at the sender until it was built into an aggregate, of those delivered.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub queue_ms: Option<SojournRecord>,
    /// From then until it was delivered in order at the receiver.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub hardware_ms: Option<SojournRecord>,
}

/// The counters of one traffic identifier in one direction, as `aqm` of debugfs has them.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct WifiTidRecord {
    /// 0 to 7.
    pub tid: u8,
    /// `up`, `down`.
    pub direction: &'static str,
    /// Packets that left the queues.
    pub packets: u64,
    /// Their bytes.
    pub bytes: u64,
    /// Packets dropped by `CoDel`, or the discipline.
    pub drops: u64,
    /// Packets marked.
    pub marks: u64,
    /// Packets dropped because all queues together were full.
    pub overflows: u64,
    /// Packets whose queue belonged to another traffic identifier.
    pub collisions: u64,
    /// Times that a queue became active.
    pub new_flows: u64,
}

/// The record of the simulation's cell; `None` without one.
pub(super) fn simulated(scenario: &Scenario, simulator: &Simulator) -> Option<WifiRecord> {
    let radio = simulator.fabric.radios.first()?;
    let spec = &radio.spec;
    let stats = radio.cell.stats();
    let stations: Vec<WifiStationRecord> = (0..spec.stations.len() as u16)
        .map(|i| station(scenario, radio, i))
        .collect();
    Some(with_shares(WifiRecord {
        scheme: spec.access_point.scheme.name(),
        busy: stats.busy.as_secs_f64() / scenario.duration.as_secs_f64(),
        transmissions: stats.transmissions,
        collisions: stats.collisions,
        jain_airtime: None,
        stations,
    }))
}

/// The record with what follows from the stations' airtimes.
pub(crate) fn with_shares(record: WifiRecord) -> WifiRecord {
    let airtimes: Vec<f64> = record
        .stations
        .iter()
        .map(|s| s.airtime_tx_ms + s.airtime_rx_ms)
        .collect();
    let all = airtimes.iter().fold(0.0, |sum, x| sum + x);
    let share = |airtime: f64| (all > 0.0).then(|| airtime / all);
    let stations = record.stations.into_iter().zip(&airtimes);
    WifiRecord {
        jain_airtime: jain(&airtimes),
        stations: stations
            .map(|(s, &airtime)| WifiStationRecord {
                airtime_share: share(airtime),
                ..s
            })
            .collect(),
        ..record
    }
}

fn station(scenario: &Scenario, radio: &Radio, i: u16) -> WifiStationRecord {
    let spec = &radio.spec.stations[usize::from(i)];
    let stats = radio.cell.station_stats(i);
    let [up, down] = &radio.meters[usize::from(i)];
    let (access_point, node) = (NodeId::ACCESS_POINT, NodeId::of_station(i));
    let policies = &radio.spec.access_point.policies;
    let sender = radio.cell.transmitter(access_point);
    let deficits = AccessCategory::ALL
        .iter()
        .map(|&category| Some((category.name(), sender.credit(node, category)? / 1000)));
    // A receiver of the paper's waits as long as it takes.
    let reasons = match spec.node.variant {
        Variant::Linux612 => &DropReason::ALL[..],
        _ => DropReason::ALL.split_last().map_or(&[][..], |(_, others)| others),
    };
    let to_node = tids(radio, Direction::Down, access_point, node);
    let from_node = tids(radio, Direction::Up, node, access_point);
    WifiStationRecord {
        name: spec.name.clone(),
        rate_mbit: stats.down.rate.nominal().as_bps() as f64 / 1e6,
        weight: spec.weight,
        adapted_weight: sender.adapted_weight(node),
        group: spec.group.clone(),
        deficit_us: deficits.collect(),
        voice_in_aggregates: policies.vo_in_aggregate.map(|_| stats.down.sent.voice_in_aggregates),
        demoted: policies.demote.map(|_| sender.demoted(node)),
        airtime_share: None,
        airtime_tx_ms: stats.down.sent.airtime_tx.as_millis_f64(),
        airtime_rx_ms: stats.down.sent.airtime_rx.as_millis_f64(),
        airtime_sent_ms: (spec.node.variant == Variant::Linux612).then(|| stats.up.sent.airtime_tx.as_millis_f64()),
        down: way(scenario, &stats.down, down, &to_node, reasons),
        up: way(scenario, &stats.up, up, &from_node, reasons),
        latency: latency(radio, node),
        tids: to_node.into_iter().chain(from_node).collect(),
    }
}

fn latency(radio: &Radio, station: NodeId) -> Option<WifiLatencyRecord> {
    if radio.spec.access_point.latency == LatencySpec::OFF {
        return None;
    }
    let stats = radio.cell.transmitter(NodeId::ACCESS_POINT).latency_stats(station);
    Some(WifiLatencyRecord {
        expired: stats.expired,
        built: stats.built,
        built_dense: stats.dense_aggregates,
        pending_mean_ms: mean(stats.pending.as_millis_f64(), stats.built),
        pending_max_ms: (stats.built > 0).then(|| stats.pending_max.as_millis_f64()),
    })
}

fn way(
    scenario: &Scenario,
    stats: &LinkStats,
    meter: &AirMeter,
    tids: &[WifiTidRecord],
    reasons: &[DropReason],
) -> WifiWayRecord {
    let sent = &stats.sent;
    let by_aggregate = |n: u64| mean(n as f64, sent.aggregates);
    WifiWayRecord {
        packets: stats.packets,
        bytes: stats.bytes.get(),
        throughput_mbit: mbit(stats.bytes.get(), scenario.duration),
        aggregates: sent.aggregates,
        aggregate_frames: by_aggregate(sent.transmissions),
        aggregate_bytes: Some(by_aggregate(sent.bytes.get())),
        collisions: stats.collisions,
        transmissions: sent.transmissions,
        retries: sent.retries,
        drops: reasons.iter().map(|r| (r.name(), meter.drops[r.index()])).collect(),
        marks: tids.iter().map(|t| t.marks).sum(),
        queue_ms: Some(SojournRecord::of(&meter.queue)),
        hardware_ms: Some(SojournRecord::of(&meter.hardware)),
    }
}

fn tids(radio: &Radio, direction: Direction, from: NodeId, to: NodeId) -> Vec<WifiTidRecord> {
    let sender = radio.cell.transmitter(from);
    let all = (0..8).filter_map(Tid::new).map(|tid| (tid, sender.tid_stats(to, tid)));
    all.filter(|(_, stats)| *stats != TidStats::default())
        .map(|(tid, stats)| WifiTidRecord {
            tid: tid.value(),
            direction: direction.name(),
            packets: stats.tx_packets,
            bytes: stats.tx_bytes,
            drops: stats.drops,
            marks: stats.marks,
            overflows: stats.overlimit,
            collisions: stats.collisions,
            new_flows: stats.new_flows,
        })
        .collect()
}
