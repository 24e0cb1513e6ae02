//! A flusher on the path, against numbers worked by hand.

use crate::common::{comparable, record, with};
use serde_json::{Value, json};
use sojourn_sim::tap::{Body, Capture, Frame, Point};
use sojourn_sim::{Progress, Record, Run, Scenario, run};
use std::io;
use std::sync::{Arc, Mutex};

/// A packet of a burst: 1500 bytes and the Ethernet header, at 5 Mbit/s, ms.
const SLOT: f64 = 1514.0 * 8.0 / 5000.0;

/// The thesis's path: 10 Mbit/s to a router, 5 Mbit/s and 50 ms to the server.
fn bed(more: Value) -> Value {
    with(
        &json!({"duration": "40s", "up": "5mbit", "down": "5mbit", "rtt": "50ms", "edge_rate": "10mbit",
                "burst_up": "1514b", "qdisc_up": "pfifo limit 100", "qdisc_down": "pfifo limit 100",
                "flows": [{"name": "bulk", "direction": "up", "congestion_control": "reno"}],
                "flusher": {"params": "as_described"}}),
        more,
    )
}

fn flusher(record: &Record) -> &sojourn_sim::record::FlusherRecord {
    record.flusher.as_ref().expect("the scenario has a flusher")
}

/// A thin stream that leaves the queue empty, and a flush that is forced: its packets stand in the queue one behind
/// the other, all there at once as the edges are infinitely fast. The bucket holds one packet, so the first passes
/// and the last waits for the n - 1 before it.
#[test]
fn a_flush_of_n_packets_occupies_the_queue_n_times_the_time_of_one() {
    let scenario = with(
        &bed(json!({"duration": "10s", "flusher": {"params": {"preset": "as_described", "forced_after": "5s"}}})),
        json!({"flows": [{"name": "thin", "direction": "up", "rate": "1mbit"}]}),
    );
    let mut scenario = scenario;
    scenario.as_object_mut().expect("an object").remove("edge_rate");
    let r = record(&scenario);
    let f = flusher(&r);
    assert_eq!(f.flushes, 1, "{f:?}");
    let n = f.events[0].packets;
    assert_eq!((f.events[0].reason, f.events[0].refused), ("forced", false));
    assert!(
        f.events[0].took_ms == Some(0.0) && (5.0..6.0).contains(&f.events[0].t_s),
        "{f:?}"
    );
    assert!(n >= 5, "{n}");
    // Data may stand before the burst or among it: less than one packet of it in 12 ms.
    let longest = r.bottleneck.up.sojourn_ms.max.unwrap();
    let least = f64::from(n - 1) * SLOT;
    assert!(
        longest >= least - 1e-6 && longest < least + 2.0 * SLOT,
        "{n} packets: {longest} ms"
    );
    assert_eq!((f.packets, f.delivered, f.dropped), (u64::from(n), u64::from(n), 0));
    assert_eq!(f.bytes, 1514 * u64::from(n));
}

/// At 10 Mbit/s a packet of 1514 bytes takes 1.2112 ms: n of them leave n - 1 gaps.
#[test]
fn a_burst_leaves_back_to_back_at_the_rate_of_the_edge() {
    for at in ["client", "router"] {
        let r = record(&bed(json!({"flusher": {"params": "as_described", "at": at}})));
        let f = flusher(&r);
        assert!(f.flushes > 3, "{at}: {f:?}");
        for event in f.events.iter().filter(|e| e.took_ms.is_some()) {
            let ms = f64::from(event.packets - 1) * 1.2112;
            assert!((event.took_ms.expect("over") - ms).abs() < 1e-6, "{at}: {event:?}");
        }
    }
}

