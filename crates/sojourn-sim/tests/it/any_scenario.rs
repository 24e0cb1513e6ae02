//! Properties: no input makes the validator panic, and no valid scenario the simulator.

use proptest::prelude::*;
use serde_json::{Value, json};
use sojourn_sim::{Scenario, run};

/// Any JSON, with the keys of scenarios among its keys.
fn any_json() -> impl Strategy<Value = Value> {
    let key = prop_oneof![
        4 => prop::sample::select(vec![
            "experiment", "duration", "lead", "up", "down", "rtt", "qdisc_up", "qdisc_down", "burst_up", "burst_down",
            "service_interval_up",
            "edge_rate", "start_jitter", "spare_acks", "sample_interval", "tcp", "flows", "probes", "seed", "name", "kind",
            "direction", "congestion_control", "start", "bytes", "rate", "interval", "timeout", "size", "mss",
            "web", "page", "objects", "workers", "think_time", "request_bytes", "header_bytes", "dns", "codec", "frame",
            "bitrate", "headers", "downloads", "gap", "write", "write_interval", "edge_limit", "loss_up", "loss_down", "jitter_up",
            "jitter_down", "wifi", "stations", "station", "dscp", "protocol", "scheme", "rate_up", "error", "weight", "edca", "ap", "be",
            "cw_min", "txop", "retries", "aggregate_time", "memory", "persistent", "look_ups",
        ]).prop_map(str::to_owned),
        1 => ".{0,6}",
    ];
    let text = prop_oneof![
        prop::sample::select(vec![
            "1s",
            "5ms",
            "0s",
            "10mbit",
            "1kbit",
            "3028b",
            "up",
            "down",
            "icmp",
            "udp_rr",
            "voip",
            "opus",
            "64kbit",
            "codel",
            "pfifo limit 1",
            "reno",
            "a",
            "udp",
            "EF",
            "ht mcs 15 20mhz sgi",
            "airtime",
        ])
        .prop_map(str::to_owned),
        ".{0,12}",
        "[0-9.]{0,20}(s|ms|mbit|gbit|kb|b|`|, expected )",
    ];
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<f64>().prop_map(Value::from),
        text.prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 40, 8, move |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            prop::collection::btree_map(key.clone(), inner, 0..8).prop_map(|m| Value::Object(m.into_iter().collect())),
        ]
    })
}

fn some<T: Into<Value> + Clone + std::fmt::Debug>(values: &[T]) -> impl Strategy<Value = Value> + use<T> {
    let values: Vec<Value> = values.iter().cloned().map(Into::into).collect();
    prop::sample::select(values)
}

/// A small page.
fn web_client() -> impl Strategy<Value = Value> {
    (
        some(&["cubic", "reno"]),
        prop::collection::vec(prop_oneof![1..3000u64, 1..100_000u64], 1..8),
        1..6u8,
        some(&["1us", "5ms", "400ms"]),
        some(&["0s", "3ms"]),
        some(&["1ms", "200ms"]),
        any::<bool>(),
    )
        .prop_map(|(cc, objects, workers, rtt, think, interval, dns)| {
            json!({"congestion_control": cc, "objects": objects, "workers": workers, "rtt": rtt, "think_time": think,
                   "interval": interval, "dns": dns, "request_bytes": 1 + objects[0] % 3000, "header_bytes": objects[0] % 900})
        })
}

/// A cell of one to four stations.
fn cell() -> impl Strategy<Value = Value> {
    let rates = [
        "ht mcs 0",
        "ht mcs 15 20mhz sgi",
        "vht mcs 9 nss 2 80mhz sgi",
        "ofdm 6mbit",
    ];
    let station = (
        some(&rates),
        some(&rates),
        some(&[0.0, 0.1, 0.9]),
        1..1000u32,
        some(&SCHEMES),
    );
    (
        some(&SCHEMES),
        prop::collection::vec(station, 1..5),
        1..40u32,
        some(&["1ns", "1ms", "4ms"]),
        1..12u8,
        1..300u32,
        any::<[bool; 4]>(),
    )
        .prop_map(|(scheme, stations, frames, time, retries, limit, [tx, rx, ecn, simple])| {
            let station = |(i, (rate, rate_up, error, weight, scheme)): (usize, (Value, Value, Value, u32, Value))| {
                json!({"name": format!("s{i}"), "rate": rate, "rate_up": rate_up, "error": error, "weight": weight, "scheme": scheme})
            };
            let stations: Vec<Value> = stations.into_iter().enumerate().map(station).collect();
            json!({"scheme": scheme, "stations": stations, "aggregate_frames": frames, "aggregate_time": time, "retries": retries,
                   "limit": limit, "airtime_tx": tx, "airtime_rx": rx, "ecn": ecn,
                   "rate_control": if simple { "simple" } else { "fixed" }})
        })
}

