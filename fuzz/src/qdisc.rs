//! Disciplines driven by hand: any sequence of arrivals, departures and times.

use arbitrary::{Arbitrary, Unstructured};
use sojourn_qdisc::{Admission, AnyQdisc, DropReason, Dropped, Packet, Qdisc, QdiscSpec, Tbf, packet_without};
use sojourn_units::{Bytes, Duration, Ecn, Rate, Time};
use std::sync::LazyLock;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Offered {
    id: u16,
    size: u16,
    flow: u8,
    band: u8,
    ecn: bool,
}

impl Packet for Offered {
    packet_without!(hosts, ack, socket);

    fn size(&self) -> Bytes {
        Bytes::new(u64::from(self.size))
    }
    fn flow_hash(&self) -> u32 {
        u32::from(self.flow)
    }
    fn ecn(&self) -> Ecn {
        if self.ecn { Ecn::Ect0 } else { Ecn::NotEct }
    }
    fn set_ecn(&mut self, _: Ecn) {}
    fn band(&self) -> u8 {
        self.band
    }
    fn dscp(&self) -> u8 {
        0
    }
    fn set_dscp(&mut self, _: u8) {}
    fn priority(&self) -> u8 {
        0
    }
}

#[derive(Arbitrary, Clone, Copy, Debug)]
enum Operation {
    Enqueue { size: u16, flow: u8 },
    Full { flow: u8 },
    Burst { flow: u8, packets: u8 },
    Dequeue,
    Drain { packets: u8 },
    Peek,
    ReadyAt,
    Wait { us: u16 },
    Pause { ms: u16 },
}

/// Small limits, so that each of them is met; the most packets, the most bytes, and whether flows keep their order.
const TEXTS: [(&str, u64, u64, bool); 27] = [
    ("pfifo limit 20", 20, u64::MAX, true),
    ("bfifo limit 15000", u64::MAX, 15_000, true),
    ("pfifo_fast limit 20", 60, u64::MAX, false),
    ("pfifo_fast limit 20 variant linux-3.14", 20, u64::MAX, false),
    (
        "red limit 30000 min 3000 max 12000 avpkt 700 burst 10 bandwidth 1mbit",
        u64::MAX,
        30_000,
        true,
    ),
    (
        "red limit 30000 min 3000 max 12000 avpkt 700 burst 10 bandwidth 1mbit adaptive ecn variant linux-3.14",
        u64::MAX,
        30_000,
        true,
    ),
    ("pie limit 30 target 5ms tupdate 5ms ecn", 30, u64::MAX, true),
    (
        "pie limit 30 target 5ms tupdate 5ms dq_rate_estimator bytemode",
        30,
        u64::MAX,
        true,
    ),
    (
        "pie limit 30 target 5ms tupdate 5ms variant linux-3.14",
        30,
        u64::MAX,
        true,
    ),
    (
        "pie limit 30 target 5ms tupdate 5ms variant rfc8033",
        30,
        u64::MAX,
        true,
    ),
    ("codel limit 30 target 2ms interval 20ms", 30, u64::MAX, true),
    (
        "codel limit 30 target 2ms interval 20ms ecn ce_threshold 1ms",
        30,
        u64::MAX,
        true,
    ),
    (
        "codel limit 30 target 2ms interval 20ms variant linux-3.14",
        30,
        u64::MAX,
        true,
    ),
    (
        "codel limit 30 target 2ms interval 20ms variant rfc8289",
        30,
        u64::MAX,
        true,
    ),
    (
        "codel limit 30 target 2ms interval 20ms variant ns2",
        30,
        u64::MAX,
        true,
    ),
    ("sfq limit 30 depth 9 flows 5", 30, u64::MAX, true),
    ("sfq limit 30 depth 9 flows 5 headdrop", 30, u64::MAX, true),
    ("sfq limit 30 depth 9 quantum 300 perturb 1", 30, u64::MAX, false),
    (
        "fq_codel limit 30 target 2ms interval 20ms flows 16",
        30,
        u64::MAX,
        true,
    ),
    (
        "fq_codel limit 30 target 2ms interval 20ms noecn flows 5 drop_batch 3 memory_limit 30000",
        30,
        u64::MAX,
        true,
    ),
    (
        "fq_codel limit 30 target 2ms interval 20ms noecn flows 5 quantum 300 variant linux-3.14",
        30,
        u64::MAX,
        true,
    ),
    (
        "fq_codel limit 30 target 100s interval 100s flows 3",
        30,
        u64::MAX,
        true,
    ),
    (
        "fq_codel limit 30 target 2ms interval 20ms flows 16 variant ns2",
        30,
        u64::MAX,
        true,
    ),
    (
        "fq_codel limit 30 target 2ms interval 20ms flows 5 quantum 300 variant ns2",
        30,
        u64::MAX,
        true,
    ),
    ("tbf rate 2mbit burst 2000 limit 20000", u64::MAX, 20_000, true),
    ("netem limit 30 delay 5ms", 30, u64::MAX, true),
    ("gbw:codel", 1000, u64::MAX, true),
];
const LINK: Rate = Rate::from_mbit(4);

