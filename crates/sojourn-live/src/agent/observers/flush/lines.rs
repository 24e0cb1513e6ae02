//! What the daemon wrote: its decisions and its log, lines of JSON.

use crate::agent::actor::World;
use serde::Deserialize;
use sojourn_bed::{FlushMeasured, FlusherFlowMeasured, FlusherMeasured, ports};
use std::collections::BTreeMap;
use std::net::SocketAddr;

const SECOND: u64 = 1_000_000_000;

/// A decision, as far as it is of interest.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
enum Decision {
    Sample {
        at_ns: u64,
        dst: SocketAddr,
        smoothed_ns: u64,
        throughput_bps: Option<u64>,
    },
    BaseRtt {
        at_ns: u64,
        dst: SocketAddr,
        base_ns: u64,
    },
    Flush {
        at_ns: u64,
        id: u64,
        dst: SocketAddr,
        packets: u32,
        reason: Reason,
        throughput_bps: u64,
        base_ns: u64,
        rtt_ns: u64,
        max_rtt_ns: u64,
        verdict: String,
    },
    Summary {
        samples: u64,
        helped: u64,
        failed: u64,
        withheld: u64,
    },
    #[serde(other)]
    Another,
}

#[derive(Debug, Deserialize)]
struct Reason {
    kind: String,
}

/// A line of the log.
#[derive(Debug, Deserialize)]
struct Logged {
    at_ns: u64,
    message: String,
    id: Option<u64>,
    packets: Option<u32>,
    sent_packets: Option<u64>,
    sent_bytes: Option<u64>,
}

/// What the lines tell, in the measured window and its bins.
#[derive(Debug)]
pub(super) struct Lines {
    interval_ns: i64,
    bins: usize,
    seen: FlusherMeasured,
    /// By number of a flush: when the last datagram was taken, and how many were.
    sent: BTreeMap<u64, (Option<u64>, u32)>,
}

impl Lines {
    pub(super) fn new(flows: usize, bins: usize, interval_ns: i64) -> Self {
        let flow = FlusherFlowMeasured {
            pairs: Vec::new(),
            rtt_ns: vec![None; bins],
            base_ns: vec![None; bins],
            throughput_bps: vec![None; bins],
        };
        Self {
            interval_ns,
            bins,
            seen: FlusherMeasured {
                flows: vec![flow; flows],
                ..FlusherMeasured::default()
            },
            sent: BTreeMap::new(),
        }
    }

    /// A line of the log; the log comes before the decisions.
    pub(super) fn log(&mut self, line: &str) -> Result<(), String> {
        let line: Logged = serde_json::from_str(line).map_err(|e| e.to_string())?;
        match (line.message.as_str(), line.id, line.packets) {
            ("sent", Some(id), Some(packets)) => {
                self.sent.insert(id, (Some(line.at_ns), packets));
            }
            ("sent in part", Some(id), Some(packets)) => {
                self.sent.insert(id, (None, packets));
            }
            ("stopped", ..) => {
                self.seen.packets = line.sent_packets.unwrap_or(0);
                self.seen.bytes = line.sent_bytes.unwrap_or(0);
            }
            _ => {}
        }
        Ok(())
    }

    /// A line of the decisions.
    pub(super) fn decision(&mut self, line: &str, world: &dyn World) -> Result<(), String> {
        let at = |ns: u64| world.at((ns / SECOND).cast_signed(), (ns % SECOND).cast_signed());
        match serde_json::from_str(line).map_err(|e| e.to_string())? {
            Decision::Sample {
                at_ns,
                dst,
                smoothed_ns,
                throughput_bps,
            } => {
                if let Some((flow, bin)) = self.place(dst, at(at_ns)) {
                    let flow = &mut self.seen.flows[flow];
                    flow.rtt_ns[bin] = Some(smoothed_ns);
                    flow.throughput_bps[bin] = throughput_bps.or(flow.throughput_bps[bin]);
                }
            }
            Decision::BaseRtt { at_ns, dst, base_ns } => {
                if let Some((flow, bin)) = self.place(dst, at(at_ns)) {
                    self.seen.flows[flow].base_ns[bin] = Some(base_ns);
                }
            }
            Decision::Flush {
                at_ns,
                id,
                dst,
                packets,
                reason,
                throughput_bps,
                base_ns,
                rtt_ns,
                max_rtt_ns,
                verdict,
            } => {
                let refused = verdict == "refused";
                let (done, sent) = self.sent.get(&id).copied().unwrap_or((None, 0));
                self.seen.events.push(FlushMeasured {
                    at_ns: at(at_ns),
                    took_ns: done.filter(|_| !refused).map(|done| done.saturating_sub(at_ns)),
                    flow: self.flow(dst),
                    packets: if refused { packets } else { sent },
                    refused,
                    reason: reason.kind,
                    throughput_bps,
                    rtt_ns,
                    base_ns,
                    max_rtt_ns,
                });
            }
            Decision::Summary {
                samples,
                helped,
                failed,
                withheld,
            } => {
                let seen = &mut self.seen;
                (seen.samples, seen.helped, seen.failed, seen.withheld) = (samples, helped, failed, withheld);
            }
            Decision::Another => {}
        }
        Ok(())
    }

