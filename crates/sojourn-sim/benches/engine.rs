//! Whole runs: 10 s of RRUL at 100/100 Mbit/s and 50 ms, with 8, 64 and 256 flows.
//!
//! The throughput that criterion prints is packets that left either side of the bottleneck per second of real time. A
//! packet there is about five events: its link, its delay, the host, and the acknowledgement's share of the same.

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use serde_json::{Value, json};
use sojourn_sim::{Scenario, run};
use std::hint::black_box;

/// `flows` bulk flows, half in each direction, beside the probes of RRUL.
fn rrul(qdisc: &str, flows: usize) -> Scenario {
    let flows: Vec<Value> = (0..flows / 2)
        .flat_map(|i| ["up", "down"].map(|d| json!({"name": format!("tcp_{d}_{i}"), "direction": d})))
        .collect();
    let text = json!({
        "duration": "10s", "up": "100mbit", "down": "100mbit", "rtt": "50ms", "qdisc_up": qdisc, "qdisc_down": qdisc,
        "flows": flows, "probes": [{"name": "ping", "kind": "icmp"}, {"name": "udp_rr", "kind": "udp_rr"}],
    });
    Scenario::from_json(&text.to_string()).expect("a valid scenario")
}

fn bottleneck(c: &mut Criterion) {
    let mut group = c.benchmark_group("rrul_100mbit_50ms_10s");
    group.sample_size(10);
    for qdisc in ["pfifo limit 1000", "codel", "fq_codel"] {
        for flows in [8, 64, 256] {
            let scenario = rrul(qdisc, flows);
            let packets = run(scenario.clone()).expect("it runs").cost.packets;
            group.throughput(Throughput::Elements(packets));
            let kind = qdisc.split(' ').next().unwrap_or_default();
            group.bench_function(format!("{kind}/{flows}_flows"), |b| {
                b.iter_batched(|| scenario.clone(), |s| black_box(run(s)), BatchSize::LargeInput);
            });
        }
    }
    group.finish();
}

/// What a run costs before its first packet: building, and the record of nothing.
fn empty_run(c: &mut Criterion) {
    let scenario = Scenario::from_json(r#"{"duration": "1s"}"#).expect("a valid scenario");
    c.bench_function("empty_run", |b| {
        b.iter_batched(|| scenario.clone(), |s| black_box(run(s)), BatchSize::SmallInput);
    });
}

criterion_group!(benches, bottleneck, empty_run);
criterion_main!(benches);
