//! One enqueue and one dequeue of each discipline at a standing backlog of 50 packets of 10 flows.
//!
//! The packet is 64 bytes, as in the simulator. Time goes on by one full frame at 10 Mbit/s per pair, so `CoDel` sees
//! a delay of 60 ms and is in its dropping state, PIE drops, and RED is amid its thresholds. `fq_nocodel` keeps its
//! 127 packets full, so each enqueue overflows.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sojourn_qdisc::{AnyQdisc, DropSink, Dropped, Packet, Qdisc, QdiscSpec, Tbf, packet_without};
use sojourn_units::{Bytes, Duration, Rate, Time};
use std::hint::black_box;

/// As the simulator's: 64 bytes of plain integers. (A `bool` or enum in it would make the compiler keep the tag of an
/// `Option` there and copy the packet in odd pieces, which doubles the times below.)
#[derive(Clone, Copy, Debug)]
struct SimPacket {
    _segment: [u64; 7],
    flow: u32,
    size: u16,
    _route: u16,
}

const _: () = assert!(size_of::<SimPacket>() == 64);

impl Packet for SimPacket {
    packet_without!(ecn, dscp, hosts, ack, socket);

    fn size(&self) -> Bytes {
        Bytes::new(u64::from(self.size))
    }
    fn flow_hash(&self) -> u32 {
        self.flow
    }
}

/// Counts, as the simulator does.
#[derive(Debug, Default)]
struct Count(u64);

impl<P> DropSink<P> for Count {
    fn dropped(&mut self, _: Dropped<P>) {
        self.0 += 1;
    }
}

/// Keeps a discipline at a backlog.
struct Driver<Q> {
    q: Q,
    now: Time,
    n: u32,
    backlog: u64,
    step: Duration,
    drops: Count,
}

impl<Q: Qdisc<SimPacket>> Driver<Q> {
    fn new(q: Q, backlog: u64) -> Self {
        let mut driver = Self {
            q,
            now: Time::ZERO,
            n: 0,
            backlog,
            step: Duration::from_nanos(1_211_200),
            drops: Count(0),
        };
        for _ in 0..5000 {
            driver.pair();
        }
        driver
    }

    fn arrive(&mut self) {
        self.n = self.n.wrapping_add(1);
        let flow = self.n.wrapping_mul(2_654_435_769) >> 28;
        let packet = SimPacket {
            _segment: [0; 7],
            flow: flow % 10 * 37,
            size: 1514,
            _route: 0,
        };
        self.q.enqueue(packet, self.now, &mut self.drops);
    }

    /// Time goes on; one packet leaves, and as many come as went.
    fn pair(&mut self) {
        self.now += self.step;
        black_box(self.q.dequeue(self.now, &mut self.drops));
        self.arrive();
        if self.q.backlog().packets < self.backlog {
            self.arrive();
        }
    }
}

fn standing_backlog(c: &mut Criterion) {
    let mut group = c.benchmark_group("enqueue_dequeue");
    group.throughput(Throughput::Elements(1));
    let red = "red limit 400000 min 30000 max 150000 avpkt 1000 burst 70 bandwidth 10mbit adaptive";
    for (name, text, backlog) in [
        ("pfifo", "pfifo", 50),
        ("bfifo", "bfifo", 50),
        ("pfifo_fast", "pfifo_fast", 50),
        ("ared", red, 50),
        ("pie", "pie", 50),
        ("pie_3.14", "pie variant linux-3.14", 50),
        ("codel", "codel", 50),
        ("codel_below_target", "codel target 1s", 50),
        ("sfq", "sfq", 50),
        ("fq_codel", "fq_codel", 50),
        ("fq_codel_below_target", "fq_codel target 1s", 50),
        (
            "fq_nocodel_full",
            "fq_codel limit 127 target 100s interval 100s noecn drop_batch 1",
            200,
        ),
        (
            "fq_nocodel_full_batch_64",
            "fq_codel limit 127 target 100s interval 100s noecn",
            200,
        ),
    ] {
        let spec = QdiscSpec::parse(text, None).expect(text);
        group.bench_function(name, |b| {
            let q: AnyQdisc<SimPacket> = spec.build(1);
            let mut driver = Driver::new(q, backlog);
            b.iter(|| driver.pair());
        });
        group.bench_function(format!("tbf_over_{name}"), |b| {
            let child: AnyQdisc<SimPacket> = spec.build(1);
            let q = Tbf::new(Rate::from_mbit(10), Bytes::new(3028), child).expect("a burst of two frames");
            let mut driver = Driver::new(q, backlog);
            b.iter(|| driver.pair());
        });
    }
    group.finish();
    c.bench_function("build_fq_codel", |b| {
        let spec = QdiscSpec::parse("fq_codel", None).expect("fq_codel");
        b.iter(|| black_box(spec.build::<SimPacket>(1)));
    });
}

criterion_group!(benches, standing_backlog);
criterion_main!(benches);
