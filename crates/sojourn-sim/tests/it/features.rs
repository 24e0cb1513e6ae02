//! Loads, probes and topologies, each against what can be worked out by hand.

use crate::common::{FRAME, PAYLOAD, record, rrul, with};
use serde_json::{Value, json};
use sojourn_qdisc::QdiscSpec;
use sojourn_scenario::Application;
use sojourn_sim::network::{EgressSpec, LinkId, LinkSpec, Network, NodeId, Shaping};
use sojourn_sim::probe::{ProbeKind, ProbeSpec};
use sojourn_sim::simulator::{FlowSpec, SimError, Simulator};
use sojourn_tcp::TcpParams;
use sojourn_units::{Bytes, Duration, Rate, Time};

/// 10 Mbit/s both ways, 50 ms, with these keys too.
fn path(more: Value) -> Value {
    with(
        &json!({"duration": "20s", "up": "10mbit", "down": "10mbit", "rtt": "50ms"}),
        more,
    )
}

#[test]
fn an_application_limited_flow_delivers_its_rate_and_builds_no_queue() {
    for (text, mbit) in [("300kbit", 0.3), ("2mbit", 2.0), ("8mbit", 8.0)] {
        let r = record(&path(
            json!({"qdisc_up": "pfifo limit 1000", "lead": "0s", "start_jitter": "0s",
            "flows": [{"name": "video", "direction": "up", "rate": text}]}),
        ));
        // What was written in the last RTT and a half, and in the segment being filled, is not there yet.
        let missing = mbit * (0.075 + 0.05) + 2.0 * PAYLOAD * 8.0 / 1e6;
        let bits = r.summary.goodput_up_mbit * 20.0;
        assert!(bits <= mbit * 20.0 + PAYLOAD * 8.0 / 1e6, "{text}: {bits} Mbit");
        assert!(bits >= mbit * 20.0 - missing, "{text}: {bits} Mbit");
        assert_eq!(r.flows[0].retransmissions, 0, "{text}");
        // Once slow start has caught up with what was written during the handshake.
        let late = r
            .series
            .t_s
            .iter()
            .zip(&r.series.backlog_packets.up)
            .filter(|(t, _)| **t > 5.0);
        assert!(
            late.clone().count() == 75 && late.into_iter().all(|(_, &n)| n <= 1),
            "{text}"
        );
    }
}

#[test]
fn a_flow_of_so_many_bytes_delivers_them_and_stops() {
    for bytes in [1u64, 1448, 1449, 1_000_000] {
        let r = record(&path(
            json!({"duration": "10s", "flows": [{"name": "file", "direction": "down", "bytes": bytes}]}),
        ));
        let delivered = r.flows[0].goodput_mbit * 10.0 * 1e6 / 8.0;
        assert!((delivered - bytes as f64).abs() < 1e-3, "{delivered} of {bytes}");
        let sent = r.flows[0].segments_sent - r.flows[0].retransmissions;
        assert_eq!(sent, bytes.div_ceil(1448));
        assert!(r.series.goodput_mbit["file"].last().expect("there are bins").abs() < 1e-12);
    }
}

#[test]
fn flows_start_when_they_are_told_to() {
    let r = record(&path(
        json!({"duration": "6s", "start_jitter": "0s", "rtt": "100ms", "flows": [
        {"name": "first", "direction": "up"}, {"name": "second", "direction": "up", "start": "3s"}]}),
    ));
    let first_bin = |name: &str| {
        let i = r.series.goodput_mbit[name]
            .iter()
            .position(|&g| g > 0.0)
            .expect("it delivers");
        r.series.t_s[i]
    };
    // Data arrives one and a half RTTs after the start, in the bin that ends at 0.2 and 3.2 s.
    assert!((first_bin("first") - 0.2).abs() < 1e-9);
    assert!((first_bin("second") - 3.2).abs() < 1e-9);
    // No probe, and nothing to do before the first flow: the series begin all the same.
    let late = record(&path(
        json!({"flows": [{"name": "late", "direction": "up", "start": "10s"}]}),
    ));
    assert_eq!(late.series.t_s.len(), 100);
    assert!(late.summary.goodput_up_mbit > 4.0 && late.summary.goodput_up_mbit < 5.0);
}

