//! What each option does to a transmitter, worked by hand; what holds of cells with any of them.

use super::*;
use crate::NodeSpec;
use crate::test_packet::{Drops, TestPacket, ms, rate};
use crate::{
    AccessCategory, Band, Cell, CellSink, CellSpec, Frame, FrameTimes, NodeId, PeerSpec, Scheme, StationSpec,
    Transmitter,
};
use proptest::prelude::*;
use sojourn_qdisc::Dropped;
use sojourn_units::Time;

const BE: AccessCategory = AccessCategory::BestEffort;
const SLOW: &str = "ht mcs 0 sgi";
const FAST: &str = "ht mcs 15 sgi";

fn us(t: u64) -> Duration {
    Duration::from_micros(t)
}

struct Bench {
    t: Transmitter<TestPacket>,
    drops: Drops,
    arrived: Vec<Frame<TestPacket>>,
    now: Time,
}

impl Bench {
    fn new(latency: LatencySpec, hardware_queue: u32, rates: &[&str]) -> Self {
        let spec = NodeSpec {
            hardware_queue,
            latency,
            ..NodeSpec::ACCESS_POINT
        };
        let peers = (0..)
            .zip(rates)
            .map(|(i, text)| PeerSpec::new(NodeId::of_station(i), rate(text)));
        Self {
            t: Transmitter::new(&spec, &peers.collect::<Vec<_>>(), Band::Ghz5, 1, "wifi").unwrap(),
            drops: Vec::new(),
            arrived: Vec::new(),
            now: Time::ZERO,
        }
    }

    fn put(&mut self, station: u16, n: u64) {
        for id in 0..n {
            let packet = TestPacket::new(id, 1514, u32::from(station));
            self.t
                .enqueue(NodeId::of_station(station), packet, self.now, &mut self.drops);
        }
    }

    /// Begins to send the head; answers when that ends.
    fn start(&mut self) -> Time {
        self.t.started(BE, self.now);
        self.now + self.t.head(BE).unwrap().airtime
    }

    /// The head, sent from now on, is complete.
    fn send(&mut self, received: u64) -> crate::Completion {
        let ends = self.start();
        self.complete(received, ends)
    }

    fn complete(&mut self, received: u64, ends: Time) -> crate::Completion {
        let airtime = self.t.head(BE).unwrap().airtime;
        self.now = ends;
        self.t
            .completed(BE, received, airtime, ends, &mut self.arrived, &mut self.drops)
    }

    fn stats(&self, station: u16) -> LatencyStats {
        self.t.latency_stats(NodeId::of_station(station))
    }
}

fn aql() -> LatencySpec {
    LatencySpec {
        aql: Some(AqlSpec::LINUX),
        ..LatencySpec::OFF
    }
}

#[test]
fn stations_build_up_to_the_airtime_limits() {
    // A frame of 1514 bytes to a slow station: 1538 bytes of MPDU, 475 symbols of 3.6 us after a preamble of 36 us,
    // SIFS and Ack: some 1.8 ms; two, which is a full aggregate, some 3.5 ms. The first arrival is sent alone, and
    // then there is a full one for every two. 12 ms are full with three: 1.8 + 2 x 3.5 < 12 <= 1.8 + 3 x 3.5. When
    // the first station has 12.3 ms the second gets as much: 12.3 + 8.8 < 24. Then 24 ms are full, and the third
    // gets 5 ms: 1.8 < 5 <= 1.8 + 3.5.
    let mut b = Bench::new(aql(), 64, &[SLOW; 3]);
    let mut built = 0;
    for (station, aggregates) in [(0, 4), (1, 4), (2, 2)] {
        b.put(station, 20);
        built += aggregates;
        assert_eq!(b.t.hardware_queue(BE), built, "after station {station}");
        assert_eq!(b.stats(station).built, aggregates as u64);
    }
    let single = b.t.head(BE).unwrap().airtime;
    assert!(single > us(1800) && single < us(1815), "{single}");
    let most = b.stats(2).pending_max;
    assert!(most > us(5300) && most < us(5400), "{most}");
}

#[test]
fn aggregates_are_full_behind_others() {
    // The first frame goes alone. Some 0.2 of 1 ms are pending then, and the next aggregate is built when it is full,
    // beyond 1 ms.
    let tight = AqlSpec {
        low: us(1000),
        high: us(1000),
        total: Duration::ZERO,
    };
    let latency = LatencySpec {
        aql: Some(tight),
        ..LatencySpec::OFF
    };
    let mut b = Bench::new(latency, 8, &[FAST]);
    b.put(0, 32);
    assert_eq!(b.t.hardware_queue(BE), 1, "31 wait");
    b.put(0, 28);
    assert_eq!(b.t.hardware_queue(BE), 2);
    b.send(u64::MAX);
    assert_eq!(b.t.head(BE).unwrap().frames.len(), 32);
    assert_eq!(b.t.hardware_queue(BE), 1, "nothing behind it");
    b.send(u64::MAX);
    assert_eq!(
        b.t.head(BE).unwrap().frames.len(),
        27,
        "a short one when nothing is pending"
    );
}

