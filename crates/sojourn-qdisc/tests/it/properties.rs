//! What holds for every discipline under any sequence of operations.

use proptest::prelude::*;
use sojourn_qdisc::{
    AckFacts, Admission, AnyQdisc, Departure, DropReason, Dropped, Packet, Qdisc, QdiscSpec, Tbf, packet_without,
};
use sojourn_units::{Bytes, Duration, Ecn, Rate, Time};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct TestPacket {
    id: u64,
    size: u64,
    flow: u32,
    ecn: Ecn,
    band: u8,
}

impl Packet for TestPacket {
    packet_without!(socket);

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
    fn band(&self) -> u8 {
        self.band
    }
    /// EF, best effort and CS1, one for each band.
    fn dscp(&self) -> u8 {
        [46, 0, 8][usize::from(self.band)]
    }
    fn set_dscp(&mut self, _: u8) {}
    fn source(&self) -> u32 {
        self.flow / 4
    }
    fn destination(&self) -> u32 {
        self.flow % 2
    }
    fn ack(&self) -> Option<AckFacts> {
        Some(AckFacts {
            flags: AckFacts::ACK,
            ack: self.id as u32,
            payload: self.size > 600,
            ..AckFacts::default()
        })
    }
    /// One of that band.
    fn priority(&self) -> u8 {
        [6, 0, 2][usize::from(self.band)]
    }
}

/// One call, some time after the one before.
#[derive(Clone, Copy, Debug)]
enum Operation {
    Enqueue { size: u64, flow: u32, ecn: Ecn, band: u8 },
    Dequeue,
    Peek,
    ReadyAt,
}

