//! Drives every discipline through the vectors of `testdata`; the format is described there.

use serde::Deserialize;
use sojourn_qdisc::{AckFacts, Dropped, Packet, Qdisc, QdiscSpec, band_of_dscp, priority_of_dscp};
use sojourn_units::{Bytes, Ecn, Rate, Time};
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, Debug)]
struct VectorPacket {
    id: u64,
    size: u64,
    flow: u32,
    ecn: Ecn,
    dscp: u8,
    source: u32,
    destination: u32,
    tcp: Option<AckFacts>,
    priority: Option<u8>,
    pacing_bps: Option<u64>,
    not_before_ns: Option<u64>,
}

impl Packet for VectorPacket {
    fn size(&self) -> Bytes {
        Bytes::new(self.size)
    }
    fn flow_hash(&self) -> u32 {
        self.flow
    }
    fn ecn(&self) -> Ecn {
        self.ecn
    }
    fn set_ecn(&mut self, ecn: Ecn) {
        self.ecn = ecn;
    }
    fn dscp(&self) -> u8 {
        self.dscp
    }
    fn set_dscp(&mut self, dscp: u8) {
        self.dscp = dscp;
    }
    fn band(&self) -> u8 {
        band_of_dscp(self.dscp)
    }
    fn source(&self) -> u32 {
        self.source
    }
    fn destination(&self) -> u32 {
        self.destination
    }
    fn ack(&self) -> Option<AckFacts> {
        self.tcp
    }
    fn priority(&self) -> u8 {
        self.priority.unwrap_or_else(|| priority_of_dscp(self.dscp))
    }
    fn pacing_rate(&self) -> Option<Rate> {
        self.pacing_bps.map(Rate::from_bps)
    }
    fn not_before(&self) -> Option<Time> {
        self.not_before_ns.map(Time::from_nanos)
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Vector {
    source: String,
    worked: String,
    qdisc: String,
    #[serde(default = "one")]
    seed: u64,
    step: Vec<Step>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Step {
    at_ns: u64,
    enqueue: Option<Enqueue>,
    dequeue: Option<Dequeue>,
    ready_at_ns: Option<i64>,
    #[serde(default)]
    drops: Vec<(u64, String)>,
    backlog: Option<(u64, u64)>,
    #[serde(default)]
    stats: BTreeMap<String, f64>,
    #[serde(default)]
    classes: BTreeMap<String, BTreeMap<String, f64>>,
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Enqueue {
    size: u64,
    #[serde(default)]
    flow: u32,
    #[serde(default)]
    ecn: EcnField,
    #[serde(default)]
    dscp: u8,
    #[serde(default)]
    source: u32,
    #[serde(default)]
    destination: u32,
    tcp: Option<Tcp>,
    #[serde(default)]
    priority: Option<u8>,
    pacing_bps: Option<u64>,
    not_before_ns: Option<u64>,
    #[serde(default = "one")]
    count: u64,
}

/// Whether a packet is ECN-capable, or its codepoint.
#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum EcnField {
    Capable(bool),
    Codepoint(String),
}

impl Default for EcnField {
    fn default() -> Self {
        Self::Capable(false)
    }
}

impl EcnField {
    fn codepoint(&self) -> Ecn {
        match self {
            Self::Capable(false) => Ecn::NotEct,
            Self::Capable(true) => Ecn::Ect0,
            Self::Codepoint(name) => Ecn::from_name(name).unwrap_or_else(|| panic!("{name} is no codepoint")),
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Tcp {
    ack: u32,
    #[serde(default = "ack_alone")]
    flags: u16,
    #[serde(default)]
    payload: bool,
    timestamps: Option<(u32, u32)>,
    #[serde(default)]
    sack: Vec<(u32, u32)>,
    #[serde(default)]
    other_options: bool,
}

const fn ack_alone() -> u16 {
    AckFacts::ACK
}

impl Tcp {
    fn facts(&self) -> AckFacts {
        let mut sack = [(0, 0); 4];
        sack[..self.sack.len()].copy_from_slice(&self.sack);
        AckFacts {
            flags: self.flags,
            ack: self.ack,
            payload: self.payload,
            timestamps: self.timestamps,
            sack,
            sack_count: self.sack.len() as u8,
            other_options: self.other_options,
        }
    }
}

#[derive(Debug, Deserialize)]
#[serde(untagged)]
enum Dequeue {
    Nothing(String),
    Packet(Leaves),
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Leaves {
    id: u64,
    sojourn_ns: Option<u64>,
    marked: Option<bool>,
    dscp: Option<u8>,
}

const fn one() -> u64 {
    1
}

fn run(vector: &Vector) {
    assert!(!vector.source.is_empty() && !vector.worked.is_empty());
    let spec = QdiscSpec::parse(&vector.qdisc, None).unwrap_or_else(|e| panic!("{e}"));
    let mut q = spec.build::<VectorPacket>(vector.seed);
    let mut drops: Vec<Dropped<VectorPacket>> = Vec::new();
    let mut next_id = 0;
    for step in &vector.step {
        let now = Time::from_nanos(step.at_ns);
        if let Some(offer) = &step.enqueue {
            for _ in 0..offer.count {
                let packet = VectorPacket {
                    id: next_id,
                    size: offer.size,
                    flow: offer.flow,
                    ecn: offer.ecn.codepoint(),
                    dscp: offer.dscp,
                    source: offer.source,
                    destination: offer.destination,
                    tcp: offer.tcp.as_ref().map(Tcp::facts),
                    priority: offer.priority,
                    pacing_bps: offer.pacing_bps,
                    not_before_ns: offer.not_before_ns,
                };
                next_id += 1;
                q.enqueue(packet, now, &mut drops);
            }
        }
        match &step.dequeue {
            None => {}
            Some(Dequeue::Nothing(word)) => {
                assert_eq!(word, "nothing");
                let left = q.dequeue(now, &mut drops);
                assert!(left.is_none(), "{step:?}: {left:?} left");
            }
            Some(Dequeue::Packet(leaves)) => {
                let d = q
                    .dequeue(now, &mut drops)
                    .unwrap_or_else(|| panic!("{step:?}: nothing left"));
                assert_eq!(d.packet.id, leaves.id, "{step:?}");
                assert!(
                    leaves.sojourn_ns.is_none_or(|ns| ns == d.sojourn.as_nanos()),
                    "{step:?}: {d:?}"
                );
                assert!(leaves.marked.is_none_or(|marked| marked == d.marked), "{step:?}: {d:?}");
                assert!(leaves.dscp.is_none_or(|dscp| dscp == d.packet.dscp), "{step:?}: {d:?}");
            }
        }
        if let Some(ready) = step.ready_at_ns {
            let expected = u64::try_from(ready).ok().map(Time::from_nanos);
            assert_eq!(q.ready_at(now, &mut drops), expected, "{step:?}");
        }
        let dropped: Vec<(u64, String)> = drops
            .drain(..)
            .map(|d| (d.packet.id, d.reason.name().to_owned()))
            .collect();
        assert_eq!(dropped, step.drops, "{step:?}");
        if let Some(backlog) = step.backlog {
            assert_eq!((q.backlog().packets, q.backlog().bytes.get()), backlog, "{step:?}");
        }
        compare(&q.extra_stats().into_iter().collect(), &step.stats, step);
        let all = q.class_stats();
        for (id, expected) in &step.classes {
            let class = all.iter().find(|class| class.id == *id);
            let class = class.unwrap_or_else(|| panic!("{step:?}: no class {id}"));
            let mut found: BTreeMap<&str, f64> = class.extra.iter().copied().collect();
            found.insert("packets", class.sent_packets as f64);
            found.insert("bytes", class.sent_bytes as f64);
            found.insert("drops", class.dropped as f64);
            found.insert("overlimits", class.overlimits as f64);
            found.insert("qlen", class.backlog.packets as f64);
            found.insert("backlog", class.backlog.bytes.get() as f64);
            compare(&found, expected, step);
        }
    }
}

fn compare(found: &BTreeMap<&str, f64>, expected: &BTreeMap<String, f64>, step: &Step) {
    for (name, &expected) in expected {
        let got = *found
            .get(name.as_str())
            .unwrap_or_else(|| panic!("{step:?}: no counter {name}"));
        assert!(
            (got - expected).abs() <= 1e-6 * expected.abs(),
            "{step:?}: {name} is {got}"
        );
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all: Vec<PathBuf> = fs::read_dir(folder)
        .unwrap_or_else(|e| panic!("{}: {e}", folder.display()))
        .map(|entry| entry.expect("a readable folder").path())
        .filter(|path| path.extension().is_some_and(|e| e == "toml"))
        .collect();
    all.sort();
    assert!(!all.is_empty(), "{} has no vector", folder.display());
    all
}

fn run_folder(name: &str) {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../testdata");
    for path in files(&root.join(name)) {
        let text = fs::read_to_string(&path).expect("a readable file");
        let vector: Vector = toml::from_str(&text).unwrap_or_else(|e| panic!("{}: {e}", path.display()));
        let file = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        eprintln!("{name}/{file}");
        run(&vector);
    }
}

macro_rules! folders {
    ($($test:ident: $folder:literal;)*) => {$(
        #[test]
        fn $test() {
            run_folder($folder);
        }
    )*};
}

folders! {
    codel_vectors_hold: "codel";
    fq_codel_vectors_hold: "fq_codel";
    fq_vectors_hold: "fq";
    pie_vectors_hold: "pie";
    red_vectors_hold: "red";
    sfq_vectors_hold: "sfq";
    fifo_vectors_hold: "fifo";
    tbf_vectors_hold: "tbf";
    fq_pie_vectors_hold: "fq_pie";
    dualpi2_vectors_hold: "dualpi2";
    cake_vectors_hold: "cake";
    prio_vectors_hold: "prio";
    drr_vectors_hold: "drr";
    ets_vectors_hold: "ets";
    htb_vectors_hold: "htb";
}
