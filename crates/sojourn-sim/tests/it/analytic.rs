//! Runs against formulas: what a network must do whatever the algorithms in it are.

use crate::common::{FRAME, PAYLOAD, record, rrul, with};
use serde_json::{Value, json};
use sojourn_qdisc::QdiscSpec;
use sojourn_sim::network::{EgressSpec, LinkSpec, Network, Shaping};
use sojourn_sim::probe::{ProbeKind, ProbeSpec};
use sojourn_sim::simulator::Simulator;
use sojourn_units::{Duration, Rate, Time};

/// Time of a frame of `bytes` at `mbit`, ms.
fn frame_ms(bytes: f64, mbit: f64) -> f64 {
    bytes * 8.0 / (mbit * 1000.0)
}

/// One flow upstream through `qdisc`, and a downstream that is never the bottleneck.
fn one_flow(mbit: f64, qdisc: &str, more: Value) -> Value {
    with(
        &json!({"duration": "60s", "up": format!("{mbit}mbit"), "down": "1gbit", "rtt": "50ms", "qdisc_up": qdisc,
                "qdisc_down": "pfifo limit 10000", "burst_up": "1514b",
                "flows": [{"name": "bulk", "direction": "up"}]}),
        more,
    )
}

#[test]
fn a_saturated_fifo_delays_by_its_length_and_passes_the_payload_share_of_its_rate() {
    // Buffers of at least the bandwidth-delay product (4.1, 41 and 413 frames of 1514 bytes).
    for (mbit, limit) in [(1.0, 20.0), (10.0, 50.0), (100.0, 450.0)] {
        for cc in ["cubic", "reno"] {
            let flow = json!({"flows": [{"name": "bulk", "direction": "up", "congestion_control": cc}]});
            let r = record(&one_flow(mbit, &format!("pfifo limit {limit}"), flow));
            let full = limit * frame_ms(FRAME, mbit);
            let longest = r.bottleneck.up.sojourn_ms.max.unwrap();
            assert!(longest <= full, "{mbit} {cc}: {longest} ms in a queue of {full} ms");
            // The first frame of a burst leaves at once, and a frame is being sent while the queue is full.
            assert!(
                longest >= full - 2.0 * frame_ms(FRAME, mbit),
                "{mbit} {cc}: {longest} ms of {full} ms"
            );
            assert!((r.bottleneck.up.backlog_packets.max as f64 - limit).abs() < 0.5);
            let most = mbit * PAYLOAD / FRAME;
            let goodput = r.summary.goodput_up_mbit;
            assert!(goodput <= most, "{mbit} {cc}: {goodput} of {most}");
            assert!(goodput >= 0.99 * most, "{mbit} {cc}: {goodput} of {most}");
        }
    }
}

#[test]
fn a_short_buffer_costs_a_reno_flow_the_share_that_its_saw_tooth_misses() {
    // Pipe C, buffer B, both in frames: the window runs from (C + B) / 2 up to C + B, and below C the link idles. With
    // no buffer at all that is 3/4 of the rate; the mean over the tooth is the integral of min(1, w / C).
    let (mbit, rtt_ms) = (10.0, 100.0);
    let c = rtt_ms / frame_ms(FRAME, mbit);
    for b in [10.0, 30.0] {
        let top = c + b;
        let bottom = top / 2.0;
        // Rounds below the pipe last one RTT each; above it, w / C of one. Sent: the window of each round.
        let below = (c - bottom).max(0.0);
        let sent = (top * top - bottom * bottom) / 2.0;
        let time = below + (top * top - c * c) / (2.0 * c);
        let share = sent / (time * c);
        let flow = json!({"rtt": "100ms", "duration": "300s",
                          "flows": [{"name": "bulk", "direction": "up", "congestion_control": "reno"}]});
        let r = record(&one_flow(mbit, &format!("pfifo limit {b}"), flow));
        let measured = r.summary.goodput_up_mbit / (mbit * PAYLOAD / FRAME);
        assert!(
            (measured - share).abs() < 0.03,
            "buffer {b}: {measured}, formula {share}"
        );
    }
}

