//! A discipline and a control from outside, against those of the house that do the same.
//!
//! What is registered is there for the whole program, so this is one of its own.

use serde_json::{Value, json};
use sojourn_qdisc::{DropReason, OwnDrops, OwnQdisc, OwnSpec, Packet, PacketFacts, QdiscSpec};
use sojourn_sim::{Record, Scenario, run};
use sojourn_tcp::cc::{Ack, CongestionControl, Needs, OwnControl, Window};
use sojourn_units::{Bytes, Time};
use std::collections::VecDeque;
use std::sync::{Arc, Once};

#[derive(Clone, Debug)]
struct TailDrop {
    limit: u32,
    marks: bool,
    queue: VecDeque<PacketFacts>,
}

impl OwnQdisc for TailDrop {
    fn enqueue(&mut self, packet: PacketFacts, _: Time, drops: &mut OwnDrops<'_>) {
        if self.queue.len() as u32 >= self.limit {
            drops(packet, DropReason::QueueLimit);
        } else {
            self.queue.push_back(packet);
        }
    }
    fn dequeue(&mut self, _: Time, _: &mut OwnDrops<'_>) -> Option<PacketFacts> {
        let mut packet = self.queue.pop_front()?;
        if self.marks {
            packet.mark_ce();
        }
        Some(packet)
    }
    fn peek_size(&self) -> Option<Bytes> {
        self.queue.front().map(Packet::size)
    }
}

#[derive(Debug)]
struct Spec(u32, bool);

impl OwnSpec for Spec {
    fn words(&self) -> String {
        format!("limit {}{}", self.0, if self.1 { " ecn" } else { "" })
    }
    fn most_packets(&self) -> u32 {
        self.0
    }
    fn build(&self, _: u64) -> Box<dyn OwnQdisc> {
        Box::new(TailDrop {
            limit: self.0,
            marks: self.1,
            queue: VecDeque::new(),
        })
    }
}

fn read(words: &[&str]) -> Result<Arc<dyn OwnSpec>, String> {
    let (limit, marks) = match words {
        ["limit", limit] => (limit, false),
        ["limit", limit, "ecn"] => (limit, true),
        _ => return Err("needs a limit".to_owned()),
    };
    let limit = limit
        .parse()
        .map_err(|_| format!("limit is {limit:?}, but must be a number"))?;
    Ok(Arc::new(Spec(limit, marks)))
}

#[derive(Clone, Debug)]
struct OwnReno;

impl CongestionControl for OwnReno {
    fn grow(&mut self, ack: &Ack, window: &mut Window) {
        let mut acked = ack.acked;
        if window.in_slow_start() {
            acked = window.slow_start(acked);
        }
        if acked > 0 {
            window.additive_increase(window.cwnd, acked);
        }
    }
    fn reduce(&mut self, window: &Window) -> u32 {
        (window.cwnd / 2).max(2)
    }
}

fn registered() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        sojourn_qdisc::register("own_fifo", "a FIFO", read).expect("a new name");
        let control = OwnControl {
            name: "own-reno",
            needs: Needs::NONE,
            scalable: false,
            build: || Box::new(OwnReno),
        };
        sojourn_tcp::cc::register(control).expect("a new name");
    });
}

fn record(scenario: &Value) -> Record {
    let valid = Scenario::from_json(&scenario.to_string()).unwrap_or_else(|e| panic!("{e}: {scenario}"));
    run(valid).unwrap_or_else(|e| panic!("{e}: {scenario}"))
}

/// The record without what runs cost, with the names of the house in place of those from outside.
fn renamed(scenario: &Value) -> String {
    let mut record = serde_json::to_value(record(scenario)).expect("a record is plain data");
    record["cost"] = Value::Null;
    record
        .to_string()
        .replace("own_fifo", "pfifo")
        .replace("own-reno", "reno")
}

#[test]
fn a_discipline_from_outside_does_what_the_same_one_of_the_house_does() {
    registered();
    for around in [
        "{}",
        "tbf rate 8mbit burst 3000b latency 50ms ; qdisc parent 1:1 {}",
        "prio ; qdisc parent 1:2 {}",
    ] {
        let of = |kind: &str| {
            let text = around.replace("{}", &format!("{kind} limit 40"));
            let flows: Vec<Value> = ["up", "up", "up", "down", "down", "down"]
                .iter()
                .enumerate()
                .map(|(i, direction)| json!({"name": format!("f{i}"), "direction": direction}))
                .collect();
            let ping = json!({"name": "ping", "kind": "icmp"});
            renamed(&json!({
                "duration": "10s", "qdisc_up": text, "qdisc_down": text, "flows": flows, "probes": [ping],
            }))
        };
        assert_eq!(of("own_fifo"), of("pfifo"), "{around}");
    }
}

#[test]
fn a_control_from_outside_does_what_the_same_one_of_the_house_does() {
    registered();
    let of = |control: &str| {
        let flow = json!({"name": "a", "direction": "up", "congestion_control": control});
        renamed(&json!({"duration": "20s", "qdisc_up": "pfifo limit 40", "flows": [flow]}))
    };
    assert_eq!(of("own-reno"), of("reno"));
}

/// What it marks is counted, and reaches the sender.
#[test]
fn a_discipline_from_outside_marks() {
    registered();
    let flow = json!({"name": "a", "direction": "up"});
    let scenario = |ecn: bool| {
        record(&json!({
            "duration": "5s", "qdisc_up": "own_fifo limit 40 ecn", "flows": [flow], "tcp": {"ecn": ecn},
        }))
    };
    let marked = scenario(true);
    assert!(marked.bottleneck.up.marks > 0);
    assert!(marked.flows[0].ecn.as_ref().and_then(|ecn| ecn.echoes) > Some(0));
    assert_eq!(scenario(false).bottleneck.up.marks, 0, "no packet is capable of ECN");
}

#[test]
fn names_and_words_are_refused_by_a_sentence() {
    registered();
    let twice = sojourn_qdisc::register("own_fifo", "", read).unwrap_err();
    assert_eq!(twice, "the kind is \"own_fifo\", but must be the name of no other one");
    for taken in ["fq_codel", "hfsc", "gbw:codel", "Own", ""] {
        assert!(sojourn_qdisc::register(taken, "", read).is_err(), "{taken}");
    }
    let wrong = QdiscSpec::parse("own_fifo limit x", None).unwrap_err().to_string();
    assert_eq!(wrong, "own_fifo limit is \"x\", but must be a number");
    let on_a_kernel = QdiscSpec::parse("own_fifo limit 4", None).expect("it is registered");
    assert_eq!(on_a_kernel.to_string(), "own_fifo limit 4");
    let refusal = sojourn_qdisc::kernel_options("own_fifo limit 4", None)
        .unwrap_err()
        .to_string();
    assert!(
        refusal.contains("own_fifo") && refusal.contains("simulator"),
        "{refusal}"
    );
    for taken in ["reno", "own-reno", "Reno", ""] {
        let control = OwnControl {
            name: taken,
            needs: Needs::NONE,
            scalable: false,
            build: || Box::new(OwnReno),
        };
        assert!(sojourn_tcp::cc::register(control).is_err(), "{taken}");
    }
}