#[test]
fn other_stations_build_while_one_has_no_room() {
    for scheme in [Scheme::Airtime, Scheme::FqMac] {
        let mut b = Bench::new(aql(), 64, &[SLOW, FAST]);
        b.t = {
            let spec = NodeSpec {
                scheme,
                hardware_queue: 64,
                latency: aql(),
                ..NodeSpec::ACCESS_POINT
            };
            let peers = [SLOW, FAST].map(rate);
            let peers = [0, 1].map(|i| PeerSpec::new(NodeId::of_station(i), peers[usize::from(i)]));
            Transmitter::new(&spec, &peers, Band::Ghz5, 1, "wifi").unwrap()
        };
        b.put(0, 20);
        assert_eq!(b.t.hardware_queue(BE), 4);
        b.put(1, 1);
        assert_eq!(b.t.hardware_queue(BE), 5, "{}", scheme.name());
    }
}

#[test]
fn the_next_aggregate_is_built_so_long_before_the_end() {
    let latency = LatencySpec {
        defer: Some(us(200)),
        ..LatencySpec::OFF
    };
    let mut b = Bench::new(latency, 2, &[SLOW]);
    b.put(0, 1);
    assert_eq!((b.t.hardware_queue(BE), b.t.due()), (1, None), "the first at once");
    b.put(0, 3);
    assert_eq!(b.t.hardware_queue(BE), 1, "nothing is on the air, but one contends");
    let ends = b.start();
    assert_eq!(b.t.due(), Some(ends - us(200)));
    b.now = ends - us(201);
    b.put(0, 1);
    assert_eq!(b.t.hardware_queue(BE), 1);
    b.now = ends - us(200);
    b.t.wake(b.now, &mut b.drops);
    assert_eq!((b.t.hardware_queue(BE), b.t.due()), (2, None));
    b.complete(u64::MAX, ends);
    assert_eq!(
        b.t.hardware_queue(BE),
        1,
        "it is the next, and the one after it waits for it"
    );
    assert_eq!(
        b.t.head(BE).unwrap().frames.len(),
        2,
        "4 ms hold two frames at this rate"
    );
}

#[test]
fn an_arrival_after_the_time_of_building_is_built_at_once() {
    let latency = LatencySpec {
        defer: Some(us(200)),
        ..LatencySpec::OFF
    };
    let mut b = Bench::new(latency, 2, &[SLOW]);
    b.put(0, 1);
    let ends = b.start();
    b.now = ends - us(200);
    b.t.wake(b.now, &mut b.drops);
    assert_eq!(b.t.hardware_queue(BE), 1, "nothing to build");
    b.now = ends - us(50);
    b.put(0, 1);
    assert_eq!(b.t.hardware_queue(BE), 2);
}

#[test]
fn aggregates_are_there_when_building_is_done() {
    let latency = LatencySpec {
        build_time: us(100),
        ..LatencySpec::OFF
    };
    let mut b = Bench::new(latency, 1, &[FAST]);
    b.put(0, 1);
    assert_eq!((b.t.hardware_queue(BE), b.t.due()), (0, Some(Time::ZERO + us(100))));
    b.now = Time::ZERO + us(60);
    b.put(0, 4);
    assert_eq!(b.t.due(), Some(Time::ZERO + us(100)), "the first arrival decides");
    b.now = Time::ZERO + us(100);
    b.t.wake(b.now, &mut b.drops);
    assert_eq!(b.t.head(BE).unwrap().frames.len(), 5);
    b.put(0, 1);
    b.now = Time::ZERO + us(200);
    b.t.wake(b.now, &mut b.drops);
    assert_eq!(b.t.hardware_queue(BE), 1, "the hardware queue is full");
    let ends = b.start();
    b.complete(u64::MAX, ends);
    assert!(b.t.head(BE).is_none(), "not ready");
    assert_eq!(b.t.due(), Some(ends + us(100)));
}

#[test]
fn an_arrival_does_not_make_the_time_of_building_be_forgotten() {
    let latency = LatencySpec {
        defer: Some(us(200)),
        build_time: us(100),
        ..LatencySpec::OFF
    };
    let mut b = Bench::new(latency, 2, &[SLOW]);
    b.put(0, 1);
    b.now = b.t.due().unwrap();
    b.t.wake(b.now, &mut b.drops);
    let ends = b.start();
    b.put(0, 1);
    assert_eq!(b.t.due(), Some(b.now + us(100)));
    b.now += us(100);
    b.t.wake(b.now, &mut b.drops);
    assert_eq!((b.t.hardware_queue(BE), b.t.due()), (1, Some(ends - us(100))));
    b.now = ends - us(100);
    b.t.wake(b.now, &mut b.drops);
    assert_eq!((b.t.hardware_queue(BE), b.t.due()), (2, None));
}

