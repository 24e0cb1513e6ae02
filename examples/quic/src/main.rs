//! A QUIC connection of `quinn-proto` beside two TCP flows of `sojourn-tcp`, through FQ-CoDel at 10 Mbit/s with 50 ms, for
//! 30 s. All time is virtual. It prints CSV: the congestion windows of all three each 100 ms, in bytes.
//!
//! `tools/quic.py` runs it and draws the windows. A run prints the same bytes each time: `tests` of this file says so, and
//! `end.rs` says what differs unseen.

#![forbid(unsafe_code)]

mod end;

use end::QuicEnd;
use sojourn_sim::sojourn_qdisc::QdiscSpec;
use sojourn_sim::sojourn_tcp::TcpParams;
use sojourn_sim::sojourn_units::{Duration, Rate, Time};
use sojourn_sim::topology::{Bottleneck, DumbbellSpec, dumbbell};
use sojourn_sim::{AgentSpec, FlowSpec, Simulator};
use std::error::Error;
use std::fmt::Write;

/// How long it runs, s.
const SECONDS: u64 = 30;
/// Payload of a full TCP segment, bytes.
const MSS: u64 = 1448;

/// What a run comes to.
struct Run {
    /// The windows over time, as CSV.
    csv: String,
    /// A line for each connection.
    summary: String,
}

/// QUIC beside two TCP flows.
fn run(seed: u64) -> Result<Run, Box<dyn Error>> {
    let side = Bottleneck::new(Rate::from_mbit(10), QdiscSpec::parse("fq_codel", None)?);
    let net = dumbbell(&DumbbellSpec::new(side.clone(), side, Duration::from_millis(50)), None);
    let (up, down) = (net.paths[0].up.links(), net.paths[0].down.links());
    let mut sim = Simulator::new(net.topology.network(), seed, Duration::from_millis(100))?;
    let (client, server) = (QuicEnd::client(seed)?, QuicEnd::server(seed)?);
    let quic = sim.add_agents(&AgentSpec::new("quic", &up, &down), client, server)?;
    // QUIC uses ECN, so TCP does too: CoDel then signals alike to all.
    let tcp = || TcpParams {
        ecn: true,
        ..TcpParams::default()
    };
    let mut flows = Vec::new();
    for name in ["tcp_1", "tcp_2"] {
        flows.push(sim.add_flow(FlowSpec {
            tcp: tcp(),
            ..FlowSpec::bulk(name, &up, &down)
        })?);
    }

    let ends = |sim: &Simulator| -> Option<(u64, u64)> {
        let (client, server): (&QuicEnd, &QuicEnd) = (sim.agent(quic.index, true)?, sim.agent(quic.index, false)?);
        Some((client.window(), server.received()))
    };
    let mut csv = String::from("time_s,quic_cwnd_bytes,tcp_1_cwnd_bytes,tcp_2_cwnd_bytes\n");
    for tenth in 0..=SECONDS * 10 {
        sim.run_until(Time::from_millis(100 * tenth));
        let (window, _) = ends(&sim).ok_or("no QUIC")?;
        let [one, two] = [0, 1].map(|flow| u64::from(sim.sender(flow).sender().cwnd()) * MSS);
        writeln!(csv, "{}.{},{window},{one},{two}", tenth / 10, tenth % 10)?;
    }

    let queue = sim.egress_stats(net.up).ok_or("no queue")?;
    let (_, received) = ends(&sim).ok_or("no QUIC")?;
    let tcp_bytes = |flow: usize| sim.receiver(flow).receiver().bytes_in_order();
    let mut summary = String::new();
    for (name, added, bytes) in [
        ("quic", quic, received),
        ("tcp_1", flows[0], tcp_bytes(0)),
        ("tcp_2", flows[1], tcp_bytes(1)),
    ] {
        let of = queue.route(added.routes.forth);
        let mbit = bytes as f64 * 8.0 / 1e6 / SECONDS as f64;
        let wait = of.sojourn_mean_ms;
        writeln!(summary, "{name}: {mbit:.2} Mbit/s, {wait:.1} ms in the queue")?;
    }
    write!(summary, "{} marks, {} drops", queue.marks(), queue.dropped())?;
    Ok(Run { csv, summary })
}

fn main() -> Result<(), Box<dyn Error>> {
    let run = run(1)?;
    print!("{}", run.csv);
    eprintln!("{}", run.summary);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::run;

    /// Keys and nonces of TLS are of the system; nothing that the network sees depends on them.
    #[test]
    fn a_run_repeats_to_the_byte_and_three_share_the_link() {
        let runs = [1, 1, 1].map(|seed| run(seed).expect("it runs"));
        assert!(
            runs.iter()
                .all(|run| run.csv == runs[0].csv && run.summary == runs[0].summary)
        );
        let rates: Vec<f64> = runs[0]
            .summary
            .lines()
            .filter_map(|line| line.split(": ").nth(1)?.split(" Mbit").next()?.parse().ok())
            .collect();
        // 10 Mbit/s by three, with headers; QUIC has more of them than TCP.
        assert!(
            rates.len() == 3 && rates.iter().all(|rate| (2.8..3.4).contains(rate)),
            "{rates:?}"
        );
    }
}
