//! What a bed is told.

use super::*;
use sojourn_scenario::{Direction, ProbeKindScenario};
use sojourn_sim::Run;
use sojourn_sim::bed::load_plan;
use sojourn_sim::tap::{Capture, Frame, Point};
use sojourn_tcp::TcpParams;
use sojourn_units::{Bytes, Duration};
use std::collections::BTreeMap;
use std::io;
use std::sync::{Arc, Mutex};

/// When the first packet of each conversation passes its opener.
#[derive(Clone, Debug, Default)]
struct First(Arc<Mutex<BTreeMap<String, u64>>>);

impl Capture for First {
    fn frame(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        let mut seen = self.0.lock().expect("one thread");
        let name = frame.conversation.name.clone();
        seen.entry(name).or_insert(frame.at.as_nanos());
        Ok(())
    }
    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

const TRAFFIC: &str = r#"{"duration": "2s", "lead": "1.5s", "seed": 42, "rtt": "30ms", "start_jitter": "80ms",
    "flows": [{"name": "u", "direction": "up", "start": "100ms", "rtt": "10ms"}, {"name": "d", "direction": "down"}],
    "probes": [{"name": "ping", "kind": "icmp"}, {"name": "rr", "kind": "udp_rr"}, {"name": "v", "kind": "voip"},
               {"name": "iso", "kind": "isochronous", "direction": "down"}, {"name": "poi", "kind": "poisson", "direction": "up"}],
    "web": [{"name": "w", "objects": [1000, 50], "rtt": "20ms", "dns": true}],
    "downloads": [{"name": "f", "direction": "down", "bytes": 3000, "gap": "100ms", "rtt": "20ms"}]}"#;

#[test]
fn a_bed_starts_its_traffic_when_the_simulator_does() {
    let plan = load_plan(
        &Scenario::for_backend(TRAFFIC, Backend::Linux).expect("valid"),
        Backend::Linux,
    )
    .expect("small");
    let first = First::default();
    let scenario = Scenario::from_json(TRAFFIC).expect("valid");
    // Both ends: each conversation is first seen where it is opened.
    let mut run = Run::with_capture(scenario, &[Point::Client, Point::Server], Box::new(first.clone())).expect("valid");
    while let sojourn_sim::Progress::Running(_) = run.advance() {}
    let seen = first.0.lock().expect("one thread").clone();
    let mut planned: BTreeMap<String, u64> = BTreeMap::new();
    let lead = |start_ns: i64| (1_500_000_000 + start_ns) as u64;
    planned.extend(plan.flows.iter().map(|f| (f.name.clone(), lead(f.start_ns))));
    planned.extend(plan.downloads.iter().map(|d| (d.name.clone(), lead(d.start_ns))));
    planned.extend(plan.web.iter().map(|w| (w.name.clone(), lead(w.start_ns))));
    for probe in &plan.probes {
        planned.insert(probe.name.clone(), lead(probe.start_ns));
    }
    assert_eq!(planned, seen);
}

#[test]
fn a_plan_says_all_of_a_scenario() {
    let plan = load_plan(
        &Scenario::for_backend(TRAFFIC, Backend::Linux).expect("valid"),
        Backend::Linux,
    )
    .expect("small");
    assert_eq!(plan.paths, [10_000_000, 20_000_000, 30_000_000]);
    assert_eq!(plan.flows.iter().map(|f| f.path).collect::<Vec<_>>(), [0, 2]);
    assert_eq!(plan.web[0].path, 1);
    assert_eq!(
        (plan.seed, plan.lead_ns, plan.duration_ns, plan.interval_ns),
        (42, 1_500_000_000, 2_000_000_000, 200_000_000)
    );
    assert_eq!(plan.probes[1].kind(), ProbeKindScenario::UdpRr(Duration::from_secs(2)));
    assert_eq!(
        (
            plan.probes[2].size(),
            plan.flows[1].congestion_control.map(sojourn_tcp::cc::Algorithm::name)
        ),
        (214, Some("cubic"))
    );
    assert_eq!(plan.tcp, TcpParams::default());
}