#[test]
fn a_reno_saw_tooth_loses_one_packet_each_half_window_of_rounds() {
    // Source: Mathis et al. 1997: one loss per 3/8 W^2 packets, W the window at the loss (pipe and buffer here). Linux
    // counts acknowledged packets, so delayed acknowledgements do not slow the growth of one segment a round.
    let (mbit, rtt_ms, buffer) = (10.0, 50.0, 60.0);
    let top = rtt_ms / frame_ms(FRAME, mbit) + buffer;
    let flow = json!({"duration": "600s",
                      "flows": [{"name": "bulk", "direction": "up", "congestion_control": "reno"}]});
    let r = record(&one_flow(mbit, &format!("pfifo limit {buffer}"), flow));
    // The formula counts losses of one round as one, as the sender does. Slow start is over after 10 s.
    let from = r
        .series
        .t_s
        .iter()
        .position(|&t| t > 10.0)
        .expect("there are later bins");
    let bins: Vec<(f64, u64)> = r.series.t_s[from..]
        .iter()
        .copied()
        .zip(r.series.drops.up[from..].windows(2).map(|w| w[1] - w[0]))
        .collect();
    let mut losses = 0.0;
    let mut last = 0.0;
    for &(t, drops) in &bins {
        if drops > 0 {
            losses += if t - last > 1.0 { 1.0 } else { 0.0 };
            last = t;
        }
    }
    let packets = (r.series.packets.up.last().expect("there are bins") - r.series.packets.up[from]) as f64;
    let predicted = packets / (3.0 / 8.0 * top * top);
    assert!(
        (losses / predicted - 1.0).abs() < 0.1,
        "{losses} losses, formula {predicted}"
    );
    assert_eq!(r.flows[0].timeouts, Some(0));
    // W = sqrt(8 / (3 p)), its mean over the tooth 3/4 of it.
    let w = (8.0 / (3.0 * losses / packets)).sqrt();
    let mean = r.flows[0].mean_cwnd_segments.unwrap();
    assert!(
        (mean / (0.75 * w) - 1.0).abs() < 0.08,
        "mean window {mean}, formula {}",
        0.75 * w
    );
}

#[test]
fn an_idle_path_answers_in_its_base_rtt_through_full_buckets() {
    // A token bucket passes a frame that it has tokens for at once; so the bottleneck adds nothing to one ping.
    for (mbit, rtt_us) in [(1, 50_000), (10, 7), (100, 333_333)] {
        let r = record(
            &json!({"duration": "10s", "up": format!("{mbit}mbit"), "down": format!("{mbit}mbit"),
            "rtt": format!("{rtt_us}us"), "probes": [{"name": "ping", "kind": "icmp"}]}),
        );
        let base = f64::from(rtt_us) / 1e3;
        for exact in [
            r.summary.rtt_ms.min.unwrap(),
            r.summary.rtt_ms.max.unwrap(),
            r.summary.rtt_ms.median.unwrap(),
        ] {
            assert!((exact - base).abs() < 1e-9, "{exact} ms on a path of {base} ms");
        }
        assert!(r.summary.induced_latency_ms.unwrap().abs() < 1e-9);
        assert!(r.summary.probe_loss.unwrap().abs() < 1e-12);
        assert_eq!(r.summary.rtt_ms.count, 50);
    }
}

#[test]
fn edges_with_a_rate_add_their_serialisation() {
    let r = record(
        &json!({"duration": "5s", "up": "10mbit", "down": "10mbit", "rtt": "20ms", "edge_rate": "1gbit",
        "probes": [{"name": "ping", "kind": "icmp", "size": 1250}, {"name": "voip", "kind": "isochronous", "size": 250}]}),
    );
    // Two edge links each way: 10 us each for 1250 bytes, 2 us for 250.
    let ping = r.probes[0].rtt_ms.as_ref().expect("an echo probe has RTTs");
    let voip = r.probes[1].delay_ms.as_ref().expect("a one-way probe has delays");
    assert!((ping.median.unwrap() - 20.040).abs() < 1e-9, "{}", ping.median.unwrap());
    assert!((voip.median.unwrap() - 10.004).abs() < 1e-9, "{}", voip.median.unwrap());
}