/// Small limits, so that each of them is met, and every kind and variant.
const TEXTS: &[&str] = &[
    "pfifo limit 20",
    "bfifo limit 15000",
    "pfifo_fast limit 20",
    "pfifo_fast limit 20 variant linux-3.14",
    "red limit 30000 min 3000 max 12000 avpkt 700 burst 10 bandwidth 1mbit",
    "red limit 30000 min 3000 max 12000 avpkt 700 burst 10 bandwidth 1mbit adaptive ecn variant linux-3.14",
    "pie limit 30 target 5ms tupdate 5ms ecn",
    "pie limit 30 target 5ms tupdate 5ms dq_rate_estimator bytemode",
    "pie limit 30 target 5ms tupdate 5ms variant linux-3.14",
    "pie limit 30 target 5ms tupdate 5ms variant rfc8033",
    "codel limit 30 target 2ms interval 20ms",
    "codel limit 30 target 2ms interval 20ms ecn ce_threshold 1ms",
    "codel limit 30 target 2ms interval 20ms variant linux-3.14",
    "codel limit 30 target 2ms interval 20ms variant rfc8289",
    "codel limit 30 target 2ms interval 20ms ecn variant linux-ticks",
    "codel limit 30 target 2ms interval 20ms variant ns2",
    "sfq limit 30 depth 9 flows 5",
    "sfq limit 30 depth 9 flows 5 headdrop",
    "sfq limit 30 depth 9 quantum 300 perturb 1",
    "sfq limit 30 depth 9 quantum 301 variant linux-7.3",
    "fq_codel limit 30 target 2ms interval 20ms",
    "fq_codel limit 30 target 2ms interval 20ms noecn flows 5 drop_batch 3 memory_limit 30000",
    "fq_codel limit 30 target 2ms interval 20ms noecn flows 5 quantum 300 variant linux-3.14",
    "fq_codel limit 30 target 2ms interval 20ms flows 5 quantum 300 variant linux-ticks",
    "fq_codel limit 30 target 100s interval 100s",
    "fq_codel limit 30 target 2ms interval 20ms ce_threshold 1ms ce_threshold_selector 0x01/0x01",
    "fq_codel limit 30 target 2ms interval 20ms variant ns2",
    "fq_codel limit 30 target 2ms interval 20ms flows 5 quantum 300 variant ns2",
    "fq_pie limit 30 target 5ms tupdate 5ms ecn flows 5 quantum 300",
    "fq_pie limit 30 target 5ms tupdate 5ms memory_limit 9000 dq_rate_estimator bytemode",
    "dualpi2 limit 30 target 2ms tupdate 5ms alpha 1 beta 20",
    "dualpi2 limit 30 target 2ms tupdate 5ms alpha 1 beta 20 drop_enqueue overflow step_thresh 3p classic_protection 60%",
    "fq limit 30 flow_limit 9 quantum 300 initial_quantum 900 ce_threshold 2ms",
    "fq limit 30 flow_limit 9 buckets 2 orphan_mask 3 maxrate 2mbit low_rate_threshold 8kbit",
    "fq limit 30 flow_limit 9 maxrate 400kbit variant linux-7.3",
    "fq limit 30 variant linux-7.3",
    "prio ; qdisc parent 1:1 pfifo limit 9 ; qdisc parent 1:2 fq_codel limit 20 flows 5 target 2ms interval 20ms",
    "prio bands 2 priomap 1 1 1 1 0 1 0 1 1 1 1 1 1 1 1 1 ; qdisc parent 1:1 tbf rate 1mbit burst 2000 limit 9000",
    "drr ; class parent 1: classid 1:1 drr quantum 300 ; class parent 1: classid 1:2 drr ; \
     qdisc parent 1:1 codel limit 20 target 2ms interval 20ms ; qdisc parent 1:2 bfifo limit 9000 ; \
     filter parent 1: dscp EF flowid 1:2 ; filter parent 1: dscp CS0 flowid 1:1",
    "ets strict 1 quanta 300 2000 priomap 1 1 1 1 0 1 0 ; qdisc parent 1:3 sfq limit 20 flows 5 ; \
     filter parent 1: dscp CS1 flowid 1:3",
    "htb default 12 ; class parent 1: classid 1:1 htb rate 8mbit burst 3000 cburst 3000 ; \
     class parent 1:1 classid 1:11 htb rate 100kbit ceil 3mbit prio 1 quantum 300 ; \
     class parent 1:1 classid 1:12 htb rate 1mbit ceil 8mbit prio 2 ; \
     class parent 1:1 classid 1:13 htb rate 1mbit ceil 7mbit prio 2 burst 3000 overhead 18 mpu 64 ; \
     qdisc parent 1:11 fq_codel limit 20 quantum 300 target 2ms interval 20ms ; qdisc parent 1:12 pfifo limit 20 ; \
     qdisc parent 1:13 handle 13: ets strict 1 quanta 2000 300 ; qdisc parent 13:2 pie limit 30 target 5ms tupdate 5ms ; \
     filter parent 1: dscp EF flowid 1:11 ; filter parent 1: dscp CS1 flowid 1:13 ; filter parent 13: matchall flowid 13:2",
    "htb direct_qlen 9 ; class parent 1: classid 1:1 htb rate 8mbit ; class parent 1:1 classid 1:2 htb rate 8kbit ceil 8mbit ; \
     class parent 1:2 classid 1:3 htb rate 8kbit ceil 8mbit linklayer atm ; class parent 1: classid 1:4 htb rate 2mbit ceil 9mbit ; \
     qdisc parent 1:4 tbf rate 1mbit burst 2000 limit 9000 ; \
     filter parent 1: dscp EF flowid 1:3 ; filter parent 1: dscp CS1 flowid 1:4",
    "tbf rate 2mbit burst 2000 limit 20000",
    "cake rtt 20ms memlimit 40000",
    "cake bandwidth 2mbit diffserv4 rtt 20ms memlimit 40000 ack-filter",
    "cake bandwidth 2mbit precedence flowblind rtt 20ms memlimit 40000 ingress wash conservative",
    "cake diffserv8 dual-srchost rtt 20ms memlimit 40000 ack-filter-aggressive",
    "cake bandwidth 300kbit besteffort hosts autorate-ingress ingress memlimit 40000 ptm overhead -4",
];

