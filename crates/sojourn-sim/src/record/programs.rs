//! The records of programs, and of their flows at the bottleneck.

use super::Quantiles;
use super::numbers::mbit;
use crate::meter::RouteCounts;
use schemars::JsonSchema;
use serde::Serialize;
use sojourn_bed::{Measured, ProgramFlow, ProgramMeasured};
use sojourn_scenario::{ProgramScenario, Scenario};
use sojourn_units::Duration;
use std::collections::BTreeMap;

/// A program that ran in a host of the bed.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct ProgramRecord {
    /// Its name.
    pub name: String,
    /// Its host.
    pub host: String,
    /// When it was started, s from the beginning of the measured window; `None` if it was not.
    pub started_s: Option<f64>,
    /// When it ended by itself, s; `None` if it did not.
    pub ended_s: Option<f64>,
    /// Its exit status; `None` if it was told to end, or a signal ended it.
    pub status: Option<i32>,
    /// The number of the signal that ended it; `None` if none did, or the one by which it was told to.
    pub signal: Option<i32>,
    /// What it wrote: `stdout`, `stderr` and the files that are kept, by their paths in its folder; text, or base 64.
    pub outputs: BTreeMap<String, String>,
    /// Names of what is not text in UTF-8, and so in base 64 (RFC 4648 section 4).
    pub base64: Vec<String>,
}

/// A flow of programs at the bottleneck: what has the same protocol, addresses and ports.
#[derive(Clone, Debug, JsonSchema, Serialize)]
pub struct ProgramFlowRecord {
    /// `tcp`, `udp`, `icmp`, or the number in the header of IP.
    pub protocol: String,
    /// Address and port of the end on the client's side; of ICMP the port is the identifier of an echo.
    pub client: String,
    /// Address and port of the end on the server's side.
    pub server: String,
    /// Client to server.
    pub up: ProgramWayRecord,
    /// Server to client.
    pub down: ProgramWayRecord,
}

/// One direction of a flow of programs at the bottleneck, over the measured window.
#[derive(Clone, Debug, Default, JsonSchema, Serialize)]
pub struct ProgramWayRecord {
    /// Packets that departed.
    pub packets: u64,
    /// Their bytes on the wire.
    pub bytes: u64,
    /// Packets that were dropped.
    pub dropped: u64,
    /// Packets that were marked with congestion experienced.
    pub marked: u64,
    /// When the first departed, s from the beginning of the measured window; `None` if none did.
    pub first_s: Option<f64>,
    /// When the last departed, s; `None` if none did.
    pub last_s: Option<f64>,
    /// Bits on the wire from the first packet to the last, Mbit/s; `None` if it has no two.
    pub rate_mbit: Option<f64>,
    /// Time in the queue of each packet.
    pub sojourn_ms: Quantiles,
}

/// The packets of one direction of a flow that departed.
#[derive(Clone, Debug, Default)]
pub(crate) struct Departed {
    bytes: u64,
    /// When the first and the last did, ns, and how many bytes the last had.
    span: Option<(u64, u64, u64)>,
    sojourn_ms: Vec<f64>,
}

impl Departed {
    /// A packet departs.
    pub(crate) fn add(&mut self, at_ns: u64, bytes: u16, sojourn: Duration) {
        let bytes = u64::from(bytes);
        self.bytes += bytes;
        let first = self.span.map_or(at_ns, |(first, ..)| first);
        self.span = Some((first, at_ns, bytes));
        self.sojourn_ms.push(sojourn.as_millis_f64());
    }

    fn record(self, counts: &RouteCounts) -> ProgramWayRecord {
        let seconds = |ns: u64| Duration::from_nanos(ns).as_secs_f64();
        let rate = self.span.filter(|(first, last, _)| last > first);
        ProgramWayRecord {
            packets: self.sojourn_ms.len() as u64,
            bytes: self.bytes,
            dropped: counts.data_dropped + counts.acks_dropped,
            marked: counts.marked,
            first_s: self.span.map(|(first, ..)| seconds(first)),
            last_s: self.span.map(|(_, last, _)| seconds(last)),
            // What departs last takes its time after that.
            rate_mbit: rate.map(|(first, last, bytes)| mbit(self.bytes - bytes, Duration::from_nanos(last - first))),
            sojourn_ms: Quantiles::of(self.sojourn_ms),
        }
    }
}

/// The records of the programs of a scenario.
pub(crate) fn records(s: &Scenario, m: &Measured) -> Vec<ProgramRecord> {
    let seconds = |ns: Option<i64>| ns.map(|ns| ns as f64 / 1e9);
    let one = |(program, seen): (&ProgramScenario, &ProgramMeasured)| ProgramRecord {
        name: program.name.clone(),
        host: program.host.clone(),
        started_s: seconds(seen.started_ns),
        ended_s: seconds(seen.ended_ns),
        status: seen.status,
        signal: seen.signal,
        outputs: seen.outputs.clone(),
        base64: seen.base64.iter().cloned().collect(),
    };
    s.programs.iter().zip(&m.programs).map(one).collect()
}

/// The record of a flow: what departed, and what else was counted, up and down.
pub(crate) fn flow(flow: &ProgramFlow, ways: [(Departed, &RouteCounts); 2]) -> ProgramFlowRecord {
    let [up, down] = ways.map(|(departed, counts)| departed.record(counts));
    ProgramFlowRecord {
        protocol: match flow.protocol {
            6 => "tcp".to_owned(),
            17 => "udp".to_owned(),
            1 | 58 => "icmp".to_owned(),
            other => other.to_string(),
        },
        client: flow.client.to_string(),
        server: flow.server.to_string(),
        up,
        down,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_way_is_counted_by_hand() {
        let mut way = Departed::default();
        for (at_ms, sojourn) in [(100, 4), (200, 6), (300, 11)] {
            way.add(at_ms * 1_000_000, 1250, Duration::from_millis(sojourn));
        }
        let counts = RouteCounts {
            data_dropped: 2,
            acks_dropped: 1,
            marked: 5,
            ..RouteCounts::default()
        };
        let record = way.record(&counts);
        assert_eq!(
            (record.packets, record.bytes, record.dropped, record.marked),
            (3, 3750, 3, 5)
        );
        // 2500 bytes in 0.2 s.
        assert_eq!(record.rate_mbit, Some(0.1));
        assert_eq!((record.first_s, record.last_s), (Some(0.1), Some(0.3)));
        assert_eq!((record.sojourn_ms.mean, record.sojourn_ms.max), (Some(7.0), Some(11.0)));
        let none = Departed::default().record(&RouteCounts::default());
        assert_eq!((none.packets, none.rate_mbit, none.sojourn_ms.mean), (0, None, None));
    }
}