#[test]
fn a_tick_lets_packets_out_at_its_multiples_only() {
    // 20.3 ms each way round up to the next of 2 ms at both ends; an echo takes from 42 to 46 ms, and never less.
    let r = record(
        &json!({"duration": "20s", "up": "10mbit", "down": "10mbit", "rtt": "40.6ms", "delay_tick": "2ms",
        "probes": [{"name": "ping", "kind": "icmp", "interval": "7.3ms"}]}),
    );
    let rtt = r.probes[0].rtt_ms.as_ref().expect("an echo probe has RTTs");
    // The answer leaves on a tick, so its own wait is the same each time: 20.3 ms becomes 22 ms.
    assert!(
        rtt.min.unwrap() >= 42.3 - 1e-9 && rtt.max.unwrap() <= 44.3 + 1e-9,
        "{rtt:?}"
    );
    assert!((rtt.mean.unwrap() - 43.3).abs() < 0.1, "{rtt:?}");
}

/// Mean and 99 % half width (Student, 19 degrees of freedom) of 20 independent means.
fn interval(means: &[f64]) -> (f64, f64) {
    assert_eq!(means.len(), 20);
    let mean = means.iter().sum::<f64>() / 20.0;
    let variance = means.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 19.0;
    (mean, 2.861 * (variance / 20.0).sqrt())
}

/// Mean wait of M/D/1: Pollaczek and Khinchine's formula without variance of the service.
fn m_d_1_wait(rho: f64, service: f64) -> f64 {
    rho * service / (2.0 * (1.0 - rho))
}

#[test]
fn poisson_packets_wait_as_in_m_d_1_for_their_tokens() {
    // With a bucket of one frame the tokens are the server: a frame waits until those before it have been paid for.
    let service = frame_ms(FRAME, 10.0);
    for (rho, duration) in [(0.5, "60s"), (0.8, "200s"), (0.9, "600s")] {
        let means: Vec<f64> = (1..=20)
            .map(|seed| {
                let r = record(
                    &json!({"duration": duration, "lead": "5s", "up": "10mbit", "qdisc_up": "pfifo limit 10000",
                    "burst_up": "1514b", "rtt": "10ms", "seed": seed, "sample_interval": "10s",
                    "probes": [{"name": "arrivals", "kind": "poisson", "direction": "up", "size": 1514,
                                "interval": format!("{}us", service * 1000.0 / rho)}]}),
                );
                assert_eq!(r.probes[0].lost, 0);
                let delay = r.probes[0]
                    .delay_ms
                    .as_ref()
                    .expect("a one-way probe has delays")
                    .mean
                    .unwrap()
                    - 5.0;
                let sojourn = r.bottleneck.up.sojourn_ms.mean.unwrap();
                assert!((delay - sojourn).abs() < 0.05 * sojourn, "{delay} and {sojourn}");
                delay
            })
            .collect();
        let (mean, half) = interval(&means);
        let wait = m_d_1_wait(rho, service);
        assert!(
            (mean - wait).abs() <= half,
            "rho {rho}: {mean} +- {half}, formula {wait}"
        );
        assert!(half < 0.1 * wait, "rho {rho}: {half} says nothing about {wait}");
    }
}