/// Whether packets of a flow may overtake each other, because their code points differ.
fn with_classes(text: &str) -> bool {
    text.contains(';')
}

/// Which of a flow's packets may not overtake each other: those of one code point, or those for L4S, or all.
fn lane(text: &str, offered: &TestPacket) -> u32 {
    if text.starts_with("pfifo_fast") || text.starts_with("cake") || with_classes(text) {
        u32::from(offered.band)
    } else {
        u32::from(text.starts_with("dualpi2") && matches!(offered.ecn, Ecn::Ect1 | Ecn::Ce))
    }
}

/// The most packets and bytes that the text allows.
fn limits(text: &str) -> (u64, u64) {
    let words: Vec<&str> = text.split(' ').collect();
    if with_classes(text) {
        let footprint = QdiscSpec::parse(text, None).expect(text).footprint();
        return (footprint.packets, u64::MAX);
    }
    let limit: u64 = words[2].parse().unwrap_or(u64::MAX);
    let limit = if words[0] == "tbf" { 20_000 } else { limit };
    match words[0] {
        // 768 bytes of memory for the smallest packet.
        "cake" => (40_000 / 768, 40_000),
        "bfifo" | "red" | "tbf" => (u64::MAX, limit),
        "pfifo_fast" if !text.contains("variant") => (3 * limit, u64::MAX),
        // Three bands, and the fast path of Linux 7.3.
        "fq" if text.contains("variant") => (3 * limit + 8, u64::MAX),
        _ => (limit, u64::MAX),
    }
}

fn operations() -> impl Strategy<Value = Vec<(u64, Operation)>> {
    let operation = prop_oneof![
        6 => (prop_oneof![Just(1514u64), 40u64..2000], 0u32..8, prop::sample::select(Ecn::ALL.as_slice()), 0u8..3)
            .prop_map(|(size, flow, ecn, band)| Operation::Enqueue { size, flow, ecn, band }),
        4 => Just(Operation::Dequeue),
        1 => Just(Operation::Peek),
        1 => Just(Operation::ReadyAt),
    ];
    let gap = prop_oneof![3 => Just(0u64), 6 => 0u64..3_000_000, 1 => 0u64..400_000_000];
    prop::collection::vec((gap, operation), 1..300)
}

/// Everything that happened, to compare two runs.
#[derive(Debug, Default, PartialEq)]
struct History {
    departures: Vec<(Time, Departure<TestPacket>)>,
    drops: Vec<Dropped<TestPacket>>,
    ready: Vec<Option<Time>>,
}

/// The books of an observer who sees only what goes in and comes out.
struct Observer {
    offered: Vec<(TestPacket, Time)>,
    gone: Vec<bool>,
    last_of_flow: Vec<Option<u64>>,
    seen_drops: usize,
    sent_bytes: u64,
    marks: u64,
}

impl Observer {
    fn leave(&mut self, id: u64, now: Time, sojourn: Duration) {
        let gone = &mut self.gone[id as usize];
        assert!(!*gone, "packet {id} left twice");
        *gone = true;
        assert_eq!(
            sojourn,
            now.since(self.offered[id as usize].1),
            "sojourn of packet {id}"
        );
    }

    fn held(&self) -> (u64, u64) {
        let held = self.offered.iter().zip(&self.gone).filter(|(_, gone)| !**gone);
        held.fold((0, 0), |(n, bytes), ((packet, _), _)| (n + 1, bytes + packet.size))
    }
}