#[test]
fn start_jitter_spreads_the_starts_and_belongs_to_the_flow() {
    let flows: Vec<Value> = (0..4)
        .map(|i| json!({"name": format!("f{i}"), "direction": "up", "bytes": 1000}))
        .collect();
    let starts = |seed: u64| {
        let r = record(&path(
            json!({"duration": "4s", "sample_interval": "10ms", "start_jitter": "2s", "seed": seed, "flows": flows}),
        ));
        let of = |f: &Value| {
            let name = f["name"].as_str().expect("text");
            r.series.goodput_mbit[name]
                .iter()
                .position(|&g| g > 0.0)
                .expect("it delivers")
        };
        flows.iter().map(of).collect::<Vec<_>>()
    };
    let (a, b) = (starts(1), starts(2));
    assert_ne!(a, b);
    let mut sorted = a.clone();
    sorted.sort_unstable();
    sorted.dedup();
    assert_eq!(sorted.len(), 4, "{a:?}");
    assert!(a.iter().all(|&bin| bin <= 208), "2 s and an RTT and a half: {a:?}");
}

#[test]
fn each_flow_has_its_own_base_rtt() {
    let r = record(&path(json!({"qdisc_up": "fq_codel", "rtt": "40ms",
        "flows": [{"name": "near", "direction": "up", "rtt": "10ms", "rate": "1mbit"},
                  {"name": "far", "direction": "up", "rtt": "300ms", "rate": "1mbit"},
                  {"name": "path", "direction": "up", "rate": "1mbit"}],
        "probes": [{"name": "p", "kind": "icmp", "rtt": "123ms"}, {"name": "q", "kind": "icmp"}]})));
    for (name, base, f) in [
        ("near", 10.0, &r.flows[0]),
        ("far", 300.0, &r.flows[1]),
        ("path", 40.0, &r.flows[2]),
    ] {
        assert!((f.base_rtt_ms - base).abs() < 1e-12, "{name}");
    }
    for (i, base) in [(0, 123.0), (1, 40.0)] {
        let rtt = r.probes[i].rtt_ms.as_ref().expect("an echo probe has RTTs");
        assert!(
            rtt.min.unwrap() >= base && rtt.min.unwrap() < base + 1.5,
            "{}",
            rtt.min.unwrap()
        );
    }
    // Each probe's own base is taken off: what is left are the few frames in its way.
    assert!(
        r.summary.induced_latency_ms.unwrap() < 3.0,
        "{}",
        r.summary.induced_latency_ms.unwrap()
    );
}

#[test]
fn an_idle_path_delays_a_stream_by_half_its_rtt() {
    let r = record(&path(json!({"duration": "5s", "rtt": "51ms", "probes": [
        {"name": "up", "kind": "isochronous", "interval": "20ms"},
        {"name": "down", "kind": "isochronous", "interval": "20ms", "direction": "down"}]})));
    for p in &r.probes {
        let d = p.delay_ms.as_ref().expect("a one-way probe has delays");
        assert!(
            (d.min.unwrap() - 25.5).abs() < 1e-9 && (d.max.unwrap() - 25.5).abs() < 1e-9,
            "{}: {d:?}",
            p.name
        );
        assert_eq!((p.sent, p.lost), (250, 0));
        assert_eq!(p.direction, p.name);
        assert!(p.rtt_ms.is_none());
    }
    assert_eq!(r.summary.rtt_ms.count, 0, "one-way delays are no RTTs");
}

#[test]
fn a_transaction_leaves_with_the_answer_to_the_last() {
    let r = record(&path(
        json!({"duration": "10s", "probes": [{"name": "rr", "kind": "udp_rr"}]}),
    ));
    // 20 a second at 50 ms, the last of them cut off by the end.
    assert!((199..=200).contains(&r.probes[0].sent), "{}", r.probes[0].sent);
    assert_eq!(r.probes[0].lost, 0);
    let rtt = r.probes[0].rtt_ms.as_ref().expect("an echo probe has RTTs");
    assert!(
        (rtt.min.unwrap() - 50.0).abs() < 1e-9 && (rtt.max.unwrap() - 50.0).abs() < 1e-9,
        "{rtt:?}"
    );
}