#[test]
fn poisson_packets_wait_as_in_m_d_1_before_a_wire() {
    let (rho, size) = (0.7, 1250);
    let service = frame_ms(f64::from(size), 10.0);
    let means: Vec<f64> = (1..=20)
        .map(|seed| {
            let mut net = Network::default();
            let (a, b) = (net.add_node("a"), net.add_node("b"));
            let egress = EgressSpec {
                shaping: Shaping::Wire,
                name: Some("ab".to_owned()),
                ..EgressSpec::new(
                    Rate::from_mbit(10),
                    QdiscSpec::parse("pfifo limit 10000", None).expect("a plain FIFO"),
                )
            };
            let delay = Duration::from_millis(3);
            net.add_link(LinkSpec {
                from: a,
                to: b,
                egress: Some(egress),
                delay,
                tick: Duration::ZERO,
            });
            net.add_link(LinkSpec {
                from: b,
                to: a,
                egress: None,
                delay,
                tick: Duration::ZERO,
            });
            let mut sim = Simulator::new(&net, seed, Duration::from_secs(1)).expect("a valid network");
            let kind = ProbeKind::Poisson {
                interval: Duration::from_secs_f64(service / 1e3 / rho),
            };
            let probe = sim
                .add_probe(ProbeSpec {
                    name: "arrivals".to_owned(),
                    kind,
                    route: net.route(a, b).expect("there is a link"),
                    back: net.route(b, a).expect("there is a link"),
                    size,
                    start: Time::ZERO,
                    measured_from: Time::from_secs(5),
                })
                .expect("a probe");
            sim.run_until(Time::from_secs(100));
            let samples: Vec<f64> = sim
                .probe_samples(probe.index)
                .filter(|(sent, _)| *sent >= Time::from_secs(5))
                .filter_map(|(_, delay)| delay.map(Duration::as_millis_f64))
                .collect();
            samples.iter().sum::<f64>() / samples.len() as f64
        })
        .collect();
    let (mean, half) = interval(&means);
    let formula = m_d_1_wait(rho, service) + service + 3.0;
    assert!((mean - formula).abs() <= half, "{mean} +- {half}, formula {formula}");
    assert!(half < 0.1, "{half}");
}

#[test]
fn poisson_gaps_are_exponential() {
    let r = record(
        &json!({"duration": "200s", "up": "100mbit", "down": "100mbit", "rtt": "1ms",
        "probes": [{"name": "p", "kind": "poisson", "interval": "10ms", "size": 60}]}),
    );
    let t = &r.series.rtt["p"].t_s;
    let gaps: Vec<f64> = t.windows(2).map(|w| (w[1] - w[0]) * 100.0).collect();
    let n = gaps.len() as f64;
    // Share above x means is exp(-x); four standard deviations of a binomial.
    for x in [0.1f64, 0.5, 1.0, 2.0, 4.0] {
        let p = libm::exp(-x);
        let share = gaps.iter().filter(|&&g| g > x).count() as f64 / n;
        assert!(
            (share - p).abs() < 4.0 * (p * (1.0 - p) / n).sqrt(),
            "{x}: {share}, formula {p}"
        );
    }
    // Independent of each other: lag-one correlation within four standard deviations.
    let mean = gaps.iter().sum::<f64>() / n;
    let variance = gaps.iter().map(|g| (g - mean).powi(2)).sum::<f64>() / n;
    let lag = gaps.windows(2).map(|w| (w[0] - mean) * (w[1] - mean)).sum::<f64>() / n;
    assert!((lag / variance).abs() < 4.0 / n.sqrt(), "{}", lag / variance);
}

#[test]
fn no_discipline_sends_more_than_its_rate_or_loses_count() {
    for qdisc in [
        "pfifo limit 100",
        "codel",
        "fq_codel",
        "pie",
        "sfq",
        "gbw:ared",
        "gbw:fq_nocodel",
        "tbf rate 5mbit burst 5kb limit 60kb",
    ] {
        let r = record(&rrul(
            2,
            json!({"up": "10mbit", "down": "8mbit", "qdisc_up": qdisc, "qdisc_down": qdisc,
                                       "duration": "20s", "lead": "0s"}),
        ));
        for (side, mbit, goodput) in [
            (&r.bottleneck.up, 10.0, r.summary.goodput_up_mbit),
            (&r.bottleneck.down, 8.0, r.summary.goodput_down_mbit),
        ] {
            let most_bytes = mbit * 1e6 / 8.0 * 20.0 + 3028.0;
            assert!(
                side.bytes as f64 <= most_bytes,
                "{qdisc}: {} of {most_bytes} bytes",
                side.bytes
            );
            assert!(goodput * FRAME / PAYLOAD <= mbit, "{qdisc}: {goodput} of {mbit} Mbit/s");
        }
        // What the senders sent either departed, was dropped, or was still queued; the path holds the rest.
        for f in &r.flows {
            let delivered = f.goodput_mbit * 1e6 / 8.0 * 20.0 / PAYLOAD;
            let sent = f.segments_sent as f64;
            let under_way = sent - f.data_dropped as f64 - delivered;
            // What a receiver has is at most what was sent and not dropped, less at most a window of duplicates and
            // packets under way.
            assert!(under_way >= -0.5, "{qdisc} {}: {delivered} of {sent} delivered", f.name);
        }
    }
}