    /// The flow whose data goes to this address.
    fn flow(&self, dst: SocketAddr) -> Option<usize> {
        let number = usize::from(dst.port().checked_sub(ports::FLOWS)?);
        (number < self.seen.flows.len()).then_some(number)
    }

    /// The flow, and the bin of a time.
    fn place(&self, dst: SocketAddr, at_ns: i64) -> Option<(usize, usize)> {
        let bin = usize::try_from(at_ns / self.interval_ns).ok()?;
        (at_ns >= 0 && bin < self.bins).then_some((self.flow(dst)?, bin))
    }

    /// What was seen. What changes at times holds in each bin until it changes again.
    pub(super) fn finish(mut self) -> FlusherMeasured {
        for flow in &mut self.seen.flows {
            for values in [&mut flow.rtt_ns, &mut flow.base_ns, &mut flow.throughput_bps] {
                let mut last = None;
                for value in values {
                    last = value.or(last);
                    *value = last;
                }
            }
        }
        self.seen
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::agent::fake::Fake;

    /// Bins of 100 ms, the window from second 10 on of the clock that the lines have; all written by hand from what
    /// the documentation of the daemon shows.
    #[test]
    fn lines_of_the_daemon_become_bins_and_flushes() {
        let world = Fake::since(10_000_000_000);
        let mut lines = Lines::new(1, 5, 100_000_000);
        for line in [
            r#"{"at_ns":10250000000,"level":"info","message":"sent","id":3,"packets":96}"#,
            r#"{"at_ns":10450000000,"level":"warn","message":"sent in part","id":4,"packets":7,"why":"busy"}"#,
            r#"{"at_ns":10500000000,"level":"info","message":"stopped","frames":9,"sent_packets":103,"sent_bytes":154500}"#,
        ] {
            lines.log(line).expect("a line");
        }
        let flow = r#""src":"10.0.1.1:40000","dst":"10.0.4.11:10000""#;
        let other = r#""src":"10.0.1.1:40000","dst":"10.0.4.11:10001""#;
        let plan = r#""toward":"10.0.4.11","size":1500,"throughput_bps":4800000,"base_ns":40,"rtt_ns":240,"max_rtt_ns":250,"bdp_bytes":9"#;
        for line in [
            format!(r#"{{"at_ns":9900000000,"kind":"sample",{flow},"rtt_ns":1,"smoothed_ns":1,"throughput_bps":1}}"#),
            format!(
                r#"{{"at_ns":10110000000,"kind":"sample",{flow},"rtt_ns":7,"smoothed_ns":5,"throughput_bps":null}}"#
            ),
            format!(
                r#"{{"at_ns":10120000000,"kind":"sample",{flow},"rtt_ns":7,"smoothed_ns":6,"throughput_bps":900}}"#
            ),
            format!(
                r#"{{"at_ns":10120000000,"kind":"sample",{other},"rtt_ns":7,"smoothed_ns":99,"throughput_bps":99}}"#
            ),
            format!(r#"{{"at_ns":10300000000,"kind":"base_rtt",{flow},"base_ns":40}}"#),
            format!(
                r#"{{"at_ns":10200000000,"kind":"flush","id":3,{flow},"packets":96,"reason":{{"kind":"threshold","least_ns":1,"trigger_ns":2}},{plan},"verdict":"allowed"}}"#
            ),
            format!(
                r#"{{"at_ns":10400000000,"kind":"flush","id":4,{flow},"packets":90,"reason":{{"kind":"forced"}},{plan},"verdict":"allowed"}}"#
            ),
            format!(
                r#"{{"at_ns":10410000000,"kind":"flush","id":5,{other},"packets":90,"reason":{{"kind":"forced"}},{plan},"verdict":"refused","because":{{"rule":"passive"}}}}"#
            ),
            format!(r#"{{"at_ns":10410000000,"kind":"withheld",{flow},"cause":"busy"}}"#),
            r#"{"kind":"summary","frames":9,"samples":4,"helped":2,"failed":1,"withheld":1,"refused":{}}"#.to_owned(),
        ] {
            lines.decision(&line, &world).expect("a line");
        }
        assert!(lines.decision("{\"kind\":\"flush\"}", &world).is_err());
        let seen = lines.finish();
        let flow = &seen.flows[0];
        assert_eq!(flow.rtt_ns, [None, Some(6), Some(6), Some(6), Some(6)]);
        assert_eq!(flow.throughput_bps, [None, Some(900), Some(900), Some(900), Some(900)]);
        assert_eq!(flow.base_ns, [None, None, None, Some(40), Some(40)]);
        assert_eq!(
            (seen.packets, seen.bytes, seen.samples, seen.helped),
            (103, 154_500, 4, 2)
        );
        let told: Vec<_> = seen
            .events
            .iter()
            .map(|e| (e.at_ns, e.took_ns, e.flow, e.packets, e.refused, e.reason.as_str()))
            .collect();
        assert_eq!(
            told,
            [
                (200_000_000, Some(50_000_000), Some(0), 96, false, "threshold"),
                (400_000_000, None, Some(0), 7, false, "forced"),
                (410_000_000, None, None, 90, true, "forced"),
            ]
        );
    }
}