#[test]
fn a_lost_transaction_times_out() {
    // A queue of one packet, kept full by a flow that is far above the rate: requests are lost.
    let r = record(&path(
        json!({"duration": "120s", "up": "200kbit", "qdisc_up": "pfifo limit 2", "burst_up": "1514b",
        "flows": [{"name": "a", "direction": "up"}, {"name": "b", "direction": "up"}],
        "probes": [{"name": "rr", "kind": "udp_rr", "timeout": "2s"}]}),
    ));
    let p = &r.probes[0];
    assert!(p.lost >= 3, "{} of {}", p.lost, p.sent);
    // Every loss costs two seconds, every answer at most the two queued frames and the one under way.
    let longest = 0.050 + 3.0 * FRAME * 8.0 / 200e3;
    let answered = (p.sent - p.lost) as f64;
    assert!(p.lost as f64 * 2.0 + answered * 0.050 <= 120.0 + 2.0);
    assert!(p.lost as f64 * 2.0 + answered * longest >= 120.0 - 2.0);
    let rtt = p.rtt_ms.as_ref().expect("an echo probe has RTTs");
    assert!(rtt.max.unwrap() <= longest * 1e3, "{} of {longest}", rtt.max.unwrap());
}

#[test]
fn echo_requests_keep_their_interval_whatever_comes_back() {
    let r = record(&rrul(
        1,
        json!({"up": "500kbit", "down": "10mbit", "qdisc_up": "pfifo limit 100", "duration": "20s",
                                   "probes": [{"name": "ping", "kind": "icmp", "interval": "100ms"}]}),
    ));
    let t = &r.series.rtt["ping"].t_s;
    assert!(t.windows(2).all(|w| (w[1] - w[0] - 0.1).abs() < 1e-9));
    assert_eq!(r.probes[0].sent, 200);
    let series = &r.series.rtt["ping"];
    let lost = series
        .t_s
        .iter()
        .zip(&series.rtt_ms)
        .filter(|(t, x)| **t >= 0.0 && x.is_none())
        .count();
    assert_eq!(r.probes[0].lost, lost as u64);
    assert!((r.summary.probe_loss.unwrap() - lost as f64 / 200.0).abs() < 1e-12);
}

#[test]
fn samples_before_the_window_are_in_the_series_and_not_in_the_summary() {
    let r = record(&rrul(
        2,
        json!({"up": "5mbit", "down": "5mbit", "lead": "3s", "duration": "6s", "qdisc_up": "pfifo limit 100"}),
    ));
    let series = &r.series.rtt["ping"];
    let before: Vec<f64> = series
        .t_s
        .iter()
        .zip(&series.rtt_ms)
        .filter(|(t, _)| **t < 0.0)
        .filter_map(|(_, x)| *x)
        .collect();
    let after: Vec<f64> = series
        .t_s
        .iter()
        .zip(&series.rtt_ms)
        .filter(|(t, _)| **t >= 0.0)
        .filter_map(|(_, x)| *x)
        .collect();
    assert_eq!(before.len(), 15);
    assert!(
        before.iter().all(|x| (x - 50.0).abs() < 1e-9),
        "nothing is under way before the flows start"
    );
    assert_eq!(r.summary.rtt_ms.count, after.len());
    assert!((r.summary.rtt_ms.mean.unwrap() - after.iter().sum::<f64>() / after.len() as f64).abs() < 1e-9);
    assert!((r.summary.induced_latency_ms.unwrap() - (r.summary.rtt_ms.mean.unwrap() - 50.0)).abs() < 1e-9);
    assert!(r.summary.rtt_ms.median.unwrap() > 60.0);
}