/// Runs the operations and checks everything after each of them.
fn check<Q: Qdisc<TestPacket>>(mut q: Q, text: &str, operations: &[(u64, Operation)]) -> History {
    let (most_packets, most_bytes) = limits(text);
    let mut history = History::default();
    let mut o = Observer {
        offered: Vec::new(),
        gone: Vec::new(),
        last_of_flow: vec![None; 8 * 3],
        seen_drops: 0,
        sent_bytes: 0,
        marks: 0,
    };
    let mut now = Time::ZERO;
    for &(gap, operation) in operations {
        now += Duration::from_nanos(gap);
        let drops = &mut history.drops;
        let mut refused = None;
        match operation {
            Operation::Enqueue { size, flow, ecn, band } => {
                let id = o.offered.len() as u64;
                let packet = TestPacket {
                    id,
                    size,
                    flow,
                    ecn,
                    band,
                };
                o.offered.push((packet, now));
                o.gone.push(false);
                if q.enqueue(packet, now, drops) == Admission::Refused {
                    refused = Some(id);
                }
            }
            Operation::Dequeue => {
                let ready = q.ready_at(now, drops);
                let left = q.dequeue(now, drops);
                // ready_at is never too late; and it may be early only where an algorithm drops what was there.
                assert!(
                    left.is_none() || ready.is_some_and(|at| at <= now),
                    "{left:?} left, but ready at {ready:?}"
                );
                if let Some(departure) = left {
                    history.departures.push((now, departure));
                }
            }
            Operation::Peek => {
                let size = q.peek(now, drops);
                // A class with a shaper of its own may show a packet that must not leave yet.
                let shaped = with_classes(text) && text.contains("tbf");
                assert!(size.is_some() == q.peek_size().is_some() || shaped && size.is_none());
            }
            Operation::ReadyAt => history.ready.push(q.ready_at(now, drops)),
        }
        if let (Operation::Dequeue, Some((at, departure))) = (operation, history.departures.last()) {
            let packet = departure.packet;
            if *at == now && !o.gone[packet.id as usize] {
                o.leave(packet.id, now, departure.sojourn);
                o.sent_bytes += packet.size;
                o.marks += u64::from(departure.marked);
                assert!(!departure.marked || o.offered[packet.id as usize].0.ecn.is_capable());
                let key = (packet.flow * 3 + lane(text, &o.offered[packet.id as usize].0)) as usize;
                assert!(
                    o.last_of_flow[key] < Some(packet.id),
                    "flow {} was reordered",
                    packet.flow
                );
                o.last_of_flow[key] = Some(packet.id);
            }
        }
        for drop in &history.drops[o.seen_drops..] {
            o.leave(drop.packet.id, now, drop.sojourn);
            if text.starts_with("codel") && drop.reason == DropReason::Congestion && !text.contains("tbf") {
                // The victim was the head: every older packet is gone.
                assert!(
                    o.gone[..drop.packet.id as usize].iter().all(|gone| *gone),
                    "{drop:?} was not the head"
                );
            }
        }
        if let Some(id) = refused {
            assert!(o.gone[id as usize], "packet {id} was refused, but not dropped");
        }
        o.seen_drops = history.drops.len();

        let (stats, backlog) = (q.stats(), q.backlog());
        assert_eq!((backlog.packets, backlog.bytes.get()), o.held());
        assert_eq!(stats.arrived, o.offered.len() as u64);
        assert_eq!(stats.sent_packets, history.departures.len() as u64);
        assert_eq!(stats.sent_bytes, o.sent_bytes);
        assert_eq!(stats.arrived, stats.sent_packets + stats.dropped() + backlog.packets);
        for reason in DropReason::ALL {
            let n = history.drops.iter().filter(|d| d.reason == reason).count() as u64;
            assert_eq!(stats.drops[reason.index()], n, "{reason:?}");
        }
        assert!(stats.marks >= o.marks);
        assert!(
            backlog.packets <= most_packets && backlog.bytes.get() <= most_bytes,
            "{backlog:?}"
        );
    }
    history
}

fn build(text: &str, seed: u64) -> AnyQdisc<TestPacket> {
    QdiscSpec::parse(text, None)
        .unwrap_or_else(|e| panic!("{text}: {e}"))
        .build(seed)
}