#[test]
fn no_packet_of_a_burst_gets_lost_uncounted() {
    for at in ["client", "router"] {
        for cc in ["reno", "cubic"] {
            let flow = json!({"name": "bulk", "direction": "up", "congestion_control": cc});
            let r = record(&bed(
                json!({"flusher": {"params": "as_written", "at": at}, "flows": [flow]}),
            ));
            let f = flusher(&r);
            let under_way = f.packets - f.delivered - f.dropped;
            assert!(f.packets > 100 && f.dropped > 0 && f.delivered > 0, "{at}: {f:?}");
            // The queue holds 100; the 25 ms behind it 10 more; one is between router and edge.
            assert!(under_way <= 112, "{at}: {under_way}");
            assert_eq!(
                f.packets,
                f.events
                    .iter()
                    .filter(|e| !e.refused)
                    .map(|e| u64::from(e.packets))
                    .sum::<u64>()
            );
            assert_eq!(f.packets, f.flows.iter().map(|flow| flow.packets).sum::<u64>());
        }
    }
}

/// And nothing else in the record changes.
#[test]
fn a_passive_flusher_sends_nothing() {
    let passive = record(&bed(json!({"flusher": {"params": "as_described", "mode": "passive"}})));
    let f = flusher(&passive);
    assert_eq!((f.flushes, f.packets, f.bytes, f.delivered, f.dropped), (0, 0, 0, 0, 0));
    assert!(f.refused > 0 && f.samples > 1000, "{f:?}");
    assert!(f.events.iter().all(|e| e.refused && e.packets > 0), "{f:?}");
    let mut scenario = bed(json!({}));
    scenario.as_object_mut().expect("an object").remove("flusher");
    let without = record(&scenario);
    let plain = |r: &Record| {
        let mut value: Value = serde_json::from_str(&comparable(r)).expect("JSON");
        for part in ["flusher", "scenario", "cost"] {
            value.as_object_mut().expect("an object").remove(part);
        }
        value["series"].as_object_mut().expect("an object").remove("flusher");
        value
    };
    assert_eq!(plain(&passive), plain(&without));
    assert!(without.flusher.is_none() && without.series.flusher.is_empty());
}

/// A flush drains the standing queue: less waiting, at some cost.
#[test]
fn an_active_flusher_shortens_the_queue() {
    let mean = |r: &Record| flusher(r).flows[0].rtt.as_ref().expect("a flow").mean_ms.unwrap();
    let karn = json!({"params": {"preset": "as_described", "retransmissions": "karn"}});
    let active = record(&bed(json!({"duration": "120s", "flusher": karn})));
    let passive = record(&bed(
        json!({"duration": "120s", "flusher": {"params": "as_described", "mode": "passive"}}),
    ));
    assert!(
        mean(&active) < 0.9 * mean(&passive),
        "{} {}",
        mean(&active),
        mean(&passive)
    );
    assert!(active.summary.goodput_up_mbit < passive.summary.goodput_up_mbit);
    assert!(active.summary.goodput_up_mbit > 0.75 * passive.summary.goodput_up_mbit);
}

/// Segments one by one, 100 ms apart: each takes 1.2112 ms on either edge, none at the bucket that is full, and 25
/// ms; its acknowledgement of 66 bytes 52.8 us on either edge and 25 ms.
#[test]
fn the_rtt_of_a_pair_is_the_time_on_the_way() {
    let thin = json!({"name": "thin", "direction": "up", "write": "1448b", "write_interval": "100ms"});
    let r = record(&bed(
        json!({"flows": [thin], "flusher": {"params": "as_described", "mode": "passive"}}),
    ));
    let rtt = flusher(&r).flows[0].rtt.as_ref().expect("a flow");
    let expected = 50.0 + 2.0 * 1.2112 + 2.0 * 0.0528;
    assert!((rtt.max_ms.unwrap() - expected).abs() < 1e-6, "{rtt:?}");
    // The handshake is a pair as well: 74 bytes there and back.
    let handshake = 50.0 + 4.0 * 0.0592;
    assert!((rtt.min_ms.unwrap() - handshake).abs() < 1e-6, "{rtt:?}");
    assert!(rtt.count > 390 && rtt.first_bin == 100, "{rtt:?}");
    assert_eq!(rtt.bins, [1, 0, 0, 0, 0, rtt.count as u32 - 1]);
    // The flusher beside the client sees the same.
    let seen = r.series.flusher["thin"].rtt_ms.iter().flatten().copied();
    assert!((seen.fold(0.0, f64::max) - expected).abs() < 0.01);
}

