//! A queue discipline of one's own: a FIFO that drops at its head, so that a sender hears of a full queue at once.
//!
//! ```sh
//! cargo run --release -p sojourn-sim --example own_qdisc
//! ```

use sojourn_qdisc::{DropReason, OwnDrops, OwnQdisc, OwnSpec, Packet, PacketFacts};
use sojourn_units::{Bytes, Time};
use std::collections::VecDeque;
use std::sync::Arc;

/// The parameters: `head_drop limit N`.
#[derive(Debug)]
struct HeadDropSpec {
    limit: u32,
}

fn read(words: &[&str]) -> Result<Arc<dyn OwnSpec>, String> {
    let limit = match words {
        ["limit", number] => number.parse().ok(),
        _ => None,
    };
    match limit {
        Some(limit @ 1..=100_000) => Ok(Arc::new(HeadDropSpec { limit })),
        _ => Err("has other words, but must have \"limit\" and a number of packets, 1 to 100000".to_owned()),
    }
}

impl OwnSpec for HeadDropSpec {
    fn words(&self) -> String {
        format!("limit {}", self.limit)
    }

    fn most_packets(&self) -> u32 {
        self.limit
    }

    fn build(&self, _seed: u64) -> Box<dyn OwnQdisc> {
        let (limit, queue) = (self.limit as usize, VecDeque::new());
        Box::new(HeadDrop { limit, queue })
    }
}

#[derive(Clone, Debug)]
struct HeadDrop {
    limit: usize,
    queue: VecDeque<PacketFacts>,
}

impl OwnQdisc for HeadDrop {
    fn enqueue(&mut self, packet: PacketFacts, _now: Time, drops: &mut OwnDrops<'_>) {
        self.queue.push_back(packet);
        if self.queue.len() > self.limit
            && let Some(head) = self.queue.pop_front()
        {
            drops(head, DropReason::QueueLimit);
        }
    }

    fn dequeue(&mut self, _now: Time, _drops: &mut OwnDrops<'_>) -> Option<PacketFacts> {
        self.queue.pop_front()
    }

    fn peek_size(&self) -> Option<Bytes> {
        self.queue.front().map(Packet::size)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    sojourn_qdisc::register("head_drop", "a FIFO that drops at its head", read)?;
    for qdisc in ["pfifo limit 100", "head_drop limit 100"] {
        let flows = r#"[{"name": "bulk", "direction": "up"}]"#;
        let text = format!(r#"{{"duration": "20s", "qdisc_up": "{qdisc}", "flows": {flows}}}"#);
        let record = sojourn_sim::run(sojourn_sim::Scenario::from_json(&text)?)?;
        let (queue, goodput) = (&record.bottleneck.up, record.summary.goodput_up_mbit);
        let dropped: u64 = queue.drops.values().sum();
        println!("{}: {goodput:.3} Mbit/s, {dropped} packets dropped", queue.qdisc_text);
    }
    Ok(())
}