#[test]
fn ecn_turns_the_drops_of_codel_into_marks() {
    for qdisc in ["codel ecn", "fq_codel ecn"] {
        let of = |ecn: bool| {
            record(&rrul(
                2,
                json!({"up": "10mbit", "down": "10mbit", "qdisc_up": qdisc, "qdisc_down": qdisc, "duration": "30s",
                                   "tcp": {"ecn": ecn}}),
            ))
        };
        let (with_ecn, without) = (of(true), of(false));
        for (a, b) in [
            (&with_ecn.bottleneck.up, &without.bottleneck.up),
            (&with_ecn.bottleneck.down, &without.bottleneck.down),
        ] {
            assert!(a.marks > 20, "{qdisc}: {} marks", a.marks);
            assert_eq!(b.marks, 0, "{qdisc}");
            assert!(b.drops["congestion"] > 20, "{qdisc}: {:?}", b.drops);
            // What is still dropped are bare acknowledgements, which cannot be marked (RFC 3168 section 6.1.4).
            let (unmarked, dropped) = (a.drops["congestion"] - a.ack_drops, b.drops["congestion"] - b.ack_drops);
            assert!(unmarked * 10 < dropped, "{qdisc}: {unmarked} and {dropped}");
        }
        for (way, end) in [("up", &with_ecn.bottleneck.up), ("down", &with_ecn.bottleneck.down)] {
            let of_flows = with_ecn.flows.iter().filter(|f| f.direction == way);
            let ecn: Vec<_> = of_flows.map(|f| f.ecn.expect("wanted")).collect();
            assert_eq!(
                ecn.iter().map(|e| e.marked).sum::<u64>(),
                end.marks,
                "only data takes marks"
            );
            for e in ecn {
                assert_eq!(e.agreed, Some(true));
                let (echoes, reductions) = (e.echoes.expect("the simulator"), e.reductions.expect("counts"));
                assert!(reductions > 0 && echoes >= reductions, "{qdisc}: {e:?}");
                assert!(e.delivered_ce.expect("all") >= echoes / 2, "{qdisc}: {e:?}");
            }
        }
        assert!(without.flows.iter().all(|f| f.ecn.is_none()));
        let again = |r: &sojourn_sim::Record| r.flows.iter().map(|f| f.retransmissions).sum::<u64>();
        assert!(again(&with_ecn) < again(&without) / 5, "{qdisc}");
        assert!(
            with_ecn.summary.goodput_up_mbit > 0.9 * without.summary.goodput_up_mbit,
            "{qdisc}"
        );
        assert!(
            with_ecn.summary.induced_latency_ms.unwrap() < 60.0,
            "{qdisc}: {}",
            with_ecn.summary.induced_latency_ms.unwrap()
        );
    }
}

/// RFC 8511: who reduces the window by less after a mark keeps a shallow queue fuller, and the link with it.
#[test]
fn abe_keeps_more_of_the_window() {
    let of = |abe: bool| {
        record(&path(
            json!({"qdisc_up": "codel ecn", "duration": "60s", "rtt": "100ms",
            "tcp": {"ecn": true, "abe": abe}, "flows": [{"name": "a", "direction": "up"}]}),
        ))
    };
    let (with_abe, without) = (of(true), of(false));
    let window = |r: &sojourn_sim::Record| r.flows[0].mean_cwnd_segments.unwrap();
    assert!(
        window(&with_abe) > 1.02 * window(&without),
        "{} {}",
        window(&with_abe),
        window(&without)
    );
    assert!(with_abe.summary.goodput_up_mbit > without.summary.goodput_up_mbit);
    let marks = |r: &sojourn_sim::Record| r.bottleneck.up.marks;
    assert!(marks(&with_abe) > marks(&without), "less is given up each time");
}

/// Two flows share a link under `fq`, which holds each to `maxrate`: together less than the link where that is less.
#[test]
fn fq_paces_flows_on_a_router_by_its_maxrate() {
    for (text, mbit) in [
        ("fq", 20.0),
        ("fq maxrate 4mbit", 8.0),
        ("fq maxrate 4mbit variant linux-7.3", 8.0),
    ] {
        let r = record(&path(
            json!({"up": "20mbit", "down": "20mbit", "qdisc_up": text, "qdisc_down": text, "rtt": "40ms", "lead": "5s",
                "flows": [{"name": "a", "direction": "up"}, {"name": "b", "direction": "up"}]}),
        ));
        // A frame of 1514 bytes has 1448 of payload.
        let most = mbit * PAYLOAD / FRAME;
        let goodput = r.summary.goodput_up_mbit;
        assert!(
            goodput <= most * 1.001 && goodput >= most * 0.98,
            "{text}: {goodput} of {most}"
        );
        let [a, b] = [&r.flows[0], &r.flows[1]].map(|f| f.goodput_mbit);
        assert!((a / b - 1.0).abs() < 0.05, "{text}: {a} {b}");
    }
}