#[test]
fn a_flow_that_it_does_not_watch_gets_no_flush() {
    let flows = json!([{"name": "mine", "direction": "up"}, {"name": "foreign", "direction": "up"}]);
    let r = record(&bed(
        json!({"flows": flows, "flusher": {"params": "as_described", "watch": ["mine"]}}),
    ));
    let f = flusher(&r);
    assert_eq!(f.flows.iter().map(|f| f.seen).collect::<Vec<_>>(), [true, false]);
    assert!(f.flows[0].flushes > 0 && f.flows[1].flushes == 0, "{f:?}");
    assert!(f.events.iter().all(|e| e.flow.as_deref() == Some("mine")), "{f:?}");
    // Its round trips are measured nevertheless, and its packets stand in the same queue.
    let mean = |i: usize| f.flows[i].rtt.as_ref().expect("a flow").mean_ms.unwrap();
    assert!((mean(0) - mean(1)).abs() < 0.1 * mean(0), "{} {}", mean(0), mean(1));
    assert!(r.series.flusher["foreign"].rtt_ms.is_empty());
}

/// From the server's side a burst passes the downstream bottleneck; one towards the server would pass none.
#[test]
fn a_burst_goes_only_where_it_crosses_the_bottleneck() {
    for (at, direction, crosses) in [
        ("client", "up", true),
        ("client", "down", false),
        ("router", "up", true),
        ("router", "down", false),
        ("server", "up", false),
        ("server", "down", true),
    ] {
        let flow = json!({"name": "bulk", "direction": direction, "congestion_control": "reno"});
        let r = record(&bed(
            json!({"flows": [flow], "flusher": {"params": "as_described", "at": at}}),
        ));
        let f = flusher(&r);
        assert_eq!(f.packets > 0, crosses, "{at} {direction}: {:?}", f.events);
        assert!(
            f.events.iter().all(|e| e.refused != crosses),
            "{at} {direction}: {:?}",
            f.events
        );
    }
}

#[test]
fn before_its_start_it_does_not_look() {
    let r = record(&bed(json!({"flusher": {"params": "as_described", "start": "20s"}})));
    let f = flusher(&r);
    assert!(f.flushes > 0 && f.events.iter().all(|e| e.t_s > 20.0), "{f:?}");
    let seen = &r.series.flusher["bulk"].rtt_ms;
    assert!(seen[..99].iter().all(Option::is_none) && seen[120].is_some());
}

#[derive(Clone, Debug, Default)]
struct Datagrams(Arc<Mutex<Vec<(Point, bool, u16)>>>);