fn shaped(text: &str, seed: u64) -> Tbf<TestPacket, AnyQdisc<TestPacket>> {
    Tbf::new(Rate::from_mbit(4), Bytes::new(1800), build(text, seed)).expect("a burst of one frame")
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_books_balance_and_a_seed_decides_everything(operations in operations(), seed in 0u64..1000) {
        for text in TEXTS {
            let first = check(build(text, seed), text, &operations);
            let again = check(build(text, seed), text, &operations);
            prop_assert_eq!(first, again, "{}", text);
        }
    }

    #[test]
    fn the_books_balance_under_a_shaper(operations in operations(), seed in 0u64..1000) {
        for text in TEXTS {
            let history = check(shaped(text, seed), text, &operations);
            // In any window the shaper lets through at most its burst and what the rate sends meanwhile.
            for (i, (from, _)) in history.departures.iter().enumerate() {
                let mut bytes = 0;
                for (to, departure) in &history.departures[i..] {
                    bytes += departure.packet.size;
                    prop_assert!(bytes <= 1800 + Rate::from_mbit(4).bytes_in(to.since(*from)).get(), "{}", text);
                }
            }
        }
    }

    #[test]
    fn what_is_not_dropped_leaves_in_the_end(operations in operations(), seed in 0u64..1000) {
        for text in TEXTS {
            let mut q = build(text, seed);
            let mut drops: Vec<Dropped<TestPacket>> = Vec::new();
            let (mut now, mut id) = (Time::ZERO, 0);
            for &(gap, operation) in &operations {
                now += Duration::from_nanos(gap);
                if let Operation::Enqueue { size, flow, ecn, band } = operation {
                    q.enqueue(TestPacket { id, size, flow, ecn, band }, now, &mut drops);
                    id += 1;
                }
            }
            let mut left = 0;
            while let Some(at) = q.ready_at(now, &mut drops) {
                now = at;
                left += u64::from(q.dequeue(now, &mut drops).is_some());
            }
            prop_assert_eq!(left + drops.len() as u64, id, "{}", text);
            prop_assert_eq!(q.backlog().packets, 0);
        }
    }

    /// Within one episode of drops the two have the same rules. They differ in how an episode resumes soon after another
    /// (count - 1 within 16 intervals, count - 2 within 8, and what counts), so here episodes are at least 18 intervals apart:
    /// the packets of a burst come at once, so that their delays only grow and each burst is at most one episode. They also
    /// differ in which packet goes when the buffer is full, so it is not.
    #[test]
    fn one_bin_of_ns2s_fq_codel_is_ns2s_codel_for_episodes_far_apart(
        bursts in prop::collection::vec(
            (prop::collection::vec(40u64..2000, 1..60), prop::collection::vec(0u64..9_000_000, 60), 360u64..500),
            1..8,
        ),
    ) {
        let run = |text: &str| {
            let mut q = build(text, 1);
            let mut drops: Vec<Dropped<TestPacket>> = Vec::new();
            let mut departures = Vec::new();
            let (mut now, mut id) = (Time::ZERO, 0);
            for (sizes, gaps, pause) in &bursts {
                for &size in sizes {
                    q.enqueue(TestPacket { id, size, flow: 7, ecn: Ecn::NotEct, band: 1 }, now, &mut drops);
                    id += 1;
                }
                for &gap in gaps {
                    if q.backlog().packets > 0 {
                        now += Duration::from_nanos(gap);
                        departures.extend(q.dequeue(now, &mut drops).map(|departure| (now, departure)));
                    }
                }
                assert_eq!(q.backlog().packets, 0);
                now += Duration::from_millis(*pause);
            }
            (departures, drops)
        };
        let words = "limit 60 target 2ms interval 20ms";
        prop_assert_eq!(
            run(&format!("fq_codel {words} variant ns2")),
            run(&format!("codel {words} variant ns2"))
        );
    }
}