/// A probe of its own flow passes a flow that waits for its time: it is as fast as on an empty link.
#[test]
fn who_need_not_wait_passes_a_paced_flow() {
    let r = record(&path(
        json!({"qdisc_up": "fq maxrate 6mbit", "qdisc_down": "fq", "flows": [{"name": "a", "direction": "up"}],
            "probes": [{"name": "p", "kind": "icmp"}]}),
    ));
    assert!(r.summary.goodput_up_mbit > 5.6, "{}", r.summary.goodput_up_mbit);
    assert!(
        r.summary.induced_latency_ms.unwrap() < 0.1,
        "{}",
        r.summary.induced_latency_ms.unwrap()
    );
}

#[test]
fn spared_acknowledgements_all_arrive_and_the_link_keeps_its_rate() {
    // Not SFQ: it trims the longest queue, which is hardly ever one of acknowledgements.
    for qdisc in ["gbw:pfifo_fast", "codel", "gbw:ared"] {
        let of = |spare: bool| {
            record(&rrul(
                4,
                json!({"up": "1mbit", "down": "10mbit", "qdisc_up": qdisc, "qdisc_down": qdisc, "duration": "60s",
                                   "spare_acks": spare}),
            ))
        };
        let (spared, plain) = (of(true), of(false));
        let (with, without) = (&spared.bottleneck.up, &plain.bottleneck.up);
        assert!(
            without.ack_drops > 10 && with.acks_spared > 10,
            "{qdisc}: {} {}",
            without.ack_drops,
            with.acks_spared
        );
        assert_eq!((with.ack_drops, without.acks_spared), (0, 0), "{qdisc}");
        assert!(spared.flows.iter().all(|f| f.acks_dropped == 0), "{qdisc}");
        for side in [with, without] {
            assert!(side.bytes as f64 <= 1e6 / 8.0 * 60.0 + 3028.0, "{qdisc}");
            assert!(
                side.bytes as f64 >= 0.97 * 1e6 / 8.0 * 60.0,
                "{qdisc}: the link is busy"
            );
        }
        // Spared packets wait for the place they would have had: the queue is no longer than its limit.
        assert!(
            with.sojourn_ms.max.unwrap() <= without.sojourn_ms.max.unwrap().max(1.0) * 1.3,
            "{qdisc}"
        );
    }
}

/// A link with a rate, and one back without.
fn pair(net: &mut Network, from: NodeId, to: NodeId, mbit: u64, shaping: Shaping, name: &str) -> (LinkId, LinkId) {
    let egress = EgressSpec {
        shaping,
        name: Some(name.to_owned()),
        ..EgressSpec::new(
            Rate::from_mbit(mbit),
            QdiscSpec::parse("pfifo limit 60", None).expect("a plain FIFO"),
        )
    };
    let delay = Duration::from_millis(10);
    let forth = net.add_link(LinkSpec {
        from,
        to,
        egress: Some(egress),
        delay,
        tick: Duration::ZERO,
    });
    (
        forth,
        net.add_link(LinkSpec {
            from: to,
            to: from,
            egress: None,
            delay,
            tick: Duration::ZERO,
        }),
    )
}

/// A host beside a router, on links that never queue: what the router holds is not in the host's own device.
fn host(net: &mut Network, router: NodeId) -> NodeId {
    let host = net.add_node("host");
    for (from, to) in [(host, router), (router, host)] {
        net.add_link(LinkSpec {
            from,
            to,
            egress: None,
            delay: Duration::ZERO,
            tick: Duration::ZERO,
        });
    }
    host
}