const SCHEMES: [&str; 4] = ["fifo", "fq_codel", "fq_mac", "airtime"];

/// The same scenario in a cell.
fn put_into(cell: Value, s: &mut Value) {
    let stations = cell["stations"].as_array().map_or(0, Vec::len);
    for key in ["flows", "probes", "web"] {
        for (i, item) in s[key].as_array_mut().into_iter().flatten().enumerate() {
            item["station"] = json!(format!("s{}", (i + key.len()) % stations));
            item["dscp"] = json!(i * 23 % 64);
        }
    }
    s["tcp"]["mss"] = json!(s["tcp"]["mss"].as_u64().unwrap_or(0).min(2244));
    s["wifi"] = cell;
}

/// Valid scenarios that are short, of every kind of load.
fn small_scenario() -> impl Strategy<Value = Value> {
    let qdiscs = [
        "pfifo limit 1",
        "pfifo limit 50",
        "bfifo limit 20kb",
        "pfifo_fast",
        "codel",
        "fq_codel",
        "fq_codel limit 3 flows 1",
        "pie",
        "sfq perturb 1",
        "gbw:ared",
        "gbw:fq_nocodel",
        "rural:codel",
        "codel target 1us interval 1us",
        "tbf rate 200kbit burst 10kb limit 40kb",
    ];
    let flow = (
        some(&["up", "down"]),
        some(&["cubic", "reno"]),
        some(&["1us", "5ms", "400ms"]),
        some(&["0s", "300us", "1ms"]),
        0..4u8,
        1..200_000u64,
    )
        .prop_map(|(direction, cc, rtt, start, limit, bytes)| {
            let mut f = json!({"direction": direction, "congestion_control": cc, "rtt": rtt, "start": start});
            if limit > 0 {
                f["bytes"] = json!(bytes);
            }
            if limit > 1 {
                f["rate"] = json!("700kbit");
            }
            if limit == 3 {
                f = json!({"direction": direction, "rtt": rtt, "start": start, "protocol": "udp", "rate": "3mbit"});
            }
            f
        });
    let probe = (
        some(&["icmp", "udp_rr", "isochronous", "poisson", "voip"]),
        some(&["1ms", "40ms"]),
        60..1515u16,
    )
        .prop_map(|(kind, time, size)| {
            if kind == "voip" {
                // Whole bytes for every combination, and packets of 62 to 1373 bytes.
                return json!({"kind": kind, "codec": if size % 2 == 0 { "g711" } else { "opus" },
                              "frame": time, "bitrate": "64kbit", "headers": 40 + size % 1000,
                              "direction": if size % 3 == 0 { "down" } else { "up" }});
            }
            let key = if kind == "udp_rr" { "timeout" } else { "interval" };
            json!({"kind": kind, "size": size, key: time})
        });
    let link = (
        some(&["1kbit", "300kbit", "9.7mbit", "1gbit"]),
        some(&["5kbit", "2mbit", "100mbit"]),
        some(&qdiscs),
        some(&qdiscs),
        some(&["0s", "1s"]),
        prop::option::of(some(&["2mbit", "1gbit"])),
        some(&["1ms", "800ms", "20s"]),
    );
    let tcp = (
        some(&[50, 536, 1448, 8948]),
        some(&[1, 10, 300]),
        any::<[bool; 4]>(),
        some(&["18kb", "3mb"]),
    );
    (
        link,
        tcp,
        prop::collection::vec(flow, 0..6),
        (
            prop::collection::vec(probe, 0..4),
            prop::collection::vec(web_client(), 0..3),
        ),
        (any::<u64>(), prop::option::of(cell())),
    )
        .prop_map(|(link, tcp, mut flows, (mut probes, mut web), (seed, cell))| {
            let (up, down, qdisc_up, qdisc_down, lead, edge, duration) = link;
            let (mss, iw, [hystart, ecn, delack, spare], rwnd) = tcp;
            for (i, item) in flows.iter_mut().chain(&mut probes).chain(&mut web).enumerate() {
                item["name"] = json!(format!("n{i}"));
            }
            let mut s = json!({
                "duration": duration, "sample_interval": "70ms", "up": up, "down": down, "qdisc_up": qdisc_up,
                "qdisc_down": qdisc_down, "lead": lead, "start_jitter": "0s",
                "spare_acks": spare, "seed": seed, "flows": flows, "probes": probes, "web": web,
                "tcp": {"mss": mss, "initial_window": iw, "hystart": hystart, "ecn": ecn, "delayed_ack": delack,
                        "receive_window": rwnd},
            });
            if let Some(rate) = edge {
                s["edge_rate"] = rate;
            }
            if let Some(cell) = cell {
                put_into(cell, &mut s);
            }
            s
        })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 2000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_json_is_answered_with_a_sentence(value in any_json()) {
        if let Err(e) = Scenario::from_json(&value.to_string()) {
            let text = e.to_string();
            prop_assert!(text.len() > 10, "{text}");
            prop_assert!(text.contains("must be") || text.contains("JSON") || text.contains("expected"), "{text}");
        }
    }

    #[test]
    fn arbitrary_text_is_answered_with_a_sentence(text in ".{0,60}") {
        prop_assert!(Scenario::from_json(&text).is_err());
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 60, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_accepted_scenario_runs_and_its_canonical_form_is_a_fixed_point(value in small_scenario()) {
        let scenario = Scenario::from_json(&value.to_string()).map_err(|e| TestCaseError::fail(e.to_string()))?;
        let canonical = scenario.to_json();
        let again = Scenario::from_json(&canonical).map_err(|e| TestCaseError::fail(e.to_string()))?;
        prop_assert_eq!(again.to_json(), canonical);
        let record = run(scenario).map_err(|e| TestCaseError::fail(e.to_string()))?;
        // JSON has no NaN: one would come back as null, which is what was not measured, and nothing else.
        let summary = &record.summary;
        let echoes = record.probes.iter().filter(|p| p.direction == "both").map(|p| p.sent).sum::<u64>();
        let measured = |key: &str| match key {
            "induced_latency_ms" => summary.rtt_ms.count > 0,
            "probe_loss" => echoes > 0,
            "jain_up" => summary.goodput_up_mbit > 0.0,
            "jain_down" => summary.goodput_down_mbit > 0.0,
            _ => true,
        };
        let json: Value = serde_json::from_str(&record.to_json()).expect("a record is JSON");
        for (key, x) in json["summary"].as_object().expect("an object") {
            prop_assert!(x.is_number() == measured(key) || key == "rtt_ms" || (["page_fetch_s", "fct_ms"].contains(&key.as_str()) && x.is_null()), "{key} is {x}");
        }
        let seconds = sojourn_units::parse_duration(value["duration"].as_str().expect("text")).expect("a time").as_secs_f64();
        let frames = sojourn_units::parse_duration("1ms").expect("a time").as_secs_f64();
        for p in record.probes.iter().filter(|p| p.kind == "voip") {
            prop_assert!(p.lost <= p.sent && p.sent as f64 <= seconds / frames + 1.0);
            let series = &record.series.voip[&p.name];
            prop_assert!(series.sent.iter().map(|&n| u64::from(n)).sum::<u64>() <= p.sent);
            prop_assert!(series.sent.iter().zip(&series.lost).zip(&series.delay_ms).all(|((s, l), d)| l <= s && (s > l) == d.is_some()));
        }
        for w in &record.web {
            prop_assert_eq!(w.fetches.len(), w.completed);
            prop_assert!(w.fetches.iter().all(|f| f.time_s >= f.dns_s.unwrap_or(0.0) + f.connect_s && f.start_s + f.time_s <= seconds + 1e-9));
            prop_assert!(w.fetches.windows(2).all(|f| f[1].start_s >= f[0].start_s + f[0].time_s - 1e-9));
        }
        for station in record.wifi.iter().flat_map(|wifi| &wifi.stations) {
            prop_assert!((0.0..=1.0).contains(&station.airtime_share.unwrap_or(0.0)));
            let airtime = (station.airtime_tx_ms + station.airtime_rx_ms) / 1e3;
            prop_assert!(airtime <= 5.0 * seconds + 0.1, "{airtime} s: a collision counts for each of its senders");
            for way in [&station.up, &station.down] {
                prop_assert!(way.retries <= way.transmissions && way.collisions <= way.aggregates + 1);
                prop_assert!(way.aggregates <= way.transmissions);
            }
        }
        for flow in record.flows.iter().filter(|f| f.kind == "udp") {
            let udp = flow.udp.expect("a UDP flow");
            prop_assert!(udp.lost <= udp.sent && (0.0..=1.0).contains(&udp.loss.unwrap_or(0.0)));
        }
        for (side, rate) in [(&record.bottleneck.up, &value["up"]), (&record.bottleneck.down, &value["down"])] {
            let rate = sojourn_units::parse_rate(rate.as_str().expect("text")).expect("a rate").as_bps() as f64;
            let burst = sojourn_units::Rate::from_bps(rate as u64).bytes_in(sojourn_units::Duration::from_micros(500)).get().max(2 * 9014);
            prop_assert!(side.bytes as f64 <= rate / 8.0 * seconds + burst as f64, "{} bytes", side.bytes);
        }
    }
}