#[test]
fn packets_offered_have_departed_were_dropped_or_are_queued() {
    // A flow of a known size that all arrives: every data segment sent departed or was dropped, at the end with an
    // empty queue. With a bottleneck in one direction only, the counters of both ends must agree to the packet.
    for qdisc in ["pfifo limit 30", "codel", "fq_codel", "pie", "sfq", "gbw:ared"] {
        let r = record(&one_flow(
            10.0,
            qdisc,
            json!({"duration": "30s", "qdisc_down": "pfifo limit 10000",
            "flows": [{"name": "bulk", "direction": "up", "bytes": 10_000_000}]}),
        ));
        let f = &r.flows[0];
        let up = &r.bottleneck.up;
        let drops: u64 = up.drops.values().sum();
        assert_eq!(
            *r.series.backlog_packets.up.last().expect("there are bins"),
            0,
            "{qdisc}"
        );
        // Others are the SYN, the ACK of the handshake and that of the server's FIN; the last data carries a FIN.
        assert_eq!(up.packets + drops, f.segments_sent + 3, "{qdisc}");
        assert_eq!(drops, f.data_dropped, "{qdisc}");
        assert_eq!(
            f.segments_sent - f.retransmissions,
            10_000_000u64.div_ceil(1448),
            "{qdisc}"
        );
        assert!((f.goodput_mbit * 30.0 * 1e6 / 8.0 - 1e7).abs() < 1.0, "{qdisc}");
        assert_eq!(*r.series.drops.up.last().expect("there are bins"), drops, "{qdisc}");
        assert_eq!(
            *r.series.packets.up.last().expect("there are bins"),
            up.packets,
            "{qdisc}"
        );
    }
}

#[test]
fn fair_queueing_gives_flows_of_different_rtts_equal_shares_and_a_fifo_does_not() {
    let flows: Vec<Value> = [10, 50, 100, 200]
        .map(|ms| json!({"name": format!("rtt_{ms}"), "direction": "up", "rtt": format!("{ms}ms")}))
        .into();
    let jain = |qdisc: &str| {
        let r =
            record(&json!({"duration": "120s", "up": "10mbit", "down": "10mbit", "qdisc_up": qdisc, "flows": flows}));
        // The formula itself, over what the record says of each flow.
        let x: Vec<f64> = r.flows.iter().map(|f| f.goodput_mbit).collect();
        let by_hand = x.iter().sum::<f64>().powi(2) / (4.0 * x.iter().map(|g| g * g).sum::<f64>());
        assert!((by_hand - r.summary.jain_up.unwrap()).abs() < 1e-12);
        by_hand
    };
    // Deficit round robin shares equally among queues that are never empty; CoDel empties those of long round trips at
    // times.
    let (sfq, fq_codel, fifo) = (jain("sfq limit 1000"), jain("fq_codel"), jain("pfifo limit 60"));
    assert!(sfq > 0.999, "{sfq}");
    assert!(sfq > fq_codel && fq_codel > fifo, "{sfq} {fq_codel} {fifo}");
    assert!(fifo < 0.97, "{fifo}");
}

#[test]
fn littles_law_holds_between_backlog_sojourn_and_throughput() {
    for qdisc in ["pfifo limit 127", "codel", "pie"] {
        let r = record(&rrul(
            4,
            json!({"up": "10mbit", "down": "10mbit", "qdisc_up": qdisc, "qdisc_down": qdisc,
                                       "duration": "60s"}),
        ));
        for side in [&r.bottleneck.up, &r.bottleneck.down] {
            // Drops at the head of the queue have waited too, so their share is the slack beside the ends of the
            // window.
            let drops: u64 = side.drops.values().sum();
            let slack = 0.01 + drops as f64 / side.packets as f64;
            let from_sojourn = side.packets as f64 / 60.0 * side.sojourn_ms.mean.unwrap() / 1e3;
            let ratio = side.backlog_packets.mean / from_sojourn;
            assert!(
                (ratio - 1.0).abs() < slack,
                "{qdisc}: mean backlog {}, L = {from_sojourn}",
                side.backlog_packets.mean
            );
        }
    }
}
