//! What a bed is told, and the record of what it saw. Measurements are made by hand, and so are their results.

mod bottleneck;
mod downloads;
mod flusher;
mod hostile;
mod plan;
mod programs;
mod traffic;

use serde_json::{Value, json};
use sojourn_bed::{
    Conversation, DownloadMeasured, FlowMeasured, Kernel, MEASURED_FORMAT, Measured, ProbeMeasured, QdiscMeasured,
    QdiscSample, Watched, WebMeasured,
};
use sojourn_scenario::Direction;
use sojourn_sim::bed::measured_record;
use sojourn_sim::record::Record;
use sojourn_sim::{Backend, Scenario};

const MS: i64 = 1_000_000;

/// A second of nothing, in bins of 200 ms, without draws. `more` is added.
fn scenario(more: &Value) -> Scenario {
    let mut all = json!({"duration": "1s", "lead": "0s", "start_jitter": "0s", "qdisc_up": "pfifo limit 10", "qdisc_down": "pfifo"});
    let fields = more.as_object().expect("an object");
    all.as_object_mut().expect("an object").extend(fields.clone());
    Scenario::for_backend(&all.to_string(), Backend::Linux).expect("valid")
}

/// A measurement of a scenario in which nothing happened.
fn nothing(s: &Scenario) -> Measured {
    let samples: Vec<QdiscSample> = (0..=5)
        .map(|k| QdiscSample {
            at_ns: 200 * k * MS,
            ..QdiscSample::default()
        })
        .collect();
    let discipline = |kind: &str| QdiscMeasured {
        kind: kind.to_owned(),
        samples: samples.clone(),
        ..QdiscMeasured::default()
    };
    let flow = FlowMeasured {
        delivered: vec![0; 5],
        cwnd: vec![10; 5],
        ..FlowMeasured::default()
    };
    Measured {
        format: MEASURED_FORMAT.to_owned(),
        kernel: Kernel {
            release: "6.1.0".to_owned(),
            version: "#1".to_owned(),
            virtual_time: true,
        },
        flows: vec![flow; s.flows.len()],
        probes: vec![ProbeMeasured::default(); s.probes.len()],
        web: vec![WebMeasured::default(); s.web.len()],
        downloads: vec![DownloadMeasured::default(); s.downloads.len()],
        up: discipline(s.bottleneck(Direction::Up).qdisc.kind()),
        down: discipline(s.bottleneck(Direction::Down).qdisc.kind()),
        counters: [("client".to_owned(), [("TcpRetransSegs".to_owned(), 3)].into())].into(),
        ..Measured::default()
    }
}

/// A full data segment of the first flow up, at a time in ms.
fn data(key: u64, ms: i64) -> Watched {
    Watched {
        at_ns: ms * MS,
        key,
        length: 1514,
        conversation: Conversation::Flow(0),
        down: false,
        left: false,
        data: true,
        syn: false,
        marked: false,
    }
}

fn left(frame: Watched, ms: i64) -> Watched {
    Watched {
        at_ns: ms * MS,
        left: true,
        ..frame
    }
}

fn bytes(frames: &[Watched]) -> Vec<u8> {
    frames.iter().flat_map(Watched::to_bytes).collect()
}

/// The kernel's drops up, and what else it says there at the end.
fn with_drops(m: &mut Measured, drops: u64, extra: &[(&str, f64)]) {
    let last = m.up.samples.last_mut().expect("there are samples");
    last.drops = drops;
    m.up.extra_end = extra.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
}

fn record(s: &Scenario, m: &Measured, frames: &[Watched]) -> Record {
    measured_record(s, Backend::Linux, m, &bytes(frames)).expect("a bed can measure this")
}

fn error(s: &Scenario, m: &Measured, frames: &[Watched]) -> String {
    measured_record(s, Backend::Linux, m, &bytes(frames))
        .expect_err("no bed can measure this")
        .to_string()
}

fn one_flow() -> Value {
    json!({"flows": [{"name": "a", "direction": "up"}]})
}

fn near(found: f64, expected: f64) {
    assert!(
        (found - expected).abs() <= 1e-9 * expected.abs().max(1e-3),
        "{found} is not {expected}"
    );
}