/// The parking lot: A - B - C with two bottlenecks, a long flow over both and a short one over each.
#[test]
fn a_parking_lot_shares_each_bottleneck_and_the_long_flow_gets_least() {
    for shaping in [
        Shaping::Wire,
        Shaping::TokenBucket {
            burst: Bytes::new(1514),
        },
    ] {
        let mut net = Network::default();
        let [a, b, c] = ["a", "b", "c"].map(|n| net.add_node(n));
        pair(&mut net, a, b, 10, shaping.clone(), "ab");
        pair(&mut net, b, c, 10, shaping.clone(), "bc");
        let [at_a, at_b] = [a, b].map(|router| host(&mut net, router));
        let mut sim = Simulator::new(&net, 1, Duration::from_millis(200)).expect("a valid network");
        for (name, from, to) in [("long", at_a, c), ("first", at_a, b), ("second", at_b, c)] {
            let flow = FlowSpec {
                name: name.to_owned(),
                route: net.route(from, to).expect("connected"),
                back: net.route(to, from).expect("connected"),
                tcp: TcpParams {
                    congestion_control: "reno".parse().expect("known"),
                    ..TcpParams::default()
                },
                start: Time::ZERO,
                application: Application::default(),
                destination: None,
            };
            sim.add_flow(flow).expect("valid parameters");
        }
        let probe = |name: &str, kind| ProbeSpec {
            name: name.to_owned(),
            kind,
            route: net.route(a, c).expect("connected"),
            back: net.route(c, a).expect("connected"),
            size: 1250,
            start: Time::from_millis(1),
            measured_from: Time::ZERO,
        };
        let voip = sim
            .add_probe(probe(
                "voip",
                ProbeKind::Isochronous {
                    interval: Duration::from_millis(20),
                },
            ))
            .expect("valid");
        sim.run_until(Time::from_secs(120));
        let mbit = |i: usize| sim.receiver(i).receiver().bytes_in_order() as f64 * 8.0 / 120.0 / 1e6;
        let (long, first, second) = (mbit(0), mbit(1), mbit(2));
        // The probe takes 0.5 Mbit/s of each link.
        for (short, name) in [(first, "ab"), (second, "bc")] {
            let sum = (long + short) * FRAME / PAYLOAD + 0.5;
            assert!(
                sum <= 10.0 + 1e-3 && sum > 9.5,
                "{name}: {sum} of 10 Mbit/s, {shaping:?}"
            );
        }
        assert!(
            long < 0.7 * first.min(second) && long > 0.3,
            "{long}, {first}, {second}"
        );
        // Sent while the flows were in their handshake: 20 ms of propagation, and on a wire 1 ms on each link.
        let (sent, delay) = sim.probe_samples(voip.index).next().expect("it was sent");
        assert_eq!(sent, Time::from_millis(1));
        let serialisation = if shaping == Shaping::Wire { 2 } else { 0 };
        assert_eq!(delay, Some(Duration::from_millis(20 + serialisation)), "{shaping:?}");
    }
}

#[test]
fn what_cannot_be_simulated_is_refused_with_a_reason() {
    let mut net = Network::default();
    let [a, b] = ["a", "b"].map(|n| net.add_node(n));
    let bucket = Shaping::TokenBucket { burst: Bytes::ZERO };
    pair(&mut net, a, b, 10, bucket, "ab");
    let error = Simulator::new(&net, 1, Duration::from_secs(1)).expect_err("an empty bucket");
    assert!(matches!(error, SimError::Qdisc(_)));
    assert_eq!(error.to_string(), "tbf.burst is 0, but must be > 0");

    let mut net = Network::default();
    let [a, b] = ["a", "b"].map(|n| net.add_node(n));
    pair(&mut net, a, b, 10, Shaping::Wire, "ab");
    let mut sim = Simulator::new(&net, 1, Duration::from_secs(1)).expect("a valid network");
    let flow = FlowSpec {
        name: "f".to_owned(),
        route: net.route(a, b).expect("connected"),
        back: net.route(b, a).expect("connected"),
        tcp: TcpParams {
            mss: 0,
            ..TcpParams::default()
        },
        start: Time::ZERO,
        application: Application::default(),
        destination: None,
    };
    let error = sim.add_flow(flow).expect_err("no payload");
    assert_eq!(error.to_string(), "tcp.mss is 0, but must be 1 to 8948 bytes");
}

#[test]
fn a_shaper_under_the_bottleneck_sets_the_pace() {
    // The child lets less through than the bucket above it would.
    let r = record(&path(
        json!({"qdisc_up": "tbf rate 2mbit burst 3028 limit 60kb", "duration": "30s",
        "flows": [{"name": "a", "direction": "up"}]}),
    ));
    let most = 2.0 * PAYLOAD / FRAME;
    assert!(
        r.summary.goodput_up_mbit <= most && r.summary.goodput_up_mbit > 0.97 * most,
        "{}",
        r.summary.goodput_up_mbit
    );
}