#[test]
fn a_frame_is_given_up_when_its_first_transmission_is_too_long_ago() {
    let latency = LatencySpec {
        retry_time: Some(Duration::from_millis(4)),
        ..LatencySpec::OFF
    };
    let mut b = Bench::new(latency, 2, &[SLOW]);
    b.now = ms(100);
    b.put(0, 1);
    b.now = ms(150);
    // Ends after 1.8, 3.6 and 5.4 ms; that it waited 50 ms does not count.
    for transmission in 1..=2 {
        let completion = b.send(0);
        assert_eq!((completion.retried, completion.given_up), (1, 0), "{transmission}");
    }
    let completion = b.send(0);
    assert_eq!((completion.retried, completion.given_up), (0, 1));
    assert_eq!(completion.window_start, Some(1), "the receiver is told");
    assert_eq!((b.stats(0).expired, b.drops.len(), b.t.packets()), (1, 1, 0));
}

#[test]
fn a_frame_is_given_up_when_it_came_too_long_ago() {
    let latency = LatencySpec {
        retry_sojourn: Some(Duration::from_millis(50)),
        ..LatencySpec::OFF
    };
    let mut b = Bench::new(latency, 2, &[SLOW]);
    b.put(0, 1);
    b.now = ms(46);
    // Ends at 47.8, 49.6 and 51.4 ms.
    assert_eq!(b.send(0).retried, 1);
    assert_eq!(b.send(0).retried, 1);
    assert_eq!(b.send(0).given_up, 1);
    b.put(0, 1);
    b.now += Duration::from_millis(60);
    assert_eq!(b.send(u64::MAX).arrived, 1, "what arrives is never too old");
    assert_eq!(b.stats(0).expired, 1);
}

#[test]
fn the_limit_of_transmissions_holds_beside_that_of_age() {
    let latency = LatencySpec {
        retry_time: Some(Duration::from_secs(1)),
        ..LatencySpec::OFF
    };
    let mut b = Bench::new(latency, 2, &[FAST]);
    b.put(0, 1);
    for _ in 1..10 {
        assert_eq!(b.send(0).retried, 1);
    }
    assert_eq!(b.send(0).given_up, 1);
    assert_eq!(b.stats(0).expired, 0, "not by age");
}

#[test]
fn aggregates_are_short_while_enough_stations_have_data() {
    let dense = DenseSpec {
        stations: 2,
        aggregate_time: us(1000),
    };
    let latency = LatencySpec {
        dense: Some(dense),
        ..LatencySpec::OFF
    };
    // One MPDU with delimiter and padding is 1544 bytes, and 1 ms at 520 bits in 3.6 us holds 267 symbols: 138 818
    // bits, 11 frames.
    let mut b = Bench::new(latency, 1, &[FAST, FAST]);
    b.put(0, 50);
    b.send(u64::MAX);
    assert_eq!(b.t.head(BE).unwrap().frames.len(), 32, "one station alone");
    b.put(1, 50);
    b.send(u64::MAX);
    assert_eq!(b.t.head(BE).unwrap().frames.len(), 11, "two");
    assert_eq!(b.stats(0).dense_aggregates + b.stats(1).dense_aggregates, 1);
}

#[test]
fn values_out_of_range_are_refused_in_one_sentence() {
    let dense = |stations, aggregate_time| LatencySpec {
        dense: Some(DenseSpec {
            stations,
            aggregate_time,
        }),
        ..LatencySpec::OFF
    };
    let limits = |low, high, total| LatencySpec {
        aql: Some(AqlSpec { low, high, total }),
        ..LatencySpec::OFF
    };
    let five = Duration::from_millis(5);
    for (latency, sentence) in [
        (
            limits(five, us(4000), five),
            "wifi.aql_high is 4ms, but must be 5ms (wifi.aql) to 10s",
        ),
        (limits(us(0), five, five), "wifi.aql is 0s, but must be 1us to 10s"),
        (
            dense(0, us(1000)),
            "wifi.dense_stations is 0, but must be 1 to 2007 stations",
        ),
        (
            dense(8, five),
            "wifi.dense_aggregate_time is 5ms, but must be 1ns to 4ms (wifi.aggregate_time)",
        ),
        (
            LatencySpec {
                defer: Some(Duration::from_millis(6)),
                ..LatencySpec::OFF
            },
            "wifi.defer is 6ms, but must be 0s to 5.484ms (the longest PPDU)",
        ),
        (
            LatencySpec {
                retry_time: Some(Duration::ZERO),
                ..LatencySpec::OFF
            },
            "wifi.retry_time is 0s, but must be 1ns to 1000s",
        ),
    ] {
        let node = NodeSpec {
            latency,
            ..NodeSpec::ACCESS_POINT
        };
        assert_eq!(node.validate("wifi").unwrap_err().to_string(), sentence);
    }
    let node = NodeSpec {
        scheme: Scheme::Fifo,
        latency: aql(),
        ..NodeSpec::ACCESS_POINT
    };
    assert_eq!(
        node.validate("wifi").unwrap_err().to_string(),
        "wifi.aql is 5ms, but must be left out with the scheme fifo, which queues above the driver"
    );
}