impl Capture for Datagrams {
    fn frame(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        if let Body::Probe(_) = frame.body {
            assert_eq!(
                (frame.conversation.number, frame.conversation.name.as_str()),
                (0, "bulk")
            );
            let mut all = self.0.lock().expect("one thread");
            all.push((frame.point, frame.outgoing, frame.size));
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// What leaves the flusher is seen at its place, what the queue drops is not seen behind it, and nothing changes by
/// looking.
#[test]
fn a_capture_sees_the_bursts() {
    // It ends between two bursts, so that none is cut off.
    let text = bed(json!({"duration": "39s"})).to_string();
    let seen = Datagrams::default();
    let scenario = Scenario::from_json(&text).expect("valid");
    let mut captured = Run::with_capture(scenario, &Point::ALL, Box::new(seen.clone())).expect("valid");
    while matches!(captured.advance(), Progress::Running(_)) {}
    let captured = captured.finish();
    assert_eq!(
        comparable(&captured),
        comparable(&run(Scenario::from_json(&text).expect("valid")).expect("runs"))
    );
    let f = flusher(&captured);
    let all = seen.0.lock().expect("one thread");
    let count = |point, outgoing| all.iter().filter(|&&(p, o, _)| (p, o) == (point, outgoing)).count() as u64;
    assert!(all.iter().all(|&(_, _, size)| size == 1514));
    assert_eq!(count(Point::Server, false), f.delivered);
    assert_eq!((count(Point::Server, true), count(Point::Client, false)), (0, 0));
    assert!(f.events.iter().all(|event| event.took_ms.is_some()));
    // The edge's queue is long enough for all of them.
    assert!(f.packets - count(Point::Client, true) <= 2 && f.dropped > 0);
    assert!(count(Point::UpBottleneck, true) <= f.packets - f.dropped);
}

/// Web clients and downloads open one connection after the other: each is a flow of its own, and their bursts take
/// their way.
#[test]
fn the_connections_of_downloads_and_web_clients_are_watched() {
    let download = json!({"name": "files", "direction": "up", "bytes": 4_000_000, "gap": "200ms",
                          "congestion_control": "reno"});
    let web = json!({"name": "page", "objects": [20_000, 5_000], "interval": "1s"});
    let r = record(&bed(json!({"flows": [], "downloads": [download], "web": [web]})));
    let f = flusher(&r);
    assert_eq!(
        f.flows.iter().map(|f| f.name.as_str()).collect::<Vec<_>>(),
        ["page", "files"]
    );
    assert!(f.flows[1].flushes > 0 && f.flows[1].rtt.is_none(), "{f:?}");
    assert!(f.samples > 100);
}

/// A frame has arrived over a wire when its last bit has: SYN and SYN-ACK are 74 bytes, and each takes 59.2 us on
/// both of its wires. It is through a full bucket at once, as on a kernel.
#[test]
fn edges_are_wires_or_buckets() {
    let least = |more: Value| {
        let r = record(&with(&bed(json!({"flusher": {"mode": "passive"}})), more));
        flusher(&r).flows[0].rtt.as_ref().expect("a flow").min_ms.unwrap()
    };
    assert!((least(json!({})) - 50.236_8).abs() < 1e-9);
    assert!((least(json!({"edge_burst": "1514b"})) - 50.0).abs() < 1e-9);
}

/// How many packets of bursts leave the client with no other between them, run by run.
#[derive(Clone, Debug, Default)]
struct Together(Arc<Mutex<Vec<usize>>>);

impl Capture for Together {
    fn frame(&mut self, frame: &Frame<'_>) -> io::Result<()> {
        let mut runs = self.0.lock().expect("one thread");
        if !frame.outgoing {
            return Ok(());
        }
        match (frame.body, runs.last_mut()) {
            (Body::Probe(_), Some(run)) => *run += 1,
            _ => runs.push(0),
        }
        Ok(())
    }

    fn finish(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Bursts of `as_described` grow to several hundred packets. All at once they stand before what the flow sends next.
/// The daemon's socket has memory for 185, so that the flow's segments get in between (Linux 6.1.192: 187, as two
/// left before the flow's, and then 185).
#[test]
fn the_daemon_s_socket_takes_185_packets_before_the_flow_s_next() {
    let longest = |bursts: &str| {
        let more =
            json!({"edge_burst": "1514b", "flusher": {"params": "as_described", "bursts": bursts, "gate": "widest"}});
        let scenario = Scenario::from_json(&bed(more).to_string()).expect("valid");
        let seen = Together::default();
        let mut run = Run::with_capture(scenario, &[Point::Client], Box::new(seen.clone())).expect("valid");
        while matches!(run.advance(), Progress::Running(_)) {}
        let f = run.finish().flusher.expect("a flusher");
        let largest = f.events.iter().map(|event| event.packets).max().expect("a flush");
        let runs = seen.0.lock().expect("one thread");
        (largest as usize, runs.iter().copied().max().expect("a run"))
    };
    let (largest, together) = longest("at_once");
    assert!(largest > 300 && together == largest, "{together} of {largest}");
    let (largest, together) = longest("daemon");
    assert!(
        largest > 300 && (185..=190).contains(&together),
        "{together} of {largest}"
    );
}
