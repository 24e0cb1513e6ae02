//! What a saturated cell costs: `cargo bench -p sojourn-wifi`. One iteration is 100 ms of the cell's time, so 5 ms an
//! iteration is 20 times faster than real time; elements are packets delivered.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use sojourn_qdisc::{Dropped, Packet, packet_without};
use sojourn_units::{Bytes, Duration, Time};
use sojourn_wifi::{Cell, CellSink, CellSpec, FrameTimes, NodeId, PhyRate, Scheme, StationSpec, Tid, WifiPacket};

const STEP: Duration = Duration::from_millis(100);

#[derive(Clone, Copy, Debug)]
struct Datagram {
    flow: u32,
}

impl Packet for Datagram {
    packet_without!(ecn, dscp, hosts, ack, socket);

    fn size(&self) -> Bytes {
        Bytes::new(1514)
    }
    fn flow_hash(&self) -> u32 {
        self.flow
    }
}

impl WifiPacket for Datagram {
    fn tid(&self) -> Tid {
        Tid::BEST_EFFORT
    }
}

#[derive(Debug, Default)]
struct Gone {
    pairs: Vec<(NodeId, NodeId)>,
}

impl CellSink<Datagram> for Gone {
    fn sent(&mut self, _from: NodeId, _to: NodeId, _packet: &Datagram) {}
    fn delivered(&mut self, from: NodeId, to: NodeId, _packet: Datagram, _times: FrameTimes) {
        self.pairs.push((from, to));
    }
    fn dropped(&mut self, from: NodeId, to: NodeId, _drop: Dropped<Datagram>) {
        self.pairs.push((from, to));
    }
}

/// A cell in which whoever sent a packet has another.
struct Load {
    cell: Cell<Datagram>,
    gone: Gone,
    again: Vec<(NodeId, NodeId)>,
    now: Time,
}

impl Load {
    fn new(stations: u16, rate: &str, error: f64, up: bool, depth: u32) -> Self {
        let rate = PhyRate::parse(rate).expect("a rate");
        let station = |i: u16| StationSpec {
            error,
            error_up: error,
            ..StationSpec::new(&format!("s{i}"), rate)
        };
        let mut spec = CellSpec::new((0..stations).map(station).collect());
        spec.access_point.scheme = Scheme::Airtime;
        let mut load = Self {
            cell: Cell::new(&spec, 1).expect("a valid cell"),
            gone: Gone::default(),
            again: Vec::new(),
            now: Time::ZERO,
        };
        for i in 0..stations {
            let ends = (NodeId::of_station(i), NodeId::ACCESS_POINT);
            let pair = if up { ends } else { (ends.1, ends.0) };
            for _ in 0..depth {
                load.gone.pairs.push(pair);
            }
        }
        load.refill(Time::ZERO);
        load.step();
        load
    }

    fn refill(&mut self, now: Time) {
        std::mem::swap(&mut self.again, &mut self.gone.pairs);
        for (from, to) in self.again.drain(..) {
            let flow = u32::from(from.0.max(to.0));
            self.cell.enqueue(from, to, Datagram { flow }, now, &mut self.gone);
        }
    }

    /// Goes on for [`STEP`]; answers packets delivered or dropped.
    fn step(&mut self) -> u64 {
        self.now += STEP;
        let mut packets = 0;
        while let Some(due) = self.cell.due().filter(|&due| due < self.now) {
            self.cell.advance(due, &mut self.gone);
            packets += self.gone.pairs.len() as u64;
            self.refill(due);
        }
        packets
    }
}

fn saturated(c: &mut Criterion) {
    let mut group = c.benchmark_group("saturated");
    for (name, stations, rate, error, up, depth) in [
        ("up_1_single", 1, "ofdm 54mbit", 0.0, true, 4),
        ("up_64_single", 64, "ofdm 54mbit", 0.0, true, 4),
        ("up_64_aggregates", 64, "ht mcs 15 sgi", 0.0, true, 100),
        ("up_64_aggregates_errors", 64, "ht mcs 15 sgi", 0.1, true, 100),
        ("down_64_aggregates", 64, "ht mcs 15 sgi", 0.0, false, 100),
        ("down_64_vht", 64, "vht mcs 9 nss 2 80mhz sgi", 0.0, false, 100),
    ] {
        let mut load = Load::new(stations, rate, error, up, depth);
        let before = load.cell.stats();
        let packets = load.step();
        let after = load.cell.stats();
        println!(
            "{name}: in 100 ms {packets} packets, {} PPDUs, {} of them collided",
            after.transmissions - before.transmissions,
            after.collisions - before.collisions
        );
        group.throughput(Throughput::Elements(packets));
        group.bench_function(name, |b| b.iter(|| load.step()));
    }
    group.finish();
}

criterion_group!(benches, saturated);
criterion_main!(benches);