#[test]
fn what_tcp_is_to_be_is_passed_on() {
    let s = scenario(
        &json!({"tcp": {"mss": 1000, "initial_window": 3, "receive_window": "100000", "hystart": false,
        "ecn": true, "delayed_ack": false, "min_rto": "1s"}}),
    );
    let tcp = load_plan(&s, Backend::Linux).expect("small").tcp;
    assert_eq!(
        serde_json::to_value(tcp).expect("plain"),
        json!({"variant": "linux-6.1", "mss": 1000, "initial_window": 3, "receive_window": "100000b", "hystart": false,
            "ecn": true, "delayed_ack": false, "min_rto": "1s"})
    );
}

#[test]
fn a_bed_has_so_many_ports() {
    let many = |n: usize, key: &str| -> String {
        let one = |i: usize| match key {
            "probes" => json!({"name": format!("p{i}"), "kind": "icmp"}),
            _ => json!({"name": format!("w{i}"), "objects": [1]}),
        };
        let all: Vec<Value> = (0..n).map(one).collect();
        load_plan(&scenario(&json!({key: all})), Backend::Linux)
            .map_or_else(|e| e.to_string(), |plan| plan.probes.len().to_string())
    };
    assert_eq!(many(5000, "probes"), "5000");
    assert_eq!(
        many(5001, "probes"),
        "number of probes is 5001, but must be at most 5000: a bed has a port for each"
    );
    assert_eq!(
        many(3001, "web"),
        "number of web clients is 3001, but must be at most 3000: a bed has a port for each"
    );
}

/// The idle times of a plan are those of the simulator, to the nanosecond.
#[test]
fn a_bed_has_the_idle_times_of_the_simulator() {
    let scenario = Scenario::for_backend(TRAFFIC, Backend::Linux).expect("valid");
    let plan = load_plan(&scenario, Backend::Linux).expect("small");
    let download = &plan.downloads[0];
    assert_eq!(
        (download.path, download.bytes, download.direction),
        (1, 3000, Direction::Down)
    );
    assert!(download.gaps_ns.iter().sum::<u64>() > plan.duration_ns);
    let run = sojourn_sim::run(Scenario::from_json(TRAFFIC).expect("valid")).expect("runs");
    let files = &run.downloads[0].files;
    assert!(files.len() > 5, "{files:?}");
    for (pair, &gap) in files.windows(2).zip(&download.gaps_ns) {
        let found = (pair[1].start_s - pair[0].start_s) * 1e9 - pair[0].fct_ms.expect("complete") * 1e6;
        assert!((found - gap as f64).abs() < 2.0, "{found} is not {gap}");
    }
}

#[test]
fn a_plan_says_what_befalls_packets_on_a_long_link() {
    let of = |more: &str| {
        let text = format!(r#"{{"duration": "2s"{more}}}"#);
        load_plan(
            &Scenario::for_backend(&text, Backend::Linux).expect("valid"),
            Backend::Linux,
        )
        .expect("small")
    };
    let plan = of(
        r#", "edge_rate": "100mbit", "edge_limit": 300, "loss_up": 0.25, "loss_down": 0.999999999999, "jitter_down": "20ms",
        "flows": [{"name": "t", "direction": "up", "write": "150b", "write_interval": "300ms"}]"#,
    );
    assert_eq!(
        (plan.edge_limit, plan.up.loss, plan.down.loss),
        (300, 1 << 30, u32::MAX)
    );
    assert_eq!((plan.up.jitter_ns, plan.down.jitter_ns), (0, 20_000_000));
    assert_eq!(
        (plan.flows[0].write, plan.flows[0].write_interval),
        (Some(Bytes::new(150)), Some(Duration::from_millis(300)))
    );
    // And nothing where there is nothing: a plan that was made before there were such things is the same text.
    let text = serde_json::to_string(&of("")).expect("plain data");
    for key in ["edge_limit", "loss", "jitter", "downloads", "write"] {
        assert!(!text.contains(key), "{key}: {text}");
    }
}