/// Counts what comes out of a cell.
#[derive(Default)]
struct Count {
    delivered: u64,
    dropped: u64,
    /// The last id of each flow that was delivered.
    last: Vec<Option<u64>>,
}

impl CellSink<TestPacket> for Count {
    fn sent(&mut self, _from: NodeId, _to: NodeId, _packet: &TestPacket) {}
    fn delivered(&mut self, _from: NodeId, _to: NodeId, packet: TestPacket, _times: FrameTimes) {
        self.delivered += 1;
        let flow = packet.flow as usize;
        if self.last.len() <= flow {
            self.last.resize(flow + 1, None);
        }
        assert!(self.last[flow] < Some(packet.id), "in order");
        self.last[flow] = Some(packet.id);
    }
    fn dropped(&mut self, _from: NodeId, _to: NodeId, _drop: Dropped<TestPacket>) {
        self.dropped += 1;
    }
}

fn any_latency() -> impl Strategy<Value = LatencySpec> {
    let span = |most: u64| proptest::option::of((1..most).prop_map(us));
    let aql = proptest::option::of((1u64..6000, 0u64..6000, 0u64..12_000));
    let dense = proptest::option::of((1u32..4, 1u64..4000));
    (aql, span(4000), 0u64..1000, span(30_000), span(60_000), dense).prop_map(
        |(aql, defer, build_time, retry_time, retry_sojourn, dense)| LatencySpec {
            aql: aql.map(|(low, more, total)| AqlSpec {
                low: us(low),
                high: us(low + more),
                total: us(total),
            }),
            defer,
            build_time: us(build_time),
            retry_time,
            retry_sojourn,
            dense: dense.map(|(stations, time)| DenseSpec {
                stations,
                aggregate_time: us(time),
            }),
        },
    )
}

proptest! {
    /// Nothing is lost without being told of, nothing is stuck, and every station is served.
    #[test]
    fn every_packet_is_delivered_in_order_or_dropped(
        latency in any_latency(),
        hardware_queue in 2u32..10,
        round_robin in any::<bool>(),
        linux in any::<bool>(),
        error in 0.0..0.5,
        arrivals in prop::collection::vec((0u16..3, any::<bool>(), 0u8..8, 0u64..3_000), 1..200),
    ) {
        let mut spec = CellSpec::new((0..3).map(|i| {
            let mut station = StationSpec::new(&format!("sta{i}"), rate([FAST, "ht mcs 7", SLOW][i]));
            (station.error, station.error_up) = (error, error);
            station
        }).collect());
        spec.access_point.latency = latency;
        spec.access_point.hardware_queue = hardware_queue;
        if round_robin {
            spec.access_point.scheme = Scheme::FqMac;
        }
        if linux {
            spec.access_point.variant = crate::Variant::Linux612;
        }
        let mut cell = Cell::new(&spec, 3).unwrap();
        let mut sink = Count::default();
        let mut now = Time::ZERO;
        for (id, &(station, up, tid, gap)) in (0..).zip(&arrivals) {
            let at = now + us(gap);
            while let Some(due) = cell.due().filter(|&due| due <= at) {
                prop_assert!(due >= now, "time does not go back");
                now = due;
                cell.advance(due, &mut sink);
            }
            now = at;
            let (ap, node) = (NodeId::ACCESS_POINT, NodeId::of_station(station));
            let (from, to) = if up { (node, ap) } else { (ap, node) };
            let flow = (u32::from(station) * 2 + u32::from(up)) * 8 + u32::from(tid);
            cell.enqueue(from, to, TestPacket::new(id, 1514, flow).with_tid(tid), now, &mut sink);
            prop_assert_eq!(sink.delivered + sink.dropped + cell.packets(), id + 1);
        }
        let patience = now + Duration::from_secs(60);
        while let Some(due) = cell.due() {
            prop_assert!(due < patience, "it comes to an end");
            cell.advance(due, &mut sink);
        }
        prop_assert_eq!(cell.packets(), 0);
        prop_assert_eq!(sink.delivered + sink.dropped, arrivals.len() as u64);
    }
}