static SPECS: LazyLock<Vec<QdiscSpec>> = LazyLock::new(|| {
    let parse = |text: &str| QdiscSpec::parse(text, Some(LINK)).unwrap_or_else(|e| panic!("{text}: {e}"));
    TEXTS.iter().map(|(text, ..)| parse(text)).collect()
});

/// A byte for the discipline, one for its seed and whether a shaper stands before it, and operations.
///
/// # Panics
/// If a packet is lost, made or counted otherwise than it passed; if a limit is exceeded, or a flow's order is lost.
pub fn qdisc(data: &[u8]) {
    let [which, seed, data @ ..] = data else { return };
    let which = usize::from(*which) % TEXTS.len();
    let mut q: AnyQdisc<Offered> = SPECS[which].build(u64::from(seed >> 1));
    if seed & 1 == 0 {
        drive(&mut q, which, data);
    } else if let Ok(mut q) = Tbf::new(LINK, Bytes::new(2000), q) {
        drive(&mut q, which, data);
    }
}

const MOST: usize = 256;

/// What somebody knows who sees packets go in and come out.
struct Books {
    offered: Vec<(Offered, Time)>,
    gone: Vec<bool>,
    held: (u64, u64),
    departed: (u64, u64),
    marks: u64,
    drops: [u64; DropReason::ALL.len()],
    newest_of_flow: [Option<u16>; 8],
}

impl Books {
    fn leaves(&mut self, packet: Offered, now: Time, sojourn: Duration) {
        let id = usize::from(packet.id);
        assert!(!self.gone[id], "packet {id} left twice");
        let (was, since) = self.offered[id];
        assert_eq!(was, packet);
        assert_eq!(sojourn, now.since(since), "sojourn of packet {id}");
        self.gone[id] = true;
        self.held.0 -= 1;
        self.held.1 -= u64::from(packet.size);
    }
}

fn drive<Q: Qdisc<Offered>>(q: &mut Q, which: usize, data: &[u8]) {
    let mut u = Unstructured::new(data);
    let mut now = Time::ZERO;
    let mut books = Books {
        offered: Vec::with_capacity(MOST),
        gone: Vec::with_capacity(MOST),
        held: (0, 0),
        departed: (0, 0),
        marks: 0,
        drops: [0; DropReason::ALL.len()],
        newest_of_flow: [None; 8],
    };
    let mut drops: Vec<Dropped<Offered>> = Vec::new();
    while !u.is_empty() {
        let Ok(operation) = Operation::arbitrary(&mut u) else {
            break;
        };
        match operation {
            Operation::Enqueue { size, flow } => enqueue(q, &mut books, &mut drops, now, 40 + size % 1500, flow),
            Operation::Full { flow } => enqueue(q, &mut books, &mut drops, now, 1514, flow),
            Operation::Burst { flow, packets } => {
                for _ in 0..packets % 32 {
                    enqueue(q, &mut books, &mut drops, now, 1514, flow);
                }
            }
            Operation::Dequeue => dequeue(q, which, &mut books, &mut drops, now),
            Operation::Drain { packets } => {
                for _ in 0..packets % 32 {
                    dequeue(q, which, &mut books, &mut drops, now);
                }
            }
            Operation::Peek => {
                let held = q.backlog().packets;
                let size = q.peek(now, &mut drops);
                assert!(size.is_none() || held > 0);
            }
            Operation::ReadyAt => {
                let at = q.ready_at(now, &mut drops);
                assert!(at.is_none_or(|at| at >= now), "ready in the past");
            }
            Operation::Wait { us } => now += Duration::from_micros(u64::from(us)),
            Operation::Pause { ms } => now += Duration::from_millis(u64::from(ms)),
        }
        settle(&mut books, &mut drops, now);
        balance(q, which, &books);
    }
    // What was not dropped leaves in the end.
    while let Some(at) = q.ready_at(now, &mut drops) {
        assert!(at >= now);
        // What was dropped by looking was dropped before the time passed.
        settle(&mut books, &mut drops, now);
        now = at;
        let before = books.held;
        dequeue(q, which, &mut books, &mut drops, now);
        let progress = books.held != before;
        assert!(
            progress || q.ready_at(now, &mut drops).is_none_or(|next| next > now),
            "it is ready, and nothing leaves"
        );
    }
    settle(&mut books, &mut drops, now);
    balance(q, which, &books);
    assert_eq!(books.held, (0, 0), "packets stay for ever");
}

fn enqueue<Q: Qdisc<Offered>>(
    q: &mut Q,
    books: &mut Books,
    drops: &mut Vec<Dropped<Offered>>,
    now: Time,
    size: u16,
    flow: u8,
) {
    if books.offered.len() == MOST {
        return;
    }
    let id = books.offered.len() as u16;
    let packet = Offered {
        id,
        size,
        flow: flow % 8,
        band: flow >> 3 & 3,
        ecn: flow & 0x80 != 0,
    };
    let packet = Offered {
        band: packet.band.min(2),
        ..packet
    };
    books.offered.push((packet, now));
    books.gone.push(false);
    books.held.0 += 1;
    books.held.1 += u64::from(size);
    let admission = q.enqueue(packet, now, drops);
    settle(books, drops, now);
    let refused = books.gone[usize::from(id)];
    assert!(
        admission == Admission::Queued || refused,
        "packet {id} was refused, but not dropped"
    );
}

fn dequeue<Q: Qdisc<Offered>>(
    q: &mut Q,
    which: usize,
    books: &mut Books,
    drops: &mut Vec<Dropped<Offered>>,
    now: Time,
) {
    let ready = q.ready_at(now, drops);
    let left = q.dequeue(now, drops);
    settle(books, drops, now);
    let Some(departure) = left else { return };
    assert!(
        ready.is_some_and(|at| at <= now),
        "{departure:?}, but ready at {ready:?}"
    );
    let packet = departure.packet;
    assert!(!departure.marked || packet.ecn, "a mark on {packet:?}");
    books.leaves(packet, now, departure.sojourn);
    books.departed.0 += 1;
    books.departed.1 += u64::from(packet.size);
    books.marks += u64::from(departure.marked);
    if TEXTS[which].3 {
        let newest = &mut books.newest_of_flow[usize::from(packet.flow)];
        assert!(*newest < Some(packet.id), "flow {} was reordered", packet.flow);
        *newest = Some(packet.id);
    }
}

fn settle(books: &mut Books, drops: &mut Vec<Dropped<Offered>>, now: Time) {
    for drop in drops.drain(..) {
        books.leaves(drop.packet, now, drop.sojourn);
        books.drops[drop.reason.index()] += 1;
    }
}

fn balance<Q: Qdisc<Offered>>(q: &Q, which: usize, books: &Books) {
    let (stats, backlog) = (q.stats(), q.backlog());
    assert_eq!((backlog.packets, backlog.bytes.get()), books.held);
    assert_eq!(stats.arrived, books.offered.len() as u64);
    assert_eq!((stats.sent_packets, stats.sent_bytes), books.departed);
    assert_eq!(stats.drops, books.drops);
    assert_eq!(stats.arrived, stats.sent_packets + stats.dropped() + backlog.packets);
    assert!(stats.marks >= books.marks);
    let (_, packets, bytes, _) = TEXTS[which];
    assert!(
        backlog.packets <= packets && backlog.bytes.get() <= bytes,
        "{backlog:?}"
    );
}
